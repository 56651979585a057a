"""A live index in a folder: SQLite stores it, and native tables in memory search it."""

__all__: list[str] = []
