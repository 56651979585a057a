"""Options that several commands share. `cli/settings.py` makes a Config of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = [
    "MEASURES",
    "allow_mass_removal_option",
    "column_options",
    "config_options",
    "cut_options",
    "document_options",
    "fold_digits_option",
    "json_option",
    "no_decisions_option",
    "page_options",
    "quiet_option",
    "reading_options",
    "reject_options",
    "running_options",
    "threads_option",
    "threshold_option",
]

Command = TypeVar("Command", bound=Callable[..., Any])
MEASURES = ("jaccard", "containment", "cosine", "edit", "identity")
FORMATS = "jsonl, csv, tsv, parquet, arrow, text, lines, html, warc, mbox or source"


def _seed(text: str) -> int:
    try:
        number = int(text, 0)
    except ValueError:
        number = -1
    if not 0 <= number < 1 << 64:
        raise click.BadParameter(f"{text!r} is not a number from 0 to 2**64 - 1", param_hint="--seed")
    return number


def json_option(help_text: str = "The answer as one JSON object.") -> Callable[[Command], Command]:
    return click.option("--json", "as_json", is_flag=True, help=help_text)


def threads_option(default: int = 2) -> Callable[[Command], Command]:
    return click.option(
        "--threads", type=click.IntRange(1, 1024), default=default, show_default=True, help="Threads to use."
    )


durability_option = click.option(
    "--durability",
    type=click.Choice(["normal", "full"]),
    default="normal",
    show_default=True,
    help="What stored documents survive: the end of the process, or also a power failure (full).",
)
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
fold_digits_option = click.option("--fold-digits", is_flag=True, help="Treat every run of digits as one 0.")
no_decisions_option = click.option("--no-decisions", is_flag=True, help="Ignore the decisions of a review.")
allow_mass_removal_option = click.option(
    "--allow-mass-removal", is_flag=True, help="Continue even if very many documents would be dropped."
)
threshold_option = click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Threshold to use instead of the scan's; not below the scan's floor.",
)
_CONFIG = (
    click.option("--config", type=click.Path(exists=True, dir_okay=False), help="A TOML file of settings."),
    click.option(
        "--preset",
        type=click.Choice(["crawl", "news", "mail", "legal", "source", "plagiarism", "short", "corpus"]),
        help="Settings for one use; other options change them.",
    ),
    click.option(
        "--method",
        type=click.Choice(["minhash", "simhash", "bits", "exact", "imatch", "supers", "buckets", "sketch"]),
        help="How near-duplicates are found.  [default: minhash]",
    ),
    click.option(
        "--vectors",
        metavar="COLUMN",
        help="Compare the vectors of this column (embeddings), by their cosine, and not the words.",
    ),
    click.option(
        "--highlights",
        is_flag=True,
        help="Weigh the words of titles, headings, bold text and links of pages (simhash).",
    ),
    click.option(
        "--in-links",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="Links between pages (from, to, text): weigh the words of links to a page; implies --highlights.",
    ),
    click.option(
        "--threshold",
        type=click.FloatRange(0, 1, min_open=True),
        help="Smallest similarity of duplicates.  [default: 0.8; of vectors 0.9]",
    ),
    click.option(
        "--floor",
        type=click.FloatRange(0, 1, min_open=True),
        help="Store pairs from this similarity up, for other thresholds later.  [default: the threshold - 0.1]",
    ),
    click.option(
        "--measure",
        type=click.Choice(MEASURES),
        help="How similarity is measured.  [default: jaccard]",
    ),
    click.option(
        "--recall",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        help="Share of the pairs at the floor that must be found.  [default: 0.99]",
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
    fold_digits_option,
    click.option(
        "--templates",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        help="Leave out lines and shingles that recur in more than this share of a source's documents.",
    ),
    click.option("--keep-lines", is_flag=True, help="With --templates: leave out shingles only, not lines."),
    click.option(
        "--short", type=click.IntRange(0), help="Compare documents of fewer words than this by an exact join."
    ),
    click.option(
        "--components",
        is_flag=True,
        help="Put all documents that a chain of pairs connects into one cluster.",
    ),
    click.option("--min-words", type=click.IntRange(0), help="Leave out shorter documents."),
    click.option("--min-bytes", type=click.IntRange(0), help="Leave out smaller documents."),
    click.option(
        "--language",
        "languages",
        multiple=True,
        help="Leave out documents in any other language than these (en, de ...).",
    ),
    click.option("--same-language", is_flag=True, help="Never compare documents of different languages."),
    click.option(
        "--length",
        type=click.FloatRange(0, 1, max_open=True),
        help="Compare documents only if their lengths differ by at most this share, such as 0.2.",
    ),
    click.option(
        "--prune",
        is_flag=True,
        help="Set aside documents that cannot have a duplicate first; the result is the same.",
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
        type=click.Choice(
            ["main", "second-opinion", "whole", "trafilatura", "tags", "anchors", "links", "none"]
        ),
        help="Which part of an HTML page is compared.  [default: main]",
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
    click.option(
        "--by-language", is_flag=True, help="Keep as many as --many says of each language in a cluster."
    ),
    click.option(
        "--among",
        type=click.Choice(["all", "within", "across"]),
        help="Which documents can be duplicates: any, those of one source or of different sources.  [default: all]",
    ),
)
_GUARDS = (
    click.option(
        "--protect",
        help="Keep documents that differ from their keeper in one of these: title, numbers, names, negation, language, "
        "passages, lossless (a list); or none.  [default: title,language,passages]",
    ),
    click.option(
        "--lossless",
        is_flag=True,
        help="Keep documents with a passage of 8 words or more that is not in their keeper.",
    ),
)
_ID = click.option("--id", "id_", help="The column with the id, if it is not obvious.")
_FORMAT = click.option("--format", "format_", help=f"{FORMATS}; by default by the name, or by the content.")
_SOURCE = click.option(
    "--source",
    help="The field that names a document's source, or host:FIELD for the host of its URL; by default the file.",
)
_TEXT = click.option("--text", help="The column with the text, if it is not obvious.")
_HTML = click.option(
    "--html",
    type=click.Choice(["main", "whole", "none"]),
    default="main",
    show_default=True,
    help="Which part of an HTML page is compared.",
)
_READING = (
    click.option(
        "--text", multiple=True, help="The column with the text, if it is not obvious; several are joined."
    ),
    _ID,
    _FORMAT,
    click.option(
        "--include", multiple=True, help="Read only files of folders that match, such as 'docs/**'."
    ),
    click.option("--exclude", multiple=True, help="Skip files of folders that match, such as '*.min.js'."),
    click.option("--ext", multiple=True, help="Read only files of folders with this ending, such as py."),
    click.option("--hidden", is_flag=True, help="Read hidden files of folders too."),
    click.option(
        "--no-ignore", is_flag=True, help="Read version control, virtual environments and tool folders too."
    ),
    click.option("--encoding", help="Encoding of text, CSV and JSON files.  [default: detected]"),
    click.option("--delimiter", help="Delimiter of CSV files, such as ';' or tab.  [default: detected]"),
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
        "--memory",
        default="2GB",
        show_default=True,
        help="How much memory to use, about; the rest is kept in files.",
    ),
    threads_option(),
    quiet_option,
    json_option(),
)


def _all_of(options: tuple[Any, ...]) -> Callable[[Command], Command]:
    def wrap(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return wrap


config_options = _all_of((*_CONFIG, *_KEEP, *_GUARDS))
cut_options = _all_of((*_KEEP, _SOURCE, *_GUARDS))
# Of commands that read a corpus and have no keep policy.
document_options = _all_of((*_READING, *_REJECTS))
page_options = _all_of((*_READING, _HTML, *_REJECTS))
column_options = _all_of((_TEXT, _ID, _FORMAT, _SOURCE))
reading_options = _all_of((*_READING, _SOURCE))
reject_options = _all_of(_REJECTS)
running_options = _all_of(_RUNNING)
