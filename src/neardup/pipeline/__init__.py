"""From documents to verified pairs: read, fit, fingerprint, find."""

__all__: list[str] = []
