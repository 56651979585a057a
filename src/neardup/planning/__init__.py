"""The planner: which search design to use for how many codes, at what cost, on this machine."""

from neardup.planning.machine import Machine
from neardup.planning.measure import measure
from neardup.planning.options import Option
from neardup.planning.planner import Plan, plan

__all__ = ["Machine", "Option", "Plan", "measure", "plan"]
