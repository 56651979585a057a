"""The seeded 64-bit hashes against published vectors and an independent implementation."""

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from neardup import _core

U64 = st.integers(0, 2**64 - 1)


# The reference implementation's own check: prefixes of a fixed pseudo-random buffer (xxHash, sanity test vectors).
def sanity_buffer(size: int) -> bytes:
    generator, out = 2654435761, bytearray()
    for _ in range(size):
        out.append(generator >> 56)
        generator = generator * 11400714785074694797 & (1 << 64) - 1
    return bytes(out)


@pytest.mark.parametrize(
    ("length", "seed", "expected"),
    [
        (0, 0, 0x2D06800538D394C2),
        (0, 0x9E3779B185EBCA8D, 0xA8A6B918B2F0364A),
        (1, 0, 0xC44BDFF4074EECDB),
        (1, 0x9E3779B185EBCA8D, 0x032BE332DD766EF8),
        (6, 0, 0x27B56A84CD2D7325),
        (6, 0x9E3779B185EBCA8D, 0x84589C116AB59AB9),
        (12, 0, 0xA713DAF0DFBB77E7),
        (12, 0x9E3779B185EBCA8D, 0xE7303E1B2336DE0E),
        (24, 0, 0xA3FE70BF9D3510EB),
        (24, 0x9E3779B185EBCA8D, 0x850E80FC35BDD690),
        (48, 0, 0x397DA259ECBA1F11),
        (48, 0x9E3779B185EBCA8D, 0xADC2CBAA44ACC616),
        (80, 0, 0xBCDEFBBB2C47C90A),
        (80, 0x9E3779B185EBCA8D, 0xC6DD0CB699532E73),
        (195, 0, 0xCD94217EE362EC3A),
        (195, 0x9E3779B185EBCA8D, 0xBA68003D370CB3D9),
        (403, 0, 0xCDEB804D65C6DEA4),
        (403, 0x9E3779B185EBCA8D, 0x6259F6ECFD6443FD),
        (2367, 0, 0xCB37AEB9E5D361ED),
        (2367, 0x9E3779B185EBCA8D, 0xD2DB3415B942B42A),
    ],
)
def test_xxh3_published_vectors(length, seed, expected):
    assert _core.hash_bytes(sanity_buffer(length), seed) == expected


@given(st.binary(max_size=600), U64)
def test_xxh3_equals_another_implementation(data, seed):
    assert _core.hash_bytes(data, seed) == xxhash.xxh3_64_intdigest(data, seed)


@pytest.mark.parametrize("length", [240, 241, 1023, 1024, 1025, 1088, 2048, 65537])
def test_xxh3_at_block_borders(length):
    data = sanity_buffer(length)
    assert _core.hash_bytes(data, 7) == xxhash.xxh3_64_intdigest(data, 7)


def naive_murmur64a(data: bytes, seed: int) -> int:
    m, mask = 0xC6A4A7935BD1E995, (1 << 64) - 1
    h = seed ^ (len(data) * m & mask)
    whole = len(data) // 8 * 8
    for i in range(0, whole, 8):
        k = int.from_bytes(data[i : i + 8], "little") * m & mask
        k = (k ^ (k >> 47)) * m & mask
        h = (h ^ k) * m & mask
    if data[whole:]:
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & mask
    h = (h ^ (h >> 47)) * m & mask
    return h ^ (h >> 47)


@given(st.binary(max_size=100), U64)
def test_murmur64a_equals_its_definition(data, seed):
    assert _core.hash_bytes(data, seed, _core.Hash.murmur64a) == naive_murmur64a(data, seed)


def test_murmur64a_known_value():
    # The value widely quoted for "hello world" with seed 0.
    assert _core.hash_bytes(b"hello world", 0, _core.Hash.murmur64a) == 0xD3BA2368A832AFCE
