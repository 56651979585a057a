"""Spark's answer beside the local pipeline's, on every corpus in NEARDUP_DATA and one generated from them, in 1, 2 and
8 partitions: python -m benchmarks.spark.same

Clusters, keepers, similarities and verified pairs must all be equal. Rows are kept one by one in
results/spark-same.json, and those that are there are not run again. Pages are given to Spark as they are in two
partitions, and in one and eight as the texts taken out of them once. The table in docs/how-to/spark.md is made of
the rows.

    --sets NAME ...    some sets only
    --again            run the rows that are there again
    --table            only the table, of the rows that are there
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks import machine
from benchmarks.corpus import data
from benchmarks.pipeline.corpus import build
from tools.page_part import write_part

import neardup as nd
from neardup.web import HtmlExtractor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results" / "spark-same.json"
PAGE = HERE.parents[1] / "docs" / "how-to" / "spark.md"
PARTITIONS = (1, 2, 8)
GROWN = "generated"
LOOSE = nd.Config.of(threshold=0.8, floor=0.7)
CONFIGS = {
    "electron_i18n_rev": nd.Config.of("bits", threshold=0.7, clusters="components"),
    "gov2_human": nd.Config.of("simhash", threshold=0.6),
    "k8s_docs_rev": LOOSE,
    "licenses": nd.Config(),
    "pydoc_html_versions": LOOSE,
    "tldr_short": nd.Config.of(threshold=0.5),
    "udhr_multilingual": nd.Config.of(threshold=0.5),
    "wiki_html_variants": LOOSE,
}
"""What each set is looked at with; others, and what is generated, with the defaults."""

QUICK_SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    # Java's start, and compiling a plan, take longer than running it on so little.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.log.level": "ERROR",
}
"""Settings of a Spark in this process that is to be quick on a few thousand documents."""
Json = dict[str, Any]
Said = dict[str, tuple[Any, ...]]


def quick_session(folder: Path, settings: dict[str, str] | None = None) -> SparkSession:
    """Spark on two threads of this process, with its temporary files in a folder; there can be only one."""
    from neardup.spark import start

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    own = {"spark.local.dir": str(folder / "local"), "spark.sql.warehouse.dir": str(folder / "warehouse")}
    shuffled = {"spark.sql.shuffle.partitions": "4"}
    return start("local[2]", "neardup tests", QUICK_SETTINGS | own | shuffled | (settings or {}))


# What both must report.


def said_here(result: nd.Result) -> Said:
    """What the local pipeline says of each document: kept, cluster, keeper, similarity."""
    ids, clusters = result.ids, result.clusters
    rejected = {one.row for one in result.rejected}
    return {
        ids[row]: (
            bool(result.cut.kept[row]),
            ids[clusters.labels[row]],
            ids[clusters.keeper[row]],
            _rounded(float(clusters.similarity[row])),
        )
        for row in range(len(ids))
        if row not in rejected
    }


def said_by(findings: nd.Findings) -> Said:
    """The same of findings, those of a reference left out."""
    made, own = findings.cut(), range(findings.reference, len(findings))
    ids, clusters = findings.ids(np.arange(len(findings))), made.clusters
    return {
        ids[row]: (
            bool(made.kept[row]),
            ids[clusters.labels[row]],
            ids[clusters.keeper[row]],
            _rounded(float(clusters.similarity[row])),
        )
        for row in own
    }


def said_there(stages: Any) -> Said:
    """The same of a run on Spark that decides on the cluster."""
    rows = stages.decisions().toArrow().to_pylist()
    assert len({row["id"] for row in rows}) == len(rows)
    return {r["id"]: (r["kept"], r["cluster"], r["keeper"], _rounded(r["similarity"])) for r in rows}


def _rounded(similarity: float) -> float | None:
    return None if math.isnan(similarity) else similarity


def pairs_of(found: nd.Result | nd.Findings) -> set[tuple[str, str, float]]:
    """Verified pairs by id."""
    pairs = found.pairs
    ids = found.ids if isinstance(found, nd.Result) else found.ids(np.arange(len(found)))
    return {
        (ids[a], ids[b], s)
        for a, b, s in zip(pairs.left, pairs.right, pairs.similarity.tolist(), strict=True)
    }


# The corpora.


@dataclass(frozen=True)
class Given:
    """A corpus as JSON lines that Spark can cut: its texts, and its pages where it is of pages."""

    name: str
    config: nd.Config
    texts: Path
    pages: Path | None = None

    def path(self, partitions: int) -> Path:
        """What is read in so many partitions."""
        return self.pages if self.pages is not None and partitions == 2 else self.texts


def names_of(folder: Path) -> list[str]:
    """The sets that lie in a folder of labelled corpora."""
    return sorted(path.parent.name for path in folder.glob("*/docs.jsonl.gz"))


def given(name: str, source: Path, folder: Path, *, extract: bool = True) -> Given:
    """A set of `source`, written to `folder`; texts are taken out of pages once, or not at all."""
    config, texts = CONFIGS.get(name, nd.Config()), folder / f"{name}.jsonl"
    with gzip.open(source / name / "docs.jsonl.gz", "rb") as file:
        data = file.read()
    rows = [json.loads(line) for line in data.splitlines()]
    if "html" not in rows[0]:
        texts.write_bytes(data)
        return Given(name, config, texts)
    pages = folder / f"{name}.html.jsonl"
    pages.write_bytes(data)
    if not extract:
        return Given(name, config, texts, pages)
    with HtmlExtractor(config.html, workers=2) as extractor:
        found = extractor.extract([row["html"] for row in rows]).texts
    with texts.open("w", encoding="utf-8") as out:
        for row, text in zip(rows, found, strict=True):
            if text is not None:
                out.write(json.dumps({"id": row["id"], "text": text}, ensure_ascii=False) + "\n")
    return Given(name, config, texts, pages)


def grown(documents: int) -> Given:
    """A corpus that the generator beside the sets makes, a fifth of it edited copies."""
    corpus = build(f"same-{documents}", {"kind": "grown", "sets": ["k8s_docs_rev"], "documents": documents})
    return Given(GROWN, nd.Config(), corpus.path)


# The rows.


def compared(one: Given, partitions: int, spark: SparkSession, result: nd.Result, run: Path) -> Json:
    """One run on Spark, and whether it says what the local pipeline says."""
    from neardup.spark import scan
    from neardup.spark.findings import read_origin

    began = time.perf_counter()
    path = one.path(partitions)
    found = scan(str(path), run, one.config, spark=spark, partitions=partitions)
    here, there = said_here(result), said_by(found)
    seconds = time.perf_counter() - began
    return {
        "set": one.name,
        "partitions": partitions,
        "given": "pages" if path == one.pages else "texts",
        "documents": len(here),
        "pieces": len(read_origin(found)["pieces"]),
        "clusters": len(result.clusters.sizes()[0]),
        "gone": result.documents - int(result.cut.kept.sum()),
        "pairs": len(result.pairs),
        "capped": result.found.capped,
        "same_clusters": here == there,
        "same_pairs": pairs_of(result) == pairs_of(found),
        "seconds": round(seconds, 1),
    }


def rows_of(names: list[str], kept: list[Json], documents: int, again: bool) -> Iterator[Json]:
    """The rows that are not kept yet; the local answer is asked for once for each input."""
    source = data()
    wanted = {
        name: [
            count
            for count in PARTITIONS
            if again or not any((row["set"], row["partitions"]) == (name, count) for row in kept)
        ]
        for name in names
    }
    with tempfile.TemporaryDirectory(prefix="neardup-same-") as place:
        folder = Path(place)
        spark = quick_session(folder)
        for name in (name for name in names if wanted[name]):
            one = grown(documents) if name == GROWN else given(name, source, folder)
            answers: dict[Path, nd.Result] = {}
            for count in wanted[name]:
                path = one.path(count)
                if path not in answers:
                    answers[path] = nd.dedup(nd.read(path), one.config, threads=2)
                yield compared(one, count, spark, answers[path], folder / f"{name}-{count}")
        spark.stop()


def table(rows: list[Json]) -> str:
    """The rows as the page shows them, one line for each set."""
    lines = [
        "| set | documents | clusters | go | pairs | capped buckets | 1 | 2 | 8 |",
        "|---|---:|---:|---:|---:|---:|---|---|---|",
    ]
    for name in sorted({row["set"] for row in rows}, key=lambda name: (name == GROWN, name)):
        mine = {row["partitions"]: row for row in rows if row["set"] == name}
        first = mine[min(mine)]
        counts = " | ".join(f"{first[key]:,}" for key in ("documents", "clusters", "gone", "pairs", "capped"))
        cells = " | ".join(_verdict(mine.get(count)) for count in PARTITIONS)
        lines.append(f"| {name} | {counts} | {cells} |")
    return "\n".join(lines) + "\n"


def _verdict(row: Json | None) -> str:
    if row is None:
        return "not run"
    wrong = [what for what in ("clusters", "pairs") if not row[f"same_{what}"]]
    verdict = f"**other {' and '.join(wrong)}**" if wrong else "same"
    return f"{verdict} (pages)" if row["given"] == "pages" else verdict


def main() -> int:
    raw = argparse.RawDescriptionHelpFormatter
    every = [*([] if "--table" in sys.argv else names_of(data())), GROWN]  # the table needs no corpora
    parser = argparse.ArgumentParser(
        "python -m benchmarks.spark.same", description=__doc__, formatter_class=raw
    )
    parser.add_argument("--sets", nargs="+", choices=every, default=every)
    parser.add_argument("--documents", type=int, default=5000, help="of the generated corpus")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    rows: list[Json] = json.loads(asked.out.read_text("utf-8"))["rows"] if asked.out.exists() else []
    for row in rows_of(asked.sets, rows, asked.documents, asked.again) if not asked.table else ():
        print(json.dumps(row), flush=True)
        key = (row["set"], row["partitions"])
        rows = [other for other in rows if (other["set"], other["partitions"]) != key] + [row]
        rows.sort(key=lambda row: (row["set"], row["partitions"]))
        result = {"date": machine.now(), "commit": machine.commit(), "rows": rows}
        asked.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    write_part(PAGE, "same answers", table(rows))
    return 0 if all(row["same_clusters"] and row["same_pairs"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
