"""Evaluation: how good a result is, what a setting will do, and which one to choose for a corpus."""

from neardup.evaluate.calibration import Calibrator, calibrate, measure_documents
from neardup.evaluate.curves import Curve, Line, curve_bands, curve_edits, curve_radius, curve_sketch
from neardup.evaluate.metrics import ClusterScores, Intervals, Measure
from neardup.evaluate.outcomes import Borderline, CorpusCalibration, Outcome, RadiusRow
from neardup.evaluate.radii import DistanceSample, RadiusScore, draw_by_distance, score_radii
from neardup.evaluate.rules import Rule
from neardup.evaluate.scores import Evaluation, Sweep, score
from neardup.evaluate.settings import Setting
from neardup.evaluate.tuner import Tuned

__all__ = [
    "Borderline",
    "Calibrator",
    "ClusterScores",
    "CorpusCalibration",
    "Curve",
    "DistanceSample",
    "Evaluation",
    "Intervals",
    "Line",
    "Measure",
    "Outcome",
    "RadiusRow",
    "RadiusScore",
    "Rule",
    "Setting",
    "Sweep",
    "Tuned",
    "calibrate",
    "curve_bands",
    "curve_edits",
    "curve_radius",
    "curve_sketch",
    "draw_by_distance",
    "measure_documents",
    "score",
    "score_radii",
]
