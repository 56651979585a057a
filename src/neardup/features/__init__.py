"""Text to features. Knows no fingerprints."""

from neardup.features.base import Features

__all__ = ["Features"]
