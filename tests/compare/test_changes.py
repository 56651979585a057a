"""What differs between two texts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup import _core
from neardup.clusters.protect import LOST_WORDS
from neardup.compare.changes import (
    AT,
    COLUMNS,
    KINDS,
    LANGUAGE_WORDS,
    Changes,
    changes_of,
    describe,
    facts_of,
    is_brief,
    kinds_of,
)
from neardup.compare.verify import Pairs
from neardup.features.normalize import Normalize, tokens


def changes(left: str, right: str) -> Changes:
    return nd.explain(left, right).changes


def page(title: str, *sentences: str) -> str:
    return f"# {title}\n\n" + "\n\n".join(("This is the same in both texts.", *sentences))


def test_equal_texts_have_no_changes() -> None:
    found = changes(page("A title", "It costs 5 USD."), page("A title", "It costs 5 USD."))
    assert (found.kinds, str(found)) == ((), "none")
    assert repr(found) == "<Changes: none>"


def test_titles() -> None:
    assert changes(page("Options"), page("Futures")).title
    assert changes(page("Options"), page("options")).title is False
    front = "---\nauthor: me\ntitle: {}\n---\n\nThe text of both pages is the same."
    assert changes(front.format("Options"), front.format("Futures")).title
    # A number in a title is a number: two versions of a manual have the same title.
    versions = changes(page("Manual 1.2"), page("Manual 1.3"))
    assert (versions.title, versions.numbers) == (False, (1, 1))


def test_a_line_before_the_title_is_no_other_title() -> None:
    plain = "The painter\n\nHe was born in a village near the sea and lived there."
    assert changes(plain, f"Breaking news of the day\n\n{plain}").title is False


def test_the_line_after_a_heading_that_says_little_belongs_to_the_title() -> None:
    text = "### Synopsis\n\n{}\n\nAll other options are the same as those of the command itself."
    found = changes(
        text.format("Renew the certificate of the server."), text.format("Renew the key of etcd.")
    )
    assert found.title


def test_a_text_of_one_line_has_no_title() -> None:
    found = changes("one line and no more", "one line and no less")
    assert found.title is None
    assert "title" in found.unknown


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("It costs 5 USD.", "It costs 6 USD."),
        ("It costs 5 USD.", "It costs 5 EUR."),
        ("It costs $5.", "It costs €5."),
        ("It is 1,500 long.", "It is 1.500 long."),
        ("It is at -200 now.", "It is at 200 now."),
        ("Use version 3.11.2 here.", "Use version 3.11.3 here."),
        ("Use v2 here.", "Use v3 here."),
        ("It happened on 2024-05-13.", "It happened on 2024-05-14."),
        ("It happened on 13 May 2024.", "It happened on 13 June 2024."),
        ("We meet at 12:30.", "We meet at 12:45."),
        ("A disk of 10GB.", "A disk of 20GB."),
        ("A share of 5%.", "A share of 5 and more."),
        ("السعر ٥٠ هنا.", "السعر ٦٠ هنا."),
        ("价格是5元。", "价格是6元。"),
        ("ราคา ๕๐ บาท", "ราคา ๖๐ บาท"),
    ],
)
def test_numbers(left: str, right: str) -> None:
    found = changes(page("T", left), page("T", right))
    assert found.numbers[0] == 1, found
    assert "numbers" in found.kinds


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Press f17 now.", "Press f18 now."),
        ("Use utf-8 here.", "Use utf-16 here."),
        ("Use python3.9 here.", "Use python3.10 here."),
        ("For amd64 only.", "For i386 only."),
        ("The commit 3fa85f64 is bad.", "The commit 4ab99e10 is bad."),
    ],
)
def test_identifiers_are_no_numbers(left: str, right: str) -> None:
    found = changes(page("T", left), page("T", right))
    assert found.numbers == (0, 0), found


def test_names() -> None:
    found = changes(page("T", "It was made by Anna in Berlin."), page("T", "It was made by Otto in Berlin."))
    assert found.names == (1, 1)
    assert changes(page("T", "For amd64 only."), page("T", "For i386 only.")).names == (1, 1)
    assert changes(page("T", "Set max_size here."), page("T", "Set maxSize here.")).names == (1, 1)
    # A capital at the beginning of a sentence says nothing.
    assert changes(page("T", "Dogs bark at night."), page("T", "Cats bark at night.")).names == (0, 0)


def test_scripts_without_capitals_have_no_names() -> None:
    found = changes("题目\n\n我们在北京。价格一样。", "题目\n\n我们在上海。价格一样。")
    assert found.names is None
    assert "names" in found.unknown


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("You may use it.", "You may not use it."),
        ("You can open it.", "You can't open it."),
        ("Sie dürfen es öffnen.", "Sie dürfen es nicht öffnen."),
        ("Это можно открыть.", "Это не можно открыть."),
        ("يجوز استخدام هذا البرنامج.", "لا يجوز استخدام هذا البرنامج."),
        ("可以使用。", "不可以使用。"),
    ],
)
def test_negations(left: str, right: str) -> None:
    body = left if not left.isascii() else ""  # the script of the text decides whether negations are known
    found = changes(f"{body}\n\n{body}\n\n{left}", f"{body}\n\n{body}\n\n{right}")
    assert found.negations == 1, found


def test_negations_of_an_unlisted_script_are_unknown() -> None:
    found = changes("ราคานี้ถูกต้อง\nไม่ต้องจ่าย", "ราคานี้ถูกต้อง\nต้องจ่าย")
    assert found.negations is None
    assert "negation" in found.unknown


def test_an_added_sentence_with_a_negation_is_no_negation() -> None:
    found = changes(page("T"), page("T", "This is not in the first text."))
    assert (found.negations, found.sentences) == (0, (0, 1))


ENGLISH = (
    "The cat is sitting on the mat and that is what you will see from the door of the house when you have "
    "time for it, and this can be said of the dog which was with you and should have been in the house."
)
GERMAN = (
    "Die Katze sitzt auf der Matte und das ist es, was sie von der Tür des Hauses sehen werden, wenn sie auch "
    "Zeit für die Katze oder den Hund bei sich haben, der mit einem Ball auf dem Boden liegt und wird."
)
KOREAN = (
    "고양이가 매트 위에 앉아 있고 집 문에서 볼 수 있습니다 시간이 있으면 개와 함께 집에 있어야 합니다 그리고 이것은 "
    "개에 대해서도 말할 수 있으며 당신과 함께 있었고 집에 있어야 했습니다 "
    "우리는 내일 다시 와서 문을 열고 안으로 들어갈 것입니다"
)


def test_languages() -> None:
    for other in (GERMAN, KOREAN):
        found = changes(page("T", ENGLISH), page("T", other))
        assert "language" in found.kinds, found
    assert changes(page("T", ENGLISH), page("T")).language == 0
    assert changes(page("T", ENGLISH), page("T", ENGLISH.replace("cat", "bird"))).language == 0


def test_sentences() -> None:
    left = page("T", "First of them.", "Second of them.", "Third of them.", "Fourth of them.")
    right = page(
        "T", "Second of them.", "First of them.", "Another in its place.", "Fourth of them.", "Fifth."
    )
    found = changes(left, right)
    assert (found.sentences, found.replaced, found.moved) == ((0, 1), 1, 1)


def test_a_wrapped_line_is_no_change() -> None:
    words = "a sentence that goes on for a while and is wrapped somewhere else in the other text."
    found = changes(page("T", words), page("T", words.replace(" for ", " for\n").replace(" in ", "\nin ")))
    assert found.kinds == ()


def test_lost_passages() -> None:
    extra = "here is a passage of eleven words that nobody else has"
    found = changes(page("T", f"The beginning is shared, {extra}."), page("T", "The beginning is shared."))
    assert found.lost[0] >= 8
    assert found.lost[1] == 0
    long = " ".join(f"word{i}" for i in range(40))
    # One changed word in a long sentence loses no passage.
    assert changes(page("T", f"{long}."), page("T", f"{long}.".replace("word20", "other"))).lost == (0, 0)


def test_json_and_repr() -> None:
    found = changes(page("Options", "It costs 5 USD."), page("Futures", "It costs 6 USD."))
    assert found.to_json()["kinds"] == ["title", "numbers", "words"]
    assert repr(found).startswith("<Changes: title, numbers -1 +1")
    assert nd.explain("a b c", "a b d").to_json()["changes"]["words"] == (1, 1)


TEXT = st.text(st.sampled_from("ab1 .\nAB,不ไ€-'#"), max_size=60)


@settings(max_examples=300, deadline=None)
@given(TEXT, TEXT)
def test_words_are_those_of_a_naive_count(left: str, right: str) -> None:
    """Words of one text alone, each as often as it is missing; and the other way round when the texts are swapped."""
    found = changes_of([left, right], np.array([0, 1]), np.array([1, 0]))
    a, b = (Counter(words) for words in tokens([left, right], Normalize()))
    assert found[0, AT["words_left"]] == (a - b).total()
    assert found[0, AT["words_right"]] == (b - a).total()
    turned = [
        name.replace("left", "*").replace("right", "left").replace("*", "right") for name in COLUMNS[1:]
    ]
    assert found[0, 1:].tolist() == found[1, [AT[name] for name in turned]].tolist()


@settings(max_examples=100, deadline=None)
@given(TEXT)
def test_a_text_equals_itself(text: str) -> None:
    assert not changes_of([text], np.array([0]), np.array([0]))[0, 1:].any()


def test_many_pairs_in_small_steps() -> None:
    """The same counts whatever is asked for at a time, and for any number of threads."""
    texts = [page("T", *(f"Sentence number {i * j} of {j}." for j in range(4))).encode() for i in range(30)]
    left, right = (side.astype(np.int64) for side in np.triu_indices(30, 1))
    pairs = Pairs(left, right, np.ones(len(left)))
    sizes = np.array([len(text) for text in texts], np.int64)
    whole = changes_of(texts, left, right)
    for most in (1, 300, 1 << 20):
        asked: list[int] = []

        def fetch(rows: np.ndarray, asked: list[int] = asked) -> list[bytes]:
            asked.append(len(rows))
            return [texts[row] for row in rows]

        assert np.array_equal(describe(pairs, sizes, fetch, most=most, threads=2), whole)
        assert max(asked) <= (2 if most == 1 else 30)


def test_kinds_of_many_pairs_are_those_of_each() -> None:
    texts = [
        page("A", "It costs 5."),
        page("B", "It costs 6."),
        page("A", "It costs 5."),
        page("A", "Not 5."),
    ]
    left, right = (side.astype(np.int64) for side in np.triu_indices(4, 1))
    counts = changes_of(texts, left, right)
    for bits, row in zip(kinds_of(counts).tolist(), counts, strict=True):
        assert tuple(kind for bit, kind in enumerate(KINDS) if bits >> bit & 1) == Changes.of(row).kinds


SPOKEN = st.lists(
    st.sampled_from(
        [
            "the",
            "of",
            "and",
            "is",
            "that",
            "with",
            "der",
            "die",
            "das",
            "und",
            "ist",
            "nicht",
            "mit",
            "le",
            "la",
            "les",
            "est",
            "une",
            "dans",
            "pour",
            "el",
            "los",
            "que",
            "para",
            "una",
            "machine",
            "maschine",
            "house",
            "дом",
            "и",
            "не",
            "на",
            "что",
            "это",
            "она",
            "было",
            "不",
            "是",
            "Title",
            "Nodes",
            "node7",
            "7",
            "x_y",
        ]
    ),
    max_size=200,
)


@settings(max_examples=300, deadline=None)
@given(
    SPOKEN, st.lists(st.tuples(st.integers(0, 200), SPOKEN), max_size=3), st.sampled_from([" ", ". ", "\n\n"])
)
def test_a_brief_comparison_gives_the_same_title_and_language(
    words: list[str], inserted: list[tuple[int, list[str]]], between: str
) -> None:
    """The words of one text, and the same words with others put in or in place of some."""
    other = list(words)
    for at, more in inserted:
        other[at : at + len(more) // 2] = more
    texts = ["# One\n\n" + between.join(words), "# Two\n\n" + between.join(other)]
    facts = facts_of(texts)
    left, right = np.array([0, 1, 0]), np.array([1, 0, 0])
    whole, brief = facts.changes(left, right, 1), facts.titles_and_languages(left, right, 1)
    for name in ("title_left", "title_right"):
        assert brief[:, AT[name]].tolist() == whole[:, AT[name]].tolist()
    for name, least in (("language", LANGUAGE_WORDS), ("lost_left", LOST_WORDS), ("lost_right", LOST_WORDS)):
        column = whole[:, AT[name]]
        assert brief[:, AT[name]].tolist() == np.where(column >= least, column, 0).tolist()
    assert is_brief(brief).all() and not is_brief(whole).any()
    assert (brief[:, 0] & 15).tolist() == whole[:, 0].tolist()


def test_the_core_checks_rows() -> None:
    texts = _core.Texts()
    texts.add(("a", "b"))
    for left, right in (([0], [2]), ([-1], [0]), ([0, 1], [0])):
        facts = _core.TextFacts(texts, 1, 1)
        for compare in (facts.changes, facts.titles_and_languages):
            with pytest.raises(ValueError, match=r"row|length"):
                compare(np.array(left), np.array(right), 1)


def test_menus_and_banners_are_no_titles() -> None:
    text = "{}\n\nRunner beans: getting started\n\nSow them in May under glass, and plant them out when frost is past."
    menu, banner = "Garden club · Sheets · Meetings · Show", "We use cookies. Accept all of them or leave."
    assert changes(text.format(menu), text.format(banner)).title is False
    other = text.replace("Runner", "Climbing")
    assert changes(text.format(menu), other.format(banner)).title
