"""Golden fingerprints: bytes that may change only together with a scheme's version.

`python tests/fingerprints/test_golden.py` writes the fixture again; do so on purpose, never to make a test
pass.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from neardup import _core
from neardup.features import Features
from neardup.fingerprints import MinHash, Simhash, digest_texts

FIXTURE = Path(__file__).parent.parent / "fixtures" / "golden_prints.json"
TEXTS = [
    "the quick brown fox jumps over the lazy dog",
    "the quick brown fox jumped over a lazy dog",
    "ein Text in anderer Sprache, mit Zahlen 1 2 3",
    "x",
    "",
]


def sample() -> Features:
    rows = []
    for text in TEXTS:
        words = text.split()
        counts = {_core.hash_bytes(word.encode(), 1): words.count(word) + 0.37 * len(word) for word in words}
        rows.append(dict(sorted(counts.items())))
    return Features(
        np.array([h for row in rows for h in row], dtype=np.uint64),
        np.array([w for row in rows for w in row.values()], dtype=np.float32),
        np.cumsum([0] + [len(row) for row in rows]).astype(np.int64),
        "words sample/v1",
    )


def golden(threads: int = 1) -> dict[str, str]:
    """Every kind of fingerprint of the sample, as hexadecimal bytes by scheme."""

    def entries() -> Iterator[tuple[str, np.ndarray]]:
        features = sample()
        for bits in (32, 64, 128):
            for tie in ("ge", "gt"):
                for gaussian in (False, True):
                    made = Simhash(bits=bits, tie=tie, gaussian=gaussian).compute(features, threads)
                    yield made.scheme, made.codes.astype("<u8")
                    yield f"margins of {made.scheme}", made.margins.astype("<f4")
        made = Simhash(margins="bytes").compute(features, threads)
        yield f"bytes of {made.scheme}", made.margin_bytes
        made = Simhash(margins="ranks").compute(features, threads)
        yield f"ranks of {made.scheme}", made.ranks
        for permutations in ("one", "independent"):
            for values in (100, 128):
                sketches = MinHash(values, permutations).compute(features, threads)
                yield sketches.scheme, sketches.values.astype("<u4")
                for bits in (1, 2, 4, 8, 16):
                    packed = sketches.pack(bits, threads)
                    yield packed.scheme, packed.packed
            code = sketches.code(128)
            yield code.scheme, code.codes.astype("<u8")
        for algorithm in ("sha256", "blake2b-128", "xxh3"):
            digests = digest_texts(TEXTS, algorithm)
            yield digests.scheme, digests.digests

    return {scheme: column.tobytes().hex() for scheme, column in entries()}


def test_golden_fingerprints() -> None:
    assert golden() == json.loads(FIXTURE.read_text())


def test_golden_fingerprints_at_every_level() -> None:
    from reference import prints as reference

    expected = json.loads(FIXTURE.read_text())
    try:
        for level in reference.levels():
            _core.force_cpu(level)
            assert golden(threads=2) == expected
    finally:
        _core.force_cpu(_core.best_cpu())


if __name__ == "__main__":
    FIXTURE.write_text(json.dumps(golden(), indent=1) + "\n")
    print(f"wrote {FIXTURE}", file=sys.stderr)
