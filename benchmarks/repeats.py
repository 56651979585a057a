"""How fast repeated lines and passages are found and cut, and in how much memory, at a size of choice.

    python benchmarks/repeats.py --megabytes 100 --memory 256MB
    python benchmarks/repeats.py --megabytes 1000 --memory 1GB --units passage
    python benchmarks/repeats.py --megabytes 20 --whole        # beside a suffix array of all words, in memory

The text is real: the labelled corpora once as they are, then with their words shuffled in blocks of twenty, so that
passages repeat as often as they do in real text and not ten times more. One passage of 5,000 words is planted in 100
documents; a run that does not report it fails. Each run is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import corpus
import machine

SETS = [
    "k8s_docs_rev",
    "licenses",
    "electron_i18n_rev",
    "gov2_human",
    "pydoc_html_versions",
    "udhr_multilingual",
]
PLANTED_WORDS, PLANTED_TIMES, BLOCK = 5000, 100, 20


def make(megabytes: float) -> Path:
    """A JSONL file of about so many megabytes of text."""
    path = corpus.CACHE / f"repeats-{megabytes:g}.jsonl"
    if path.exists():
        return path
    corpus.CACHE.mkdir(exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}")
    texts = [text for name in SETS for _, text in corpus.documents(name)]
    planted = " ".join(f"planted{i}" for i in range(PLANTED_WORDS))
    size = row = copy = 0
    with open(partial, "w", encoding="utf-8") as file:
        while size < megabytes * 1e6:
            draw = random.Random(copy)
            for text in texts:
                if copy:
                    text = shuffled(text, draw)
                if row < PLANTED_TIMES:
                    text = f"{text}\n{row} {planted} {row}"
                text = text.encode("utf-8", "replace").decode()
                file.write(json.dumps({"id": row, "text": text}, ensure_ascii=False) + "\n")
                size += len(text.encode())
                row += 1
                if size >= megabytes * 1e6 and row >= PLANTED_TIMES:
                    break
            copy += 1
    partial.replace(path)
    return path


def shuffled(text: str, draw: random.Random) -> str:
    words = text.split(" ")
    blocks = [words[i : i + BLOCK] for i in range(0, len(words), BLOCK)]
    draw.shuffle(blocks)
    return " ".join(word for block in blocks for word in block)


def measure(command: list[str]) -> tuple[dict[str, float], str]:
    """Seconds and peak memory of a command, and what it printed."""
    wall = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return {
        "wall": round(time.perf_counter() - wall, 2),
        "cpu": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_mb": round(usage.ru_maxrss / 1000, 1),
    }, printed


def run(path: Path, unit: str, memory: str, threads: int, out: Path) -> dict[str, object]:
    command = [sys.executable, "-m", "neardup", "repeats", str(path), "--unit", unit, "--memory", memory]
    command += [
        "--threads",
        str(threads),
        "--top",
        "20",
        "--scratch",
        str(path.parent),
        "-o",
        str(out),
        "--json",
    ]
    figures, printed = measure(command)
    said = json.loads(printed)
    out.unlink()
    out.with_name(f"{out.name}.rejects.jsonl").unlink(missing_ok=True)
    planted = [(one["words"], one["count"]) for one in said["top"] if one["text"].startswith("planted0 ")]
    if unit == "passage" and planted != [(PLANTED_WORDS, PLANTED_TIMES)]:
        raise SystemExit(f"the planted passage was not found: {planted}")
    size = said["size"]
    return {
        "unit": unit,
        "memory": memory,
        "threads": threads,
        "megabytes": round(size / 1e6, 1),
        **figures,
        "mb_per_cpu_second": round(size / 1e6 / figures["cpu"], 1),
        "repeated": said["distinct"],
        "cut_share": round(said["cut"] / size, 4),
        "spilled_mb": round(said["spilled"] / 1e6, 1),
        "seconds": {stage: round(seconds, 2) for stage, seconds in said["seconds"].items()},
    }


WHOLE = """
import json, sys
import numpy as np
import neardup as nd
from neardup import _core
from neardup.features.texts import as_texts
columns, size, row = [], 0, 0
for batch in nd.read(sys.argv[1]):
    hashes, offsets, _, _ = _core.token_stream(as_texts(batch), nd.Normalize().native(), 1, False, 1)
    ends = (offsets[1:] - 1)[np.diff(offsets) > 0]
    columns.append(np.insert(hashes.view(np.int64) >> 1, ends + 1, -1 - row - np.arange(len(ends)) - 2**62))
    row += len(ends)
    size += sum(len(d.text.encode()) for d in batch)
letters = np.concatenate(columns)
del columns
suffixes, shared = _core.suffix_array(letters)
lows, highs, lengths = _core.maximal_repeats(letters, suffixes, shared)
print(json.dumps([size, int((lengths >= 50).sum())]))
"""


def run_whole(path: Path) -> dict[str, object]:
    """The suffix array of all words, by the same kernel that sorts the letters."""
    figures, printed = measure([sys.executable, "-c", WHOLE, str(path)])
    size, repeated = json.loads(printed)
    return {
        "unit": "array of all words",
        "megabytes": round(size / 1e6, 1),
        **figures,
        "mb_per_cpu_second": round(size / 1e6 / figures["cpu"], 1),
        "repeated": repeated,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--units", nargs="*", default=["line", "paragraph", "passage"])
    parser.add_argument("--whole", action="store_true", help="Also a suffix array of all words.")
    parser.add_argument("--keep", type=Path, help="Write the figures to this JSON file.")
    parser.add_argument("--make", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        make(arguments.megabytes)
        return
    # In a process of its own: a child's peak memory is at least what its parent held when it was started.
    subprocess.run([sys.executable, __file__, "--make", "--megabytes", str(arguments.megabytes)], check=True)
    path = make(arguments.megabytes)
    runs = []
    for unit in arguments.units:
        out = corpus.CACHE / f"repeats-{os.getpid()}.jsonl"
        runs.append(run(path, unit, arguments.memory, arguments.threads, out))
        print(json.dumps(runs[-1]))
    if arguments.whole:
        runs.append(run_whole(path))
        print(json.dumps(runs[-1]))
        if "passage" in arguments.units and runs[-1]["repeated"] != runs[-2]["repeated"]:
            raise SystemExit("the two ways found different numbers of passages")
    if arguments.keep:
        facts = {"machine": machine.describe(), "commit": machine.commit(), "when": machine.now()}
        arguments.keep.write_text(json.dumps(facts | {"runs": runs}, indent=1) + "\n")


if __name__ == "__main__":
    main()
