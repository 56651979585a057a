"""Probabilistic simhash matching: flips in the order of VOSH, and the recall they reach."""

__all__: list[str] = []
