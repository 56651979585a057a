"""The version, in one place that every layer may look at."""

__all__ = ["__version__"]

__version__ = "0.2.0"
