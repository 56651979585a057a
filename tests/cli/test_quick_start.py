"""What a plain run does not import, so that it starts quickly. Times depend on the machine; the modules do not."""

import json
import os
import subprocess
import sys
from functools import cache

import pytest

TEXTS = [
    f"a red ferry crosses the wide river every morning at {n // 2 + 1} with many people" for n in range(10)
]

# Packages that are not needed, and parts of neardup for other inputs, methods, outputs and commands.
NEVER = {
    "pyarrow",
    "pandas",
    "multiprocessing",
    "asyncio",
    "http",
    "email",
    "sqlite3",
    "subprocess",
    "tomllib",
    "importlib.metadata",
    "numpy.ma",
    "numpy.random",
    "neardup.evaluate",
    "neardup.http",
    "neardup.index",
    "neardup.pages",
    "neardup.passages",
    "neardup.compare.explain",
    "neardup.config.presets",
    "neardup.features.sequences",
    "neardup.fingerprints.bucket_checksums",
    "neardup.fingerprints.imatch",
    "neardup.fingerprints.super_fingerprints",
    "neardup.pipeline.templates",
    "neardup.readers.parquet",
    "neardup.readers.csv",
    "neardup.readers.mbox",
    "neardup.readers.npy",
    "neardup.readers.text_files",
    "neardup.readers.text_lines",
    "neardup.readers.warc",
    "neardup.search.agreement",
    "neardup.search.containment",
    "neardup.search.hamming",
    "neardup.search.planner",
    "neardup.search.psm",
    "neardup.web.html",
    "neardup.web.links",
    "neardup.web.urls",
}
NOT_BY_A_SCAN = {
    "neardup.readers.given",
    "neardup.readers.objects",
    "neardup.readers.tables",
    "neardup.readers.writers",
    "neardup.result",
}


def loaded_by(code: str, *arguments: str) -> set[str]:
    """The modules that this code loads, and the packages they are in; not those of Python's own start, which may find
    an editable package, nor those that numpy always loads: numpy 1 loads numpy.random, numpy.ma and what these need."""
    return in_process(code, *arguments) - at_the_start()


@cache
def at_the_start() -> set[str]:
    return in_process("import numpy")


def in_process(code: str, *arguments: str) -> set[str]:
    code += "\nimport sys; print(*sys.modules, file=sys.stderr)"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    made = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return set(made.stderr.splitlines()[-1].split())


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "ten.jsonl"
    path.write_text("".join(json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(TEXTS)))
    return path


COMMAND = "import sys; from neardup.cli import main; main(sys.argv[1:])"


def test_a_scan_of_jsonl_imports_what_it_uses(corpus, tmp_path):
    loaded = loaded_by(COMMAND, "scan", str(corpus), "--out", str(tmp_path / "found"), "--quiet")
    assert "neardup.findings.scan" in loaded and (tmp_path / "found").is_dir()
    assert not loaded & (NEVER | NOT_BY_A_SCAN)


def test_dedup_of_jsonl_imports_what_it_uses(corpus, tmp_path):
    loaded = loaded_by(COMMAND, "dedup", str(corpus), "--out", str(tmp_path / "kept.jsonl"), "--quiet")
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 5
    assert not loaded & NEVER


def test_dedup_of_texts_imports_what_it_uses():
    loaded = loaded_by(
        f"import neardup as nd\nassert len(nd.dedup({TEXTS!r}).kept) == 5; nd.dedup(['a']).summary()"
    )
    assert "neardup.pipeline.run" in loaded
    assert not loaded & (
        NEVER | {"click", "neardup.cli", "neardup.readers.tables", "neardup.readers.writers"}
    )
