"""Text straight to fingerprints: the same bytes as stage by stage, for any threads, batches and CPU level."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import core as reference

import neardup as nd

GOLDEN = Path(__file__).parents[1] / "fixtures" / "golden_texts.json"
TEXTS = [
    "",
    "one",
    "The quick brown fox jumps over the lazy dog.",
    "Naïve café, naïve cafe\u0301: 12,345 visits",
    "漢字とかなのテスト、そして english words",
    "हिन्दी में एक वाक्य ภาษาไทยด้วย",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z " * 3,
]
PRINTS = [
    nd.MinHash(),
    nd.MinHash(100, permutations="independent"),
    nd.MinHash(7),
    nd.BitMinHash(64),
    nd.BitMinHash(128),
    nd.Simhash(32, tie="gt"),
    nd.Simhash(64),
    nd.Simhash(128),
    nd.Simhash(64, gaussian=True, margins="none"),
    nd.Simhash(64, margins="bytes"),
    nd.Simhash(64, margins="ranks"),
]


def strategies(texts: list[str]) -> list:
    plain = nd.Words()
    return [
        nd.Shingles(5),
        nd.Shingles(3, weights="log", select=nd.features.Modulo(3, floor=4)),
        nd.Shingles(2, select=nd.features.Winnow(4)),
        nd.Words(weights=nd.Idf.fit(texts, plain)),
        nd.Words(weights="count", common=nd.features.Common.fit(texts, plain, share=0.3)),
        nd.Characters(4, weights="count"),
        nd.features.Sentences(),
    ]


def columns(prints) -> dict[str, bytes]:
    return {name: column.tobytes() for name, column in vars(prints).items() if isinstance(column, np.ndarray)}


@pytest.mark.parametrize("kind", PRINTS, ids=repr)
def test_the_same_bytes_as_stage_by_stage(manuals, udhr, kind):
    texts = TEXTS + manuals[:40] + udhr[:30]
    for features in strategies(texts):
        fused = nd.fingerprint(texts, features, kind)
        staged = kind.compute(features.extract(texts))
        assert fused.scheme == staged.scheme
        assert columns(fused) == columns(staged)


def test_threads_batches_and_levels_do_not_matter(cpu, manuals):
    texts = manuals[:200]
    features = nd.Words(weights=nd.Idf.fit(texts))
    for kind in (nd.MinHash(), nd.Simhash()):
        whole = columns(nd.fingerprint(texts, features, kind))
        assert whole == columns(nd.fingerprint(texts, features, kind, threads=2))
        assert whole == columns(nd.fingerprint(iter(texts), features, kind, threads=7))
        parts = [nd.fingerprint(texts[i : i + 33], features, kind) for i in range(0, 200, 33)]
        joined = {name: b"".join(columns(part)[name] for part in parts) for name in whole}
        assert whole == joined


def test_golden_fingerprints_at_every_level(cpu):
    """Bytes that must never change under a scheme. To change a scheme on purpose, give it a new version and write the
    file again: python tests/test_fused.py"""
    assert golden() == json.loads(GOLDEN.read_text())


def golden() -> dict[str, list[str]]:
    found = {}
    for features in (nd.Shingles(3), nd.Words(weights="count"), nd.Characters(4), nd.features.Sentences()):
        for kind in (nd.MinHash(16), nd.Simhash(64), nd.Simhash(128, tie="gt"), nd.BitMinHash(64)):
            prints = nd.fingerprint(TEXTS, features, kind)
            rows = prints.values if isinstance(prints, nd.fingerprints.Sketches) else prints.codes
            found[prints.scheme] = [row.astype(row.dtype.newbyteorder("<")).tobytes().hex() for row in rows]
    digests = nd.fingerprints.digest(TEXTS, normalized=nd.Normalize())
    found[digests.scheme] = [bytes(row).hex() for row in digests.digests]
    return found


def test_empty_documents_have_no_fingerprint():
    texts = ["", " \n.,!", "word", "\x00"]
    for kind in PRINTS:
        assert nd.fingerprint(texts, nd.Shingles(2), kind).empty.tolist() == [True, True, False, True]
    assert nd.fingerprints.digest(texts, normalized=nd.Normalize()).empty.tolist() == [
        True,
        True,
        False,
        True,
    ]


@given(st.text(max_size=60), st.text(max_size=60))
def test_digests_are_equal_exactly_when_the_tokens_are(left, right):
    digests = nd.fingerprints.digest([left, right, left + " "], normalized=nd.Normalize()).digests
    same = reference.tokens(left) == reference.tokens(right)
    assert (bytes(digests[0]) == bytes(digests[1])) == same
    assert bytes(digests[0]) == bytes(digests[2])


def test_digests_depend_on_token_borders():
    texts = ["ab c", "a bc", "abc", "a b c", "abcdefgh i", "abcdefghi", "x" * 8, "x" * 9, "x" * 16, "x" * 17]
    rows = nd.fingerprints.digest(texts, normalized=nd.Normalize()).digests
    assert len({bytes(row) for row in rows}) == len(texts)


def test_digests_by_name():
    raw = nd.fingerprints.digest(["Some Text"], algorithm="md5")
    assert bytes(raw.digests[0]) == hashlib.md5(b"Some Text").digest()
    normal = nd.fingerprints.digest(["Some  TEXT!"], normalized=nd.Normalize(), algorithm="sha1")
    assert bytes(normal.digests[0]) == hashlib.sha1(b"some text").digest()
    assert bytes(nd.fingerprints.digest(["x"]).digests[0]) == hashlib.sha256(b"x").digest()
    with pytest.raises(nd.ConfigError):
        nd.fingerprints.digest(["x"], algorithm="rot13")
    with pytest.raises(nd.ConfigError):
        nd.fingerprints.digest(["x"], normalized=nd.Normalize(stem="english"))


def test_the_seed_decides():
    text = ["the quick brown fox jumps over the lazy dog"]
    features = [nd.Shingles(3, seed=seed) for seed in (1, 2)]
    codes = [nd.fingerprint(text, f, nd.BitMinHash()).codes[0, 0] for f in features]
    assert codes[0] != codes[1]
    digests = [nd.fingerprints.digest(text, normalized=nd.Normalize(), seed=seed).digests for seed in (1, 2)]
    assert (digests[0] != digests[1]).any()


def test_ill_formed_text_is_counted():
    texts = [b"fine", b"\xff\xfe broken", "lone \ud800 surrogate"]
    for kind in (nd.MinHash(), nd.Simhash(), nd.BitMinHash()):
        assert nd.fingerprint(texts, nd.Words(), kind).replaced == 3
        assert kind.compute(nd.Words().extract(texts)).replaced == 3
    assert nd.fingerprints.digest(texts, normalized=nd.Normalize()).replaced == 3


def test_every_digest_of_another_seed_has_another_scheme():
    for algorithm in (None, "xxh3"):
        schemes = {
            nd.fingerprints.digest(["x"], normalized=nd.Normalize(), algorithm=algorithm, seed=seed).scheme
            for seed in (1, 2)
        }
        assert len(schemes) == 2


def test_raw_digests_take_the_same_columns():
    pa = pytest.importorskip("pyarrow")
    expected = nd.fingerprints.digest(["one", "", "two"])
    for column in (pa.array(["one", None, "two"]), [nd.Document("a", "one"), None, b"two"]):
        assert columns(nd.fingerprints.digest(column)) == columns(expected)


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: nd.fingerprints.digest("one text"),
        lambda: nd.fingerprints.Exact().compute("one text"),
        lambda: nd.fingerprints.Exact().compute(["fine", None]),
        lambda: nd.fingerprints.digest(["x"], normalized=True),
        lambda: nd.fingerprint(["x"], nd.Simhash()),
        lambda: nd.fingerprint(["x"], nd.Words(), nd.fingerprints.Exact()),
        lambda: nd.fingerprint(["x"], threads=0),
        lambda: nd.fingerprint(["x"], threads=-1),
        lambda: nd.Words().extract(["x"], threads="two"),
        lambda: nd.fingerprints.digest(["x"], normalized=nd.Normalize(), threads=0),
    ],
)
def test_likely_mistakes_have_clear_messages(mistake):
    with pytest.raises(nd.NeardupError):
        mistake()


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(golden(), indent=1) + "\n")
