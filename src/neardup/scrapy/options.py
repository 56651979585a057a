"""The settings of a crawl that concern near-duplicates, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from neardup.errors import ConfigError
from neardup.values.checks import check_fields
from neardup.web.html import Method

__all__ = ["Action", "Options"]

Action = Literal["drop", "mark"]


class Settings(Protocol):
    """The part of Scrapy's settings that is used here."""

    def get(self, name: Any, default: Any = None) -> Any: ...
    def getbool(self, name: Any, default: bool = False) -> bool: ...
    def getint(self, name: Any, default: int = 0) -> int: ...
    def getfloat(self, name: Any, default: float = 0.0) -> float: ...
    def getdict(self, name: Any, default: Any = None) -> dict[Any, Any]: ...


@dataclass(frozen=True)
class Options:
    """How a crawl handles near-duplicates. The setting of each field is NEARDUP_ and its name in capitals.

    index, index_options    the folder of a local index or the address of a shared one, and more arguments of
                                                    `nd.Index`
    service, token          or the address of a service, and its token
    service_index           the name of the index, if the service has several
    service_seconds         the longest that the service may take for one answer
    action                  what the pipeline does with a duplicate: "drop" it, or "mark" it in `mark_field`
    url_field               the field of an item that holds its id, by default its URL
    text_field, html_field  the field that holds its text, or, if there is none, its HTML
    drop_links              whether the links of a duplicate are dropped; if not, their priority changes by
                            `priority_adjust`
    html                    how HTML becomes text, in `html_workers` processes, each page within `html_seconds`
    canonical_urls          whether ids are canonical URLs; URLs with the same canonical form are then one page
    """

    index: str | None = field(default=None, repr=False)  # the address of a server may hold a password
    index_options: Mapping[str, Any] | None = None
    service: str | None = None
    token: str | None = field(default=None, repr=False)
    service_index: str | None = None
    service_seconds: float = 10.0
    action: Action = "drop"
    mark_field: str = "duplicate_of"
    url_field: str = "url"
    text_field: str = "text"
    html_field: str = "html"
    drop_links: bool = True
    priority_adjust: int = -10
    html: Method = "main"
    html_seconds: float = 5.0
    html_workers: int = 1
    canonical_urls: bool = False

    def __post_init__(self) -> None:
        # By the names of the settings, which is what a user has written.
        if self.action not in get_args(Action):
            raise ConfigError(f'NEARDUP_ACTION is "drop" or "mark", not {self.action!r}')
        if self.html not in get_args(Method):
            raise ConfigError(f"NEARDUP_HTML is one of {', '.join(get_args(Method))}, not {self.html!r}")
        check_fields(self)
        if self.index and self.service:
            raise ConfigError("set NEARDUP_INDEX or NEARDUP_SERVICE, not both")
        if self.service and self.index_options:
            raise ConfigError("NEARDUP_INDEX_OPTIONS are for NEARDUP_INDEX; a service has its own")
        if self.service_index and not self.service:
            raise ConfigError("NEARDUP_SERVICE_INDEX names an index of NEARDUP_SERVICE: set both")
        if not self.service_seconds > 0:
            raise ConfigError(f"NEARDUP_SERVICE_SECONDS is a time above 0, not {self.service_seconds}")

    @classmethod
    def from_settings(cls, settings: Settings) -> Options:
        """The options from a project's settings; ConfigError if they are invalid."""
        path, service = settings.get("NEARDUP_INDEX"), settings.get("NEARDUP_SERVICE")
        return cls(
            index=None if not path else str(path),
            index_options=_read(settings.getdict, "NEARDUP_INDEX_OPTIONS", None, "a mapping"),
            service=service or None,
            token=settings.get("NEARDUP_TOKEN"),
            service_index=settings.get("NEARDUP_SERVICE_INDEX") or None,
            service_seconds=_read(
                settings.getfloat, "NEARDUP_SERVICE_SECONDS", cls.service_seconds, "a number"
            ),
            action=settings.get("NEARDUP_ACTION", cls.action),
            mark_field=settings.get("NEARDUP_MARK_FIELD", cls.mark_field),
            url_field=settings.get("NEARDUP_URL_FIELD", cls.url_field),
            text_field=settings.get("NEARDUP_TEXT_FIELD", cls.text_field),
            html_field=settings.get("NEARDUP_HTML_FIELD", cls.html_field),
            drop_links=_read(settings.getbool, "NEARDUP_DROP_LINKS", cls.drop_links, "True or False"),
            priority_adjust=_read(
                settings.getint, "NEARDUP_PRIORITY_ADJUST", cls.priority_adjust, "a whole number"
            ),
            html=settings.get("NEARDUP_HTML", cls.html),
            html_seconds=_read(settings.getfloat, "NEARDUP_HTML_SECONDS", cls.html_seconds, "a number"),
            html_workers=_read(settings.getint, "NEARDUP_HTML_WORKERS", cls.html_workers, "a whole number"),
            canonical_urls=_read(
                settings.getbool, "NEARDUP_CANONICAL_URLS", cls.canonical_urls, "True or False"
            ),
        )


def _read(read: Callable[[str, Any], Any], name: str, default: Any, wanted: str) -> Any:
    """A setting of a type that Scrapy converts; ConfigError with its name if it cannot."""
    try:
        return read(name, default)
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfigError(f"{name} must be {wanted}: {error}") from None
