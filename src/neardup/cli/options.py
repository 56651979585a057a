"""Options that several commands share. `cli/settings.py` makes a Config of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = [
    "column_options",
    "config_options",
    "cut_options",
    "reading_options",
    "reject_options",
    "running_options",
]

Command = TypeVar("Command", bound=Callable[..., Any])
FORMATS = "jsonl, csv, tsv, parquet, arrow, text, lines, html, warc, mbox or source"


def _seed(text: str) -> int:
    try:
        number = int(text, 0)
    except ValueError:
        number = -1
    if not 0 <= number < 1 << 64:
        raise click.BadParameter(f"{text!r} is no number from 0 to 2**64 - 1", param_hint="--seed")
    return number


_CONFIG = (
    click.option("--config", type=click.Path(exists=True, dir_okay=False), help="A TOML file of settings."),
    click.option(
        "--preset",
        type=click.Choice(["crawl", "news", "mail", "legal", "source", "plagiarism", "corpus"]),
        help="Settings made for a use; other options change them.",
    ),
    click.option(
        "--method",
        type=click.Choice(["minhash", "simhash", "bits", "exact", "imatch", "supers", "buckets", "sketch"]),
        help="How near-duplicates are looked for.  [default: minhash]",
    ),
    click.option(
        "--threshold",
        type=click.FloatRange(0, 1, min_open=True),
        help="Least similarity of duplicates.  [default: 0.8]",
    ),
    click.option(
        "--floor",
        type=click.FloatRange(0, 1, min_open=True),
        help="Pairs are kept from here up, for other thresholds later.  [default: the threshold - 0.1]",
    ),
    click.option(
        "--measure",
        type=click.Choice(["jaccard", "containment", "cosine"]),
        help="What the similarity is.  [default: jaccard]",
    ),
    click.option(
        "--recall",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        help="Of pairs at the floor, to be found.  [default: 0.99]",
    ),
    click.option("--width", type=click.IntRange(1, 1024), help="Words per shingle.  [default: 5]"),
    click.option(
        "--radius", type=click.IntRange(0, 64), help="Largest distance of codes (simhash, bits), in bits."
    ),
    click.option(
        "--search",
        type=click.Choice(["join", "compact", "covering", "bphs", "psm", "adjacent", "scan"]),
        help="How codes within the radius are found.  [default: join]",
    ),
    click.option("--fold-digits", is_flag=True, help="Every run of digits counts as one 0."),
    click.option(
        "--templates",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        help="Leave out lines and shingles that recur in more than this share of a source's documents.",
    ),
    click.option("--keep-lines", is_flag=True, help="Of templates leave out shingles alone, not lines."),
    click.option(
        "--short", type=click.IntRange(0), help="Documents of fewer words take a path of their own."
    ),
    click.option("--components", is_flag=True, help="Clusters by any chain of pairs, not around a keeper."),
    click.option("--min-words", type=click.IntRange(0), help="Leave out shorter documents."),
    click.option("--min-bytes", type=click.IntRange(0), help="Leave out smaller documents."),
    click.option(
        "--language", "languages", multiple=True, help="Leave out documents in any other (en, de ...)."
    ),
    click.option("--same-language", is_flag=True, help="Documents of different languages never meet."),
    click.option(
        "--length",
        type=click.FloatRange(0, 1, max_open=True),
        help="Documents meet only if their lengths differ by this share at most, such as 0.2.",
    ),
    click.option(
        "--prune", is_flag=True, help="Set aside first what can have no duplicate; changes no answer."
    ),
    click.option("--links", is_flag=True, help="Leave out documents without a URL."),
    click.option(
        "--seed",
        callback=lambda ctx, param, value: None if value is None else _seed(value),
        metavar="INTEGER",
        help="The seed of all hashes, decimal or 0x hexadecimal.  [default: drawn from the corpus]",
    ),
    click.option(
        "--html",
        type=click.Choice(["main", "whole", "trafilatura", "tags", "anchors", "links", "none"]),
        help="What of an HTML page counts.  [default: main]",
    ),
)
_KEEP = (
    click.option(
        "--keep",
        help="Which document of a cluster is kept: longest, first, last; newest:FIELD, oldest:FIELD (dates); "
        "highest:FIELD, lowest:FIELD (numbers).  [default: longest]",
    ),
    click.option("--prefer", multiple=True, help="Keep documents of this source before others; repeatable."),
    click.option(
        "--many", type=click.IntRange(1), help="How many documents of a cluster are kept.  [default: 1]"
    ),
    click.option("--by-language", is_flag=True, help="Keep so many of each language in a cluster."),
    click.option(
        "--among",
        type=click.Choice(["all", "within", "across"]),
        help="Whether duplicates are of any, of one or of different sources.  [default: all]",
    ),
)
_GUARDS = (
    click.option(
        "--protect",
        help="Keep documents that differ from their keeper so: a list of title, numbers, names, negation, language, "
        "passages, lossless; or none.  [default: title,language]",
    ),
    click.option(
        "--lossless",
        is_flag=True,
        help="Keep documents with a passage of 8 words or more that their keeper has not.",
    ),
)
_ID = click.option("--id", "id_", help="The column with the id, if it is not obvious.")
_FORMAT = click.option(
    "--format", "format_", help=f"{FORMATS}; by default told by the name, or by what is inside."
)
_SOURCE = click.option(
    "--source",
    help="The field that names a document's source, or host:FIELD for the host of its URL; by default the file.",
)
_COLUMNS = (
    click.option("--text", help="The column with the text, if it is not obvious."),
    _ID,
    _FORMAT,
    _SOURCE,
)
_READING = (
    click.option(
        "--text", multiple=True, help="The column with the text, if it is not obvious; several are joined."
    ),
    _ID,
    _FORMAT,
    click.option("--include", multiple=True, help="Of folders, only files that match, such as 'docs/**'."),
    click.option("--exclude", multiple=True, help="Of folders, no files that match, such as '*.min.js'."),
    click.option("--ext", multiple=True, help="Of folders, only files with this ending, such as py."),
    click.option("--hidden", is_flag=True, help="Of folders, hidden files too."),
    click.option(
        "--no-ignore", is_flag=True, help="Version control, virtual environments and tool folders too."
    ),
    click.option("--encoding", help="Of text, CSV and JSON files.  [default: found out]"),
    click.option("--delimiter", help="Of CSV files, such as ';' or tab.  [default: found out]"),
    _SOURCE,
)
_REJECTS = (
    click.option("--strict", is_flag=True, help="Stop if a single row cannot be read."),
    click.option(
        "--allow-rejects",
        type=click.FloatRange(0, 1),
        default=0.1,
        show_default=True,
        help="Stop if a larger share of the rows cannot be read.",
    ),
)
_RUNNING = (
    click.option(
        "--memory", default="2GB", show_default=True, help="About how much to use; the rest goes to files."
    ),
    click.option("--threads", type=click.IntRange(1, 1024), default=2, show_default=True),
    click.option("--quiet", "-q", is_flag=True, help="No progress."),
    click.option("--json", "as_json", is_flag=True, help="The answer as one JSON object."),
)


def _all_of(options: tuple[Any, ...]) -> Callable[[Command], Command]:
    def wrap(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return wrap


config_options = _all_of((*_CONFIG, *_KEEP, *_GUARDS))
cut_options = _all_of((*_KEEP, _SOURCE, *_GUARDS))
column_options = _all_of(_COLUMNS)
reading_options = _all_of(_READING)
reject_options = _all_of(_REJECTS)
running_options = _all_of(_RUNNING)
