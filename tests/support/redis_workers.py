"""Processes that add similar pages to a shared index at the same time."""

from __future__ import annotations

import multiprocessing
from typing import Any

import numpy as np

import neardup as nd

CONFIG = nd.Config(fingerprint=nd.Simhash(), search=nd.search.Compact(3))


def page_codes(pages: int, worker: int, order: np.ndarray) -> nd.fingerprints.Codes:
    """A code for each page: far from those of other pages, and at most a bit away from the other workers' of it."""
    centres = np.random.default_rng(5).integers(0, 2**64, pages, dtype=np.uint64)
    words = centres ^ np.uint64(1 << worker)
    return nd.fingerprints.Codes("bare64", np.zeros(pages, bool), 64, words[order].reshape(-1, 1))


def add_pages(address: str, worker: int, pages: int, size: int, barrier: Any, results: Any) -> None:
    """Add all pages in batches, in an order of this worker's own; report the answer to each."""
    order = np.random.default_rng(worker).permutation(pages)
    if worker % 2:
        order = np.arange(pages)  # half of them add the same page at once
    codes = page_codes(pages, worker, order)
    answers = []
    try:
        with nd.Index(address, CONFIG, scheme="bare64") as index:
            barrier.wait(60)
            for start in range(0, pages, size):
                part = slice(start, start + size)
                prints = nd.fingerprints.Codes("bare64", codes.empty[part], 64, codes.codes[part])
                ids = [f"{page}/{worker}" for page in order[part].tolist()]
                answers += [(a.id, a.new, a.duplicate_of) for a in index.seen_prints(ids, prints)]
        results.put((worker, answers, None))
    except BaseException as error:
        results.put((worker, answers, repr(error)))


def run_workers(address: str, workers: int, pages: int, size: int) -> list[tuple[str, bool, str | None]]:
    """The answers that all workers got."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(workers), context.Queue()
    processes = [
        context.Process(target=add_pages, args=(address, worker, pages, size, barrier, results))
        for worker in range(workers)
    ]
    for process in processes:
        process.start()
    found = [results.get(timeout=600) for _ in processes]
    for process in processes:
        process.join(30)
    assert [error for _, _, error in found if error is not None] == []
    return [answer for _, answers, _ in found for answer in answers]


def check_pages(answers: list[tuple[str, bool, str | None]], workers: int, pages: int) -> None:
    """Each page was new exactly once, and all other workers got that one as its keeper."""
    assert len(answers) == workers * pages
    first: dict[str, str] = {}
    for id, new, _ in answers:
        if new:
            page = id.split("/")[0]
            assert page not in first, f"{first[page]} and {id} were both told that they are new"
            first[page] = id
    assert len(first) == pages
    assert all(new or first[id.split("/")[0]] == keeper for id, new, keeper in answers)
