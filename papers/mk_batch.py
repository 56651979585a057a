"""Manku, Jain and Das Sarma, section 4.3: how fast stored codes are scanned past tables on a batch of queries."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from neardup.search.codes import to_codes
from neardup.search.disk.batch import BatchBPHS
from neardup.search.disk.compressed import write_compressed
from neardup.search.disk.segment_set import SegmentSet
from neardup.search.disk.segments import write_segment
from neardup.search.hamming.designs import manku
from papers.experiment import CLOSE, Claim, Experiment, Options, Result, table
from papers.timing import RADIUS

MAPPERS, PRINTED_RATE = 200, 1e9
CODES, SECONDS = 2**33, 100
TABLES = (4, 10)


def run(options: Options) -> Result:
    size = options.largest
    generator = np.random.default_rng(43)
    stored = generator.integers(0, 2**64, 1 << size, dtype=np.uint64)
    asked = to_codes(generator.integers(0, 2**64, 1 << (size - 2), dtype=np.uint64))
    rows = []
    with tempfile.TemporaryDirectory() as name:
        files = {}
        for part in (2, 1):
            count = len(stored) // part
            plain, packed = Path(name) / f"{part}.seg", Path(name) / f"{part}.segz"
            write_segment(plain, stored[:count], np.arange(count), "bare64", 64)
            write_compressed(packed, stored[:count], np.arange(count), "bare64", 64)
            files[part] = {"plain": plain, "compressed": packed}
        for tables in TABLES:
            method = BatchBPHS(radius=RADIUS, design=manku(tables), memory="8GB", chunk=1 << 20)
            for kind in ("plain", "compressed"):
                spent = {part: float("inf") for part in files}
                for _ in range(max(1, options.repeats - 1)):
                    for part, paths in files.items():
                        start = time.process_time()
                        with SegmentSet([paths[kind]]) as segments:
                            for _ in method.search(asked, segments):
                                pass
                        spent[part] = min(spent[part], time.process_time() - start)
                # The difference of two lengths leaves out the building of tables on the queries.
                scanned = (len(stored) - len(stored) // 2) / max(spent[1] - spent[2], 1e-9)
                rows.append(
                    {"tables": tables, "file": kind, "codes_per_second": scanned, "seconds": spent[1]}
                )
    return {"log2_stored": size, "queries": len(asked), "rows": rows}


def section(result: Result) -> list[str]:
    published = PRINTED_RATE / MAPPERS
    rows: list[tuple[object, ...]] = [
        (
            f"{row['tables']} tables",
            row["file"],
            f"{row['codes_per_second'] / 1e6:.2f}",
            f"{row['codes_per_second'] * 8 / 1e6:.1f}",
            f"{row['codes_per_second'] * 8 / published:.1f}",
            f"{CODES / SECONDS / row['codes_per_second']:,.0f}",
        )
        for row in result["rows"]
    ]
    head = (
        "design",
        "file",
        "M codes/s",
        "MB/s of codes",
        "times a printed mapper",
        "cores for 8B codes in 100 s",
    )
    return [
        f"Printed: {MAPPERS} mappers scan over {PRINTED_RATE / 1e9:.0f} GB/s together, {published / 1e6:.0f} MB/s "
        f"each, so that a batch of 1M queries is compared with 8 billion codes in under {SECONDS} s. Here: "
        f"{result['queries']:,} uniform queries are in tables by address, and {2 ** result['log2_stored']:,} stored "
        "codes with their rows are read from a file by one thread. Rates are per CPU second and include reading. "
        "They are those of the second half of the file, when the tables have been built.",
        "",
        *table(head, rows, left=2),
    ]


def claims(result: Result) -> list[Claim]:
    published = PRINTED_RATE / MAPPERS
    rates = {(row["tables"], row["file"]): row["codes_per_second"] * 8 for row in result["rows"]}
    same, best = rates[10, "compressed"], max(rates.values())
    return [
        Claim(
            "MK 4.3",
            "how many MB/s of a compressed file one mapper looks up in 10 tables",
            f"over {published / 1e6:.0f}",
            f"{same / 1e6:.0f}; {best / 1e6:.0f} at best, with 4 tables or a plain file",
            "yes" if same >= published else "partly" if same * CLOSE >= published else "no",
            "one core, tables by address; the tables of a million queries are larger than its cache",
        )
    ]


EXPERIMENT = Experiment("mk-batch", "MK section 4.3: batch scan rate", run, section, claims)
