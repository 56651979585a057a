"""Which settings find what people call the same document: `python -m benchmarks.quality`, or `make quality`."""
