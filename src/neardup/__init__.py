"""neardup finds, explains and removes duplicate and near-duplicate documents."""

from neardup.documents import Document
from neardup.errors import ConfigError, DataError, FormatError, MissingExtra, NeardupError, SchemeError
from neardup.explain import Explanation, explain
from neardup.features import (
    Characters,
    Common,
    Features,
    Idf,
    Modulo,
    Normalize,
    Phrases,
    Sentences,
    Shingles,
    Smallest,
    Winnow,
    Words,
    normalize,
    tokens,
)
from neardup.fingerprints import BitMinHash, Codes, Digests, Exact, MinHash, Simhash, Sketches
from neardup.fused import digest, fingerprint
from neardup.search.scan import Scan
from neardup.seeds import DEFAULT_SEED, Seed

__version__ = "0.1.0"

__all__ = [
    "DEFAULT_SEED",
    "BitMinHash",
    "Characters",
    "Codes",
    "Common",
    "ConfigError",
    "DataError",
    "Digests",
    "Document",
    "Exact",
    "Explanation",
    "Features",
    "FormatError",
    "Idf",
    "MinHash",
    "MissingExtra",
    "Modulo",
    "NeardupError",
    "Normalize",
    "Phrases",
    "Scan",
    "SchemeError",
    "Seed",
    "Sentences",
    "Shingles",
    "Simhash",
    "Sketches",
    "Smallest",
    "Winnow",
    "Words",
    "__version__",
    "digest",
    "explain",
    "fingerprint",
    "normalize",
    "tokens",
]
