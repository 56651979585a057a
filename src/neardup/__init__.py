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
    BucketChecksums,
    Codes,
    Digests,
    Exact,
    Identical,
    IMatch,
    Keys,
    MinHash,
    Simhash,
    Sketches,
    SuperFingerprints,
    expected_false_merges,
    identical,
)
from neardup.fused import digest, fingerprint
from neardup.seeds import DEFAULT_SEED, Seed
from neardup.version import __version__

if TYPE_CHECKING:
    from neardup.clusters import Clusters, cluster
    from neardup.config import Config, Templates
    from neardup.copying import Copied, Copies, find_copies
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
    from neardup.presets import PRESETS, preset
    from neardup.repeats import Lines, Occurrence, Paragraphs, Passages, Repeat, Repeats
    from neardup.reporting import report
    from neardup.result import Dropped, Result
    from neardup.search.adjacent import Adjacent
    from neardup.search.agree import Agree
    from neardup.search.base import Candidates, Hits
    from neardup.search.hamming import BPHS, Compact, Covering
    from neardup.search.inverted import Inverted
    from neardup.search.join import Join
    from neardup.search.live import LiveSearcher
    from neardup.search.lsh import LSH
    from neardup.search.psm import PSM
    from neardup.search.scan import Scan
    from neardup.spans import Span
    from neardup.templating import LearntTemplates, SourceTemplate, learn_templates
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
    "Agree": "neardup.search.agree",
    "BPHS": "neardup.search.hamming",
    "Batch": "neardup.io",
    "Candidates": "neardup.search.base",
    "Clusters": "neardup.clusters",
    "Collapsed": "neardup.folding",
    "Compact": "neardup.search.hamming",
    "Config": "neardup.config",
    "Containment": "neardup.verify",
    "Copied": "neardup.copying",
    "Copies": "neardup.copying",
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
    "Inverted": "neardup.search.inverted",
    "Jaccard": "neardup.verify",
    "Join": "neardup.search.join",
    "Keep": "neardup.keep",
    "LSH": "neardup.search.lsh",
    "Limits": "neardup.io",
    "LearntTemplates": "neardup.templating",
    "Lines": "neardup.repeats",
    "LiveSearcher": "neardup.search.live",
    "Mirrors": "neardup.web.mirrors",
    "Occurrence": "neardup.repeats",
    "PRESETS": "neardup.presets",
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
    "SourceTemplate": "neardup.templating",
    "Span": "neardup.spans",
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
    "find_copies": "neardup.copying",
    "find_mirrors": "neardup.web.mirrors",
    "learn_templates": "neardup.templating",
    "learn_url_rules": "neardup.web.urls",
    "open_writer": "neardup.io",
    "plan": "neardup.planning",
    "preset": "neardup.presets",
    "read": "neardup.io",
    "report": "neardup.reporting",
    "scan": "neardup.findings",
    "summarize": "neardup.findings",
}

__all__ = [
    "BPHS",
    "DEFAULT_SEED",
    "LSH",
    "PRESETS",
    "PSM",
    "Adjacent",
    "Agree",
    "Batch",
    "BitMinHash",
    "BucketChecksums",
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
    "Copied",
    "Copies",
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
    "IMatch",
    "Identical",
    "Idf",
    "Index",
    "Inverted",
    "Jaccard",
    "Join",
    "Keep",
    "Keys",
    "LearntTemplates",
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
    "SourceTemplate",
    "Span",
    "SuperFingerprints",
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
    "find_copies",
    "find_mirrors",
    "fingerprint",
    "identical",
    "learn_templates",
    "learn_url_rules",
    "normalize",
    "open_writer",
    "plan",
    "preset",
    "read",
    "report",
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
