"""How much longer hostile input takes than ordinary input of the same size.

    python -m benchmarks.hostile                 # results/hostile.json, and the table of docs/inside/reliability.md
    python -m benchmarks.hostile --scale 0.1     # a tenth of the size; only prints
    python -m benchmarks.hostile --only explain copies
    python -m benchmarks.hostile --page          # only the table, from the results

Every cell is a process of its own: CPU seconds with the hostile documents, and with random words in as many documents
of as many bytes. The time of a run without documents is taken off both. A run is stopped after `--seconds`.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import machine
from tools.page_part import write_part

Texts = list[str]
ROOT = Path(__file__).parents[1]
RESULT, PAGE = ROOT / "benchmarks" / "results" / "hostile.json", ROOT / "docs" / "inside" / "reliability.md"


def repeated_word(scale: float) -> Texts:
    """Two texts of 5 MB, each of one word over and over; they differ in their last word."""
    return [f"{'again ' * int(5e6 * scale / 6)}{end}" for end in ("left", "right")]


def one_page(scale: float) -> Texts:
    """10,000 pages of 200 words that differ in one word each."""
    words = ordinary_words(200, 1)
    return [" ".join([*words[:100], f"page{number}", *words[100:]]) for number in range(int(10_000 * scale))]


def shared_bands(scale: float) -> Texts:
    """100,000 documents of 60 words in 50 groups, so similar that most share bands with most others of their group, and
    so different that most are no duplicates."""
    draw, groups = random.Random(2), [ordinary_words(60, 10 + group) for group in range(50)]
    texts = []
    for number in range(int(100_000 * scale)):
        words = list(groups[number % 50])
        for place in draw.sample(range(60), 2):
            words[place] = f"w{draw.randrange(1 << 20)}"
        texts.append(" ".join(words))
    return texts


def largest_groups(scale: float) -> Texts:
    """10,000 pages in groups of 100 that differ in one word each: as many as `copies` still pairs with all others."""
    texts = []
    for group in range(int(100 * scale)):
        words = ordinary_words(200, 100 + group)
        texts += [" ".join([*words[:100], f"page{number}", *words[100:]]) for number in range(100)]
    return texts


def one_liners(scale: float) -> Texts:
    """A million texts of five words out of a thousand."""
    draw = random.Random(3)
    return [" ".join(f"w{draw.randrange(1000)}" for _ in range(5)) for _ in range(int(1_000_000 * scale))]


HOSTILE: dict[str, Callable[[float], Texts]] = {
    "one word, 2 x 5 MB": repeated_word,
    "10,000 pages of one text": one_page,
    "100 groups of 100 pages of one text": largest_groups,
    "100,000 that share bands": shared_bands,
    "1,000,000 lines": one_liners,
}


def ordinary_words(many: int, seed: int) -> list[str]:
    """Words as frequent as in natural text, out of 50,000."""
    draw = random.Random(seed)
    return [f"w{int(50_000 ** draw.random())}" for _ in range(many)]


def ordinary(texts: Texts) -> Texts:
    """As many texts of as many bytes."""
    made = []
    for number, text in enumerate(texts):
        words = " ".join(ordinary_words(len(text) // 4 + 1, 1000 + number))
        made.append(words[: max(1, len(text))])
    if len(made) == 2:  # two versions of one text, as the hostile ones are
        made[1] = made[0][: len(made[0]) // 2] + " other words " + made[0][len(made[0]) // 2 :]
    return made


def explain(texts: Texts) -> None:
    import neardup as nd

    nd.explain(*texts[:2])


def review(texts: Texts) -> None:
    from neardup.pages.review.rows import aligned

    aligned(*texts[:2])


def copies(texts: Texts) -> int:
    import neardup as nd

    return len(nd.passages.find_copies(texts))


def repeats(texts: Texts) -> None:
    import neardup as nd

    nd.passages.Passages().find(nd.read([{"text": text} for text in texts]))


def lines(texts: Texts) -> None:
    import neardup as nd

    nd.passages.Lines().find(nd.read([{"text": text.replace(" ", "\n", 10)} for text in texts]))


def templates(texts: Texts) -> None:
    from neardup.pipeline.templates import learn_templates

    learn_templates(texts)


def scan(texts: Texts) -> int:
    from neardup.findings import summarize
    from neardup.findings.scan import scan as scanned

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "in.jsonl")
        path.write_text("".join(json.dumps({"id": f"{i}", "text": t}) + "\n" for i, t in enumerate(texts)))
        found = scanned(path, Path(folder, "found"))
        summarize(found)
        return len(found.pairs)


WORK: dict[str, Callable[[Texts], int | None]] = {
    "explain": explain,
    "review": review,
    "copies": copies,
    "repeats": repeats,
    "lines": lines,
    "templates": templates,
    "scan": scan,
}


def measured(work: str, path: Path, most: float) -> dict[str, float | None]:
    """CPU seconds of one process, None if it was stopped, and how many pairs it found."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "benchmarks.hostile", "--work", work, "--texts", str(path)]
    try:
        done = subprocess.run(command, check=True, timeout=most, stdout=subprocess.PIPE, text=True)
    except subprocess.TimeoutExpired:
        return {"seconds": None, "pairs": None}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": took, "pairs": json.loads(done.stdout)}


