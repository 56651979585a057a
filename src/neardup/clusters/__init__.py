"""Verified pairs to clusters, and which document of each is kept."""

__all__: list[str] = []
