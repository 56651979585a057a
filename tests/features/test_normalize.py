"""Normalising and tokenising against the naive twin, on every script and on hostile input."""

import bisect
import random
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import core as reference

import neardup as nd
from neardup import _core
from neardup.features import date_words

SETTINGS = [
    {},
    {"nfkc": False},
    {"casefold": False},
    {"accents": "strip"},
    {"digits": "fold"},
    {"punctuation": "keep"},
    {"nfkc": False, "casefold": False, "punctuation": "keep"},
    {"accents": "strip", "digits": "fold", "punctuation": "keep"},
]


# Every code point that the tables' version of Unicode has assigned, as runs. Another Python may know more, or fewer.
ASSIGNED = Path(__file__).parents[1] / "fixtures" / f"unicode-{_core.unicode_version}.txt"
STARTS, ENDS = zip(
    *([int(end, 16) for end in run.split("-")] for run in ASSIGNED.read_text().split()), strict=True
)


def known_to_the_tables(c: str) -> bool:
    """Whether the twin, which asks Python's Unicode, can know as much of it as the tables do."""
    if unicodedata.unidata_version == _core.unicode_version:
        return True
    run = bisect.bisect_right(STARTS, ord(c)) - 1
    return ord(c) <= ENDS[run] and unicodedata.category(c) != "Cn"


ANY = st.text(
    st.one_of(
        st.characters(codec=None).filter(known_to_the_tables),
        st.characters(min_codepoint=0x300, max_codepoint=0x36F),
        st.sampled_from(
            "aAéÉßİıΣς_0٣३½ﬁＡ가각ᄀ\u11a8\u1161かがカﾞ\u3099ไม่क्षि\u00ad\u200d.,!? \n\t\x00\ufffd\ud800"
        ),
    ),
    max_size=40,
)


@pytest.mark.parametrize("steps", SETTINGS, ids=str)
def test_tokens_equal_the_naive_twin_in_all_languages(udhr, steps):
    texts = udhr if not steps else udhr[::5]
    assert nd.features.tokens(texts, nd.Normalize(**steps)) == [
        reference.tokens(text, **steps) for text in texts
    ]


@pytest.mark.parametrize("steps", SETTINGS, ids=str)
@given(text=ANY)
def test_tokens_equal_the_naive_twin_on_any_text(steps, text):
    assert nd.features.tokens([text], nd.Normalize(**steps)) == [reference.tokens(text, **steps)]


def test_random_code_points_at_every_level(cpu):
    rng = random.Random(7)
    pools = [
        (0, 0x7F),
        (0, 0x10FFFF),
        (0x300, 0x36F),
        (0x1100, 0x11FF),
        (0xAC00, 0xD7A3),
        (0x900, 0x97F),
        (0x20, 0x7E),
    ]
    texts = []
    for _ in range(600):
        picks = (chr(rng.randint(*rng.choice(pools))) for _ in range(rng.randrange(120)))
        texts.append("".join(c for c in picks if known_to_the_tables(c)))
    assert nd.features.tokens(texts) == [reference.tokens(text) for text in texts]


# Of each length in UTF-8: letters that fold, to their length or another, marks, single ones, spaces, ignored ones.
SIGNS = "éÉßЖıŉǅ\u0301µ\u00a0\u00ad·中かカไ’…\u200d\u3099Ａ가ᾈ−\ufffd😀𐐀"


@pytest.mark.parametrize("steps", SETTINGS, ids=str)
def test_every_kind_of_character_at_the_edges_of_a_block(cpu, steps):
    texts = ["X" * at + sign + "Y" * 70 for at in (0, 1, 61, 62, 63, 64, 65, 127) for sign in SIGNS]
    texts += ["." * at + sign + after for at in (60, 62, 63) for sign in SIGNS for after in SIGNS]
    texts += [(sign + gap) * 50 for sign in SIGNS for gap in ("", "a", " ", ".")]
    assert nd.features.tokens(texts, nd.Normalize(**steps)) == [
        reference.tokens(text, **steps) for text in texts
    ]


@pytest.mark.parametrize("steps", [{}, {"casefold": False}], ids=str)
def test_every_code_point_of_two_bytes(steps):
    texts = [f"a{chr(c)}b {chr(c)}" for c in range(0x80, 0x800) if known_to_the_tables(chr(c))]
    assert nd.features.tokens(texts, nd.Normalize(**steps)) == [
        reference.tokens(text, **steps) for text in texts
    ]


def test_ill_formed_utf8_at_the_edges_of_a_block(cpu):
    bad = [
        b"\x80",
        b"\xc1\x80",
        b"\xc3",
        b"\xe0\x9f\xbf",
        b"\xe4\xb8",
        b"\xed\xa0\x80",
        b"\xf0\x8f\x80\x80",
        b"\xf5",
    ]
    rows = [
        b"x" * at + sign + rest for at in (0, 61, 62, 63, 64) for sign in bad for rest in (b"", b"y" * 70)
    ]
    assert nd.features.tokens(rows) == [reference.tokens(row.decode("utf-8", "replace")) for row in rows]


@given(st.binary(max_size=60))
def test_ill_formed_utf8_is_replaced_as_python_does(data):
    assert nd.features.tokens([data]) == [reference.tokens(data.decode("utf-8", "replace"))]


@given(st.lists(st.binary(max_size=30), max_size=5))
def test_ill_formed_utf8_is_counted(rows):
    expected = sum(
        row.decode("utf-8", "replace").count("\ufffd") - row.count(b"\xef\xbf\xbd") for row in rows
    )
    assert nd.Words().extract(rows).replaced == expected


