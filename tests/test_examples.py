"""Every example runs without arguments and says what it should; an example that nobody tests stops working."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"

# One telling line of each, as a regular expression.
TELLING = {
    "arrow_columns.py": r"^287 pages, 272 different by their words$",
    "choose_a_design.py": r"^8B codes of 64 bits, radius 3, 64 GB a shard",
    "codes_on_disk.py": r"^batch 2: 2000 hits; 502,000 codes in 3 files$",
    "compare_two_texts.py": r"^near-duplicate: Jaccard 0\.72 of word 3-shingles$",
    "containment_winnowing.py": r"^the quoted page page-004 was found$",
    "demo.py": r"^287 documents: 155 kept, 132 dropped",
    "crawl_without_mirrors.py": r"^neardup/links_dropped 2\nneardup/new           4$",
    "exact_duplicates.py": r"^raw: 0 copies; same words: 15 copies$",
    "fingerprint_a_folder.py": r"^  1\.000  0 bits  page-001\.txt  page-017\.txt$",
    "hamming_search.py": r"^Scan      (\d+) hits\nBPHS      \1 hits\nCovering  \1 hits\nCompact   \1 hits$",
    "probabilistic_search.py": r"^   64 flips: 100\.0%$",
    "self_join.py": r"^1,000,000 codes: 100 pairs, and a group of 100,000 equal codes$",
    "contamination.py": r"^62 of 200 training documents are near-duplicates of a test document$",
    "crawl_on_disk.py": r"^3 pages, 2 kept$",
    "daily_batch.py": r"^day 1: 96 pages, 82 new\nday 2: 96 pages, 68 new\nday 3: 95 pages, 44 new$",
    "dataframe.py": r"^287 rows, 196 kept$",
    "embeddings.py": r"^100 candidates, 100 verified, 1900 of 2000 vectors kept$",
    "hugging_face_dataset.py": r"^287 rows, 196 kept, columns id, url, title, text$",
    "keep_the_newest.py": r"^longest  keeps v1\nfirst    keeps v1\nlast     keeps v2\nnewest   keeps v3$",
    "repeated_passages.py": r"^  38 times: Saltmarsh Gazette",
    "short_texts.py": r"^5 words      0 of 4 dropped\n2 words      1 of 4 dropped\n4 characters 2 of 4 dropped$",
    "source_code.py": r"^vendor/sort\.py is a copy of sort\.py: similarity 0\.93\nkept: sort\.py, reverse\.py$",
    "find_a_passage.py": r"^1 exact and 1 near of 3 documents$",
    "fleet_on_redis.py": r"^second worker: a duplicate of https://example.org/ferry$",
    "folder.py": r"^old/ferry.md is dropped: the same words as ferry.txt, which is kept$",
    "less_memory.py": r"^the same result: True$",
    "many_languages.py": r"^kept: ja-2, de-1, ar-1$",
    "plagiarism.py": r"^85% of essay is in book, the longest passage has 39 words$",
    "review_and_audit.py": r"^196 documents are kept, and 197 after the decision to keep both$",
    "service.py": r"^a is new\nb is a duplicate of a\nc is new$",
    "spark_dataframe.py": r"^kept: a, c$",
    "simhash_with_idf.py": r"^cosine 0\.9 means 9\.2 bits on average, cosine 0\.99 2\.9$",
}


# Examples that need something beside our own packages: the fixture that has it, or skips.
# To start the first two takes seconds.
ENGINES = {"fleet_on_redis.py": "redis_server", "spark_dataframe.py": "java"}
NEEDS = {**ENGINES, "hugging_face_dataset.py": "datasets"}
# The tasks of the documentation, by their pages in docs/how-to.
TASKS = [
    *("folder", "dataframe", "hugging-face", "daily-batch", "contamination", "keep-the-newest", "review"),
    *(
        "find-a-passage",
        "containment",
        "source-code",
        "short-texts",
        "languages",
        "warc",
        "scrapy",
        "service",
    ),
    *("deploy", "shared-index", "spark", "embeddings", "search", "memory"),
]


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_a_script(task):
    page = (EXAMPLES.parent / "docs" / "how-to" / f"{task}.md").read_text("utf-8")
    named = re.findall(r"\]\(\.\./\.\./examples/(\w+\.py)\)", page)
    assert named and set(named) <= set(TELLING)


def test_every_example_is_tested():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(TELLING)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in ENGINES else ()) for name in TELLING]
)
def test_example(name, tmp_path, request):
    if name in NEEDS:
        request.getfixturevalue(NEEDS[name])
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name],
        cwd=tmp_path,
        env=os.environ | {"COLUMNS": "120", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(TELLING[name], done.stdout, re.MULTILINE), done.stdout
    assert not list(tmp_path.iterdir()), "an example leaves nothing behind"
