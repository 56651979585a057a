"""The live index: it stores documents permanently, and finds their near-duplicates at crawl speed."""

from neardup.index.answers import Answers, Cluster, Health, Hit, Seen, Stats, Stored
from neardup.index.api import Index

__all__ = ["Answers", "Cluster", "Health", "Hit", "Index", "Seen", "Stats", "Stored"]
