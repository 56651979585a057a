"""Options that several commands share, and the Config they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import click

import neardup as nd

__all__ = ["config_of", "config_options", "cut_options", "keep_of", "reading_options", "running_options"]

Command = TypeVar("Command", bound=Callable[..., Any])
FORMATS = "jsonl, csv, tsv, parquet, arrow, text, html, warc or mbox"

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
    click.option("--width", type=click.IntRange(1, 1024), help="Of a shingle, in words.  [default: 5]"),
    click.option("--radius", type=click.IntRange(0, 64), help="Of simhash and bits, in bits."),
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
        "--html",
        type=click.Choice(["main", "whole", "trafilatura", "tags", "anchors", "links", "none"]),
        help="What of an HTML page counts.  [default: main]",
    ),
)
_KEEP = (
    click.option(
        "--keep", help="Which of a cluster stays: longest, first, last or score:FIELD.  [default: longest]"
    ),
    click.option("--prefer", multiple=True, help="A source whose documents stay before others'; repeatable."),
    click.option("--many", type=click.IntRange(1), help="How many of a cluster stay.  [default: 1]"),
    click.option(
        "--among",
        type=click.Choice(["all", "within", "across"]),
        help="Whether duplicates are of any, of one or of different sources.  [default: all]",
    ),
)
_READING = (
    click.option("--text", help="The column with the text, if it is not obvious."),
    click.option("--id", "id_", help="The column with the id, if it is not obvious."),
    click.option("--format", "format_", help=f"{FORMATS}; by default told by the name."),
    click.option(
        "--source",
        help="The field that names a document's source, or host:FIELD for the host of its URL; by default the file.",
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


config_options = _all_of((*_CONFIG, *_KEEP))
cut_options = _all_of(_KEEP)
reading_options = _all_of(_READING)
running_options = _all_of(_RUNNING)


def config_of(given: dict[str, Any]) -> nd.Config:
    """The config of a file, or the method's, with every option that was given in the place of its setting."""
    if sum(bool(given.get(name)) for name in ("config", "preset", "method")) > 1 and given.get("preset"):
        raise click.UsageError("--preset stands for a whole config: leave --config and --method out")
    base = nd.Config.load(given["config"]) if given.get("config") else None
    if given.get("preset"):
        base = nd.preset(given["preset"])
    method, radius = given.get("method"), given.get("radius")
    if given.get("search") and method not in (None, "simhash", "bits"):
        raise click.UsageError(f"--search is for codes, of simhash or bits; {method} has none")
    # A search of codes makes simhashes where nothing else is named, and they have a radius.
    own = None if given.get("search") and method is None else radius
    config = base if base is not None and method is None else nd.Config.of(method or "minhash", radius=own)
    if radius is not None and config.search is None and hasattr(config.method, "radius"):
        config = replace(config, search=config.method)
    if radius is not None and config.search is not None and hasattr(config.search, "radius"):
        config = replace(config, search=replace(config.search, radius=radius))
    if given.get("search"):
        chosen = nd.Config.from_plain(
            {"fingerprint": {"kind": "simhash"}, "search": {"kind": given["search"]}}, "--search"
        ).search
        assert chosen is not None
        near = config.search if config.search is not None and hasattr(config.search, "radius") else None
        wide = near.radius if near is not None else 3 if radius is None else radius
        chosen = replace(chosen, radius=wide)  # type: ignore[arg-type]
        margins: Any = "ranks" if given["search"] == "psm" else "none"
        prints = config.fingerprint
        if isinstance(prints, nd.Simhash):
            prints = replace(prints, margins=margins)
        config = replace(config, fingerprint=prints, search=chosen)
    if radius is not None and not hasattr(config.search, "radius"):
        raise click.UsageError("--radius is for codes, of simhash or bits; this config has none")
    config = replace(config, **_features(config, given))
    config = replace(config, verify=_verify(config, given), keep=keep_of(given, config.keep))
    for option, name in (("recall", "recall"), ("short", "short"), ("html", "html")):
        if given.get(option) is not None:
            config = replace(config, **{name: given[option]})
    if given.get("templates") is not None:
        config = replace(config, templates=nd.Templates(given["templates"]))
    if given.get("keep_lines") and config.templates is not None:
        config = replace(config, templates=replace(config.templates, lines=False))
    if given.get("components"):
        config = replace(config, clusters="components")
    changes = {
        "words": given.get("min_words"),
        "bytes": given.get("min_bytes"),
        "languages": tuple(given.get("languages") or ()) or None,
        "links": given.get("links") or None,
        "same_language": given.get("same_language") or None,
        "length": given.get("length"),
        "prune": given.get("prune") or None,
    }
    said: dict[str, Any] = {name: value for name, value in changes.items() if value is not None}
    return replace(config, filters=replace(config.filters, **said)) if said else config


def _features(config: nd.Config, given: dict[str, Any]) -> dict[str, Any]:
    """Width and digits, of what is compared and of what is fingerprinted alike."""
    made, compared = config.features, config.compare
    if given.get("width") is not None:
        if compared is not None:
            compared = replace(compared, width=given["width"])
        else:
            made = replace(made, width=given["width"])
    if given.get("fold_digits"):
        made = replace(made, normalize=replace(made.normalize, digits="fold"))
        if compared is not None:
            compared = replace(compared, normalize=replace(compared.normalize, digits="fold"))
    return {"features": made, "compare": compared}


def _verify(config: nd.Config, given: dict[str, Any]) -> Any:
    kinds = {"jaccard": nd.Jaccard, "containment": nd.Containment, "cosine": nd.Cosine}
    old = config.verify
    kind = kinds[given["measure"]] if given.get("measure") else type(old)
    threshold = given["threshold"] if given.get("threshold") is not None else old.threshold
    floor = given.get("floor")
    if floor is None and old.floor is not None and given.get("threshold") is None:
        floor = old.floor
    if floor is None:
        floor = max(round(threshold - 0.1, 6), min(0.05, threshold))
    return replace(old, threshold=threshold, floor=floor) if kind is type(old) else kind(threshold, floor)


def keep_of(given: dict[str, Any], old: nd.Keep) -> nd.Keep:
    """The keep policy with what was said of it."""
    changes: dict[str, Any] = {}
    if given.get("keep"):
        by, _, field = given["keep"].partition(":")
        if by not in ("longest", "first", "last", "score") or (by == "score") != bool(field):
            raise click.BadParameter("use longest, first, last or score:FIELD", param_hint="--keep")
        changes |= {"by": by, "score": field or None}
    if given.get("prefer"):
        changes["prefer"] = tuple(given["prefer"])
    for name in ("many", "among", "source"):
        if given.get(name) is not None:
            changes[name] = given[name]
    return replace(old, **changes)
