"""Numbers that pages quote from results files are the numbers in those files.

Right after such a number a page has a comment that says where it comes from:

    23<!-- = pipeline rows[corpus=1m,engine=ours].seconds -->

The first word names the newest file benchmarks/results/NAME*.json. Then comes the path of the value: names with dots,
and in brackets the fields by which an item of a list is chosen. `/ 1e6` divides, `over PATH` divides by another value.
A number with a percent sign is a share. The page may round: its number must be within half of its last digit.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
QUOTE = re.compile(r"([\d.,]+)(%?)<!-- = (\S+) (.+?) -->")
MARK = re.compile(r"<!-- = ")


def value_at(data: Any, path: str) -> float:
    for name, chosen in re.findall(r"([\w-]+)(?:\[([^\]]*)\])?", path):
        data = data[name]
        if chosen:
            wanted = dict(part.split("=") for part in chosen.split(","))
            found = [
                item for item in data if all(str(item.get(key)) == value for key, value in wanted.items())
            ]
            assert len(found) == 1, f"{path}: {len(found)} items fit [{chosen}]"
            data = found[0]
    return float(data)


def expected(data: Any, path: str) -> float:
    top, over, below = path.partition(" over ")
    if over:
        return value_at(data, top) / value_at(data, below)
    top, slash, divisor = path.partition(" / ")
    return value_at(data, top) / (float(divisor) if slash else 1)


def agrees(shown: str, value: float) -> bool:
    """Whether the number on a page is the value, rounded."""
    plain = shown.replace(",", "").rstrip(".")
    whole, _, decimals = plain.partition(".")
    zeros = 0 if decimals else len(whole) - len(whole.rstrip("0"))
    unit = 10.0 ** (zeros - len(decimals))
    return abs(float(plain) - value) <= unit / 2 + 1e-9


def quotes() -> list[tuple[str, str, str, str, str]]:
    return [
        (str(page.relative_to(ROOT)), *found)
        for page in PAGES
        for found in QUOTE.findall(page.read_text("utf-8"))
    ]


@pytest.mark.parametrize(("page", "shown", "percent", "name", "path"), quotes())
def test_quoted_number(page, shown, percent, name, path):
    newest = max(RESULTS.glob(f"{name}*.json"), key=lambda file: file.name)
    value = expected(json.loads(newest.read_text("utf-8")), path) * (100 if percent else 1)
    assert agrees(shown, value), f"{page} says {shown}{percent}; {newest.name}, {path}: {value:g}"


def test_every_mark_is_understood():
    for page in PAGES:
        text = page.read_text("utf-8")
        assert len(MARK.findall(text)) == len(QUOTE.findall(text)), (
            f"{page.name}: a mark is not right after a number"
        )
    assert len(quotes()) >= 10


def test_rounding_is_checked():
    assert (
        agrees("23", 23.2)
        and agrees("126,000", 125_919)
        and agrees("2.2", 2.1768)
        and agrees("1.000", 0.9996)
    )
    assert not agrees("24", 23.2) and not agrees("127,000", 125_919) and not agrees("2.20", 2.1768)
