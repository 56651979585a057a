"""neardup finds, explains and removes duplicate and near-duplicate documents."""

from importlib import import_module
from typing import TYPE_CHECKING

from neardup.dedup import dedup
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
from neardup.fingerprints.one_pass import digest, fingerprint
from neardup.readers.document import Document
from neardup.values.seeds import DEFAULT_SEED, Seed
from neardup.version import __version__

if TYPE_CHECKING:
    from neardup.clusters.clusters import Clusters, cluster
    from neardup.clusters.collapse import Collapsed, Fold, collapse
    from neardup.clusters.keepers import Keep
    from neardup.compare.explain import Explanation, explain
    from neardup.compare.passages import Span
    from neardup.compare.verify import Containment, Cosine, Jaccard, Pairs
    from neardup.config.config import Config, Templates
    from neardup.config.filters import Filters
    from neardup.config.presets import PRESETS, preset
    from neardup.evaluate import (
        CorpusCalibration,
        Curve,
        Evaluation,
        calibrate,
        curve_bands,
        curve_edits,
        curve_radius,
        curve_sketch,
    )
    from neardup.findings import Findings, summarize
    from neardup.findings.apply import apply
    from neardup.findings.scan import scan
    from neardup.index import Index
    from neardup.pages.report import report
    from neardup.passages import Lines, Occurrence, Paragraphs, Passages, Repeat, Repeats
    from neardup.passages.copies import Copied, Copies, find_copies
    from neardup.pipeline.templates import LearntTemplates, SourceTemplate, learn_templates
    from neardup.readers import Batch, Limits, Reader, Rejects, Writer, open_writer, read
    from neardup.result import Dropped, Result
    from neardup.search.agreement import Agree
    from neardup.search.containment import Inverted
    from neardup.search.hamming.adjacent import Adjacent
    from neardup.search.hamming.join import Join
    from neardup.search.hamming.live import LiveSearcher
    from neardup.search.hamming.scan import Scan
    from neardup.search.hamming.tables import BPHS, Compact, Covering
    from neardup.search.interface import Candidates, Hits
    from neardup.search.lsh import LSH
    from neardup.search.planner import Plan, plan
    from neardup.search.psm.psm import PSM
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
    "Adjacent": "neardup.search.hamming.adjacent",
    "Agree": "neardup.search.agreement",
    "BPHS": "neardup.search.hamming.tables",
    "Batch": "neardup.readers",
    "Candidates": "neardup.search.interface",
    "Clusters": "neardup.clusters.clusters",
    "Collapsed": "neardup.clusters.collapse",
    "Compact": "neardup.search.hamming.tables",
    "Config": "neardup.config.config",
    "Containment": "neardup.compare.verify",
    "Copied": "neardup.passages.copies",
    "Copies": "neardup.passages.copies",
    "CorpusCalibration": "neardup.evaluate",
    "Cosine": "neardup.compare.verify",
    "Covering": "neardup.search.hamming.tables",
    "Curve": "neardup.evaluate",
    "Dropped": "neardup.result",
    "Evaluation": "neardup.evaluate",
    "Explanation": "neardup.compare.explain",
    "Filters": "neardup.config.filters",
    "Findings": "neardup.findings",
    "Fold": "neardup.clusters.collapse",
    "Hits": "neardup.search.interface",
    "Index": "neardup.index",
    "Inverted": "neardup.search.containment",
    "Jaccard": "neardup.compare.verify",
    "Join": "neardup.search.hamming.join",
    "Keep": "neardup.clusters.keepers",
    "LSH": "neardup.search.lsh",
    "Limits": "neardup.readers",
    "LearntTemplates": "neardup.pipeline.templates",
    "Lines": "neardup.passages",
    "LiveSearcher": "neardup.search.hamming.live",
    "Mirrors": "neardup.web.mirrors",
    "Occurrence": "neardup.passages",
    "PRESETS": "neardup.config.presets",
    "PSM": "neardup.search.psm.psm",
    "Pairs": "neardup.compare.verify",
    "Paragraphs": "neardup.passages",
    "Passages": "neardup.passages",
    "Plan": "neardup.search.planner",
    "Reader": "neardup.readers",
    "Redirects": "neardup.web.urls",
    "Rejects": "neardup.readers",
    "Repeat": "neardup.passages",
    "Repeats": "neardup.passages",
    "Result": "neardup.result",
    "Scan": "neardup.search.hamming.scan",
    "SiteRule": "neardup.web.urls",
    "SourceTemplate": "neardup.pipeline.templates",
    "Span": "neardup.compare.passages",
    "Templates": "neardup.config.config",
    "UrlRules": "neardup.web.urls",
    "Writer": "neardup.readers",
    "apply": "neardup.findings.apply",
    "calibrate": "neardup.evaluate",
    "canonical_url": "neardup.web.urls",
    "canonical_urls": "neardup.web.urls",
    "cluster": "neardup.clusters.clusters",
    "collapse": "neardup.clusters.collapse",
    "curve_bands": "neardup.evaluate",
    "curve_edits": "neardup.evaluate",
    "curve_radius": "neardup.evaluate",
    "curve_sketch": "neardup.evaluate",
    "explain": "neardup.compare.explain",
    "explain_url": "neardup.web.urls",
    "find_copies": "neardup.passages.copies",
    "find_mirrors": "neardup.web.mirrors",
    "learn_templates": "neardup.pipeline.templates",
    "learn_url_rules": "neardup.web.urls",
    "open_writer": "neardup.readers",
    "plan": "neardup.search.planner",
    "preset": "neardup.config.presets",
    "read": "neardup.readers",
    "report": "neardup.pages.report",
    "scan": "neardup.findings.scan",
    "summarize": "neardup.findings",
}

_NAMESPACES = ("evaluate",)

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
    if name not in _LATER and name not in _NAMESPACES:
        raise AttributeError(f"module 'neardup' has no attribute {name!r}")
    if name in _NAMESPACES:
        return import_module(f"neardup.{name}")
    value = globals()[name] = getattr(import_module(_LATER[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
