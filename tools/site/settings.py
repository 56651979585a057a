"""The reference of settings, made from the dataclasses that hold them, and the default config as TOML."""

from __future__ import annotations

import dataclasses
import types
import typing

import neardup as nd
from neardup.config import kinds

__all__ = ["settings_page"]

TABLES = {
    "verify": nd.Jaccard,
    "features": nd.Shingles,
    "keep": nd.Keep,
    "filters": nd.Filters,
    "templates": nd.Templates,
}
NORMALIZE = "features.normalize"


def settings_page() -> str:
    """Markdown: the fields of Config, those of its tables, the names for `kind`, and the default file."""
    lines = ["## Config", "", *_fields(nd.Config), ""]
    for name, cls in TABLES.items():
        lines += [f"## {name}", "", f"`nd.{cls.__name__}`: {_summary(cls)}", "", *_fields(cls), ""]
    lines += [
        f"## {NORMALIZE}",
        "",
        f"`nd.Normalize`: {_summary(nd.Normalize)}",
        "",
        *_fields(nd.Normalize),
        "",
    ]
    lines += ["## Names for kind", "", "| kind | class |", "|---|---|"]
    for kind in kinds.kinds():
        cls = kinds.class_of(kind)
        assert cls is not None
        lines.append(f'| `kind = "{kind}"` | `{cls.__name__}`: {_summary(cls)} |')
    lines += ["", "## The default file", "", "```toml", nd.Config().to_toml().strip(), "```", ""]
    return "\n".join(lines)


def _fields(cls: type) -> list[str]:
    hints = typing.get_type_hints(cls)
    rows = ["| field | type | default |", "|---|---|---|"]
    for field in dataclasses.fields(cls):
        if field.init and not field.name.startswith("_"):
            rows.append(f"| `{field.name}` | `{_type(hints[field.name])}` | `{_default(field)}` |")
    return rows


def _default(field: dataclasses.Field[object]) -> str:
    if field.default is not dataclasses.MISSING:
        return repr(field.default)
    if field.default_factory is not dataclasses.MISSING:
        return f"{type(field.default_factory()).__name__}()"
    return "required"


def _type(hint: object) -> str:
    if typing.get_origin(hint) is typing.Literal:
        return " or ".join(repr(value) for value in typing.get_args(hint))
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return " or ".join("None" if part is type(None) else _type(part) for part in typing.get_args(hint))
    if typing.get_origin(hint) is None and isinstance(hint, type):
        return hint.__name__
    return str(hint).replace("typing.", "")


def _summary(cls: type) -> str:
    from tools.site.names import first_sentence

    return first_sentence(cls).replace("|", "\\|")
