"""Small values that every layer reads or prints: seeds, sizes, threads, wording."""

__all__: list[str] = []
