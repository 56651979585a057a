"""Turns features into fingerprints. This package does not search."""

from neardup.fingerprints.bucket_checksums import BucketChecksums
from neardup.fingerprints.exact import Exact, digest_texts, expected_false_merges
from neardup.fingerprints.fingerprints import (
    Codes,
    Digests,
    Fingerprints,
    PackedSketches,
    Sketches,
    concatenate,
    same_scheme,
)
from neardup.fingerprints.identical import Identical, identical
from neardup.fingerprints.imatch import IMatch
from neardup.fingerprints.keyed import Keys
from neardup.fingerprints.minhash import BitMinHash, MinHash
from neardup.fingerprints.one_pass import digest, fingerprint
from neardup.fingerprints.printer import Printer
from neardup.fingerprints.simhash import Simhash
from neardup.fingerprints.super_fingerprints import SuperFingerprints
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = [
    "DEFAULT_SEED",
    "BitMinHash",
    "BucketChecksums",
    "Codes",
    "Digests",
    "Exact",
    "Fingerprints",
    "IMatch",
    "Identical",
    "Keys",
    "MinHash",
    "PackedSketches",
    "Printer",
    "Seed",
    "Simhash",
    "Sketches",
    "SuperFingerprints",
    "concatenate",
    "digest",
    "digest_texts",
    "expected_false_merges",
    "fingerprint",
    "identical",
    "same_scheme",
]
