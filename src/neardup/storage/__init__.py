"""Files: atomic writes, locks, checksums. Each is implemented once, here."""

__all__: list[str] = []
