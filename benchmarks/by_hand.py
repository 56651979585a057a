"""What the core does by hand, beside the library that could do it: the same bytes in, the same answers out.

    python benchmarks/by_hand.py

Commands: those of one batch of a shared index. The library's way groups rows by bucket in numpy and packs each command
with hiredis, as redis-py does. Nothing is sent.

Lines: documents that a service gets in bulk, as ids and native texts. The library's way decodes each line with msgspec
to a struct, and gives the texts to the core.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import hiredis
import msgspec
import numpy as np

import neardup as nd
from neardup import _core
from neardup.index.recipe import Recipe
from neardup.index.redis.layout import KeyLayout
from neardup.index.redis.tables import SharedTables
from neardup.values.seeds import Seed

ROUNDS = 20


class _Nowhere:
    """The connection of tables that send nothing."""

    class address:
        cluster = False


def layout_of(kind: str, expected: int) -> KeyLayout:
    if kind == "minhash":
        config = nd.Config.of("minhash", threshold=0.8)
    else:
        config = nd.Config(fingerprint=nd.Simhash(), search=nd.search.Compact(3))
    return KeyLayout.of("pages", Recipe(config, Seed(1), "none", None), expected)


def best(call: Callable[[], object]) -> float:
    """Milliseconds of the fastest round."""
    found = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        call()
        found.append(time.perf_counter() - begin)
    return 1000 * min(found)


def unpacked(data: bytes) -> list[list[bytes]]:
    reader = hiredis.Reader()
    reader.feed(data)
    return list(iter(reader.gets, False))


def measure(kind: str, expected: int, documents: int) -> None:
    layout = layout_of(kind, expected)
    tables = SharedTables(_Nowhere(), layout)  # type: ignore[arg-type]
    rng = np.random.default_rng(1)
    columns = len(layout.tables) if layout.banded else layout.words
    keys = rng.integers(0, 2**64, (documents, columns), dtype=np.uint64)
    rows, empty = np.arange(documents), np.zeros(documents, bool)

    def appends_of_core() -> bytes:
        homes = layout.homes(keys)
        return _core.bucket_appends(b"pages", b"k", homes, keys, layout.firsts, layout.words, rows)[0]

    def appends_of_library() -> bytes:
        names, values = tables._grouped(b"k", keys, empty, rows, whole=True)
        pack = hiredis.pack_command
        return b"".join([pack((b"APPEND", name, *value)) for name, value in zip(names, values, strict=True)])

    def reads_of_core() -> bytes:
        return _core.bucket_reads(b"pages", b"k", layout.probes(keys), layout.probed)[0]

    def reads_of_library() -> bytes:
        probes, names = layout.probes(keys), list[bytes]()
        place = np.empty(probes.shape, np.int64)
        for table in range(len(layout.tables)):
            asked = layout.probed == table
            buckets, at = np.unique(probes[:, asked], return_inverse=True)
            place[:, asked] = at.reshape(documents, -1) + len(names)
            names += layout.buckets(b"k", table, buckets.tolist())
        parts = [names[start : start + 1000] for start in range(0, len(names), 1000)]
        return b"".join([hiredis.pack_command((b"MGET", *part)) for part in parts])

    assert sorted(unpacked(appends_of_core())) == sorted(unpacked(appends_of_library()))
    asked = [
        {name for _, *names in unpacked(data) for name in names}
        for data in (reads_of_core(), reads_of_library())
    ]
    assert asked[0] == asked[1]
    for name, core, library in (
        ("put", appends_of_core, appends_of_library),
        ("look up", reads_of_core, reads_of_library),
    ):
        one, other = best(core), best(library)
        print(f"{kind:8} {name:8} core {one:7.2f} ms  library {other:7.2f} ms  {other / one:4.1f} times")


class Line(msgspec.Struct):
    id: str
    text: str


def measure_lines(documents: int, words: int) -> None:
    rng = np.random.default_rng(1)
    texts = [" ".join(f"word{n}" for n in rng.integers(0, 10_000, words)) for _ in range(documents)]
    lines = [json.dumps({"id": f"https://example.org/{n}", "text": text}) for n, text in enumerate(texts)]
    data = "".join(f"{line}\n" for line in lines).encode()
    decoder = msgspec.json.Decoder(Line)

    def by_core() -> tuple[list[str], _core.Texts]:
        found = _core.read_text_lines(np.frombuffer(data, np.uint8))
        assert found is not None
        made = _core.Texts()
        made.add_spans(*found[1:])
        return found[0], made

    def by_library() -> tuple[list[str], _core.Texts]:
        found = decoder.decode_lines(data)
        made = _core.Texts()
        made.add(tuple(line.text if line.text.isascii() else line.text.encode() for line in found))
        return [line.id for line in found], made

    assert by_core()[0] == by_library()[0]
    seed = 1
    assert np.array_equal(
        *(_core.hash_texts(way()[1], seed, _core.Hash.xxh3) for way in (by_core, by_library))
    )
    one, other = best(by_core), best(by_library)
    print(f"lines of {words} words  core {one:7.2f} ms  library {other:7.2f} ms  {other / one:4.1f} times")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=1024, help="in a batch")
    parser.add_argument("--expected", type=int, default=1_000_000, help="that the tables are laid out for")
    given = parser.parse_args()
    for kind in ("minhash", "codes"):
        measure(kind, given.expected, given.documents)
    for words in (20, 500):
        measure_lines(given.documents, words)


if __name__ == "__main__":
    main()
