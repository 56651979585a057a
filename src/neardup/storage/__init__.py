"""Files: written whole, locked, checksummed. Each idiom once."""

__all__: list[str] = []