def measure(scale: float, only: list[str], most: float) -> Iterator[dict[str, Any]]:
    """A row for each kind of hostile documents."""
    with tempfile.TemporaryDirectory() as folder:
        for name, make in HOSTILE.items():
            texts = make(scale)
            paths = [Path(folder, kind) for kind in ("hostile", "ordinary", "none")]
            for path, some in zip(paths, (texts, ordinary(texts), ["a", "b"]), strict=True):
                path.write_text(json.dumps(some))
            row: dict[str, Any] = {"documents": name}
            for work in only:
                if work in ("explain", "review") and len(texts) != 2:
                    continue
                hostile, plain, none = (measured(work, path, most) for path in paths)
                for found in (hostile, plain):
                    if found["seconds"] is not None:
                        found["seconds"] = round(max(found["seconds"] - (none["seconds"] or 0), 0), 2)
                row[work] = {"hostile": hostile, "ordinary": plain}
            yield row


def table(result: dict[str, Any]) -> Iterator[str]:
    yield "| | " + " | ".join(result["work"]) + " |"
    yield "|" + "---|" * (len(result["work"]) + 1)
    for row in result["rows"]:
        yield "| " + " | ".join([row["documents"], *(_cell(row.get(work)) for work in result["work"])]) + " |"


def _cell(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    shown = ["stopped" if one["seconds"] is None else f"{one['seconds']:.2f}" for one in found.values()]
    pairs = found["hostile"]["pairs"]
    return " / ".join(shown) + (f" ({pairs:,} pairs)" if pairs else "")


def write_page(result: dict[str, Any]) -> None:
    said = (
        f"Made by `python -m benchmarks.hostile` at commit `{result['commit']}` on {result['machine']['cpu']}; do not "
        "edit between the marks."
    )
    write_part(PAGE, "hostile", "\n".join([said, "", *table(result)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--only", nargs="*", choices=list(WORK), default=list(WORK))
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--work", choices=list(WORK))
    parser.add_argument("--texts", type=Path)
    given = parser.parse_args()
    if given.work:
        print(json.dumps(WORK[given.work](json.loads(given.texts.read_text()))))
        return
    if given.page:
        write_page(json.loads(RESULT.read_text()))
        return
    result = {"commit": machine.commit(), "machine": machine.describe(), "work": given.only, "rows": []}
    for row in measure(given.scale, given.only, given.seconds):
        result["rows"].append(row)
        print(json.dumps(row), flush=True)
    print("\n".join(table(result)))
    if given.scale == 1 and given.only == list(WORK):
        RESULT.write_text(json.dumps(result, indent=1) + "\n")
        write_page(result)


if __name__ == "__main__":
    main()
