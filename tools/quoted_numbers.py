"""`python -m tools.quoted_numbers [--check]`: write the numbers that pages quote from results files again.

Right after such a number a page has a comment that says where the number comes from:

    23<!-- = pipeline rows[corpus=1m,engine=ours].seconds -->

The first word names the newest file benchmarks/results/NAME*.json. Then comes the path of the value: names with dots,
and in brackets the fields by which items of a list are chosen. `engine=a|b` chooses several items; then `lowest`,
`highest` or `sum` before the path says what is made of their values. `/ 1e6` divides, `over PATH` divides by another
value. A number with a percent sign is a share. A number has the accuracy that it had on the page, and at least two
digits.

A phrase can be quoted too, so that a comparison never contradicts its figures: `1.4 times as fast`, `as fast` (within
10%) or `80% as fast`, with the comment right after it.

With `--check` nothing is written; the exit code is 1 if a page is out of date.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Quote", "main", "pages", "quotes", "rewrite"]

ROOT = Path(__file__).parents[1]
SHOWN = r"(?:(?:[\d.,]+ times |[\d.]+% )?as [a-z]+|[\d.,]+%?)"
QUOTE = re.compile(rf"({SHOWN})(<!-- = (\S+) (.+?) -->)")
MARK = re.compile(r"<!-- = ")
SAME = 0.1  # two figures that differ by less are called the same
FEWEST_DIGITS = 2


@dataclass(frozen=True)
class Quote:
    """A number or a phrase on a page, and where its value is."""

    shown: str
    name: str
    path: str

    def value(self, results: Path) -> float:
        newest = max(results.glob(f"{self.name}*.json"), key=lambda file: file.name)
        return _value(json.loads(newest.read_text("utf-8")), self.path)

    def text(self, results: Path) -> str:
        """What the page should show."""
        value = self.value(results)
        phrase = re.fullmatch(r".*?as ([a-z]+)", self.shown)
        return _phrase(phrase[1], value) if phrase else _number(self.shown, value)


def pages(root: Path = ROOT) -> list[Path]:
    """All pages that may quote numbers."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def quotes(text: str) -> list[Quote]:
    """All quotes of a page. A mark that follows neither a number nor a phrase raises ValueError."""
    found = [Quote(shown, name, path) for shown, _, name, path in QUOTE.findall(text)]
    if len(found) != len(MARK.findall(text)):
        raise ValueError("a mark <!-- = ... --> is not right after a number or a phrase such as `as fast`")
    return found


def rewrite(text: str, results: Path) -> str:
    """The page with all its quotes as the results files have them now."""
    quotes(text)
    return QUOTE.sub(lambda one: Quote(one[1], one[3], one[4]).text(results) + one[2], text)


def _value(data: Any, path: str) -> float:
    top, over, below = path.partition(" over ")
    if over:
        return _value(data, top) / _value(data, below)
    top, slash, divisor = path.partition(" / ")
    order = re.match(r"(lowest|highest|sum) ", top)
    values = list(_values_at(data, top[order.end() :] if order else top))
    if order is None and len(values) != 1:
        raise ValueError(f"{path}: {len(values)} values fit; say lowest, highest or sum, or choose one")
    made = {"lowest": min(values), "highest": max(values), "sum": sum(values)}[
        order[1] if order else "lowest"
    ]
    return made / (float(divisor) if slash else 1)


def _values_at(data: Any, path: str) -> Iterator[float]:
    found = [data]
    for name, chosen in re.findall(r"([\w-]+)(?:\[([^\]]*)\])?", path):
        found = [one[name] for one in found]
        if chosen:
            wanted = {key: given.split("|") for key, given in (part.split("=") for part in chosen.split(","))}
            found = [
                item
                for one in found
                for item in one
                if all(str(item.get(key)) in given for key, given in wanted.items())
            ]
    if not found:
        raise ValueError(f"{path}: nothing fits")
    return map(float, found)


def _phrase(word: str, ratio: float) -> str:
    if ratio >= 1 + SAME:
        return f"{ratio:.1f} times as {word}"
    return f"as {word}" if ratio > 1 - SAME else f"{ratio:.0%} as {word}"


def _number(shown: str, value: float) -> str:
    """The value, as accurate as what the page has. A share below 100% never becomes 100%."""
    plain = shown.rstrip("%").replace(",", "")
    decimals = len(plain.partition(".")[2])
    if shown.endswith("%"):
        rounded = f"{100 * value:.{decimals}f}"
        while float(rounded) == 100 and value < 1 and decimals < 3:
            decimals += 1
            rounded = f"{100 * value:.{decimals}f}"
        return f"{rounded}%"
    if decimals:
        return f"{value:,.{decimals}f}"
    digits = max(FEWEST_DIGITS, len(plain.rstrip("0")))
    length = math.floor(math.log10(abs(value))) + 1 if value else 1
    return f"{round(value, min(0, digits - length)):,.0f}"


def main(arguments: list[str]) -> int:
    """Rewrite all pages, or name those that are out of date."""
    changed = []
    for page in pages():
        text = page.read_text("utf-8")
        wanted = rewrite(text, ROOT / "benchmarks" / "results")
        if wanted != text:
            changed.append(page.relative_to(ROOT).as_posix())
            if "--check" not in arguments:
                page.write_text(wanted, "utf-8")
    print("\n".join(changed) or "every quoted number is the one in its results file")
    return 1 if changed and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
