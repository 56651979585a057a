"""`python tools/check_words.py [PATH ...]`: find words of an old dialect in pages, docstrings, help and messages.

The first versions of this project had words of their own that newcomers had to decode. This check keeps them out. It
reads the prose of Markdown pages (no code, no quoted output), the comments of C++ and JavaScript, and in Python the
docstrings, comments and names; in the package and the examples also all texts of more than one word. In tests and tools
those may be anything. proselint, a linter for English, looks at the same prose where it is installed.

All pages and folders are checked; there are no exceptions.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

__all__ = ["BANNED", "check", "comments_of_code", "names_of_module", "prose_of_page", "texts_of_module"]

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

PAGES = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "CHANGELOG.md",
    "docs",
)
MODULES = ("src/neardup", "examples", "tests", "tools", "benchmarks", "papers", "core")
SUFFIXES = (".md", ".py", ".hpp", ".cpp", ".js")
SHOWN = ("src/neardup/", "examples/")
# Words that no part of a name may be. `file.tell()` is a name of the standard library.
NAMES = {
    "told",
    "tells",
    "meets",
    "meet",
    "met",
    "alike",
    "stands",
    "stand",
    "stood",
    "goes",
    "stays",
    "stay",
    "anew",
}
FOUND = {re.compile(rf"\b(?:{word})\b", re.IGNORECASE): say for word, say in BANNED.items()}
# Checks of proselint that suit technical prose; those of typography do not.
PROSELINT = (
    "archaism",
    "cliches",
    "hedging",
    "malapropisms",
    "nonwords",
    "oxymorons",
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


def texts_of_module(source: str, every: bool = True) -> Iterator[tuple[int, str]]:
    """The lines of the docstrings and comments of a module; with `every`, of its texts of more than one word too."""
    tree = ast.parse(source)
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    own = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        text = isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip()
        if text and (every or id(node) in own):
            for offset, line in enumerate(node.value.splitlines()):
                yield node.lineno + offset, re.sub(r"`[^`]*`", "`code`", line)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], re.sub(r"`[^`]*`", "`code`", token.string.lstrip("# "))


def names_of_module(source: str) -> Iterator[tuple[int, str, str]]:
    """The names in a module that have a word of NAMES as a part: line, name and word."""
    for node in ast.walk(ast.parse(source)):
        for field in ("id", "attr", "arg", "name"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                for word in sorted(NAMES & set(re.sub(r"([A-Z])", r"_\1", name).lower().split("_"))):
                    yield getattr(node, "lineno", 1), name, word


def comments_of_code(text: str) -> Iterator[tuple[int, str]]:
    """The lines of C++ or JavaScript that have a comment, without their code. `//` within a text or a URL is none."""
    for number, line in enumerate(text.splitlines(), 1):
        found = re.search(r"""(?:^|[\s;{})])//(.*)$""", re.sub(r'"(?:[^"\\]|\\.)*"', "", line))
        if found:
            yield number, re.sub(r"`[^`]*`", "`code`", found[1])


def check(name: str, text: str) -> list[str]:
    """What is wrong in one file, a line each."""
    if name.endswith(".md"):
        prose = list(prose_of_page(text))
    elif name.endswith(".py"):
        prose = list(texts_of_module(text, name.startswith(SHOWN)))
    else:
        prose = list(comments_of_code(text))
    found = [
        f"{name}:{number}: {match[0]!r}; say: {say}"
        for number, line in prose
        for pattern, say in FOUND.items()
        for match in pattern.finditer(line)
    ]
    if name.endswith(".py"):
        found += [
            f"{name}:{line}: the name {one!r} has {word!r}" for line, one, word in names_of_module(text)
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
    """The pages and modules below these paths. Hidden folders, such as environments, are left out."""
    for path in paths or [*PAGES, *MODULES]:
        below = [ROOT / path] if (ROOT / path).is_file() else sorted((ROOT / path).rglob("*"))
        for file in below:
            name = file.relative_to(ROOT).as_posix()
            hidden = any(part.startswith(".") for part in Path(name).parts[:-1])
            if file.suffix in SUFFIXES and not hidden:
                yield name


def main(paths: list[str]) -> int:
    wrong = [line for name in files(paths) for line in check(name, (ROOT / name).read_text("utf-8"))]
    print("\n".join(wrong) or "plain words only")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
