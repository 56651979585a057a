"""Codes in files: segments, Parquet, npy, raw numbers and lines of hexadecimal digits."""

__all__: list[str] = []
