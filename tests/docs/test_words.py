"""The check of words: pages and docstrings in plain English, and a check that can fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.check_words import check, comments_of_code, names_of_module, prose_of_page, texts_of_module

ROOT = Path(__file__).parents[2]

PAGE = """# What stays

Two schemes never meet in `nd.meet` or in [a link](stays.md).

```text
this goes and is told
```

<!-- whoever -->Documents are alike.
"""
MODULE = '''"""Tells nothing."""

ANSWER = "it was told"


def keep(row):
    """What stays."""
    return f"nothing goes {row}"  # and goes
'''
NAMED = """class HeMet:
    def what_stays(self, told, file):
        return file.tell() + self.metric + "alike"[told]
"""


def words(found: list[str]) -> list[str]:
    return [line.split("'")[1] for line in found]


def test_prose_is_checked_and_code_is_not():
    assert words(check("docs/page.md", PAGE)) == ["stays", "meet", "alike"]
    assert [line.split(":")[1] for line in check("docs/page.md", PAGE)] == ["1", "3", "9"]
    assert not any("told" in line for _, line in prose_of_page(PAGE))


def test_docstrings_texts_and_comments_are_checked():
    assert sorted(words(check("src/neardup/compare/one.py", MODULE))) == [
        "Tells",
        "goes",
        "goes",
        "stays",
        "told",
    ]
    assert sorted({number for number, _ in texts_of_module(MODULE)}) == [1, 3, 7, 8]
    assert sorted(words(check("tests/test_one.py", MODULE))) == ["Tells", "goes", "stays"]


def test_names_are_checked():
    assert sorted((line, word) for line, _, word in names_of_module(NAMED)) == [
        (1, "met"),
        (2, "stays"),
        (2, "told"),
        (3, "told"),
    ]
    assert len(check("tests/test_one.py", NAMED)) == 4


def test_comments_of_other_languages_are_checked():
    code = """// Rows that are alike.
const char* page = "https://told.example";  // it goes on
int stays = 1;
"""
    assert words(check("core/one.hpp", code)) == ["alike", "goes"]
    assert [number for number, _ in comments_of_code(code)] == [1, 2]


def test_all_pages_and_modules_are_clean():
    done = subprocess.run([sys.executable, ROOT / "tools" / "check_words.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
