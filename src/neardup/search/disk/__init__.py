"""Codes and digests in files larger than memory."""

__all__: list[str] = []
