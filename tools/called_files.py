"""Lists the modules that one call runs through: `python tools/called_files.py scan|seen|spark`.

It counts the files of `neardup` with a function that was called, and the pairs of files (caller, called). Code that
runs only while a module is imported does not count, nor do Spark's worker processes.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import neardup as nd

ROOT = str(Path(nd.__file__).parent) + os.sep


@cache
def module_of(code: CodeType) -> str:
    """The path of a module of the package; empty for other code."""
    path = os.path.abspath(code.co_filename)
    return path.removeprefix(ROOT) if path.startswith(ROOT) else ""


class Calls:
    """The modules that run, and the edges between them."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.edges: set[tuple[str, str]] = set()

    def of(self, run: Callable[[], object]) -> None:
        threading.setprofile(self._called)
        sys.setprofile(self._called)
        try:
            run()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        here = module_of(frame.f_code)
        if event != "call" or not here:
            return
        caller, above = "", frame.f_back
        while above is not None:
            name = module_of(above.f_code)
            if name and above.f_code.co_name == "<module>":
                return  # an import
            caller, above = caller or name, above.f_back
        if frame.f_code.co_name != "<module>":
            self.modules.add(here)
            if caller and caller != here:
                self.edges.add((caller, here))


def main(what: str) -> None:
    calls = Calls()
    long = [
        {"id": f"p{n}", "text": " ".join(f"w{n // 3 * 7 + i}" for i in range(60)) + f" {n}"}
        for n in range(60)
    ]
    short = [{"id": f"s{n}", "text": f"short text {n // 2}"} for n in range(20)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pages.jsonl")
        path.write_text("".join(json.dumps(row) + "\n" for row in long + short))
        if what == "scan":
            from neardup.cli import main as neardup

            def scan() -> None:
                with suppress(SystemExit):
                    neardup(["scan", str(path), "--out", f"{folder}/findings"])

            calls.of(scan)
        elif what == "seen":
            with nd.Index(f"{folder}/pages.nd") as index:
                index.seen(long[1]["text"], id="first")
                calls.of(lambda: index.seen(long[0]["text"], id="second"))
        else:
            from neardup.spark import scan as spark_scan

            calls.of(lambda: spark_scan(str(path), f"{folder}/findings"))
    print(*sorted(calls.modules), sep="\n")
    print(f"{what}: {len(calls.modules)} files, {len(calls.edges)} edges")


if __name__ == "__main__":
    main(sys.argv[1])
