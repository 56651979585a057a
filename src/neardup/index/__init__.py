"""The live index: documents remembered for good, and found again at crawl speed."""

from neardup.index.answers import Answers, Cluster, Health, Hit, Seen, Stats, Stored
from neardup.index.api import Index

__all__ = ["Answers", "Cluster", "Health", "Hit", "Index", "Seen", "Stats", "Stored"]
