"""Verified pairs to clusters, and which document of each is kept."""

from neardup.clusters.clusters import Clusters, cluster
from neardup.clusters.collapsed import Collapsed, Fold, collapse
from neardup.clusters.keepers import Keep

__all__ = [
    "Clusters",
    "Collapsed",
    "Fold",
    "Keep",
    "cluster",
    "collapse",
]
