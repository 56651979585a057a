"""Features to fingerprints. Knows no text and no search."""

from neardup.fingerprints.base import (
    Codes,
    Digests,
    Fingerprints,
    PackedSketches,
    Sketches,
    concatenate,
    same_scheme,
)
from neardup.fingerprints.exact import Exact, digest_texts, expected_false_merges
from neardup.fingerprints.minhash import BitMinHash, MinHash
from neardup.fingerprints.simhash import Simhash

__all__ = [
    "BitMinHash",
    "Codes",
    "Digests",
    "Exact",
    "Fingerprints",
    "MinHash",
    "PackedSketches",
    "Simhash",
    "Sketches",
    "concatenate",
    "digest_texts",
    "expected_false_merges",
    "same_scheme",
]
