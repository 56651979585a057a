"""Naive twins of kernels, searches and stages: slow, short, and checked by eye."""
