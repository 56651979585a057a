"""What reading takes at least: the CPU seconds of parsing and fingerprinting the same bytes, and nothing else.

    python -m benchmarks.pipeline.bound CORPUS.jsonl [METHOD]

Blocks of whole lines are read, parsed and fingerprinted by the kernels that a scan calls, on one thread. Nothing is
digested, filtered, numbered, written or handed from thread to thread.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator

import numpy as np

from neardup import _core
from neardup.config.config import Config
from neardup.fingerprints.one_pass import read_texts
from neardup.pipeline.fit import Prepared

BLOCK = 1 << 20
NO_LIMIT = 1 << 40


def used() -> float:
    """CPU seconds of this process so far."""
    now = resource.getrusage(resource.RUSAGE_SELF)
    return now.ru_utime + now.ru_stime


def blocks(path: str) -> Iterator[np.ndarray[tuple[int], np.dtype[np.uint8]]]:
    """Whole lines, about a megabyte at a time."""
    buffer = bytearray(64 * BLOCK)
    have = 0
    with open(path, "rb", buffering=0) as file:
        while got := file.readinto(memoryview(buffer)[have : have + BLOCK]):
            have += got
            end = buffer.rfind(b"\n", 0, have) + 1
            yield np.frombuffer(buffer, np.uint8, end)
            buffer[: have - end] = buffer[end:have]
            have -= end
    if have:
        yield np.frombuffer(buffer, np.uint8, have)


def bound(path: str, method: str = "minhash") -> dict[str, float]:
    """CPU seconds of parsing alone, and of parsing and fingerprinting."""
    config = Config.of(method)
    prepared = Prepared.untaught(config, 1)
    assert config.method is not None
    parsing = 0.0
    began = used()
    for block in blocks(path):
        start = used()
        _, (data, ends), *_ = _core.read_documents(block, "text", "id", NO_LIMIT, NO_LIMIT)
        parsing += used() - start
        offsets = np.concatenate([[0], ends]).astype(np.int64)
        texts = _core.Texts()
        texts.add_spans(data, offsets[:-1], offsets[1:])
        reading = read_texts(texts, prepared.features, prepared.printer, threads=1)
        assert reading.prints is not None
        config.method.kept(reading.prints, 1)
    return {"parse": round(parsing, 3), "both": round(used() - began, 3)}


if __name__ == "__main__":
    print(json.dumps(bound(*sys.argv[1:])))
