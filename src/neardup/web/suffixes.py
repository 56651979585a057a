"""Registered names of hosts, by the public suffix list in tldextract. Nothing is downloaded or cached."""

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
        raise MissingExtra("finding the registered names of hosts", "web") from error
    # Private suffixes are included: the users of a hosting service are different sites.
    return tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)


@lru_cache(maxsize=1 << 16)
def registered_name(host: str) -> str | None:
    """The registered part of a host (`example.co.uk` of `www.example.co.uk`).

    None if there is none: addresses, public suffixes themselves, and names without a known suffix.
    """
    found = _extractor().extract_str(host)
    return f"{found.domain}.{found.suffix}" if found.domain and found.suffix else None


def names_a_copy(host: str) -> bool:
    """Whether the first name of a host says that it serves copies, like cdn.example.com."""
    return host.partition(".")[0].rstrip("0123456789-") in _COPIES
