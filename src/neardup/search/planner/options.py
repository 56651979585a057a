"""The ways to search that a plan compares, each with its best header and number of shards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import ceil, comb, log2

from neardup.search.hamming.designs import Design, bphs, compact, covering, covering_sizes, manku
from neardup.search.planner.cost import (
    Cost,
    batch_cost,
    flip_sets_needed,
    native_header_bits,
    psm_cost,
    row_map_bytes,
    scan_cost,
    sorting_seconds,
    tables_cost,
)
from neardup.search.planner.machine import NANO, Machine

__all__ = ["Option", "PlanTask", "options"]

MOST_TABLES = 24
MOST_PROBES = 200_000
MOST_SHARDS = 4096
MOST_CODES = 2**32 - 2  # positions in one set of tables are 32-bit numbers
BATCH = 10_000_000  # queries of one pass over a file, unless memory allows fewer


@dataclass(frozen=True)
class PlanTask:
    """The search to plan: number and width of codes, radius, memory, and the queries."""

    codes: int
    bits: int
    radius: int
    memory_bytes: int | None
    recall: float
    queries: int | None
    matched: float


@dataclass(frozen=True)
class Option:
    """One way to search. Bytes are per shard, row map included; speeds are of all shards together, one core
    each, where every query asks every shard."""

    method: str
    design: str
    tables: int
    header_bits: int
    flip_sets: int
    shards: int
    batch: int
    memory_bytes: int
    build_seconds: float
    queries_per_second: float
    first_per_second: float
    recall: float
    why: str

    @property
    def exact(self) -> bool:
        """Whether it finds every code within the radius."""
        return self.recall == 1.0


@dataclass(frozen=True)
class _Fit:
    """A structure with its best header, in as many shards as the memory makes necessary."""

    header_bits: int
    shards: int
    cost: Cost
    bytes: float


def options(task: PlanTask, machine: Machine) -> list[Option]:
    """Every option for a task, in no order."""
    found = [*_tables(task, machine), _scan(task, machine), _batch_bphs(task, machine)]
    if task.recall < 1 and task.radius > 0:
        found += [*_psm(task, machine), _batch_psm(task, machine)]
    return found


def _designs(bits: int, radius: int) -> Iterator[tuple[str, Design]]:
    for tables in covering_sizes(bits, radius, MOST_TABLES):
        if tables > radius + 1:  # with as many tables as blocks it is BPHS
            yield "covering", covering(bits, radius, tables)
    for chosen in (1, 2, 3):
        if comb(radius + chosen, chosen) <= MOST_TABLES:
            yield "bphs", bphs(bits, radius, radius + chosen, chosen)
    if (bits, radius) == (64, 3):
        yield "bphs", manku(16)
    for tables in range(1, radius + 1):
        design = compact(bits, radius, tables)
        if design.probes(32) <= MOST_PROBES:
            yield "compact", design


def _headers(codes: float, bits: int) -> list[int]:
    """Header bits to try for PSM: buckets of 16 codes down to half a code."""
    middle = round(log2(max(codes, 2)))
    return sorted({min(max(header, 2), 32, bits) for header in range(middle - 4, middle + 2)})


def _best_fit(
    task: PlanTask, cost_of: Callable[[float, int], Cost], headers: Callable[[float], list[int]]
) -> _Fit | None:
    """The header and shards with the most queries a second for each shard, or None if no shards are
    enough."""
    fits = []
    for wanted in headers(task.codes):
        needed = cost_of(task.codes, wanted).bytes + row_map_bytes(task.codes)
        limit = task.memory_bytes or needed
        shards = max(ceil(needed / limit), ceil(task.codes / MOST_CODES))
        # Smaller shards have shorter headers, which imply fewer bits of a code: a few more may be needed.
        while shards <= min(MOST_SHARDS, task.codes):
            codes = task.codes / shards
            found = [(header, cost_of(codes, header)) for header in headers(codes)]
            totals = [(header, cost, cost.bytes + row_map_bytes(codes)) for header, cost in found]
            within = [_Fit(header, shards, cost, total) for header, cost, total in totals if total <= limit]
            fits += within
            if within:
                break
            shards += 1
    return min(fits, key=lambda fit: (fit.shards * fit.cost.all, fit.bytes), default=None)


def _option(
    method: str,
    design: str,
    fit: _Fit,
    why: str,
    *,
    tables: int = 0,
    k: int = 0,
    recall: float = 1.0,
    batch: int = 0,
) -> Option:
    return Option(
        method=method,
        design=design,
        tables=tables,
        header_bits=fit.header_bits,
        flip_sets=k,
        shards=fit.shards,
        batch=batch,
        memory_bytes=ceil(fit.bytes),
        build_seconds=fit.cost.build,
        queries_per_second=1 / fit.cost.all,
        first_per_second=1 / fit.cost.first,
        recall=recall,
        why=why,
    )


def _tables(task: PlanTask, machine: Machine) -> Iterator[Option]:
    for kind, design in _designs(task.bits, task.radius):

        def cost_of(codes: float, header: int, kind: str = kind, design: Design = design) -> Cost:
            return tables_cost(machine, design, codes, kind=kind, matched=task.matched)

        flips = any(table.flips for table in design.tables)

        def headers(codes: float, flips: bool = flips) -> list[int]:
            return [native_header_bits(task.bits, codes, flips=flips)]

        fit = _best_fit(task, cost_of, headers)
        if fit is None:
            continue
        count = len(design.tables)
        if kind == "compact":
            keys = design.probes(fit.header_bits)
            why = f"exact in few bytes: {keys:,} keys a query, most of them ruled out by a presence map"
        else:
            candidates = design.candidates(task.codes / fit.shards, fit.header_bits)
            why = (
                f"exact with one probe in each of {count} tables, about {candidates:,.0f} candidates a query"
            )
        shown = replace(fit, header_bits=min(fit.header_bits, max(design.key_bits)))
        yield _option(kind, design.name, shown, why, tables=count)


def _psm(task: PlanTask, machine: Machine) -> Iterator[Option]:
    def k_for(header: int) -> int:
        return flip_sets_needed(header, task.radius, task.recall)

    def cost_of(codes: float, header: int) -> Cost:
        return psm_cost(machine, task.bits, codes, header, k_for(header), matched=task.matched)

    fit = _best_fit(task, cost_of, lambda codes: _headers(codes, task.bits))
    if fit is not None:
        k = k_for(fit.header_bits)
        why = f"one copy of the codes; the {k} likeliest flips find {task.recall:.0%}, given the margins"
        yield _option("psm", "psm", fit, why, tables=1, k=k, recall=task.recall)


def _scan(task: PlanTask, machine: Machine) -> Option:
    whole = scan_cost(machine, task.bits, task.codes)
    shards = min(task.codes, max(1, ceil(whole.bytes / (task.memory_bytes or whole.bytes))))
    cost = scan_cost(machine, task.bits, task.codes / shards)
    why = "nothing to build: every query reads every code, right for few queries or few codes"
    return _option("scan", "scan", _Fit(0, shards, cost, cost.bytes), why)


# A sixteenth of the memory is for the chunks being read, the rest for the batch of queries.
def _batch(task: PlanTask, per_query: float) -> tuple[int, float]:
    budget = float(task.memory_bytes or 2**30)
    batch = int(min(budget * 15 / 16 / per_query, 2**32 - 1, task.queries or BATCH, max(task.codes, 1)))
    batch = max(batch, 1)
    return batch, batch * per_query + min(budget / 16, task.codes * task.bits / 8)


def _batch_bphs(task: PlanTask, machine: Machine) -> Option:
    """Tables on the queries while the file streams by; each stored code is a query to them (Manku et al.
    3.3)."""
    sizes = covering_sizes(task.bits, task.radius, MOST_TABLES)
    if sizes:
        tables = min(sizes, key=lambda count: abs(sizes[count] - log2(BATCH)))
        design = covering(task.bits, task.radius, tables)
    else:  # a radius beyond all but the plainest design
        tables = task.radius + 1
        design = bphs(task.bits, task.radius, tables, 1)
    batch, total = _batch(task, 8.0 * tables + task.bits / 8 + 8)
    header = native_header_bits(task.bits, batch, flips=False)
    online = tables_cost(machine, design, batch, kind="covering", matched=0.0)
    cost = batch_cost(machine, task.bits, task.codes, batch, online.all, online.build)
    why = f"tables on {batch:,} queries while the file streams by; memory does not grow with the file"
    fit = _Fit(header, 1, cost, total)
    return _option("batch-bphs", f"batch {design.name}", fit, why, tables=tables, batch=batch)


def _batch_psm(task: PlanTask, machine: Machine) -> Option:
    """Sorted chunks as large as the batch, each probed by every query still open (Sood, Loguinov 6.3)."""
    batch, total = _batch(task, 16 + task.bits / 2)
    header = _headers(batch, task.bits)[-1]
    k = flip_sets_needed(header, task.radius, task.recall)
    online = psm_cost(machine, task.bits, batch, header, k, matched=0.0)
    chunk = machine.per_built * NANO  # each stored code joins its chunk's header table once
    flips = batch * (machine.per_ranking + k * machine.per_flip_set) * NANO
    extra = flips + sorting_seconds(machine, batch)
    cost = batch_cost(machine, task.bits, task.codes, batch, online.all + chunk, extra, leaving=task.matched)
    why = f"sorted chunks of {batch:,} codes, each probed by every query still open; needs margins"
    fit = _Fit(header, 1, cost, total)
    return _option("batch-psm", "batch psm", fit, why, tables=1, k=k, recall=task.recall, batch=batch)
