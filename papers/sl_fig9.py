"""Sood and Loguinov, figure 9: throughput of batches against stored files, by batch size and by stored codes."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from neardup.fingerprints import Codes
from neardup.search.answers import Mode
from neardup.search.codes import to_codes
from neardup.search.disk.batch import BatchBPHS, BatchPSM
from neardup.search.disk.segment_set import SegmentSet
from neardup.search.disk.segments import write_segment
from neardup.search.hamming.designs import manku
from neardup.search.hamming.tables import BPHS
from neardup.search.psm.flips import HeapFlips
from papers.experiment import Claim, Experiment, Options, Result, agrees, table
from papers.plots import COLOURS, counts, legend, panels, save
from papers.timing import RADIUS, flips_for, workload

LINES = ("BPHS", "PSM all", "PSM first", "our BPHS")
NAMES = {"BPHS": "BPHS as printed", "our BPHS": "our BPHS (tables by address)"}
AT_LARGEST = (6.8, 13.2)
"""PSM over BPHS at the largest batch, all and first, by the printed speeds."""
PRINTED = {"BPHS": [55], "PSM all": [70, 373], "PSM first": [99, 727]}
"""Thousands of queries a second, from the smallest to the largest batch."""


def throughput(
    queries: Codes, stored: SegmentSet, method: BatchBPHS | BatchPSM, mode: Mode, repeats: int
) -> Result:
    """Queries a second of one batch against the whole stored set, in CPU seconds, reading included."""
    best, found = float("inf"), 0
    for _ in range(repeats):
        start = time.process_time()
        found = sum(len(hits) for hits in method.search(queries, stored, mode=mode))
        best = min(best, time.process_time() - start)
    return {"rate": len(queries) / best, "hits": found}


def written(queries: Codes, stored: Codes, repeats: int) -> Result:
    """The same with BPHS as printed: sorted tables on the queries, a binary search in each for every stored code."""
    best, found = float("inf"), 0
    for _ in range(repeats):
        start = time.process_time()
        found = len(BPHS(tables=4, lookup="binary").index(queries).search(stored))
        best = min(best, time.process_time() - start)
    return {"rate": len(queries) / best, "hits": found}


def run(options: Options) -> Result:
    most = options.largest
    repeats = max(1, options.repeats - 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        middle = most - 4

        def case(stored_log2: int, batch_log2: int) -> Result:
            work = workload(stored_log2, 1 << batch_log2)
            path = folder / f"{stored_log2}-{batch_log2}.seg"
            write_segment(path, work.codes, np.arange(len(work.codes)), "bare64", 64)
            queries = replace(to_codes(work.queries), margins=work.margins)
            chunk = len(queries)
            psm = BatchPSM(
                radius=RADIUS,
                probes=flips_for(batch_log2),
                header=batch_log2,
                flips=HeapFlips(),
                memory="8GB",
                chunk=chunk,
            )
            blocks = BatchBPHS(radius=RADIUS, design=manku(4), memory="8GB", chunk=chunk)
            row: Result = {"log2_stored": stored_log2, "log2_batch": batch_log2}
            with SegmentSet([path]) as stored:
                row["BPHS"] = written(to_codes(work.queries), to_codes(work.codes), repeats)
                row["our BPHS"] = throughput(queries, stored, blocks, "all", repeats)
                row["PSM all"] = throughput(queries, stored, psm, "all", repeats)
                row["PSM first"] = throughput(queries, stored, psm, "first", repeats)
            path.unlink()
            return row

        by_batch = [case(most, batch) for batch in range(12, most - 2, 2)]
        by_stored = [case(stored, middle) for stored in range(middle, most + 1, 2)]
    return {"by_batch": by_batch, "by_stored": by_stored}


def draw(result: Result) -> None:
    figure, axes = panels(2, width=5.0, height=3.7)
    parts = (
        (axes[0], "by_batch", "log2_batch", "m = log2 of the batch"),
        (axes[1], "by_stored", "log2_stored", "d = log2 of stored codes"),
    )
    for axis, part, key, label in parts:
        rows = result[part]
        for colour, name in zip(COLOURS, LINES, strict=False):
            axis.plot(
                [row[key] for row in rows],
                [row[name]["rate"] for row in rows],
                color=colour,
                marker="o",
                label=NAMES.get(name, name),
            )
        axis.set(
            yscale="log", xlabel=label, ylabel="queries a second (log)", xticks=[row[key] for row in rows]
        )
        counts(axis.yaxis)
    axes[0].set(title=f"by batch size, {2 ** result['by_batch'][0]['log2_stored'] / 1e6:.1f}M stored")
    axes[1].set(title=f"by stored codes, batch of {2 ** result['by_stored'][0]['log2_batch'] / 1e3:.0f}K")
    legend(figure, axes)
    save(figure, "sl-fig9")


def section(result: Result) -> list[str]:
    def lines(part: str, key: str) -> list[str]:
        rows: list[tuple[object, ...]] = [
            (
                f"{2 ** row[key]:,}",
                *(f"{row[name]['rate'] / 1e3:,.1f}" for name in LINES),
                f"{row['PSM all']['rate'] / row['BPHS']['rate']:.2f}",
                f"{row['PSM first']['rate'] / row['BPHS']['rate']:.2f}",
                f"{row['PSM all']['hits'] / row['BPHS']['hits']:.3f}",
            )
            for row in result[part]
        ]
        size = "batch" if part == "by_batch" else "stored"
        return table(
            (
                size,
                "BPHS K/s",
                "PSM all K/s",
                "PSM first K/s",
                "our BPHS K/s",
                "all over BPHS",
                "first over BPHS",
                "recall",
            ),
            rows,
        )

    return [
        "A batch of m queries is searched in a sorted file of uniform codes. BPHS builds its 4 tables from the "
        "queries and looks up each code of the file in them. PSM reads m codes at a time, builds a header table "
        "from them with t = log2 m, and looks up all queries in it. Printed, for 60M stored codes: BPHS remains at "
        f"{PRINTED['BPHS'][0]}K/s, PSM rises from {PRINTED['PSM all'][0]} to {PRINTED['PSM all'][1]}K/s "
        f"(all) and from {PRINTED['PSM first'][0]} to {PRINTED['PSM first'][1]}K/s (first). BPHS is as "
        "printed, with sorted tables in memory; PSM is the library's batch search with a heap of flips; "
        "`our BPHS` has tables by address. All rates are per CPU second and include reading.",
        "",
        "![Batch throughput by batch size and by stored codes](papers/sl-fig9.svg)",
        "",
        *lines("by_batch", "log2_batch"),
        *lines("by_stored", "log2_stored"),
        "Errata E8: a δ_S is missing in equation 17 and a k in equation 23. E11: by the printed curves PSM is "
        "6.8 and 13.2 times as fast as BPHS at 10M.",
        "",
    ]


def claims(result: Result) -> list[Claim]:
    batches, stored = result["by_batch"], result["by_stored"]
    rise = [batches[-1][name]["rate"] / batches[0][name]["rate"] for name in LINES]
    ratio = [batches[-1][name]["rate"] / batches[-1]["BPHS"]["rate"] for name in ("PSM all", "PSM first")]
    ours = batches[-1]["our BPHS"]["rate"] / batches[-1]["PSM all"]["rate"]
    spread = {}
    for name in ("BPHS", "PSM all"):
        work = [row[name]["rate"] * 2 ** row["log2_stored"] for row in stored[-2:]]
        spread[name] = max(work) / min(work)
    return [
        Claim(
            "SL fig. 9a",
            "PSM gains from larger batches and BPHS does not (speed of the largest over the smallest batch)",
            "BPHS 1, PSM 5.3 and 7.3",
            f"BPHS {rise[0]:.1f}, PSM {rise[1]:.1f} and {rise[2]:.1f}",
            "yes" if rise[1] > 2 and rise[0] < 1.5 else "partly" if rise[1] > 2 else "no",
            "each batch reads the whole file once, so BPHS gains too, as long as the tables of the queries fit "
            "in the cache",
        ),
        Claim(
            "SL fig. 9a",
            "how many times faster PSM is than BPHS at the largest batch, modes all and first",
            " and ".join(map(str, AT_LARGEST)),
            f"{ratio[0]:.1f} and {ratio[1]:.1f}",
            agrees(ratio, AT_LARGEST, "high"),
            "half of the queries have no match, so mode first cannot stop early for them; BPHS with tables by "
            f"address has {ours:.1f} times the speed of PSM all",
        ),
        Claim(
            "SL fig. 9b",
            "throughput falls as 1/n (rate times n, last doublings)",
            "constant",
            f"within a factor {spread['BPHS']:.2f} for BPHS, {spread['PSM all']:.2f} for PSM",
            agrees(list(spread.values()), [1, 1]),
            "every stored code is read once for each batch; the flips and tables of the batch cost time as well, "
            "which matters more for short files",
        ),
    ]


EXPERIMENT = Experiment("sl-fig9", "SL figure 9: batches", run, section, claims, draw)
