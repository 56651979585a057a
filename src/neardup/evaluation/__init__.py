"""Evaluation: how good a result is, what a setting will do, and which one to choose for a corpus."""

from neardup.evaluation.curves import Curve, Line, curve_bands, curve_edits, curve_radius, curve_sketch
from neardup.evaluation.metrics import ClusterScores, Intervals, Measure
from neardup.evaluation.scoring import Evaluation, Sweep, evaluate

__all__ = [
    "ClusterScores",
    "Curve",
    "Evaluation",
    "Intervals",
    "Line",
    "Measure",
    "Sweep",
    "curve_bands",
    "curve_edits",
    "curve_radius",
    "curve_sketch",
    "evaluate",
]
