"""The papers' figures and tables, measured again: `python -m papers` writes results, plots, docs/inside/papers.md."""
