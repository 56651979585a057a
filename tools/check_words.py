"""`python tools/check_words.py [PATH ...]`: find words of an old dialect in pages, docstrings, help and messages.

The first versions of this project had words of their own that newcomers had to decode. This check keeps them out. It
reads the prose of Markdown pages (no code, no quoted output), and in Python the docstrings; in src/neardup/cli also all
other texts, because users see them. proselint, a linter for English, looks at the same prose where it is installed.

LATER lists what is not clean yet. A folder or page leaves the list when it is, and never comes back.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["BANNED", "LATER", "check", "prose_of_page", "texts_of_module"]

ROOT = Path(__file__).parents[1]

# The word, as a regular expression, and what to write instead.
BANNED = {
    r"told|tells?": "reports, says, shows",
    r"meets?|met": "is compared with, shares a key with",
    r"alike": "similar",
    r"stands?|stood": "occurs, is, is stored",
    r"goes": "is dropped, is written to, continues",
    r"stays?": "is kept, remains",
    r"hardly": "rarely, almost never",
    r"whoever": "if you, a person who",
    r"anew": "again",
    r"heeds?": "follows, applies",
    r"besides": "in addition, as well",
    r"at the least": "at least",
    r"once more": "again",
    r"l(?:ies|ay)": "is, is stored",
    r"spoilt": "damaged",
    r"of one kind": "the same",
    r"whatever the": "for any",
    r"wherefore|thereof|therein|hence|thus": "so",
    r"unto|upon": "on",
    r"riddles?": "write a sentence with a subject and a verb",
}

# Not clean yet. The pages here are written by scripts in benchmarks/ and papers/, or are notes of the time.
LATER = (
    "docs/inside/benchmarks.md",
    "docs/inside/benchmarks-index.md",
    "docs/inside/benchmarks-pipeline.md",
    "docs/inside/benchmarks-search.md",
    "docs/inside/benchmarks-shared.md",
    "docs/inside/benchmarks-spark.md",
    "docs/inside/decisions/",
    "docs/inside/papers.md",
    "docs/inside/quality.md",
    "docs/inside/scale.md",
    "src/neardup/cli/",
    "src/neardup/clusters/",
    "src/neardup/config/",
    "src/neardup/dedup.py",
    "src/neardup/findings/",
    "src/neardup/http/",
    "src/neardup/index/",
    "src/neardup/pipeline/",
    "src/neardup/progress.py",
    "src/neardup/readers/",
    "src/neardup/result.py",
    "src/neardup/sample/",
    "src/neardup/search/",
    "src/neardup/spark/",
    "src/neardup/web/",
)

PAGES = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "CHANGELOG.md",
    "docs",
)
MODULES = ("src/neardup",)
SHOWN = "src/neardup/cli/"
FOUND = {re.compile(rf"\b(?:{word})\b", re.IGNORECASE): say for word, say in BANNED.items()}
# Checks of proselint that suit technical prose; those of typography do not.
PROSELINT = (
    "archaism",
    "cliches",
    "hedging",
    "malapropisms",
    "nonwords",
    "oxymorons",
    "redundancy",
    "uncomparables",
)


def prose_of_page(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page that are prose, with their numbers. Code and the addresses of links are left out."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            plain = re.sub(r"`[^`]*`", "`code`", line)
            plain = re.sub(r"\]\([^)]*\)", "]", plain)
            yield number, re.sub(r"<!--.*?-->", "", plain)


def texts_of_module(source: str, every: bool = False) -> Iterator[tuple[int, str]]:
    """The lines of the docstrings of a module; with `every`, of all its texts."""
    tree = ast.parse(source)
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    own = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        shown = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if shown and (id(node) in own or (every and " " in node.value)):
            for offset, line in enumerate(node.value.splitlines()):
                yield node.lineno + offset, re.sub(r"`[^`]*`", "`code`", line)


def check(name: str, text: str) -> list[str]:
    """What is wrong in one file, a line each."""
    lines = prose_of_page(text) if name.endswith(".md") else texts_of_module(text, name.startswith(SHOWN))
    prose = list(lines)
    found = [
        f"{name}:{number}: {match[0]!r}; say: {say}"
        for number, line in prose
        for pattern, say in FOUND.items()
        for match in pattern.finditer(line)
    ]
    return found + _proselint(name, prose)


def _proselint(name: str, prose: list[tuple[int, str]]) -> list[str]:
    try:
        from proselint.registry import CheckRegistry  # type: ignore[import-not-found]
        from proselint.tools import LintFile  # type: ignore[import-not-found]
    except ImportError:
        return []
    from proselint.checks import __register__ as known  # type: ignore[import-not-found]

    registry = CheckRegistry()
    if not registry.checks:
        registry.register_many(known)
    text = "\n".join(line for _, line in prose)
    if not text.strip():
        return []
    numbers = [number for number, _ in prose]
    found = []
    for result in LintFile(name, text).lint({"max_errors": 10_000, "checks": dict.fromkeys(PROSELINT, True)}):
        line = numbers[min(result.pos[0], len(numbers)) - 1]
        found.append(f"{name}:{line}: {result.check_result.message}")
    return found


def files(paths: list[str]) -> Iterator[str]:
    """The pages and modules below these paths that are not for later."""
    for path in paths or [*PAGES, *MODULES]:
        below = [ROOT / path] if (ROOT / path).is_file() else sorted((ROOT / path).rglob("*"))
        for file in below:
            name = file.relative_to(ROOT).as_posix()
            if file.suffix in (".md", ".py") and not name.startswith(LATER):
                yield name


def main(paths: list[str]) -> int:
    wrong = [line for name in files(paths) for line in check(name, (ROOT / name).read_text("utf-8"))]
    print("\n".join(wrong) or "plain words only")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
