"""Features to fingerprints. Knows no text and no search."""

from neardup.fingerprints.base import Codes, Digests, Fingerprints, Sketches, same_scheme

__all__ = ["Codes", "Digests", "Fingerprints", "Sketches", "same_scheme"]
