"""What many tests share: the real corpora, and every CPU level this machine has."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from neardup import _core

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("sanitize", parent=settings.get_profile("default"), max_examples=10)
settings.load_profile("default")

LEVELS = [level for level in _core.Cpu if level.value <= _core.best_cpu().value]


@pytest.fixture(params=LEVELS, ids=lambda level: level.name)
def cpu(request: pytest.FixtureRequest) -> Iterator[_core.Cpu]:
    """Runs the test once at each level."""
    _core.force_cpu(request.param)
    yield request.param
    _core.force_cpu(_core.best_cpu())


@pytest.fixture(scope="session")
def data() -> Path:
    """The labelled corpora: NEARDUP_DATA, or shared data beside the checkout."""
    folder = Path(os.environ.get("NEARDUP_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        if os.environ.get("CI") == "true":
            pytest.fail(f"no labelled corpora at {folder}; set NEARDUP_DATA")
        pytest.skip(f"no labelled corpora at {folder}; set NEARDUP_DATA")
    return folder


def engine(program: str, package: str) -> str:
    """The path of a program that tests run for real; without it they are skipped, and fail with CI=true."""
    found = shutil.which(program)
    if found is None:
        told = f"{program} is not installed; `make engines` or Debian's package {package} has it"
        pytest.fail(told) if os.environ.get("CI") == "true" else pytest.skip(told)
    return found


@pytest.fixture(scope="session")
def java() -> str:
    """Spark's Java."""
    return engine("java", "openjdk-17-jre-headless")


@pytest.fixture(scope="session")
def spark(java: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Spark on two threads of this process; there can be only one in it."""
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    from benchmarks.spark.same import quick_session

    session = quick_session(tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


@pytest.fixture(scope="session")
def redis_server() -> str:
    """The server's program; tests start their own on a free port."""
    return engine("redis-server", "redis-server")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's program, for Playwright's `executable_path`."""
    return engine("chromium", "chromium")


@pytest.fixture(scope="session")
def udhr(data: Path) -> list[str]:
    """One declaration in 380 languages."""
    with gzip.open(data / "udhr_multilingual" / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in file]


@pytest.fixture(scope="session")
def manuals(data: Path) -> list[str]:
    """1,319 pages of real documentation."""
    with gzip.open(data / "k8s_docs_rev" / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in file]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of four megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)],
        capture_output=True,
        text=True,
    )
    if made.returncode:
        pytest.skip(f"cannot mount a small file system here: {made.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)
