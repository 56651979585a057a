"""neardup finds, explains and removes duplicate and near-duplicate documents."""

from importlib import import_module
from typing import TYPE_CHECKING

from neardup.documents import Document
from neardup.errors import ConfigError, DataError, FormatError, MissingExtra, NeardupError, SchemeError
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
from neardup.fingerprints import (
    BitMinHash,
    Codes,
    Digests,
    Exact,
    MinHash,
    Simhash,
    Sketches,
    expected_false_merges,
)
from neardup.fused import digest, fingerprint
from neardup.seeds import DEFAULT_SEED, Seed

if TYPE_CHECKING:
    from neardup.clusters import Clusters, cluster
    from neardup.config import Config, Templates
    from neardup.explanation import Explanation, explain
    from neardup.filters import Filters
    from neardup.index import Index
    from neardup.io import Batch, Limits, Reader, Rejects, Writer, open_writer, read
    from neardup.keep import Keep
    from neardup.pipeline import Dropped, Result, dedup
    from neardup.planning import Plan, plan
    from neardup.search.adjacent import Adjacent
    from neardup.search.base import Candidates, Hits
    from neardup.search.hamming import BPHS, Compact, Covering
    from neardup.search.join import Join
    from neardup.search.live import LiveSearcher
    from neardup.search.lsh import LSH
    from neardup.search.psm import PSM
    from neardup.search.scan import Scan
    from neardup.verify import Containment, Cosine, Jaccard, Pairs

__version__ = "0.1.0"

# Loaded on first use, so that importing neardup stays quick.
_LATER = {
    "Adjacent": "neardup.search.adjacent",
    "BPHS": "neardup.search.hamming",
    "Batch": "neardup.io",
    "Candidates": "neardup.search.base",
    "Clusters": "neardup.clusters",
    "Compact": "neardup.search.hamming",
    "Config": "neardup.config",
    "Containment": "neardup.verify",
    "Cosine": "neardup.verify",
    "Covering": "neardup.search.hamming",
    "Dropped": "neardup.pipeline",
    "Explanation": "neardup.explanation",
    "Filters": "neardup.filters",
    "Hits": "neardup.search.base",
    "Index": "neardup.index",
    "Jaccard": "neardup.verify",
    "Join": "neardup.search.join",
    "Keep": "neardup.keep",
    "LSH": "neardup.search.lsh",
    "Limits": "neardup.io",
    "LiveSearcher": "neardup.search.live",
    "PSM": "neardup.search.psm",
    "Pairs": "neardup.verify",
    "Plan": "neardup.planning",
    "Reader": "neardup.io",
    "Rejects": "neardup.io",
    "Result": "neardup.pipeline",
    "Scan": "neardup.search.scan",
    "Templates": "neardup.config",
    "Writer": "neardup.io",
    "cluster": "neardup.clusters",
    "dedup": "neardup.pipeline",
    "explain": "neardup.explanation",
    "open_writer": "neardup.io",
    "plan": "neardup.planning",
    "read": "neardup.io",
}

__all__ = [
    "BPHS",
    "DEFAULT_SEED",
    "LSH",
    "PSM",
    "Adjacent",
    "Batch",
    "BitMinHash",
    "Candidates",
    "Characters",
    "Clusters",
    "Codes",
    "Common",
    "Compact",
    "Config",
    "ConfigError",
    "Containment",
    "Cosine",
    "Covering",
    "DataError",
    "Digests",
    "Document",
    "Dropped",
    "Exact",
    "Explanation",
    "Features",
    "Filters",
    "FormatError",
    "Hits",
    "Idf",
    "Index",
    "Jaccard",
    "Join",
    "Keep",
    "Limits",
    "LiveSearcher",
    "MinHash",
    "MissingExtra",
    "Modulo",
    "NeardupError",
    "Normalize",
    "Pairs",
    "Phrases",
    "Plan",
    "Reader",
    "Rejects",
    "Result",
    "Scan",
    "SchemeError",
    "Seed",
    "Sentences",
    "Shingles",
    "Simhash",
    "Sketches",
    "Smallest",
    "Templates",
    "Winnow",
    "Words",
    "Writer",
    "__version__",
    "cluster",
    "dedup",
    "digest",
    "expected_false_merges",
    "explain",
    "fingerprint",
    "normalize",
    "open_writer",
    "plan",
    "read",
    "tokens",
]


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'neardup' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_LATER[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
