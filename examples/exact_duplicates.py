"""Exact duplicates: pages with the same words, and a file of digests that remembers what has been seen."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import neardup as nd
from neardup import sample
from neardup.fingerprints import digest, expected_false_merges
from neardup.search.disk.digests import DigestFile, write_digests


def main() -> None:
    with gzip.open(sample.path(), "rt", encoding="utf-8") as file:
        pages = [json.loads(line) for line in file]
    texts = [page["text"] for page in pages]
    known, new = texts[:200], texts[200:]

    how = nd.Normalize()  # case, punctuation and white space do not count
    print(f"raw: {copies(digest(texts))} copies; same words: {copies(digest(texts, normalized=how))} copies")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "seen.digests")
        write_digests(path, digest(known, normalized=how))
        with DigestFile(path) as seen:
            hits = seen.lookup(digest(new, normalized=how))
    for query in hits.found.nonzero()[0][:3]:
        row = hits.rows[hits.offsets[query]]
        print(f"  {pages[200 + query]['id']} has the words of {pages[row]['id']}: {pages[row]['title']}")
    print(f"{hits.found.sum()} of {len(new)} new pages had been seen")
    print(f"false merges to expect among 10^9 pages at 128 bits: {expected_false_merges(10**9, 128):.0e}")


def copies(digests: nd.fingerprints.Digests) -> int:
    present = [
        bytes(digest) for digest, empty in zip(digests.digests, digests.empty, strict=True) if not empty
    ]
    return len(present) - len(set(present))


if __name__ == "__main__":
    main()
