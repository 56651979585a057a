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
    "Common",
    "Compact",
    "Config",
    "ConfigError",
    "Containment",
    "Cosine",
    "Covering",
    "DEFAULT_SEED",
    "DataError",
    "Digests",
    "Document",
    "Dropped",
    "Exact",
    "Explanation",
    "Features",
    "Filters",
    "Findings",
    "FormatError",
    "Hits",
    "Idf",
    "Jaccard",
    "Join",
    "Keep",
    "LSH",
    "Limits",
    "Lines",
    "LiveSearcher",
    "MinHash",
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
    "Sketches",
    "Smallest",
    "Templates",
    "Winnow",
    "Words",
    "Writer",
    "__version__",
    "apply",
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
