"""Commands for buckets, packed by the core, are those that the client library packs, and match what a loop would."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis._parsers.hiredis import NOT_ENOUGH_DATA

import neardup as nd
from neardup import _core
from neardup.index.recipe import Recipe
from neardup.index.redis.layout import KeyLayout
from neardup.values.seeds import Seed

hiredis = pytest.importorskip("hiredis")


def layout_of(kind: str, expected: int) -> KeyLayout:
    if kind == "minhash":
        config = nd.Config(fingerprint=nd.MinHash(32), search=nd.LSH(bands=8, rows=4), verify=nd.Jaccard(0.6))
        return KeyLayout.of("a name", Recipe(config, Seed(1), "none", None), expected)
    bits, radius = {"codes": (64, 3), "flips": (64, 10), "wide": (128, 4)}[kind]
    config = nd.Config(fingerprint=nd.Simhash(bits=bits), search=nd.search.Compact(radius, bits=bits))
    return KeyLayout.of("a name", Recipe(config, Seed(1), "none", "bare"), expected)


def keys_of(layout: KeyLayout, count: int, seed: int) -> np.ndarray:
    """Keys of which some agree, and some differ in a few bits."""
    rng = np.random.default_rng(seed)
    columns = len(layout.tables) if layout.banded else layout.words
    keys = rng.integers(0, 2**64, (count, columns), dtype=np.uint64)
    for row in range(1, count, 2):
        keys[row] = keys[rng.integers(row)]
        if not layout.banded:
            keys[row, 0] ^= np.uint64(int(rng.integers(8)))
    return keys


def unpacked(data: bytes) -> list[list[bytes]]:
    """Commands, as a server reads them."""
    reader = hiredis.Reader(notEnoughData=NOT_ENOUGH_DATA)
    reader.feed(data)
    return list(iter(reader.gets, NOT_ENOUGH_DATA))


KINDS = st.sampled_from(["minhash", "codes", "flips", "wide"])
SIZES = st.sampled_from([1, 100, 10**5])
SEEDS = st.integers(0, 2**32 - 1)


@given(kind=KINDS, expected=SIZES, count=st.integers(0, 40), seed=SEEDS)
def test_appends_and_drops(kind: str, expected: int, count: int, seed: int) -> None:
    layout = layout_of(kind, expected)
    keys, rows = keys_of(layout, count, seed), np.arange(count) * 3 + 2**40
    homes = layout.homes(keys)
    entries: dict[bytes, bytes] = {}
    dead: dict[bytes, bytes] = {}
    for table in range(len(layout.tables)):
        made = layout.entries(keys, rows, table)
        for row in range(count):
            name = layout.buckets(b"k", table, [int(homes[row, table])])[0]
            entries[name] = entries.get(name, b"") + made[row].astype("<u8").tobytes()
            dead[name] = dead.get(name, b"") + int(rows[row]).to_bytes(8, "little")
    data, many = _core.bucket_appends(b"a name", b"k", homes, keys, layout.firsts, layout.words, rows)
    commands = unpacked(data)
    assert len(commands) == many == len(entries)
    assert all(command[0] == b"APPEND" for command in commands)
    assert {key: value for _, key, value in commands} == entries

    data, many = _core.bucket_drops(b"a name", b"k", homes, rows, b"script", b"16")
    commands = unpacked(data)
    assert len(commands) == many
    found: dict[bytes, bytes] = {}
    for command, script, size, *words in commands:
        assert (command, script, words[-1]) == (b"EVAL", b"script", b"16")
        # The server does nothing else during a script: it gets few buckets, and few rows unless one bucket has more.
        assert int(size) <= 100
        assert int(size) == 1 or sum(map(len, words[int(size) : -1])) <= 250 * 8
        found |= dict(zip(words[: int(size)], words[int(size) : -1], strict=True))
    assert found == dead


@given(kind=KINDS, expected=SIZES, count=st.integers(1, 12), seed=SEEDS)
def test_reads_and_matches(kind: str, expected: int, count: int, seed: int) -> None:
    layout = layout_of(kind, expected)
    keys, rows = keys_of(layout, count, seed), np.arange(count)
    data, many, buckets, place = _core.bucket_reads(b"a name", b"k", layout.probes(keys), layout.probed)
    commands = unpacked(data)
    names = [name for mget, *part in commands for name in part]
    assert len(commands) == many
    assert all(mget == b"MGET" and len(part) <= 1000 for mget, *part in commands)
    of_followers, *_ = _core.bucket_reads(b"a name", b"f", layout.probes(keys), layout.probed)
    split = unpacked(of_followers)
    assert all(mget == b"MGET" and len(part) <= 4 for mget, *part in split)
    assert [name.replace(b"}f:", b"}k:") for _, *part in split for name in part] == names
    assert len(names) == len(set(names)) == buckets
    probes = layout.probes(keys)
    for row in range(count):
        for probe in range(probes.shape[1]):
            name = layout.buckets(b"k", int(layout.probed[probe]), [int(probes[row, probe])])[0]
            assert names[place[row, probe]] == name

    held: dict[bytes, bytes] = {}
    data, _ = _core.bucket_appends(
        b"a name", b"k", layout.homes(keys), keys, layout.firsts, layout.words, rows
    )
    for _, name, value in unpacked(data):
        held[name] = value
    entries, starts = _core.bucket_entries([held.get(name) for name in names], layout.words + 1)
    assert entries.tobytes() == b"".join(held.get(name, b"") for name in names)
    firsts = layout.firsts[layout.probed]
    query, probe, entry, far = _core.bucket_matches(
        keys, firsts, layout.words, place, entries, starts, layout.radius
    )
    expected_hits = []
    for row in range(count):
        for at in range(probes.shape[1]):
            key = keys[row, firsts[at] : firsts[at] + layout.words]
            for e in range(starts[place[row, at]], starts[place[row, at] + 1]):
                bits = sum(int(a ^ b).bit_count() for a, b in zip(key, entries[e, :-1], strict=True))
                if bits <= layout.radius:
                    expected_hits.append((row, at, e, bits))
    assert (
        list(zip(query.tolist(), probe.tolist(), entry.tolist(), far.tolist(), strict=True)) == expected_hits
    )
    touched = _core.bucket_touched(keys, firsts, layout.words, place, entries, starts, layout.radius)
    assert np.flatnonzero(touched).tolist() == sorted(set(entry.tolist()))


def test_a_long_bucket_is_a_script_of_its_own() -> None:
    layout = layout_of("codes", 1)
    keys, rows = np.zeros((1000, 1), np.uint64), np.arange(1000)
    data, many = _core.bucket_drops(b"a name", b"k", layout.homes(keys), rows[::-1].copy(), b"script", b"16")
    commands = unpacked(data)
    assert len(commands) == many == len(layout.tables)
    for command in commands:
        assert command[2] == b"1"
        assert np.frombuffer(command[4], "<u8").tolist() == rows.tolist()


@given(count=st.integers(0, 20), buckets=st.sampled_from([1, 7, 4096, 2**35]), seed=SEEDS)
def test_claims(count: int, buckets: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    digests = [rng.bytes(12) for _ in range(count)]
    rows = rng.integers(0, 2**48, count)
    data, many = _core.id_claims(b"a name", b"".join(digests), buckets, rows)
    commands = unpacked(data)
    assert len(commands) == many == count
    for digest, row, command in zip(digests, rows.tolist(), commands, strict=True):
        number = int.from_bytes(digest[:6], "little") % buckets
        key = b"{a name:%x}i:%x" % (number % 128, number)
        assert command == [b"HSETNX", key, digest, row.to_bytes(6, "little")]


def test_what_is_refused() -> None:
    homes, keys = np.zeros((2, 1), np.uint64), np.zeros((2, 1), np.uint64)
    rows, firsts = np.arange(2), np.zeros(1, np.int64)
    for change in (
        {"kind": b"kk"},
        {"words": 3},
        {"words": 2},
        {"rows": np.arange(3)},
        {"homes": np.zeros((2, 2), np.uint64)},
        {"firsts": np.array([-1])},
        {"firsts": np.array([1])},
    ):
        given = {
            "name": b"n",
            "kind": b"k",
            "homes": homes,
            "keys": keys,
            "firsts": firsts,
            "words": 1,
            "rows": rows,
        }
        with pytest.raises(ValueError):
            _core.bucket_appends(**(given | change))
    with pytest.raises(ValueError, match="differ"):
        _core.bucket_drops(b"n", b"k", homes, np.arange(3), b"", b"")
    with pytest.raises(ValueError, match="digest"):
        _core.id_claims(b"n", b"12345", 4, np.arange(1))
    with pytest.raises(ValueError, match="buckets"):
        _core.id_claims(b"n", b"123456", 0, np.arange(1))
    with pytest.raises(ValueError, match="numbered"):
        _core.bucket_reads(b"n", b"k", homes, np.array([-1]))
    with pytest.raises(IndexError, match="1"):
        _core.bucket_entries([None, b"123"], 2)
    with pytest.raises(TypeError):
        _core.bucket_entries(["text"], 2)
    for width in (0, 1, 4, 2**61):
        with pytest.raises(ValueError, match="an entry"):
            _core.bucket_entries([b"12345678"], width)
    entries, place = np.zeros((3, 2), np.uint64), np.zeros((2, 1), np.int64)
    for starts, places in (([0, 4], 0), ([0, 3], 1), ([0, 3], -1), ([1, 3], 0), ([0, 2, 1, 3], 0), ([], 0)):
        with pytest.raises(ValueError):
            _core.bucket_matches(keys, firsts, 1, place + places, entries, np.array(starts, np.int64), 3)
