"""The planner: which search design to use for how many codes, at what cost, on this machine."""

from neardup.search.planner.machine import Machine
from neardup.search.planner.measure import measure
from neardup.search.planner.options import Option
from neardup.search.planner.planner import Plan, plan

__all__ = ["Machine", "Option", "Plan", "measure", "plan"]
