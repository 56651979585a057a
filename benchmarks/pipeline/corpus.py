"""The corpora: JSONL of id and text, where the id is the row, with pairs whose similarity is known. Built once, cached.

The same bytes on every machine: the generator, the order and the samples depend on fixed seeds alone.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.corpus import CACHE, data, documents
from benchmarks.pipeline.truth import Truth, measured

__all__ = ["Corpus", "build"]

VERSION = 1
LEAST = 0.6  # pairs below are of no use at a threshold of .8
PLANTED, NATURAL = 3000, 300  # pairs kept: in all, and of each set


@dataclass(frozen=True)
class Corpus:
    """A built corpus in its folder."""

    name: str
    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / "corpus.jsonl"

    @cached_property
    def facts(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "facts.json").read_text("utf-8")))

    @cached_property
    def truth(self) -> Truth:
        with np.load(self.folder / "truth.npz") as columns:
            return Truth(**columns)

    def texts(self, rows: Iterable[int]) -> dict[int, str]:
        """The texts of some rows."""
        wanted = set(rows)
        with self.path.open("rb") as lines:
            return {row: json.loads(line)["text"] for row, line in enumerate(lines) if row in wanted}

    def first(self, megabytes: float) -> Corpus:
        """The first part of it, whole documents, with the pairs inside."""
        part = Corpus(
            f"{self.name}, first {megabytes:g} MB", self.folder.with_name(f"{self.folder.name}-{megabytes:g}")
        )
        if not (part.folder / "facts.json").exists():
            part.folder.mkdir(parents=True, exist_ok=True)
            size = rows = 0
            with self.path.open("rb") as lines, part.path.open("wb") as out:
                for line in lines:
                    if size >= megabytes * 1e6:
                        break
                    size, rows = size + out.write(line), rows + 1
            truth = self.truth
            inside = (truth.left < rows) & (truth.right < rows)
            save(part, Truth(*(column[inside] for column in truth.columns())))
        return part


def build(name: str, settings: dict[str, Any], share: float = 1.0) -> Corpus:
    """The corpus of these settings from the cache, or made now; a `share` of its documents for a quick look."""
    settings = settings | {"documents": max(int(settings["documents"] * share), 100)}
    mark = hashlib.sha256(json.dumps([VERSION, share, settings], sort_keys=True).encode()).hexdigest()[:10]
    corpus = Corpus(name, CACHE / "pipeline" / f"{name}-{mark}")
    if (corpus.folder / "facts.json").exists():
        return corpus
    parts = corpus.folder.with_suffix(".parts")
    for folder in (corpus.folder, parts):
        shutil.rmtree(folder, ignore_errors=True)
    corpus.folder.mkdir(parents=True)
    generate(settings, parts)
    if settings["kind"] == "real":
        pairs = write_real(corpus, settings, parts, share)
    else:
        write_grown(corpus, parts)
        pairs = sampled(planted(parts, lambda place: place), PLANTED)
    shutil.rmtree(parts)
    save(corpus, measured(pairs, corpus.texts(row for pair in pairs for row in pair)))
    return corpus


def generate(settings: dict[str, Any], parts: Path) -> None:
    """Run the generator that comes with the data."""
    sets = [str(data() / each / "docs.jsonl.gz") for each in settings["sets"]]
    command = [sys.executable, str(data() / "gen_corpus.py"), "--in", *sets, "--out", str(parts)]
    command += ["--docs", str(settings["documents"]), "--jobs", "2"]
    if settings["kind"] == "real":  # sentences as they are, in documents of a natural length
        command += ["--mode", "shuffle", "--oov", "0", "--median", str(settings["median"])]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


def lines_of(parts: Path) -> Iterator[bytes]:
    for part in sorted(parts.glob("part-*.jsonl")):
        with part.open("rb") as lines:
            yield from lines


def write_grown(corpus: Corpus, parts: Path) -> None:
    with corpus.path.open("wb") as out:
        for part in sorted(parts.glob("part-*.jsonl")):
            with part.open("rb") as lines:
                shutil.copyfileobj(lines, out, 1 << 20)


def write_real(corpus: Corpus, settings: dict[str, Any], parts: Path, share: float) -> list[tuple[int, int]]:
    """Real and put-together documents in one random order; gives the pairs to look at."""
    names: list[tuple[str, str]] = []
    lines: list[bytes] = []
    for name in settings["sets"]:
        found = list(documents(name))
        for id_, text in found[: max(int(len(found) * share), 10)]:
            names.append((name, id_))
            lines.append(
                json.dumps({"text": text}, ensure_ascii=False).encode("utf-8", "replace")[1:] + b"\n"
            )
    natural = len(names)
    opening = len(b'{"id":"d000000000",')
    lines += (line[opening:] for line in lines_of(parts))
    order = list(range(len(lines)))
    random.Random(20240601).shuffle(order)
    place = np.empty(len(order), np.int64)
    with corpus.path.open("wb") as out:
        for row, line in enumerate(order):
            out.write(b'{"id":"d%09d",' % row + lines[line])
            place[line] = row
    rows = {name: int(place[line]) for line, name in enumerate(names)}
    pairs = sampled(planted(parts, lambda line: int(place[natural + line])), PLANTED)
    for name in settings["sets"]:
        pairs += sampled(known(name, rows), NATURAL)
    return pairs


def planted(parts: Path, row: Any) -> list[tuple[int, int]]:
    """Seeds and their copies, as far as they are similar."""
    seeds: dict[str, int] = {}
    copies: list[tuple[str, int]] = []
    with (parts / "truth.tsv").open(encoding="utf-8") as lines:
        for one in csv.DictReader(lines, delimiter="\t"):
            place = row(int(one["id"][1:]))
            if one["role"] == "seed":
                seeds[one["cluster"]] = place
            elif float(one["jaccard5"]) >= LEAST:
                copies.append((one["cluster"], place))
    return [(seeds[cluster], place) for cluster, place in copies]


def known(name: str, rows: dict[tuple[str, str], int]) -> list[tuple[int, int]]:
    """Pairs of a labelled set that brute force found similar."""
    found = []
    with gzip.open(data() / name / "exact_pairs.tsv.gz", "rt", encoding="utf-8") as lines:
        next(lines)
        for left, right, similarity, *_ in csv.reader(lines, delimiter="\t"):
            if float(similarity) >= LEAST and (name, left) in rows and (name, right) in rows:
                found.append((rows[name, left], rows[name, right]))
    return found


def sampled(pairs: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    return random.Random(7).sample(pairs, most) if len(pairs) > most else pairs


def save(corpus: Corpus, truth: Truth) -> None:
    """The pairs, and last the facts: a folder without facts is not whole."""
    np.savez(corpus.folder / "truth.npz", **dict(zip(Truth.NAMES, truth.columns(), strict=True)))
    digest, rows = hashlib.sha256(), 0
    with corpus.path.open("rb") as lines:
        while block := lines.read(1 << 22):
            digest.update(block)
            rows += block.count(b"\n")
    facts = {"documents": rows, "bytes": corpus.path.stat().st_size, "sha256": digest.hexdigest()}
    (corpus.folder / "facts.json").write_text(json.dumps(facts), "utf-8")
