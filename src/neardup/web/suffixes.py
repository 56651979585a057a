"""Registered names of hosts, by the public suffix list that comes with tldextract. Nothing is fetched or kept."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from neardup.errors import MissingExtra

__all__ = ["names_a_copy", "registered_name"]

_COPIES = frozenset(
    [
        "amp",
        "assets",
        "backup",
        "cache",
        "cdn",
        "edge",
        "images",
        "img",
        "m",
        "mirror",
        "mirrors",
        "mobile",
        "static",
    ]
)


@lru_cache(maxsize=1)
def _extractor() -> Any:
    try:
        import tldextract
    except ImportError as error:
        raise MissingExtra("telling public suffixes from registered names", "web") from error
    # Private suffixes count: the users of a hosting service are different sites.
    return tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)


@lru_cache(maxsize=1 << 16)
def registered_name(host: str) -> str | None:
    """The part of a host that somebody registered (`example.co.uk` of `www.example.co.uk`).

    None where there is none: addresses, public suffixes themselves, and names below no known suffix.
    """
    found = _extractor().extract_str(host)
    return f"{found.domain}.{found.suffix}" if found.domain and found.suffix else None


def names_a_copy(host: str) -> bool:
    """Whether a host's first name says that it serves copies, as cdn.example.com does."""
    return host.partition(".")[0].rstrip("0123456789-") in _COPIES
