"""The generated Unicode tables are those of the script, and the normaliser follows them."""

import contextlib
import importlib.util
import io
import unicodedata
from pathlib import Path

import pytest

from neardup import _core

ROOT = Path(__file__).parents[2]


def test_tables_are_what_the_script_writes():
    if unicodedata.unidata_version != _core.unicode_version:
        pytest.skip(f"this Python has other Unicode tables (a Python with Unicode {_core.unicode_version})")
    spec = importlib.util.spec_from_file_location("unicode_tables", ROOT / "tools" / "unicode_tables.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    with contextlib.redirect_stdout(io.StringIO()) as written:
        script.main()
    assert written.getvalue() == (ROOT / "core" / "text" / "unicode_tables.inc").read_text()
