"""The wheel by itself, away from the source tree: what a user installs has everything that the commands need."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from support.command import serving
from support.skips import not_run
from tools.package_contents import faults

pytestmark = [pytest.mark.slow, pytest.mark.process]

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "neardup"
COMPILED = ROOT / "build" / Path(sys.prefix).name  # by `make build`; so that nothing is compiled again


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    if not COMPILED.is_dir():
        not_run("what the wheel is made of is not compiled", "make build")
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--quiet"]
    options += [f"-Cbuild-dir={COMPILED}", "-Ccmake.define.NEARDUP_STRICT=ON", "--wheel-dir", str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, str(ROOT)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("neardup-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The Python of a fresh environment that has the wheel; what it depends on is this one's, by path alone, so that
    the source tree, which a hook would bring in, is out of the way."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index"]
    subprocess.run([*install, "--quiet", "--disable-pip-version-check", str(wheel)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("platlib") + "\n")
    return python


def output_of(python: Path, *arguments: str, folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(python.with_name(arguments[0])), *arguments[1:]]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_file_of_the_package_is_in_it(wheel):
    there = {path.relative_to(PACKAGE.parent).as_posix() for path in PACKAGE.rglob("*") if path.is_file()}
    there = {name for name in there if "__pycache__" not in name}
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert there <= names and {"neardup/_core.pyi", "neardup/pages/static/review/index.html"} <= names
    assert faults(wheel) == []
    beside = {name for name in names - there if ".dist-info/" not in name}
    assert len(beside) == 1 and beside.pop().startswith(
        "neardup/_core."
    )  # the compiled core, and nothing else


@pytest.fixture(scope="module")
def findings(installed, tmp_path_factory) -> Path:
    """The sample that comes with it, scanned by it."""
    folder = tmp_path_factory.mktemp("findings")
    where = "import neardup._core as c, neardup as n, neardup.sample as s; print(n.__file__, c.__file__, s.path())"
    places = output_of(installed, "python", "-c", where, folder=folder).split()
    assert len(places) == 3 and all(installed.parents[1] in Path(place).parents for place in places)
    arguments = ("neardup", "dedup", places[2], "--floor", "0.5", "--out", "kept.jsonl", "--quiet", "--json")
    answer = json.loads(output_of(installed, *arguments, folder=folder))
    assert answer["written"] == answer["kept"] == len((folder / "kept.jsonl").read_text().splitlines()) > 100
    return folder / "kept.jsonl.findings"


def test_it_works_away_from_the_source_tree(installed, findings, tmp_path):
    import neardup as nd

    assert output_of(installed, "neardup", "--version", folder=tmp_path).split()[-1] == nd.__version__
    output_of(installed, "neardup", "report", str(findings), "--out", "report.html", folder=tmp_path)
    page = (tmp_path / "report.html").read_text()
    style = (PACKAGE / "pages" / "static" / "report.css").read_text()
    assert style.split("{")[0].strip().splitlines()[-1] in page and "<svg" in page


def test_its_pages_are_served(installed, findings, tmp_path):
    httpx = pytest.importorskip("httpx")
    pytest.importorskip("granian", reason="the extra `service` is not installed")
    for arguments in (("review", str(findings), "--no-open"), ("serve", str(tmp_path / "i"), "--port", "0")):
        with serving(*arguments, python=str(installed)) as server:
            base = server.url.partition("/#")[0]
            for path in ("/", "/try"):
                page = httpx.get(base + path, trust_env=False, timeout=300)
                files = re.findall(r'(?:src|href)="([^"#:]+\.(?:js|css|svg))"', page.text)
                assert page.status_code == 200 and len(files) >= 3, path
                for file in files:
                    answer = httpx.get(page.url.join(file), trust_env=False, timeout=300)
                    assert answer.status_code == 200 and len(answer.content) > 100, file
