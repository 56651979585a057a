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
from neardup.version import __version__

if TYPE_CHECKING:
    from neardup.clusters import Clusters, cluster
    from neardup.config import Config, Templates
    from neardup.deduplication import dedup
    from neardup.evaluation import (
        CorpusCalibration,
        Curve,
        Evaluation,
        calibrate,
        curve_bands,
        curve_edits,
        curve_radius,
        curve_sketch,
        evaluate,
    )
    from neardup.explanation import Explanation, explain
    from neardup.filters import Filters
    from neardup.findings import Findings, apply, scan, summarize
    from neardup.folding import Collapsed, Fold, collapse
    from neardup.index import Index
    from neardup.io import Batch, Limits, Reader, Rejects, Writer, open_writer, read
    from neardup.keep import Keep
    from neardup.planning import Plan, plan
    from neardup.repeats import Lines, Occurrence, Paragraphs, Passages, Repeat, Repeats
    from neardup.result import Dropped, Result
    from neardup.search.adjacent import Adjacent
    from neardup.search.base import Candidates, Hits
    from neardup.search.hamming import BPHS, Compact, Covering
    from neardup.search.join import Join
    from neardup.search.live import LiveSearcher
    from neardup.search.lsh import LSH
    from neardup.search.psm import PSM
    from neardup.search.scan import Scan
    from neardup.verify import Containment, Cosine, Jaccard, Pairs
    from neardup.web.mirrors import Mirrors, find_mirrors
    from neardup.web.urls import (
        Redirects,
        SiteRule,
        UrlRules,
        canonical_url,
        canonical_urls,
        explain_url,
        learn_url_rules,
    )

# Loaded on first use, so that importing neardup stays quick.
_LATER = {
    "Adjacent": "neardup.search.adjacent",
    "BPHS": "neardup.search.hamming",
    "Batch": "neardup.io",
    "Candidates": "neardup.search.base",
    "Clusters": "neardup.clusters",
    "Collapsed": "neardup.folding",
    "Compact": "neardup.search.hamming",
    "Config": "neardup.config",
    "Containment": "neardup.verify",
    "CorpusCalibration": "neardup.evaluation",
    "Cosine": "neardup.verify",
    "Covering": "neardup.search.hamming",
    "Curve": "neardup.evaluation",
    "Dropped": "neardup.result",
    "Evaluation": "neardup.evaluation",
    "Explanation": "neardup.explanation",
    "Filters": "neardup.filters",
    "Findings": "neardup.findings",
    "Fold": "neardup.folding",
    "Hits": "neardup.search.base",
    "Index": "neardup.index",
    "Jaccard": "neardup.verify",
    "Join": "neardup.search.join",
    "Keep": "neardup.keep",
    "LSH": "neardup.search.lsh",
    "Limits": "neardup.io",
    "Lines": "neardup.repeats",
    "LiveSearcher": "neardup.search.live",
    "Mirrors": "neardup.web.mirrors",
    "Occurrence": "neardup.repeats",
    "PSM": "neardup.search.psm",
    "Pairs": "neardup.verify",
    "Paragraphs": "neardup.repeats",
    "Passages": "neardup.repeats",
    "Plan": "neardup.planning",
    "Reader": "neardup.io",
    "Redirects": "neardup.web.urls",
    "Rejects": "neardup.io",
    "Repeat": "neardup.repeats",
    "Repeats": "neardup.repeats",
    "Result": "neardup.result",
    "Scan": "neardup.search.scan",
    "SiteRule": "neardup.web.urls",
    "Templates": "neardup.config",
    "UrlRules": "neardup.web.urls",
    "Writer": "neardup.io",
    "apply": "neardup.findings",
    "calibrate": "neardup.evaluation",
    "canonical_url": "neardup.web.urls",
    "canonical_urls": "neardup.web.urls",
    "cluster": "neardup.clusters",
    "collapse": "neardup.folding",
    "curve_bands": "neardup.evaluation",
    "curve_edits": "neardup.evaluation",
    "curve_radius": "neardup.evaluation",
    "curve_sketch": "neardup.evaluation",
    "dedup": "neardup.deduplication",
    "evaluate": "neardup.evaluation",
    "explain": "neardup.explanation",
    "explain_url": "neardup.web.urls",
    "find_mirrors": "neardup.web.mirrors",
    "learn_url_rules": "neardup.web.urls",
    "open_writer": "neardup.io",
    "plan": "neardup.planning",
    "read": "neardup.io",
    "scan": "neardup.findings",
    "summarize": "neardup.findings",
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
    "Collapsed",
    "Common",
    "Compact",
    "Config",
    "ConfigError",
    "Containment",
    "CorpusCalibration",
    "Cosine",
    "Covering",
    "Curve",
    "DataError",
    "Digests",
    "Document",
    "Dropped",
    "Evaluation",
    "Exact",
    "Explanation",
    "Features",
    "Filters",
    "Findings",
    "Fold",
    "FormatError",
    "Hits",
    "Idf",
    "Index",
    "Jaccard",
    "Join",
    "Keep",
    "Limits",
    "Lines",
    "LiveSearcher",
    "MinHash",
    "Mirrors",
    "MissingExtra",
    "Modulo",
    "NeardupError",
    "Normalize",
    "Occurrence",
    "Pairs",
    "Paragraphs",
    "Passages",
    "Phrases",
    "Plan",
    "Reader",
    "Redirects",
    "Rejects",
    "Repeat",
    "Repeats",
    "Result",
    "Scan",
    "SchemeError",
    "Seed",
    "Sentences",
    "Shingles",
    "Simhash",
    "SiteRule",
    "Sketches",
    "Smallest",
    "Templates",
    "UrlRules",
    "Winnow",
    "Words",
    "Writer",
    "__version__",
    "apply",
    "calibrate",
    "canonical_url",
    "canonical_urls",
    "cluster",
    "collapse",
    "curve_bands",
    "curve_edits",
    "curve_radius",
    "curve_sketch",
    "dedup",
    "digest",
    "evaluate",
    "expected_false_merges",
    "explain",
    "explain_url",
    "find_mirrors",
    "fingerprint",
    "learn_url_rules",
    "normalize",
    "open_writer",
    "plan",
    "read",
    "scan",
    "summarize",
    "tokens",
]


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'neardup' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_LATER[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
