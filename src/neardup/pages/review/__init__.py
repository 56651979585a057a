"""The review page: a person looks at findings in a browser, moves the threshold, and makes decisions."""

from neardup.pages.review.session import Review

__all__ = ["Review"]
