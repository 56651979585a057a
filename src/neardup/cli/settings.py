"""From options to a Config: one table says which field each option sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

import neardup as nd
from neardup.clusters.keepers import FIELD_POLICIES
from neardup.clusters.protect import check_guards
from neardup.config.config import VECTOR_BITS
from neardup.config.kinds import class_of

__all__ = ["FIELDS", "config_of", "guards_of", "keep_of"]

Given = Mapping[str, Any]

FIELDS: dict[str, tuple[str, ...]] = {
    "width": ("compared.width",),
    "fold_digits": ("features.normalize.digits", "compare.normalize.digits"),
    "recall": ("recall",),
    "short": ("short",),
    "html": ("html",),
    "seed": ("seed",),
    "templates": ("templates.share",),
    "keep_lines": ("templates.lines",),
    "components": ("clusters",),
    "min_words": ("filters.min_words",),
    "min_bytes": ("filters.min_bytes",),
    "languages": ("filters.languages",),
    "links": ("filters.links",),
    "same_language": ("filters.same_language",),
    "length": ("filters.length",),
    "prune": ("filters.prune",),
    "prefer": ("keep.prefer",),
    "many": ("keep.many",),
    "among": ("keep.among",),
    "by_language": ("keep.by_language",),
    "source": ("keep.source",),
}
"""The fields that each option sets. Options of the method, the measure and the keep policy have rules of their own."""

_MEANS = {"fold_digits": "fold", "keep_lines": False, "components": "components"}  # what a flag sets


def config_of(given: Given) -> nd.Config:
    """The config of a file, a preset or a method, with every option that was given in the place of its setting."""
    config = _vectors(given) if given.get("vectors") else _searched(_base(given), given)
    config = replace(config, verify=_verify(config, given), keep=keep_of(given, config.keep))
    config = replace(config, protect=guards_of(given, config.protect))
    config = _highlighted(config, given)
    for option, fields in FIELDS.items():
        if _said(given, option):
            for field in fields:
                config = _with(config, field, _MEANS.get(option, given[option]))
    return config


def keep_of(given: Given, old: nd.Keep) -> nd.Keep:
    """The keep policy with its options."""
    changes: dict[str, Any] = {}
    if given.get("keep"):
        by, _, field = given["keep"].partition(":")
        if by not in ("longest", "first", "last", *FIELD_POLICIES) or (by in FIELD_POLICIES) != bool(field):
            raise click.BadParameter(
                "use longest, first, last, newest:FIELD, oldest:FIELD, highest:FIELD or lowest:FIELD",
                param_hint="--keep",
            )
        changes |= {"by": by, "score": field or None}
    options = ("prefer", "many", "among", "source", "by_language")
    changes |= {name: given[name] for name in options if _said(given, name)}
    return replace(old, **changes)


def guards_of(given: Given, old: tuple[Any, ...]) -> tuple[Any, ...]:
    """The guards with their options: --protect replaces them, --lossless adds one."""
    guards = old
    if given.get("protect") is not None:
        names = [name.strip() for name in given["protect"].split(",")]
        guards = () if names == ["none"] else tuple(name for name in names if name)
        check_guards(guards)
    return (*guards, "lossless") if given.get("lossless") and "lossless" not in guards else guards


def _said(given: Given, option: str) -> bool:
    """Whether an option was given: flags that are off, and options that may be repeated and were not, are not."""
    value = given.get(option)
    return value is not None and value is not False and value != ()


def _with(value: Any, path: str, new: Any) -> Any:
    """A copy of a dataclass with the field at a dotted path changed. Fields that a config does not have are not
    added."""
    name, _, rest = path.partition(".")
    if name == "compared":  # what is measured: its own features, or those that are fingerprinted
        name = "features" if value.compare is None else "compare"
    old = getattr(value, name)
    if rest and old is None:
        if path != "templates.share":
            return value
        old = nd.Templates()
    return replace(value, **{name: _with(old, rest, new) if rest else new})


def _base(given: Given) -> nd.Config:
    if given.get("preset"):
        if given.get("config") or given.get("method"):
            raise click.UsageError("--preset is a whole config: leave --config and --method out")
        return nd.preset(given["preset"])
    method = given.get("method")
    if given.get("config") and method is None:
        return nd.Config.load(given["config"])
    if method is None and (given.get("highlights") or given.get("in_links")):
        method = "simhash"  # its words have weights
    # A search of codes makes simhashes where no method is named, and they have a radius.
    radius = None if given.get("search") and method is None else given.get("radius")
    return nd.Config.of(method or "minhash", radius=radius)


def _vectors(given: Given) -> nd.Config:
    """The config for --vectors: codes of Gaussian projections, within a radius that fits the cosine."""
    for option in (
        "preset",
        "config",
        "method",
        "templates",
        "width",
        "prune",
        "short",
        "fold_digits",
        "highlights",
        "in_links",
    ):
        if _said(given, option):
            raise click.UsageError(f"--{option.replace('_', '-')} is for words; leave it out with --vectors")
    if given.get("measure") not in (None, "cosine"):
        raise click.UsageError("--measure: vectors are compared by their cosine")
    config = nd.Config(vectors=nd.Vectors(given["vectors"]))
    search, radius = given.get("search"), given.get("radius")
    if search is None and radius is None:
        return config
    chosen: Any = nd.Config.from_plain(
        {"fingerprint": {"kind": "simhash"}, "search": {"kind": search or "join"}}, "--search"
    ).search
    if radius is None:
        from neardup.search.vector_radius import radius_for  # not for texts

        bits = getattr(chosen, "bits", None) or VECTOR_BITS
        radius = radius_for(_verify(config, given).least, bits, given.get("recall") or config.recall)
        radius = min(radius, chosen.most_radius)
    chosen = replace(chosen, radius=radius)
    if given.get("recall") is not None and hasattr(chosen, "recall"):
        chosen = replace(chosen, recall=given["recall"])
    return replace(config, search=chosen)


def _searched(config: nd.Config, given: Given) -> nd.Config:
    """The config with --search and --radius."""
    radius, search, method = given.get("radius"), given.get("search"), given.get("method")
    if search and method not in (None, "simhash", "bits"):
        raise click.UsageError(f"--search is for codes, of simhash or bits; {method} has none")
    if radius is not None and config.search is None and hasattr(config.method, "radius"):
        config = replace(config, search=config.method)
    if radius is not None and hasattr(config.search, "radius"):
        config = _with(config, "search.radius", radius)
    if search:
        chosen: Any = nd.Config.from_plain(
            {"fingerprint": {"kind": "simhash"}, "search": {"kind": search}}, "--search"
        ).search
        wide = getattr(config.search, "radius", 3 if radius is None else radius)
        config = replace(config, search=replace(chosen, radius=wide))
    recall = given.get("recall")
    if recall is not None and hasattr(config.search, "recall"):
        config = _with(config, "search.recall", recall)
    if radius is not None and not hasattr(config.search, "radius"):
        raise click.UsageError("--radius is for codes, of simhash or bits; this config has none")
    return config


def _highlighted(config: nd.Config, given: Given) -> nd.Config:
    """The config with --highlights and --in-links."""
    if not given.get("highlights") and not given.get("in_links"):
        return config
    highlights = config.highlights or nd.features.Highlights()
    if given.get("in_links"):
        highlights = replace(highlights, links=given["in_links"])
    if given.get("html"):
        config = replace(config, html=given["html"])
    return replace(config, highlights=highlights)


def _verify(config: nd.Config, given: Given) -> Any:
    old = config.verify
    kind: Any = class_of(given["measure"]) if given.get("measure") else type(old)
    threshold = given["threshold"] if given.get("threshold") is not None else old.threshold
    floor = given.get("floor")
    if floor is None and old.floor is not None and given.get("threshold") is None:
        floor = old.floor
    if floor is None:
        floor = max(round(threshold - 0.1, 6), min(0.05, threshold))
    return replace(old, threshold=threshold, floor=floor) if kind is type(old) else kind(threshold, floor)
