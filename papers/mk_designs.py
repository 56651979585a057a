"""Manku, Jain and Das Sarma, example 3.1 and section 3.1.2: the table designs, and how many tables a prefix needs."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.search.hamming.designs import Design, manku
from neardup.search.hamming.optimiser import fewest_tables, longest_prefix, tables_needed
from neardup.search.hamming.tables import design_arrays, extract_bits
from papers import corpus
from papers.experiment import Claim, Experiment, Options, Result, table
from papers.timing import RADIUS

TABLES = (20, 16, 10, 4)
MET = {20: "8", 16: "64", 10: "512", 4: "256K"}
CODES = 33
PREFIXES = (16, 20, 25, 26, 28, 30, 32, 33)
QUERIES = 20_000


def shared(design: Design, stored: NDArray[np.uint64], queries: NDArray[np.uint64]) -> float:
    """Stored codes that share a query's key, mean over queries and tables."""
    total = 0
    for entry in design.tables:
        keys = np.sort(extract_bits(stored[:, None], entry.mask))
        asked = extract_bits(queries[:, None], entry.mask)
        total += int((np.searchsorted(keys, asked, "right") - np.searchsorted(keys, asked, "left")).sum())
    return total / (len(design.tables) * len(queries))


def run(options: Options) -> Result:
    generator = np.random.default_rng(31)
    size = min(options.largest, 20)
    uniform = generator.integers(0, 2**64, 1 << size, dtype=np.uint64)
    asked = generator.integers(0, 2**64, QUERIES, dtype=np.uint64)
    real = corpus.real().codes
    text = generator.permutation(real.codes[~real.empty, 0])
    half = len(text) // 2
    near = _core.scan(
        np.ascontiguousarray(text[:half, None]), np.ascontiguousarray(text[half:, None]), 64, RADIUS, False, 2
    )
    rows = {}
    for count in TABLES:
        design = manku(count)
        masks, flips = design_arrays(design)
        exact = _core.HammingTables(np.ascontiguousarray(text[:half, None]), 64, RADIUS, masks, flips)
        found = exact.search(np.ascontiguousarray(text[half:, None]))
        rows[str(count)] = {
            "key_bits": sorted(set(design.key_bits)),
            "met_uniform": shared(design, uniform, asked),
            "expected_uniform": float(np.mean([2.0 ** (size - p) for p in design.key_bits])),
            "met_text": shared(design, text[:half], text[half:]),
            "expected_text": float(np.mean([half / 2.0**p for p in design.key_bits])),
            "pairs": len(found[0]),
            "as_scan": bool(
                np.array_equal(np.sort(found[0]), np.sort(near[0])) and len(found[0]) == len(near[0])
            ),
            "fewest_for_its_prefix": len(fewest_tables(64, RADIUS, min(design.key_bits)).tables),
            "longest_prefix": min(longest_prefix(64, RADIUS, count).key_bits),
        }
    return {
        "log2_uniform": size,
        "text": half,
        "rows": rows,
        "tables_needed": {str(p): tables_needed(64, RADIUS, p) for p in PREFIXES},
    }


def section(result: Result) -> list[str]:
    rows: list[tuple[object, ...]] = []
    for count in TABLES:
        v = result["rows"][str(count)]
        expected = 2.0 ** (CODES - v["key_bits"][0])
        rows.append(
            (
                count,
                "-".join(
                    map(
                        str,
                        (v["key_bits"][0], v["key_bits"][-1]) if len(v["key_bits"]) > 1 else v["key_bits"],
                    )
                ),
                MET[count],
                f"{expected:,.0f}",
                f"{v['met_uniform']:.3g} ({v['expected_uniform']:.3g})",
                f"{v['met_text']:.3g} ({v['expected_text']:.3g})",
                "yes" if v["as_scan"] else "NO",
                v["fewest_for_its_prefix"],
                v["longest_prefix"],
            )
        )
    head = (
        "tables",
        "key bits",
        "compared, printed",
        f"at 2^{CODES}",
        f"at 2^{result['log2_uniform']} uniform (expected)",
        f"at {result['text']:,} of real text (if uniform)",
        "finds what a scan finds",
        "fewest tables for this key",
        "longest key with as many",
    )
    needed = [(p, n) for p, n in result["tables_needed"].items()]
    return [
        "With how many codes a probe is compared, for 64 bits and radius 3. The paper prints this for 2^34 codes, "
        "which is twice 8 billion (erratum E17). For real text, one half of a collection is stored and the other "
        "half asks, so that a query shares keys with the other documents of its family.",
        "",
        *table(head, rows),
        "The recursion X(64, 3, d) for keys of at least p bits (E19: r > k and d ≤ τ):",
        "",
        *table(("p at least", *(p for p, _ in needed)), [("tables", *(n for _, n in needed))]),
        "Errata E18: probing all codes within 3 bits takes "
        f"{sum(comb(64, i) for i in range(1, RADIUS + 1)):,} probes and the code itself, not C(64, 3) = "
        f"{comb(64, RADIUS):,}.",
        "",
    ]


def claims(result: Result) -> list[Claim]:
    rows = result["rows"]
    fits = all(
        0.5 < v["met_uniform"] / v["expected_uniform"] < 2
        for v in rows.values()
        if v["expected_uniform"] > 0.01
    )
    exact = all(v["as_scan"] for v in rows.values())
    four, ten = rows["4"], rows["10"]
    return [
        Claim(
            "MK ex. 3.1",
            "a probe is compared with 2^(d-p) codes, and nothing within radius 3 is missed",
            "by design",
            f"uniform codes, 4 tables: {four['met_uniform']:.3g} codes, {four['expected_uniform']:.3g} expected; "
            f"all pairs found: {'yes' if exact else 'no'}",
            "yes" if fits and exact else "no",
            f"on real text a probe is compared with {four['met_text'] / four['expected_text']:.0f} times as many codes "
            f"as on uniform codes with 4 tables, and {ten['met_text'] / ten['expected_text']:,.0f} times with 10 "
            "tables: they are its own family",
        )
    ]


EXPERIMENT = Experiment("mk-designs", "MK example 3.1: table designs", run, section, claims)
