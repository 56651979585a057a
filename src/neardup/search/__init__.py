"""Fingerprints to candidates. Knows no text."""

__all__: list[str] = []
