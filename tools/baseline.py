"""Lists functions that need a processor newer than any x86-64: `python tools/baseline.py BUILD_FOLDER`.

Only functions of a CPU level above the baseline may, and core/cpu.hpp puts `avx2` or `avx512` in the names of those.
It reads the object files of a build, because a finished module has no names. Needs objdump (binutils).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

# Vector instructions of AVX and later begin with v; the others belong to BMI, LZCNT and POPCNT.
NEW = re.compile(
    r"^(v[a-z].*|k(and|or|not|xnor|xor|mov|shift|test|unpck|add)\w*"
    r"|andn|bextr|bls(i|r|msk)|bzhi|mulx|pdep|pext|rorx|sarx|shlx|shrx|lzcnt|popcnt)[lqwb]?$"
)
FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
LEVEL = re.compile("avx(2|512)")


def needing_more(objects: list[Path]) -> tuple[dict[str, str], int]:
    """The functions outside the levels that need more than the baseline, each with its first such instruction, and
    how many functions inside a level do."""
    command = ["objdump", "--disassemble", "--no-show-raw-insn", *map(str, objects)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    outside: dict[str, str] = {}
    inside: set[str] = set()
    function = ""
    for line in lines:
        if begun := FUNCTION.match(line):
            function = begun[1]
        elif "\t" in line:
            words = line.split("\t", 1)[1].split()
            if not words or not NEW.match(words[0]):
                continue
            if LEVEL.search(function):
                inside.add(function)
            else:
                outside.setdefault(function, " ".join(words))
    return outside, len(inside)


def main(folder: Path) -> int:
    objects = sorted(folder.rglob("*.o"))
    if not objects:
        print(f"neardup: no object files in {folder}; build the core there first.", file=sys.stderr)
        return 1
    outside, inside = needing_more(objects)
    for function, instruction in outside.items():
        print(f"{function}: {instruction}")
    print(
        f"{len(outside)} functions outside the CPU levels need more than the baseline, {inside} inside them do"
    )
    return 1 if outside or not inside else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
