"""A Scrapy plug-in: it drops near-duplicates of pages seen before, and the links on them."""

try:
    import scrapy  # noqa: F401
except ImportError as error:
    from neardup.errors import MissingExtra

    raise MissingExtra("the plug-in for Scrapy", "scrapy") from error

from neardup.scrapy.items import NearDuplicate, NearDuplicateItems
from neardup.scrapy.middleware import NearDuplicateLinks

__all__ = ["NearDuplicate", "NearDuplicateItems", "NearDuplicateLinks"]
