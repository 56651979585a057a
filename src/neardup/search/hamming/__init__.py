"""Exact search of codes within a radius: table designs, tables, joins, brute force."""

__all__: list[str] = []
