"""The public names are a list; adding one is a decision."""

import subprocess
import sys

import neardup

PUBLIC = [
    "Adjacent",
    "BPHS",
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
    "DEFAULT_SEED",
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
    "LSH",
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
    "PSM",
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


def test_public_names():
    assert sorted(neardup.__all__) == sorted(PUBLIC)
    assert all(hasattr(neardup, name) for name in PUBLIC)


def test_import_needs_numpy_alone():
    """Nothing but numpy, the standard library and ourselves is loaded."""
    script = """
import sys
before = {name.split(".")[0] for name in sys.modules}
import numpy
import neardup
loaded = {name.split(".")[0] for name in sys.modules} - before - set(sys.stdlib_module_names)
print(sorted(name for name in loaded if not name.startswith("_")))
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "['neardup', 'numpy']"
