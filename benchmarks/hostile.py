"""How much longer hostile input takes than ordinary input of the same size.

    python benchmarks/hostile.py                 # the table of docs/inside/reliability.md
    python benchmarks/hostile.py --scale 0.1     # a tenth of the size
    python benchmarks/hostile.py --only explain copies

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

Texts = list[str]


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


def one_liners(scale: float) -> Texts:
    """A million texts of five words out of a thousand."""
    draw = random.Random(3)
    return [" ".join(f"w{draw.randrange(1000)}" for _ in range(5)) for _ in range(int(1_000_000 * scale))]


HOSTILE: dict[str, Callable[[float], Texts]] = {
    "one word, 2 x 5 MB": repeated_word,
    "10,000 pages of one text": one_page,
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
    from neardup.pages.review.compare import aligned

    aligned(*texts[:2])


def copies(texts: Texts) -> None:
    import neardup as nd

    nd.passages.find_copies(texts)


def repeats(texts: Texts) -> None:
    import neardup as nd

    nd.passages.Passages().find(nd.read([{"text": text} for text in texts]))


def lines(texts: Texts) -> None:
    import neardup as nd

    nd.passages.Lines().find(nd.read([{"text": text.replace(" ", "\n", 10)} for text in texts]))


def templates(texts: Texts) -> None:
    from neardup.pipeline.templates import learn_templates

    learn_templates(texts)


def scan(texts: Texts) -> None:
    from neardup.findings import summarize
    from neardup.findings.scan import scan as scanned

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "in.jsonl")
        path.write_text("".join(json.dumps({"id": f"{i}", "text": t}) + "\n" for i, t in enumerate(texts)))
        summarize(scanned(path, Path(folder, "found")))


WORK: dict[str, Callable[[Texts], None]] = {
    "explain": explain,
    "review": review,
    "copies": copies,
    "repeats": repeats,
    "lines": lines,
    "templates": templates,
    "scan": scan,
}


def seconds(work: str, path: Path, most: float) -> float | None:
    """CPU seconds of one process; None if it was stopped."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, __file__, "--work", work, "--texts", str(path)]
    try:
        subprocess.run(command, check=True, timeout=most)
    except subprocess.TimeoutExpired:
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows(scale: float, only: list[str], most: float) -> Iterator[str]:
    yield "| " + " | ".join(["", *only]) + " |"
    yield "|" + "---|" * (len(only) + 1)
    with tempfile.TemporaryDirectory() as folder:
        for name, make in HOSTILE.items():
            texts = make(scale)
            paths = [Path(folder, kind) for kind in ("hostile", "ordinary", "none")]
            for path, some in zip(paths, (texts, ordinary(texts), ["a", "b"]), strict=True):
                path.write_text(json.dumps(some))
            cells = []
            for work in only:
                if work in ("explain", "review") and len(texts) != 2:
                    cells.append("")
                    continue
                hostile, plain, none = (seconds(work, path, most) for path in paths)
                cells.append(_cell(hostile, plain, none or 0.0, most))
            yield "| " + " | ".join([name, *cells]) + " |"


def _cell(hostile: float | None, plain: float | None, none: float, most: float) -> str:
    shown = [f"over {most:g}" if took is None else f"{max(took - none, 0):.2f}" for took in (hostile, plain)]
    return " / ".join(shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--only", nargs="*", choices=list(WORK), default=list(WORK))
    parser.add_argument("--work", choices=list(WORK))
    parser.add_argument("--texts", type=Path)
    given = parser.parse_args()
    if given.work:
        WORK[given.work](json.loads(given.texts.read_text()))
        return
    for row in rows(given.scale, given.only, given.seconds):
        print(row, flush=True)


if __name__ == "__main__":
    main()
