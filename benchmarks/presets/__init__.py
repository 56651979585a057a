"""Every preset on a labelled set, most of them made by rule: python -m benchmarks.presets"""
