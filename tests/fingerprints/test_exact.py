"""Digests of raw texts, by every name."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from neardup import _core
from neardup.errors import ConfigError
from neardup.fingerprints import Exact, digest_texts, expected_false_merges
from neardup.values.seeds import DEFAULT_SEED, Seed

# Digests of "abc" as published with each algorithm.
PUBLISHED = {
    "md5": "900150983cd24fb0d6963f7d28e17f72",
    "sha1": "a9993e364706816aba3e25717850c26c9cd0d89d",
    "sha224": "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
    "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "sha3_256": "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
    "blake2s": "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982",
}


@pytest.mark.parametrize("algorithm", PUBLISHED)
def test_published_digests(algorithm: str) -> None:
    made = digest_texts(["abc", b"abc"], algorithm)
    assert [row.tobytes().hex() for row in made.digests] == [PUBLISHED[algorithm]] * 2
    assert algorithm in made.scheme


@pytest.mark.parametrize(
    "algorithm", ["sha384", "sha512", "sha3_224", "sha3_384", "sha3_512", "blake2b", "blake2b-128", "xxh3"]
)
def test_the_others(algorithm: str) -> None:
    made = Exact(algorithm).compute(["one", "two", "one"])
    assert made.digests.shape == (3, Exact(algorithm).bits // 8)
    assert np.array_equal(made.digests[0], made.digests[2])
    assert not np.array_equal(made.digests[0], made.digests[1])


def test_sha256_is_the_default_and_plain_hash_is_seeded() -> None:
    assert digest_texts(["x"]).digests[0].tobytes() == hashlib.sha256(b"x").digest()
    plain = digest_texts(["x"], "xxh3")
    assert plain.digests[0].tobytes() == _core.hash_bytes(b"x", DEFAULT_SEED).to_bytes(8, "big")
    other = digest_texts(["x"], "xxh3", seed=Seed(7, secret=True))
    assert other.scheme != plain.scheme and not np.array_equal(other.digests, plain.digests)


def test_empty_texts_have_no_digest() -> None:
    made = digest_texts(["", "a", b""])
    assert made.empty.tolist() == [True, False, True] and not made.digests[[0, 2]].any()


def test_odd_strings_differ() -> None:
    texts = ["\x00", "\x00\x00", "\ud800", "?", "\ufffd", "a" * 1_000_000, "é", "e\u0301"]
    made = digest_texts(texts)
    assert len({row.tobytes() for row in made.digests}) == len(texts)


def test_ripemd_where_there_is_one() -> None:
    if "ripemd160" in hashlib.algorithms_available:
        published = "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"
        assert digest_texts(["abc"], "ripemd160").digests[0].tobytes().hex() == published
    else:
        with pytest.raises(ConfigError, match="RIPEMD"):
            Exact("ripemd160")


def test_unknown_names_say_what_there_is() -> None:
    with pytest.raises(ConfigError, match="sha256"):
        Exact("crc32")


def test_expected_false_merges() -> None:
    assert expected_false_merges(2, 1) == 0.5
    assert expected_false_merges(1, 64) == 0
    assert expected_false_merges(8 * 10**9, 64) == pytest.approx((8e9) ** 2 / 2**65)
    assert 0 < expected_false_merges(10**9, 512) < 1e-130
    with pytest.raises(ConfigError):
        expected_false_merges(-1, 64)
