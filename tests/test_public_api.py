"""The public names are lists; adding one is a decision."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import neardup as nd

PUBLIC = {
    "neardup": [
        "BPHS",
        "BitMinHash",
        "Characters",
        "Config",
        "ConfigError",
        "Containment",
        "Cosine",
        "DataError",
        "Document",
        "Filters",
        "Findings",
        "Idf",
        "Index",
        "Jaccard",
        "Keep",
        "LSH",
        "MinHash",
        "NeardupError",
        "Normalize",
        "PSM",
        "Reader",
        "Result",
        "Seed",
        "Shingles",
        "Simhash",
        "Templates",
        "Vectors",
        "Words",
        "__version__",
        "apply",
        "cluster",
        "dedup",
        "explain",
        "fingerprint",
        "plan",
        "preset",
        "read",
        "report",
        "scan",
        "summarize",
    ],
    "neardup.clusters": ["Clusters", "Collapsed", "Fold", "Keep", "cluster", "collapse"],
    "neardup.compare": [
        "Containment",
        "Cosine",
        "Edit",
        "Explanation",
        "Identity",
        "Jaccard",
        "Pairs",
        "Span",
    ],
    "neardup.config": ["Config", "Filters", "PRESETS", "Preset", "Templates", "preset", "register"],
    "neardup.errors": [
        "ConfigError",
        "DataError",
        "FormatError",
        "MissingExtra",
        "NeardupError",
        "SchemeError",
        "SharedIndexError",
        "UnreadableInput",
        "UnsupportedInput",
    ],
    "neardup.evaluate": [
        "Borderline",
        "Calibrator",
        "ClusterScores",
        "CorpusCalibration",
        "Curve",
        "DistanceSample",
        "Evaluation",
        "Intervals",
        "Line",
        "Measure",
        "Outcome",
        "RadiusRow",
        "RadiusScore",
        "Rule",
        "Setting",
        "Sweep",
        "Tuned",
        "calibrate",
        "curve_bands",
        "curve_edits",
        "curve_radius",
        "curve_sketch",
        "draw_by_distance",
        "measure_documents",
        "score",
        "score_radii",
    ],
    "neardup.features": [
        "Characters",
        "Common",
        "Features",
        "Frequencies",
        "Highlights",
        "Idf",
        "Modulo",
        "Normalize",
        "Phrases",
        "Sentences",
        "Shingles",
        "Smallest",
        "TextFeatures",
        "Vectors",
        "Winnow",
        "Words",
        "normalize",
        "tokens",
        "weigh",
    ],
    "neardup.findings": [
        "Applied",
        "Decision",
        "DecisionLog",
        "Decisions",
        "ExplainedPair",
        "Findings",
        "ProtectedDocument",
        "Summary",
        "alarms",
        "by_passages",
        "check_output",
        "decided_cut",
        "explain_pair",
        "kept_pages",
        "list_clusters",
        "list_protected",
        "read_decisions",
        "shared_words",
        "summarize",
        "write_clusters",
        "write_pairs",
    ],
    "neardup.fingerprints": [
        "BitMinHash",
        "BucketChecksums",
        "Codes",
        "DEFAULT_SEED",
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
    ],
    "neardup.index": ["Answers", "Cluster", "Health", "Hit", "Index", "Seen", "Stats", "Stored"],
    "neardup.passages": [
        "Copied",
        "Copies",
        "FoundPassage",
        "Lines",
        "Occurrence",
        "Paragraphs",
        "PassageHits",
        "Passages",
        "Repeat",
        "Repeats",
        "find_copies",
        "find_passage",
    ],
    "neardup.pipeline": ["LearntTemplates", "SourceTemplate", "learn_templates"],
    "neardup.readers": ["Batch", "Layout", "Limits", "Reader", "Rejects", "Writer", "open_writer", "read"],
    "neardup.result": ["Dropped", "Rejected", "Result"],
    "neardup.search": [
        "Adjacent",
        "Agree",
        "BPHS",
        "Candidates",
        "Compact",
        "Covering",
        "FlipModel",
        "Hits",
        "Inverted",
        "Join",
        "KeyMethod",
        "Keyed",
        "LSH",
        "LiveSearcher",
        "Method",
        "PSM",
        "Plan",
        "Scan",
        "SearchReport",
        "chance_hits",
        "plan",
        "safe_radius",
        "volatility_tree",
        "vosh",
    ],
    "neardup.web.mirrors": ["Mirror", "MirrorGroup", "Mirrors", "SamePage", "find_mirrors"],
    "neardup.web.urls": [
        "CanonicalUrls",
        "Learnt",
        "Proposal",
        "Redirects",
        "STANDARD",
        "SiteRule",
        "UrlExplanation",
        "UrlRules",
        "UrlStep",
        "canonical_url",
        "canonical_urls",
        "explain_url",
        "learn_url_rules",
    ],
}

# Packages that need an extra: the names, and what the extra installs.
EXTRAS = {
    "neardup.http.client": (["AsyncClient", "Breaker", "Client", "Retry", "ServiceError"], "httpx"),
    "neardup.scrapy": (["NearDuplicate", "NearDuplicateItems", "NearDuplicateLinks"], "scrapy"),
    "neardup.stages.daft": (["dedup", "find_duplicates"], "daft"),
    "neardup.stages.datatrove": (
        ["DropDuplicates", "SaveDocuments", "Stage", "find_duplicates"],
        "datatrove",
    ),
    "neardup.spark": (
        ["Stages", "apply", "dedup", "file_stages", "frame_stages", "scan", "start"],
        "pyspark",
    ),
}


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names(module):
    found = importlib.import_module(module)
    assert sorted(found.__all__) == sorted(PUBLIC[module])
    assert all(hasattr(found, name) for name in PUBLIC[module])


@pytest.mark.parametrize("module", EXTRAS)
def test_public_names_of_extras(module):
    names, package = EXTRAS[module]
    # daft is not in the extra `test`, which the usual reason names.
    outside = "daft is not installed (pip install 'neardup[daft]')"
    pytest.importorskip(package, reason=outside if package == "daft" else None)
    found = importlib.import_module(module)
    assert sorted(found.__all__) == sorted(names)
    assert all(hasattr(found, name) for name in names)


def test_what_people_print_is_one_useful_line(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one text"}\n{"text": "one text"}\n')
    reader = nd.read(tmp_path / "a.jsonl")
    findings = nd.scan(tmp_path / "a.jsonl", tmp_path / "found")
    with nd.Index(tmp_path / "live") as index:
        printed = [repr(one) for one in (reader, nd.dedup(reader), findings, nd.Config(), index)]
    assert printed == [
        "<Reader of 1 file: a.jsonl>",
        "<Result: 2 documents, 1 kept, 1 dropped>",
        f"<Findings {str(tmp_path / 'found')!r}: 2 documents, 0 pairs>",
        "<Config: Shingles, MinHash, Jaccard >= 0.8, keep longest>",
        f"<Index {str(tmp_path / 'live')!r}: Shingles, BitMinHash + Compact, Jaccard >= 0.8, stores texts>",
    ]


def test_few_names_at_the_root():
    assert len(nd.__all__) <= 40


def test_namespaces_are_reached_from_the_root():
    assert nd.urls.canonical_url and nd.mirrors.find_mirrors and nd.search.Join and nd.evaluate.score
    assert {"urls", "search", "dedup"} <= set(dir(nd))


def test_the_module_dedup_does_not_hide_the_function():
    script = "import neardup.dedup, neardup as nd; assert callable(nd.dedup) and nd.dedup([]).summary()"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_import_is_light():
    """Importing the package and asking for its names loads nothing but the standard library and ourselves."""
    script = """
import sys
before = {name.split(".")[0] for name in sys.modules}
import neardup
dir(neardup)
loaded = {name.split(".")[0] for name in sys.modules} - before - set(sys.stdlib_module_names)
print(sorted(name for name in loaded if not name.startswith("_")))
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "['neardup']"


def test_the_library_needs_numpy_alone():
    """Fingerprints and a whole deduplication of texts load nothing but numpy, the standard library and ourselves."""
    script = """
import sys
import numpy
before = {name.split(".")[0] for name in sys.modules}  # numpy 1 brings cython_runtime
import neardup as nd
nd.fingerprint(["a b c"], nd.Shingles(1), nd.MinHash())
loaded = {name.split(".")[0] for name in sys.modules} - before - set(sys.stdlib_module_names)
print(sorted(name for name in loaded if not name.startswith("_")))
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "['neardup']"
