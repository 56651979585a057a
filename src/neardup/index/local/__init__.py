"""A live index in a folder: SQLite is the record, native tables answer."""

__all__: list[str] = []