def test_lone_surrogates_are_counted():
    assert nd.Words().extract(["a\ud800b", "fine", "\udfff"]).replaced == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t", []),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("naïve cafe\u0301", ["naïve", "café"]),
        ("soft\u00adhyphen", ["softhyphen"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("漢字とkana", ["漢", "字", "と", "kana"]),
        ("ภาษาไทย", list("ภาษาไทย")),
        ("ﬁne ２０２４", ["fine", "2024"]),
        ("don't stop_me", ["don", "t", "stop_me"]),
        ("a\x00b", ["a", "b"]),
    ],
)
def test_worked_examples(text, expected):
    assert nd.features.tokens([text]) == [expected]


def test_digits_fold_to_one_zero():
    assert nd.features.normalize(["Visitor 9,999 of ٣٤ pages2"], nd.Normalize(digits="fold")) == [
        "visitor 0 0 of 0 pages0"
    ]


def test_stop_words_and_stems():
    how = nd.Normalize(stopwords=("en",), stem="english")
    assert nd.features.tokens(["The runners crossed two bridges"], how) == [["runner", "cross", "bridg"]]
    words = nd.Words(normalize=how)
    same = nd.Words().extract(["runner cross bridg"])
    assert words.extract(["The runners crossed two bridges"]).hashes.tolist() == same.hashes.tolist()
    only_stops = nd.Words(normalize=nd.Normalize(stopwords=("en",))).extract(["the cat and the hat"])
    assert only_stops.hashes.tolist() == nd.Words().extract(["cat hat"]).hashes.tolist()


@pytest.mark.parametrize(
    "bad", [{"accents": "no"}, {"stopwords": ("xx",)}, {"stem": "klingon"}, {"digits": 3}]
)
def test_wrong_settings_say_what_is_known(bad):
    with pytest.raises(nd.ConfigError):
        nd.features.tokens(["x"], nd.Normalize(**bad))


def test_a_million_combining_marks_do_not_stall():
    marks = "".join(chr(0x316 if i % 2 else 0x300) for i in range(300_000))
    text = "e" + marks + " end"
    assert nd.features.tokens([text])[0][-1] == "end"


@pytest.mark.slow
def test_a_hundred_megabyte_text():
    piece = "lorem ipsum Dolor sit, amet 42 \u00e9t\u00e9 "
    text = piece * 2_900_000
    assert len(text.encode()) > 100_000_000
    features = nd.Shingles(5).extract([text])
    assert features.hashes.tolist() == nd.Shingles(5).extract([piece * 20]).hashes.tolist()
    codes = nd.fingerprint([text], nd.Words(weights="count"), nd.Simhash())
    assert (
        codes.codes.tolist() == nd.Simhash().compute(nd.Words(weights="count").extract([text])).codes.tolist()
    )


DATES = [
    ("Monday 5 May 2024", "Tuesday 17 October 2023"),
    ("Montag, 5. März 2024", "Samstag, 17. Jänner 2023"),
    ("lundi 5 février 2024", "mercredi 17 août 2023"),
    ("miércoles, 5 de enero de 2024", "sábado, 17 de septiembre de 2023"),
    ("giovedì 5 maggio 2024", "lunedì 17 luglio 2023"),
    ("5 stycznia 2024", "17 października 2023"),
    ("5 Ağustos 2024 Çarşamba", "17 Şubat 2023 Perşembe"),
    ("понедельник, 5 января 2024 г.", "среда, 17 Октября 2023 г."),
    ("5 січня 2024", "17 листопада 2023"),
    ("5 Ιανουαρίου 2024", "17 ΣΕΠΤΈΜΒΡΙΟΣ 2023"),
    ("2024年5月3日 12時", "２０２３年１２月１１日 7時"),
    ("2024년 5월 3일 금요일", "2023년 12월 11일 월요일"),
]


@pytest.mark.parametrize(("one", "other"), DATES)
@pytest.mark.parametrize("more", [{}, {"accents": "strip"}, {"casefold": False}, {"ids": "fold"}])
def test_dates_fold_in_many_languages(one, other, more):
    if "ΣΕΠΤ" in other and more == {"casefold": False}:
        other = other.capitalize().replace("σεπτέμβριοσ", "Σεπτέμβριος")
    how = nd.Normalize(digits="fold", dates="fold", **more)
    same = nd.features.normalize([f"Seen on {one} by many readers", f"Seen on {other} by many readers"], how)
    assert same[0] == same[1]
    # The core, which compares hashes of words, agrees with what is spelled out.
    features = nd.Shingles(3, normalize=how).extract([f"seen {one} by", f"seen {other} by"])
    assert features.hashes[: features.offsets[1]].tolist() == features.hashes[features.offsets[1] :].tolist()
    kept = nd.features.normalize([one, other], nd.Normalize(digits="fold", **more))
    assert (kept[0] == kept[1]) == ("年" in one)


def test_the_table_of_dates_decides_the_scheme():
    assert f"dates=fold:{date_words.DIGEST}" in nd.Normalize(dates="fold").scheme
    for words in date_words.DATE_WORDS.values():
        assert words == words.lower()
        assert len(words.split()) == len(set(words.split()))
        assert all(len(parts) == 1 for parts in nd.features.tokens(words.split()))
    assert nd.features.normalize(["5월 31일 61일"], nd.Normalize(dates="fold")) == ["0 0 61일"]
