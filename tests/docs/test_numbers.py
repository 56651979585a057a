"""Pages of figures are what their generators make of the kept results, and quoted numbers are those of the results."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools.quoted_numbers import Quote, pages, quotes, rewrite

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"


@pytest.mark.parametrize("page", [page for page in pages() if "<!-- = " in page.read_text("utf-8")], ids=str)
def test_quoted_numbers_are_those_of_the_results(page):
    text = page.read_text("utf-8")
    for quote in quotes(text):
        assert quote.text(RESULTS) == quote.shown, f"{page.name}, {quote.path}: run `make figures`"


def test_the_readme_quotes_a_number_for_each_of_its_reasons():
    reasons = (ROOT / "README.md").read_text("utf-8").split("## Five reasons")[1].split("\n## ")[0]
    parts = reasons.split("\n- **")[1:]
    assert len(parts) == 5 and all(quotes(part) for part in parts)


def test_the_readme_is_short_and_complete():
    text = (ROOT / "README.md").read_text("utf-8")
    lines = [line for line in text.splitlines() if line.strip()]
    assert len(lines) <= 60
    assert text.count("](docs/images/") == 1
    assert text.index("## Five reasons") < len("\n".join(lines[:30])), "the first screen has become long"
    table = text.split("## Compared with other packages")[1].split("\n## ")[0]
    for package in ("datasketch", "text-dedup", "datatrove", "semhash", "daft", "NeMo Curator"):
        (row,) = (line for line in table.splitlines() if re.match(rf"\| \[?{package}\b", line))
        assert [bool(cell.strip()) for cell in row.strip("|").split("|")] == [True, True, True]
    assert "`make demo`" in text and "`make test`" in text


@pytest.mark.slow
@pytest.mark.process
def test_pages_of_figures_are_what_their_generators_make(tmp_path):
    """In a copy of the tree: the generators find results and pages beside themselves."""
    for name in ("benchmarks", "papers", "tools", "docs"):
        hidden = shutil.ignore_patterns(".*", "__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=hidden)
    shutil.copy(ROOT / "README.md", tmp_path)
    command = [sys.executable, "-m", "tools.remake_pages"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    different = [
        str(path.relative_to(tmp_path))
        for path in sorted(tmp_path.rglob("docs/**/*.md"))
        if path.read_text("utf-8") != (ROOT / path.relative_to(tmp_path)).read_text("utf-8")
    ]
    assert not different, "run `make figures`"


@pytest.fixture
def results(tmp_path):
    rows = [{"engine": "a", "speed": 2.5, "share": 0.9996}, {"engine": "b", "speed": 2.4, "share": 0.496}]
    (tmp_path / "old-1.json").write_text("{}")
    (tmp_path / "old-2.json").write_text(json.dumps({"rows": rows, "sizes": {"1m": 419_545_088}}))
    return tmp_path


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ("9", "rows[engine=a].speed", "2"),
        ("9.9", "rows[engine=a].speed", "2.5"),
        ("100", "sizes.1m / 1e6", "420"),
        ("126,000", "sizes.1m / 1e3", "420,000"),
        ("127,123", "sizes.1m / 1e3", "419,545"),
        ("100%", "rows[engine=a].share", "99.96%"),
        ("3%", "lowest rows[engine=a|b].share", "50%"),
        ("3.0%", "highest rows[engine=a|b].share", "99.96%"),
        ("3.0", "sum rows[engine=a|b].speed", "4.9"),
        ("3 times as fast", "rows[engine=a].speed over rows[engine=b].speed", "as fast"),
        ("as fast", "rows[engine=a].share over rows[engine=b].share", "2.0 times as fast"),
        ("as fast", "rows[engine=b].share over rows[engine=a].share", "50% as fast"),
    ],
)
def test_a_quote_is_written_again(results, before, path, after):
    page = "Of them {}<!-- = old " + path + " --> are.\n"
    assert rewrite(page.format(before), results) == page.format(after)
    assert rewrite(page.format(after), results) == page.format(after)


def test_what_cannot_be_quoted_is_an_error(results):
    with pytest.raises(ValueError, match="not right after a number"):
        quotes("some<!-- = old rows -->")
    with pytest.raises(ValueError, match="2 values fit"):
        Quote("1", "old", "rows[engine=a|b].speed").text(results)
    with pytest.raises(ValueError, match="nothing fits"):
        Quote("1", "old", "rows[engine=c].speed").text(results)
