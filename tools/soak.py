"""Kills, faults, damage and fuzz for an hour, and the table of what was found, for docs/reliability.md.

    python tools/soak.py --minutes 60

Every round draws other cases. A line of the table is a kind of attack: how many cases, and how many of them failed. The
failures are printed with their numbers, so that each can be run again. Exit code 1 if there are any.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.damaged_files import run_damage  # noqa: E402
from support.faults import WORK, build_shim, run_faults  # noqa: E402
from support.mutated_files import FORMATS, run_mutations  # noqa: E402


def kills(many: int) -> list[str]:
    """Kills of a process that writes to an index."""
    command = [sys.executable, str(ROOT / "tools" / "crash_test.py"), "--kills", str(many)]
    done = subprocess.run(command, capture_output=True, text=True)
    return [] if done.returncode == 0 else [f"kills: {(done.stdout + done.stderr)[-600:]}"]


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--minutes", type=float, default=60)
    until = time.monotonic() + 60 * asked.parse_args().minutes
    cases, failures = Counter[str](), list[tuple[str, str]]()

    def note(kind: str, many: int, wrong: list[str]) -> None:
        cases[kind] += many
        failures.extend((kind, said) for said in wrong)
        print("\n".join(wrong), end="\n" if wrong else "", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        place, turn = Path(folder), 0
        shim = build_shim(place)
        while time.monotonic() < until:
            first = 1_000_000 + 100 * turn
            for format in FORMATS:
                note(f"damaged input, {format}", 100, run_mutations(format, first, 100))
            for kind in ("index", "export"):
                note(f"damaged {kind}", 100, run_damage(kind, first, 100))
            for name in WORK if shim is not None else ():
                _, wrong = run_faults(shim, place, name, 10, str(turn))
                note(f"failing calls, {name}", 10, wrong)
            note("kill -9 of a writer", 20, kills(20))
            turn += 1
    print("\n| attack | cases | failures |\n|---|---|---|")
    for kind, many in sorted(cases.items()):
        print(f"| {kind} | {many:,} | {sum(one == kind for one, _ in failures)} |")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
