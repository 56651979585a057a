"""Naive twins of the files and of the searches in them: plain Python numbers, written from docs/reference/format.md."""

from __future__ import annotations

import heapq
import itertools
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xxhash

PAGE = 4096


def to_ints(codes: np.ndarray) -> list[int]:
    """Codes uint64[n, words], the low word first, as Python numbers."""
    return [sum(int(word) << (64 * i) for i, word in enumerate(code)) for code in codes]


def from_ints(values: list[int], bits: int) -> np.ndarray:
    words = (bits + 63) // 64
    table = [[value >> (64 * i) & (2**64 - 1) for i in range(words)] for value in values]
    return np.array(table, np.uint64).reshape(-1, words)


def some_codes(seed: int, count: int, bits: int, kind: str) -> np.ndarray:
    """Codes: `uniform`, `clustered` (a few centres, some bits flipped) or `few` (many equal)."""
    rng = np.random.default_rng(seed)
    draw = lambda n: [int.from_bytes(rng.bytes(bits // 8), "little") for _ in range(n)]  # noqa: E731
    if kind == "uniform":
        return from_ints(draw(count), bits)
    centres = draw(5)
    values = [centres[int(i)] for i in rng.integers(0, 5, count)]
    if kind == "clustered":
        values = [v ^ sum(1 << int(b) for b in set(rng.integers(0, bits, 3).tolist())) for v in values]
    return from_ints(values, bits)


def damaged_bytes(whole: bytes, trial: int, rng: np.random.Generator) -> bytes:
    """A damaged copy of a file, in turns: cut, with zeros added, with one bit flipped anywhere or in the header."""
    data = bytearray(whole)
    if trial % 4 == 0:
        data = data[: int(rng.integers(0, len(whole)))]
    elif trial % 4 == 1:
        data += bytes(int(rng.integers(1, 100)))
    else:
        place = int(rng.integers(0, len(whole) if trial % 4 == 2 else 256))
        data[place] ^= 1 << int(rng.integers(0, 8))
    return bytes(data)


def sorted_pairs(codes: np.ndarray, rows: np.ndarray) -> list[tuple[int, int]]:
    return sorted(zip(to_ints(codes), rows.tolist(), strict=True))


def near(
    stored: list[tuple[int, int]], queries: list[int], bits: int, prefix: int, radius: int
) -> list[tuple]:
    """All (query, row, distance) with equal top `prefix` bits and distance at most `radius`."""
    found = []
    for q, query in enumerate(queries):
        for code, row in stored:
            if code >> (bits - prefix) == query >> (bits - prefix) and (code ^ query).bit_count() <= radius:
                found.append((q, row, (code ^ query).bit_count()))
    return sorted(found)


def huffman_cost(counts: list[int]) -> tuple[int, int]:
    """Total bits and longest word of an unbounded Huffman code."""
    heap = [(count, 0, i) for i, count in enumerate(counts) if count]
    if len(heap) < 2:
        return sum(counts), 1
    heapq.heapify(heap)
    total, fresh = 0, len(counts)
    while len(heap) > 1:
        a, deep_a, _ = heapq.heappop(heap)
        b, deep_b, _ = heapq.heappop(heap)
        total += a + b
        heapq.heappush(heap, (a + b, max(deep_a, deep_b) + 1, fresh))
        fresh += 1
    return total, heap[0][1]


@dataclass
class RawFile:
    magic: bytes
    flags: int
    bits: int
    count: int
    parameter: int
    scheme: str
    columns: dict[str, bytes]


def read_column_file(path: Path) -> RawFile:
    """A column file taken apart as docs/reference/format.md says, every checksum compared."""
    data = path.read_bytes()
    head = struct.unpack_from("<8sIIIIQQQQII", data)
    magic, version, flags, bits, columns, count, length, table, table_sum, parameter, scheme = head
    assert version == 1
    assert length == len(data)
    assert xxhash.xxh3_64_intdigest(data[:4088], 0) == struct.unpack_from("<Q", data, 4088)[0]
    assert table % 64 == 0
    if data[table:]:
        assert xxhash.xxh3_64_intdigest(data[table:], 2**64 - 1) == table_sum
    found, at, check = {}, PAGE, table
    for index in range(columns):
        name, start, size, block = struct.unpack_from("<8sQQQ", data, 64 + 32 * index)
        assert start == -(-at // 64) * 64
        assert not any(data[at:start])
        content = data[start : start + size]
        for number, begin in enumerate(range(0, size, block)):
            got = xxhash.xxh3_64_intdigest(content[begin : begin + block], (index << 48) + number)
            assert got == struct.unpack_from("<Q", data, check)[0]
            check += 8
        found[name.rstrip(b"\0").decode()] = content
        at = start + size
    assert table == -(-at // 64) * 64
    assert check == len(data)
    text = data[64 + 32 * columns :][:scheme].decode()
    return RawFile(magic, flags, bits, count, parameter, text, found)


def unpack_compressed(raw: RawFile) -> list[int]:
    """The codes of a compressed segment, block by block, as strings of "0" and "1"."""
    lengths = list(raw.columns["lengths"])
    words, code = {}, 0
    for length in range(1, 13):
        for symbol, size in enumerate(lengths):
            if size == length:
                words[format(code, f"0{length}b")] = symbol
                code += 1
        code *= 2
    starts = [*np.frombuffer(raw.columns["starts"], "<u8").tolist(), raw.count]
    keys = to_ints(np.frombuffer(raw.columns["keys"], "<u8").reshape(-1, (raw.bits + 63) // 64))
    codes: list[int] = []
    for number, key in enumerate(keys):
        block = raw.columns["blocks"][number * raw.parameter : (number + 1) * raw.parameter]
        text = format(int.from_bytes(block, "big"), f"0{8 * len(block)}b")
        codes.append(int(text[: raw.bits], 2))
        at = raw.bits
        for _ in range(starts[number + 1] - starts[number] - 1):
            end = at + 1
            while text[at:end] not in words:
                end += 1
            symbol = words[text[at:end]]
            at = end
            if symbol == raw.bits:
                codes.append(codes[-1])
                continue
            codes.append(codes[-1] ^ int("1" + text[at : at + symbol], 2))
            at += symbol
        assert codes[-1] == key
        assert "1" not in text[at:]
    return codes


def likeliest_flips(margins: np.ndarray, bits: int, header: int, probes: int, radius: int) -> np.ndarray:
    """For each query the sets of 1 to `radius` header bits with the least sums of |margin|, as masks."""
    out = np.zeros((len(margins), probes), np.uint32)
    for q, row in enumerate(np.abs(margins)):
        top = [float(row[bits - 1 - i]) for i in range(header)]  # bit i below the highest
        sets = [
            chosen for size in range(1, radius + 1) for chosen in itertools.combinations(range(header), size)
        ]
        sets.sort(key=lambda chosen: (sum(top[i] for i in chosen), chosen))
        for p, chosen in enumerate(sets[:probes]):
            out[q, p] = sum(1 << (header - 1 - i) for i in chosen)
    return out


def psm(
    stored: list[tuple[int, int]], queries: list[int], flips: np.ndarray, bits: int, header: int, radius: int
) -> list[tuple[int, int, int]]:
    """What PSM finds: stored codes within the radius whose headers are the query's or one of its flips."""
    found = []
    for q, query in enumerate(queries):
        allowed = {0, *flips[q].tolist()}
        for code, row in stored:
            if (code ^ query) >> (bits - header) in allowed and (code ^ query).bit_count() <= radius:
                found.append((q, row, (code ^ query).bit_count()))
    return sorted(found)
