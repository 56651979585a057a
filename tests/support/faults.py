"""Runs a piece of work again and again, each time with another system call that fails: see fault.c.

The work runs in a child with the preload library. After the fault it must have succeeded or raised an error with words;
then a check of what is left, and the same work again without a fault, must succeed.

    python -m support.faults add FOLDER

is one such child: it does the work and prints what came of it.
"""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import neardup as nd
from neardup.findings import DecisionLog, read_decisions
from neardup.findings.audit import draw_removals, read_audit, record
from neardup.index.rebuild import import_index, recover_index, reindex

__all__ = ["WORK", "build_shim", "run_faults"]

WORDS = [f"{a}{b}" for a in "bcdfglmnprst" for b in ("ale", "ore", "ine", "uth", "ask", "elt")]


def text_of(number: int) -> str:
    """Of 25 families; the last word differs within a family."""
    return " ".join([*random.Random(number % 25).choices(WORDS, k=40), WORDS[number // 25]])


DOCUMENTS = [nd.Document(f"d{n}", text_of(n)) for n in range(60)]


def prepare(folder: Path) -> None:
    """What every piece of work starts from."""
    with nd.Index(folder / "i", seed=7) as index:
        index.add(DOCUMENTS)
    rows = "".join(json.dumps({"id": d.id, "text": d.text}) + "\n" for d in DOCUMENTS)
    (folder / "in.jsonl").write_text(rows)
    nd.scan(folder / "in.jsonl", folder / "f.findings")
    (folder / "kept.jsonl").write_text("old\n")


def create(folder: Path) -> None:
    with nd.Index(folder / "new", seed=7) as index:
        assert index.get("none") is None


def add(folder: Path) -> None:
    with nd.Index(folder / "i") as index:
        index.add([nd.Document(f"e{n}", text_of(n)) for n in range(30)])
        index.remove(["d1", "d2", "d3"])


def compact(folder: Path) -> None:
    with nd.Index(folder / "i") as index:
        index.compact()


def backup(folder: Path) -> None:
    with nd.Index(folder / "i", mode="read") as index:
        index.backup(folder / "copy")


def export(folder: Path) -> None:
    with nd.Index(folder / "i", mode="read") as index:
        index.export(folder / "out.jsonl")


def scan(folder: Path) -> None:
    nd.scan(folder / "in.jsonl", folder / "g.findings")


def scan_reusable(folder: Path) -> None:
    nd.scan(folder / "in.jsonl", folder / "r.findings", reusable=True)


def check_reusable(folder: Path) -> None:
    if (folder / "r.findings" / "manifest.json").exists():
        nd.scan(folder / "in.jsonl", folder / "again.findings", against=[folder / "r.findings"])
        shutil.rmtree(folder / "again.findings")


def apply(folder: Path) -> None:
    nd.apply(folder / "f.findings", folder / "kept.jsonl", allow_mass_removal=True)


def decide(folder: Path) -> None:
    found = nd.Findings(folder / "f.findings")
    log = DecisionLog(found)
    for at in range(5):
        log.add("reject", int(found.pairs.left[at]), int(found.pairs.right[at]))


def check_decided(folder: Path) -> None:
    assert len(read_decisions(nd.Findings(folder / "f.findings"))) in range(6)


def audit(folder: Path) -> None:
    found = nd.Findings(folder / "f.findings")
    for drawn in draw_removals(found, found.cut(), 4):
        record(found, drawn, "right")


def check_audited(folder: Path) -> None:
    assert len(read_audit(nd.Findings(folder / "f.findings"))) in range(9)


def rebuild(folder: Path) -> None:
    with nd.Index(folder / "i", mode="read") as index:
        reindex(index, folder / "again")
    recover_index(folder / "i", folder / "saved")


def check_rebuilt(folder: Path) -> None:
    for name in ("again", "saved"):
        if (folder / name / "index.sqlite").exists():
            with nd.Index(folder / name, mode="read") as index:
                assert len(index) == 60 and index.verify().sound
        shutil.rmtree(folder / name, ignore_errors=True)


def dedup(folder: Path) -> None:
    assert len(nd.dedup(folder / "in.jsonl", memory="64MB", folder=folder).kept) == 25


def check_index(folder: Path) -> None:
    with nd.Index(folder / "i") as index:
        assert index.verify().sound, index.verify().problems
        ids = {entry.id for entry in index.documents()}
        assert {f"d{n}" for n in range(4, 60)} <= ids
        assert len(ids & {"d1", "d2", "d3"}) in (0, 3) and len([id for id in ids if id[0] == "e"]) in (0, 30)


def check_new(folder: Path) -> None:
    with nd.Index(folder / "new") as index:
        assert len(index) == 0 and index.verify().sound


def check_copy(folder: Path) -> None:
    if (folder / "copy" / "index.sqlite").exists():
        with nd.Index(folder / "copy", mode="read") as index:
            assert len(index) == 60 and index.verify().sound
        shutil.rmtree(folder / "copy")


def check_export(folder: Path) -> None:
    if (folder / "out.jsonl").exists() and (folder / "out.jsonl.key").exists():
        assert import_index(folder / "again", str(folder / "out.jsonl")) == 60
        shutil.rmtree(folder / "again")


def check_output(folder: Path) -> None:
    found = (folder / "kept.jsonl").read_text()
    assert found == "old\n" or len(found.splitlines()) == 25, found[:80]


WORK: dict[str, tuple[Callable[[Path], None], Callable[[Path], None]]] = {
    "create": (create, check_new),
    "add": (add, check_index),
    "compact": (compact, check_index),
    "backup": (backup, check_copy),
    "export": (export, check_export),
    "scan": (scan, lambda folder: None),
    "reusable scan": (scan_reusable, check_reusable),
    "apply": (apply, check_output),
    "decide": (decide, check_decided),
    "dedup": (dedup, lambda folder: None),
    "audit": (audit, check_audited),
    "rebuild": (rebuild, check_rebuilt),
}


def build_shim(folder: Path) -> Path | None:
    """The preload library; None without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    made = folder / "fault.so"
    source = Path(__file__).with_name("fault.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"], check=True)
    return made


def _run(shim: Path | None, name: str, folder: Path, at: int, code: int) -> subprocess.CompletedProcess:
    environment = {**os.environ, "FAULT_AT": str(at), "FAULT_ERRNO": str(code), "FAULT_PATH": str(folder)}
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    )
    if shim is not None:
        environment |= {"LD_PRELOAD": str(shim), "FAULT_COUNT": str(folder.parent / "count")}
    command = [sys.executable, "-m", "support.faults", name, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)


def run_faults(shim: Path, place: Path, name: str, most: int, seed: str = "") -> tuple[int, list[str]]:
    """How many calls the work makes, and what went wrong when some of them, at most this many and two more, failed."""
    sound, folder = place / "sound", place / "work"
    if not sound.exists():
        sound.mkdir()
        prepare(sound)
    wrong = []

    def fresh() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if name == "apply":
            prepare(folder)  # findings know their input by its path
        else:
            shutil.copytree(sound, folder, dirs_exist_ok=True)

    fresh()
    done = _run(shim, name, folder, 1 << 40, errno.ENOSPC)
    if done.returncode or done.stdout.split() != ["done"]:
        return 0, [f"{name}: fails without a fault: {done.stdout[-200:]} {done.stderr[-500:]}"]
    total = int((place / "count").read_text())
    rng = random.Random(f"{name} {seed}")
    for at in sorted({*rng.sample(range(1, total + 1), min(most, total)), max(1, total - 1), total}):
        code = rng.choice((errno.ENOSPC, errno.EIO))
        fresh()
        done = _run(shim, name, folder, at, code)
        case = f"{name}, call {at} of {total}, {errno.errorcode[code]}"
        if done.returncode or done.stdout.split()[:1] not in (["done"], ["refused"]):
            wrong.append(f"{case}: {done.returncode} {done.stderr[-400:]}")
            continue
        try:
            WORK[name][1](folder)
            again = _run(None, name, folder, 0, 0)
            assert again.returncode == 0 and again.stdout.split() == ["done"], (
                again.stdout + again.stderr[-300:]
            )
            WORK[name][1](folder)
        except Exception as error:
            wrong.append(
                f"{case} ({done.stdout.strip()[:100]}): afterwards {type(error).__name__}: {str(error)[:300]}"
            )
    return total, wrong


if __name__ == "__main__":
    try:
        WORK[sys.argv[1]][0](Path(sys.argv[2]))
        print("done")
    except (nd.errors.NeardupError, OSError) as error:
        print("refused", type(error).__name__, str(error)[:200])
