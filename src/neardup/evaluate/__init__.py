"""Evaluation: how good a result is, what a setting will do, and which one to choose for a corpus."""

from neardup.evaluate.calibration import Calibrator, calibrate, measure_documents
from neardup.evaluate.curves import Curve, Line, curve_bands, curve_edits, curve_radius, curve_sketch
from neardup.evaluate.metrics import ClusterScores, Intervals, Measure
from neardup.evaluate.outcomes import Borderline, CorpusCalibration, Outcome, RadiusRow
from neardup.evaluate.scores import Evaluation, Sweep, score
from neardup.evaluate.settings import Setting

__all__ = [
    "Borderline",
    "Calibrator",
    "ClusterScores",
    "CorpusCalibration",
    "Curve",
    "Evaluation",
    "Intervals",
    "Line",
    "Measure",
    "Outcome",
    "RadiusRow",
    "Setting",
    "Sweep",
    "calibrate",
    "curve_bands",
    "curve_edits",
    "curve_radius",
    "curve_sketch",
    "measure_documents",
    "score",
]
