"""`python tools/package_contents.py FILE ...`: whether wheels and source archives hold what a user needs.

A wheel has the compiled core with its stub, the marker of types, the licence, the pages and the sample; a source
archive has what they are made of. Neither has what a build or a test run left behind.
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from pathlib import Path

WHEEL = (
    r"neardup/__init__\.py",
    r"neardup/_core\.[^/]*(so|pyd)",
    r"neardup/_core\.pyi",
    r"neardup/py\.typed",
    r"neardup/pages/.*\.html",
    r"neardup/pages/.*\.js",
    r"neardup/pages/.*\.css",
    r"neardup/sample/.*\.jsonl\.gz",
    r"neardup-[^/]*\.dist-info/entry_points\.txt",
    r"neardup-[^/]*\.dist-info/licenses/LICENSE",
)
SOURCE = (
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "Makefile",
    r"CMakeLists\.txt",
    r"pyproject\.toml",
    "core/.*[.]cpp",
    "core/.*[.]hpp",
    "src/neardup/.*[.]py",
    "src/neardup/py[.]typed",
    "tools/check_machine[.]sh",
    "tests/.*[.]py",
)
NEVER = r"(.*/)?(__pycache__|\.git|\.venv.*|build|\.pytest_cache|\.hypothesis|\.mypy_cache|\.ruff_cache)/.*"


def faults(archive: Path) -> list[str]:
    """What is missing and what should not be there, a sentence each."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            names, wanted = wheel.namelist(), WHEEL
    else:
        with tarfile.open(archive) as source:
            # Every name begins with the folder of the version.
            names, wanted = [name.partition("/")[2] for name in source.getnames()], SOURCE
    missing = [pattern for pattern in wanted if not any(re.fullmatch(pattern, name) for name in names)]
    extra = [name for name in names if re.fullmatch(NEVER, name)]
    if archive.suffix != ".whl":
        extra += [name for name in names if name.endswith((".so", ".pyd", "_core.pyi"))]
    return [f"{archive.name} lacks {pattern}" for pattern in missing] + [
        f"{archive.name} holds {name}" for name in extra
    ]


if __name__ == "__main__":
    found = [fault for argument in sys.argv[1:] for fault in faults(Path(argument))]
    print("\n".join(found) or "contents: ok")
    sys.exit(bool(found))
