"""The papers' cost models as functions: what a search costs before it is built.

SL is Sood and Loguinov (CIKM 2011), equations 8 to 26; MK is Manku, Jain and Das Sarma (WWW 2007), section 3.1. Printed
errors are corrected (equations 17 and 23, see the page on the papers). `Deltas` are the seconds of the few steps that
they count, of your own or as `measure_deltas` finds them on this machine. n codes are n = 2**d everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb, log2
from time import process_time

import numpy as np

from neardup import _core
from neardup.errors import ConfigError
from neardup.values.checks import check_fields, check_whole, checked

__all__ = [
    "SL_2011",
    "Deltas",
    "batch_rate",
    "bphs_batch_seconds",
    "bphs_bytes",
    "bphs_key_bits",
    "bphs_seconds",
    "bucket_size",
    "disk_seconds",
    "measure_deltas",
    "most_chosen",
    "most_flips",
    "precision",
    "psm_batch_seconds",
    "psm_bytes",
    "psm_seconds",
    "psm_tables",
    "recall",
    "table_count",
]


@dataclass(frozen=True)
class Deltas:
    """Seconds of one step: `permute` a code (delta P), `read` a random place (delta R), compare one code in a run
    (`scan`, delta L), take one set from the heap (`flip`, delta V), and one step of `sort` (delta S)."""

    permute: float
    read: float
    scan: float
    flip: float
    sort: float

    def __post_init__(self) -> None:
        check_fields(self)
        if min(self.permute, self.read, self.scan, self.flip, self.sort) < 0:
            raise ConfigError("all deltas are seconds from 0 up")


SL_2011 = Deltas(permute=50e-9, read=30e-9, scan=3e-9, flip=30e-9, sort=5e-9)
"""Of the order of the machine of 2011; the paper does not print its values."""


def table_count(blocks: int, chosen: int) -> int:
    """T = C(G, g), the tables of a design that keys on `chosen` of `blocks` blocks (MK 3.1, SL 7.1).

    >>> [table_count(g + 3, g) for g in (1, 2, 3)]
    [4, 10, 20]
    """
    blocks = check_whole(blocks, "blocks", 1, 1 << 10)
    return comb(blocks, check_whole(chosen, "chosen", 0, blocks))


@checked
def bphs_key_bits(chosen: int, radius: int, codes: float, bits: int = 64) -> float:
    """t, equation 8 with G = g + h: the bits of a key, no more than log2 of the codes.

    >>> bphs_key_bits(1, 3, 2**26), bphs_key_bits(2, 3, 2**26)
    (16.0, 25.6)
    """
    return min(chosen * bits / (chosen + radius), _depth(codes))


@checked
def bucket_size(chosen: int, radius: int, codes: float, bits: int = 64) -> float:
    """2**(d - p): how many codes share a key of one table (MK 3.1); at least one.

    >>> bucket_size(1, 3, 2**33)
    131072.0
    """
    return float(2.0 ** (_depth(codes) - bphs_key_bits(chosen, radius, codes, bits)))


@checked
def bphs_seconds(deltas: Deltas, chosen: int, radius: int, codes: float, bits: int = 64) -> float:
    """tau(d), equations 9, 13 and 14: one query of T = C(g + h, g) sorted tables, by binary search.

    >>> four, ten = (bphs_seconds(SL_2011, g, 3, 60e6) for g in (1, 2))
    >>> four > ten
    True
    """
    key = bphs_key_bits(chosen, radius, codes, bits)
    each = deltas.permute + key * deltas.read + bucket_size(chosen, radius, codes, bits) * deltas.scan
    return table_count(chosen + radius, chosen) * each


@checked
def bphs_bytes(chosen: int, radius: int, codes: float, bits: int = 64) -> float:
    """Omega, equation 10: all tables hold all codes.

    >>> bphs_bytes(1, 3, 2**33) / 2**30
    256.0
    """
    return table_count(chosen + radius, chosen) * codes * bits / 8


@checked
def most_chosen(radius: int, codes: float, bits: int = 64) -> int:
    """g of equation 15: beyond it longer keys only add tables.

    >>> most_chosen(3, 60e6), most_chosen(3, 2**33)
    (2, 3)
    """
    depth = _depth(codes)
    return max(1, int(depth * radius / (bits - depth)))


@checked
def disk_seconds(codes: float, bits: int = 64, bytes_per_second: float = 1e9) -> float:
    """Equation 16: reading the whole file."""
    if bytes_per_second <= 0:
        raise ConfigError(f"bytes_per_second must be above 0, not {bytes_per_second!r}")
    return codes * bits / 8 / bytes_per_second


@checked
def bphs_batch_seconds(
    deltas: Deltas, chosen: int, radius: int, codes: float, batch: float, bits: int = 64
) -> float:
    """Equation 17, corrected: tables on `batch` queries, sorted, and every stored code asked of them."""
    tables = table_count(chosen + radius, chosen)
    made = tables * batch * (deltas.permute + deltas.sort * _depth(batch))
    return made + codes * bphs_seconds(deltas, chosen, radius, batch, bits)


@checked
def batch_rate(batch: float, disk: float, cpu: float) -> float:
    """Equation 18: queries a second of a batch that reads and computes at the same time.

    >>> batch_rate(1e6, 10.0, 20.0)
    50000.0
    """
    slower = max(disk, cpu)
    if slower <= 0:
        raise ConfigError("disk or cpu must be above 0 seconds")
    return batch / slower


@checked
def psm_seconds(deltas: Deltas, flips: int, codes: float, header_bits: float | None = None) -> float:
    """tau'(d), equations 19 and 21: one query of PSM with k = `flips` sets and a header of t bits (default d).

    >>> psm_seconds(SL_2011, 23, 60e6) < bphs_seconds(SL_2011, 2, 3, 60e6)
    True
    """
    flips = check_whole(flips, "flips", 0)
    depth = _depth(codes)
    run = 2.0 ** max(depth - (depth if header_bits is None else _header(header_bits)), 0.0)
    return float(flips * (deltas.flip * log2(max(flips, 1)) + deltas.read + run * deltas.scan))


@checked
def most_flips(header_bits: int, radius: int) -> int:
    """The bound of equation 20 on k: all sets of 1 to h bits of the header; with them nothing is missed.

    >>> most_flips(26, 3)
    2951
    """
    header_bits = check_whole(header_bits, "header_bits", 0, 1 << 10)
    return sum(comb(header_bits, size) for size in range(1, check_whole(radius, "radius", 0, 1 << 10) + 1))


@checked
def psm_bytes(codes: float, header_bits: float | None = None, bits: int = 64) -> float:
    """Omega', equation 22: the codes and the header table; twice the codes if t = d.

    >>> psm_bytes(2**26) / (2**26 * 8)
    2.0
    """
    return float((2.0 ** (_depth(codes) if header_bits is None else _header(header_bits)) + codes) * bits / 8)


@checked
def psm_tables(codes: float, header_bits: float) -> float:
    """T', equation 26: the memory in copies of the codes.

    >>> [round(psm_tables(2**26, t), 4) for t in (22, 23, 24, 25, 26)]
    [1.0625, 1.125, 1.25, 1.5, 2.0]
    """
    return float(1 + 2.0 ** (_header(header_bits) - _depth(codes)))


@checked
def psm_batch_seconds(deltas: Deltas, flips: int, codes: float, batch: float) -> float:
    """Equation 23, corrected: flip sets of `batch` queries once, their lookups in every chunk, and one sort."""
    flips = check_whole(flips, "flips", 0)
    made = batch * flips * deltas.flip * log2(max(flips, 1))
    return made + codes * psm_seconds(deltas, flips, batch) + batch * deltas.sort * _depth(batch)


@checked
def precision(within: int, both: int) -> float:
    """P(h), equation 24: of the pairs `within` the radius, the share that is similar too."""
    return _share(both, within)


@checked
def recall(similar: int, both: int) -> float:
    """R(h), equation 25: of the `similar` pairs, the share that is within the radius too."""
    return _share(both, similar)


def _share(both: int, of: int) -> float:
    if not 0 <= both <= of:
        raise ConfigError(f"both must be from 0 to the number it is a part of, {of}, not {both}")
    return both / of if of else float("nan")


def _header(header_bits: float) -> float:
    if not 0 <= header_bits <= 128:
        raise ConfigError(f"header_bits must be from 0 to 128, not {header_bits!r}")
    return header_bits


def _depth(codes: float) -> float:
    if codes < 1:
        raise ConfigError(f"codes and batch must be at least 1, not {codes!r}")
    return log2(codes)


@lru_cache(maxsize=1)
@checked
def measure_deltas(codes: int = 1 << 20) -> Deltas:
    """The deltas of this machine, in CPU seconds of one core: sorted tables as the papers have them, over so many
    random codes, asked with keys of different lengths."""
    generator = np.random.default_rng(3)
    words = generator.integers(0, 2**64, (codes, 1), dtype=np.uint64)
    asked = generator.integers(0, 2**64, (min(codes, 1 << 15), 1), dtype=np.uint64)

    def seconds(key_bits: int) -> float:
        """The seconds that one query takes in one table with a key of so many bits."""
        mask = np.array([[((1 << key_bits) - 1) << (64 - key_bits)]], np.uint64)
        table = _core.SortedTables(words, 64, 3, mask, np.zeros(1, np.uint8), _core.Seek.binary, 1, None)
        start = process_time()
        table.search(asked, _core.Mode.all, 1)
        return (process_time() - start) / len(asked)

    depth = int(log2(codes))
    whole, short = seconds(depth), seconds(depth - 8)
    run = max(short - whole, 1e-12) / (2**8 - 1)
    start = process_time()
    np.sort(words[:, 0])
    sort = (process_time() - start) / codes / depth
    costs = np.abs(generator.laplace(size=(4096, 64))).astype(np.float32)
    start = process_time()
    _core.heap_flips(costs, min(depth, 32), 3, 32)
    flip = (process_time() - start) / 4096 / 32 / log2(32)
    # A query of one table permutes once and reads `depth` places.
    read = max(whole - run, 1e-12) / (depth + 1)
    return Deltas(permute=read, read=read, scan=run, flip=flip, sort=sort)
