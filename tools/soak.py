"""Kills, faults, damage and fuzz for an hour, and the table of what was found, for docs/inside/reliability.md.

    python tools/soak.py --minutes 60 --page

Every round draws other cases. A line of the table is a kind of attack: how many cases, and how many of them failed. The
failures are printed with their numbers, so that each can be run again. Exit code 1 if there are any.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "inside" / "reliability.md"
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

from support.damaged_files import KINDS as DAMAGED  # noqa: E402
from support.damaged_files import run_damage  # noqa: E402
from support.faults import WORK, build_shim, run_faults  # noqa: E402
from support.mutated_files import FORMATS, run_mutations  # noqa: E402
from tools.page_part import write_part  # noqa: E402


def kills(many: int) -> list[str]:
    """Kills of a process that writes to an index."""
    command = [sys.executable, str(ROOT / "tools" / "crash_test.py"), "--kills", str(many)]
    done = subprocess.run(command, capture_output=True, text=True)
    return [] if done.returncode == 0 else [f"kills: {(done.stdout + done.stderr)[-600:]}"]


def attacks(place: Path) -> Iterator[tuple[str, int, list[str]]]:
    """All kinds of attack in turns without end: the name, how many cases were run, and what went wrong."""
    shim = build_shim(place)
    damaged = [kind for kind in DAMAGED if kind != "shared index" or shutil.which("redis-server")]
    for turn in itertools.count():
        first = 1_000_000 + 100 * turn
        for name in WORK if shim is not None else ():
            calls, wrong = run_faults(shim, place, name, 10, str(turn))
            yield f"failing calls, {name}", min(calls, 10), wrong
        for kind in damaged:
            yield f"damaged {kind}", 100, run_damage(kind, first, 100)
        for format in FORMATS:
            yield f"damaged input, {format}", 100, run_mutations(format, first, 100)
        yield "kill -9 of a writer", 20, kills(20)


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--minutes", type=float, default=60)
    asked.add_argument("--page", action="store_true", help="write the table into docs/inside/reliability.md")
    given = asked.parse_args()
    until = time.monotonic() + 60 * given.minutes
    cases, failures = Counter[str](), list[tuple[str, str]]()

    def note(kind: str, many: int, wrong: list[str]) -> None:
        cases[kind] += many
        failures.extend((kind, said) for said in wrong)
        print("\n".join(wrong), end="\n" if wrong else "", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        for kind, many, wrong in attacks(Path(folder)):
            note(kind, many, wrong)
            if time.monotonic() > until:
                break
    table = ["| attack | cases | failures |", "|---|---|---|"]
    for kind, many in sorted(cases.items()):
        table.append(f"| {kind} | {many:,} | {sum(one == kind for one, _ in failures)} |")
    print("", *table, sep="\n")
    if given.page:
        write_part(PAGE, "soak", "\n".join(table))
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
