"""The report: findings as one page for people, in a file that needs nothing else."""

from neardup.pages.report.page import report

__all__ = ["report"]
