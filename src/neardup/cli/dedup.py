"""`neardup dedup`: files in, the documents worth keeping out."""

from __future__ import annotations

import json
import sys
from typing import Any, Literal

import click

import neardup as nd

__all__ = ["dedup"]

# Beyond these, removal is more often a template or an error page than true duplication.
MOST_GONE, MOST_IN_CLUSTER, SMALLEST_CORPUS = 0.5, 0.01, 100


@click.command()
@click.argument("inputs", nargs=-1, required=True)
@click.option(
    "--out", "-o", type=click.Path(), help="Write the kept documents here; without it nothing is written."
)
@click.option("--text", help="The column with the text, if it is not obvious.")
@click.option("--id", "id_", help="The column with the id, if it is not obvious.")
@click.option(
    "--format",
    "format_",
    help="jsonl, csv, tsv, parquet, arrow, text, html or warc; by default told by the name.",
)
@click.option(
    "--html",
    type=click.Choice(["main", "whole", "none"]),
    default="main",
    show_default=True,
    help="What of an HTML page counts.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.8,
    show_default=True,
    help="Least Jaccard similarity.",
)
@click.option(
    "--recall",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.99,
    show_default=True,
    help="Of pairs at the threshold.",
)
@click.option(
    "--width", type=click.IntRange(1, 1024), default=5, show_default=True, help="Of a shingle, in words."
)
@click.option(
    "--keep",
    type=click.Choice(["longest", "first", "last"]),
    default="longest",
    show_default=True,
    help="Which one of a cluster stays.",
)
@click.option(
    "--fold-digits",
    is_flag=True,
    help="Every run of digits counts as one 0; merges documents that differ in figures.",
)
@click.option("--threads", type=click.IntRange(1, 1024), default=1, show_default=True)
@click.option(
    "--allow-mass-removal", is_flag=True, help="Write even if most documents, or one huge cluster, would go."
)
@click.option("--json", "as_json", is_flag=True, help="The summary as one JSON object.")
def dedup(
    inputs: tuple[str, ...],
    out: str | None,
    text: str | None,
    id_: str | None,
    format_: str | None,
    html: Literal["main", "whole", "none"],
    threshold: float,
    recall: float,
    width: int,
    keep: Literal["longest", "first", "last"],
    fold_digits: bool,
    threads: int,
    allow_mass_removal: bool,
    as_json: bool,
) -> None:
    """Find the duplicates and near-duplicates in INPUTS (files, folders, globs) and write what is worth keeping.

    The inputs are never changed. The corpus is held in memory. What cannot be read goes to OUT.rejects.jsonl with
    file, row and reason, and the rest goes on.
    """
    reader = nd.read(
        list(inputs), text=text, id=id_, format=format_, rejects=f"{out}.rejects.jsonl" if out else None
    )
    documents, layout, unread = _read(reader, html, threads)
    features = nd.Shingles(width, normalize=nd.Normalize(digits="fold" if fold_digits else "keep"))
    texts = [nd.Document(d.id, extracted, d.meta) for d, extracted in documents]
    result = nd.dedup(
        texts, threshold=threshold, recall=recall, features=features, keep=keep, threads=threads
    )
    warning = _mass_removal(result)
    if out and (warning is None or allow_mass_removal):
        with nd.open_writer(out, like=layout) as writer:
            writer.write_all(documents[row][0] for row in result.kept)
    rejected = dict(reader.rejects.counts) | unread
    if as_json:
        click.echo(json.dumps(_facts(result, rejected, warning, out), ensure_ascii=False))
    else:
        click.echo(result.summary())
        for reason, count in sorted(rejected.items()):
            click.echo(f"  {count:,} could not be read: {reason}")
        if out and (warning is None or allow_mass_removal):
            click.echo(f"  {len(result.kept):,} documents written to {out}")
    if warning is not None and not allow_mass_removal:
        click.echo(f"neardup: {warning}", err=True)
        if out:
            click.echo("Nothing was written. If that is right, add --allow-mass-removal.", err=True)
            sys.exit(1)


def _read(
    reader: nd.Reader, html: Literal["main", "whole", "none"], threads: int
) -> tuple[list[tuple[nd.Document, str]], Any, dict[str, int]]:
    """All documents as they were read, each with the text to compare; the layout; and pages that gave no text."""
    pages = any(source.format in ("html", "warc") for source in reader.files or ())
    documents: list[tuple[nd.Document, str]] = []
    layout = None
    failed: dict[str, int] = {}
    if not pages or html == "none":
        for batch in reader:
            layout = layout or batch.layout
            documents += [(document, document.text) for document in batch]
        return documents, layout, failed
    from neardup.web import HtmlExtractor

    with HtmlExtractor(method=html, workers=threads) as extractor:
        for batch in reader:
            layout = layout or batch.layout
            found = extractor.extract([document.text for document in batch])
            for document, extracted in zip(batch, found.texts, strict=True):
                if extracted is not None:
                    documents.append((document, extracted))
            for reason, count in found.counts.items():
                failed[f"HTML: {reason}"] = failed.get(f"HTML: {reason}", 0) + count
    return documents, layout, failed


def _mass_removal(result: nd.Result) -> str | None:
    """Why this looks like an accident, or None."""
    if len(result) < SMALLEST_CORPUS:
        return None
    gone = 1 - len(result.kept) / len(result)
    if gone > MOST_GONE:
        return f"{gone:.0%} of the documents would go"
    labels, sizes = result.clusters.sizes()
    if len(sizes) and sizes.max() > MOST_IN_CLUSTER * len(result) and sizes.max() > SMALLEST_CORPUS:
        keeper = int(result.clusters.keeper[labels[sizes.argmax()]])
        return f"one cluster holds {sizes.max():,} of {len(result):,} documents; its keeper is {result.ids[keeper]}"
    return None


def _facts(
    result: nd.Result, rejected: dict[str, int], warning: str | None, out: str | None
) -> dict[str, Any]:
    return {
        "documents": len(result),
        "kept": len(result.kept),
        "exact": result.exact,
        "near": len(result) - len(result.kept) - result.exact,
        "empty": result.empty,
        "clusters": len(result.clusters.sizes()[0]),
        "pairs": len(result.pairs),
        "candidates": result.candidates,
        "capped": result.capped,
        "threshold": result.threshold,
        "rejected": rejected,
        "warning": warning,
        "out": out,
        "seconds": {stage: round(seconds, 3) for stage, seconds in result.seconds.items()},
        "dropped": [
            {"id": result.ids[d.row], "keeper": result.ids[d.keeper], "similarity": round(d.similarity, 6)}
            for d in result.dropped
        ],
    }
