"""The report: findings as one self-contained HTML file for people."""

from neardup.pages.report.page import report

__all__ = ["report"]
