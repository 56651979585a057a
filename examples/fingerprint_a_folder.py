"""Fingerprint every text file of a folder and list those that are near each other.

python examples/fingerprint_a_folder.py [folder]; without a folder, a few pages of the bundled sample are used.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path

import neardup as nd
import neardup.compare.similarity as similarity
from neardup import sample


def main() -> None:
    if len(sys.argv) > 1:
        report(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as name, gzip.open(sample.path(), "rt", encoding="utf-8") as pages:
        for page in map(json.loads, list(pages)[:120]):
            Path(name, f"{page['id']}.txt").write_text(page["text"], encoding="utf-8")
        report(Path(name))


def report(folder: Path) -> None:
    files = sorted(path for path in folder.rglob("*.txt") if path.is_file())
    texts = [path.read_bytes() for path in files]  # bytes are read as UTF-8; what is ill-formed is replaced
    words = nd.Words(weights=nd.Idf.fit(texts))
    codes = nd.fingerprint(texts, words, nd.Simhash(64, margins="none"), threads=2)
    print(f"{len(files)} files, {codes.empty.sum()} without words")
    for path, code in list(zip(files, codes.codes[:, 0].tolist(), strict=True))[:3]:
        print(f"  {code:016x}  {path.name}")

    near = nd.search.Join(radius=8).candidates(codes)
    exact = similarity.cosine(words.extract(texts), near.left, near.right)
    print(f"{len(near)} pairs within 8 bits; the most similar by TF-IDF cosine:")
    for i in (-exact).argsort(kind="stable")[:5]:
        left, right = files[near.left[i]], files[near.right[i]]
        print(f"  {exact[i]:.3f}  {near.distance[i]} bits  {left.name}  {right.name}")


if __name__ == "__main__":
    main()
