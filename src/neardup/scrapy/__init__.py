"""A plug-in for Scrapy: pages seen before, or nearly, are dropped, and so are the links they lead to."""

try:
    import scrapy  # noqa: F401
except ImportError as error:
    from neardup.errors import MissingExtra

    raise MissingExtra("the plug-in for Scrapy", "scrapy") from error

from neardup.scrapy.items import NearDuplicate, NearDuplicateItems
from neardup.scrapy.middleware import NearDuplicateLinks

__all__ = ["NearDuplicate", "NearDuplicateItems", "NearDuplicateLinks"]
