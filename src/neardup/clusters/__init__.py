"""Turns verified pairs into clusters, and decides which document of each cluster is kept."""

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
