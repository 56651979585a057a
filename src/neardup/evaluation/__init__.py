"""Evaluation: how good a result is, what a setting will do, and which one to choose for a corpus."""

from neardup.evaluation.calibration import Calibrator, calibrate, measure_documents
from neardup.evaluation.curves import Curve, Line, curve_bands, curve_edits, curve_radius, curve_sketch
from neardup.evaluation.metrics import ClusterScores, Intervals, Measure
from neardup.evaluation.outcomes import Borderline, CorpusCalibration, Outcome, RadiusRow
from neardup.evaluation.scoring import Evaluation, Sweep, evaluate
from neardup.evaluation.settings import Setting

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
    "evaluate",
    "measure_documents",
]
