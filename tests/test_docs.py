"""The documentation runs: every block of Python and of the shell, in order, with the output it shows.

In README.md and docs/, one file is one story: its blocks share a namespace and an empty folder. A block tagged
`python` is executed, and a block tagged `output` right after it is what it prints. In a `console` block the lines
after `$ ` are run by the shell and the other lines are what they print. A line of `...`, or a `...` within a line,
matches anything. Whatever cannot run here is tagged `text`. The port that pages name is replaced by a free one, and
what a page has started is gone when its test ends.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.command_server import command_folder

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TAGS = {"python", "output", "console", "text", "cpp", "json"}
# Made by scripts in benchmarks/, and not before a run is kept.
GENERATED = {"docs/inside/benchmarks.md", "docs/inside/benchmarks-pipeline.md"}


PORT = "8765"  # in pages that serve something

# Pages that need something beside Python and our own packages: the fixture that has it, or skips.
ENGINES = {
    "docs/how-to/daft.md": "daft",
    "docs/how-to/dataframe.md": "datasets",
    "docs/how-to/datatrove.md": "datatrove",
    "docs/how-to/hugging-face.md": "datasets",
    "docs/how-to/shared-index.md": "redis_server",
    "docs/how-to/spark.md": "java",
}


@dataclass(frozen=True)
class Block:
    tag: str
    line: int
    text: str


def blocks_of(page: Path, port: str) -> list[Block]:
    found, inside = [], None
    text = page.read_text(encoding="utf-8").replace(PORT, port)
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.fullmatch(r"```(\w*)", line)
        if fence and inside is None:
            inside = (fence[1], number, [])
        elif fence:
            found.append(Block(inside[0], inside[1], "\n".join(inside[2])))
            inside = None
        elif inside is not None:
            inside[2].append(line)
    assert inside is None, f"{page.name}: a block is not closed"
    return found


def matches(shown: str, printed: str) -> bool:
    """Whether the output is what the page shows; spaces at the ends of lines do not count."""
    pattern = []
    for line in shown.strip("\n").split("\n"):
        if line.strip() == "...":
            pattern.append(r"(?:[^\n]*\n)*?")
        else:
            pattern.append(r"[^\n]*".join(map(re.escape, line.rstrip().split("..."))) + r"[ \t]*\n")
    return re.fullmatch("".join(pattern), printed.strip("\n") + "\n") is not None


def run_python(source: str, page: Path, line: int, names: dict[str, object]) -> str:
    printed = io.StringIO()
    code = compile("\n" * line + source, str(page), "exec")
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():  # they are errors, as in all tests
        exec(code, names)
    return printed.getvalue()


@pytest.fixture
def group() -> Iterator[int]:
    """A group of processes that ends with the test: a member of it keeps its number from being given away."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, process_group=0) as member:
        yield member.pid
        os.killpg(member.pid, signal.SIGKILL)


def free_port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def end_processes(names: dict[str, object]) -> None:
    """Those that the Python of a page started and, because it failed, did not end."""
    for value in names.values():
        if isinstance(value, subprocess.Popen):
            value.kill()
            value.wait()


def run_console(text: str, folder: Path, group: int) -> None:
    """Each command of the block, and what the page shows it to print."""
    environment = os.environ | {
        "PATH": os.pathsep.join(
            [str(command_folder()), str(Path(sys.executable).parent), os.environ["PATH"]]
        ),
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    assert text.startswith("$ "), f"a console block starts with a command: {text!r}"
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            process_group=group,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert not shown.strip() or matches(shown, done.stdout), f"{command}\nprints\n{done.stdout}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs(page, tmp_path, monkeypatch, request, group):
    needed = ENGINES.get(str(page.relative_to(ROOT)))
    if needed is not None:
        request.getfixturevalue(needed)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    request.addfinalizer(lambda: end_processes(names))
    printed: str | None = None
    for block in blocks_of(page, free_port()):
        where = f"{page.name}, line {block.line}"
        assert block.tag in TAGS, f"{where}: tag {block.tag!r}"
        if block.tag == "python":
            printed = run_python(block.text, page, block.line, names)
        elif block.tag == "output":
            assert printed is not None, f"{where}: output of nothing"
            assert matches(block.text, printed), f"{where}: this is printed\n{printed}"
            printed = None
        elif block.tag == "console":
            run_console(block.text, tmp_path, group)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?:|mailto:", target):
            continue
        name, _, heading = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists() or str(file.relative_to(ROOT)) in GENERATED, f"{page.name}: {target}"
        if heading and file.exists():
            titles = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
            known = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
            assert heading in known, f"{page.name}: {target}"


def test_matching_is_strict_but_for_dots():
    assert matches("a ... c\n...\nend", "a b c\n1\n2\nend\n")
    assert matches("...\nend", "end\n")
    assert not matches("a\nend", "a\nb\nend")
    assert not matches("a", "a b")
    assert not matches("", "a")


def test_every_page_is_reached_from_the_readme():
    seen, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or not page.exists() or page.suffix != ".md":
            continue
        seen.add(page)
        links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
        waiting += [(page.parent / link).resolve() for link in links if "://" not in link]
    assert set(PAGES) <= seen, [str(page.relative_to(ROOT)) for page in set(PAGES) - seen]
