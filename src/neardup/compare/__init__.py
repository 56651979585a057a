"""Two documents: how similar they are, verified, explained, with what they share."""

__all__: list[str] = []
