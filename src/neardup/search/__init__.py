"""Fingerprints to candidates: one file for each method. Knows no text."""

from neardup.search.agreement import Agree
from neardup.search.containment import Inverted
from neardup.search.hamming.adjacent import Adjacent
from neardup.search.hamming.join import Join
from neardup.search.hamming.live import LiveSearcher
from neardup.search.hamming.scan import Scan
from neardup.search.hamming.tables import BPHS, Compact, Covering
from neardup.search.interface import Candidates, Hits, Keyed, KeyMethod, Method
from neardup.search.lsh import LSH
from neardup.search.planner import Plan, plan
from neardup.search.psm.psm import PSM

__all__ = [
    "BPHS",
    "LSH",
    "PSM",
    "Adjacent",
    "Agree",
    "Candidates",
    "Compact",
    "Covering",
    "Hits",
    "Inverted",
    "Join",
    "KeyMethod",
    "Keyed",
    "LiveSearcher",
    "Method",
    "Plan",
    "Scan",
    "plan",
]
