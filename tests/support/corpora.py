"""Small corpora with planted duplicates, and what tests ask of findings."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

WORDS = [f"{a}{b}" for a in ("ka", "lo", "mi", "ru", "te", "vo", "ze") for b in "bcdfghklmnprstvz"]


def planted(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Documents of which every third has an equal one and one or two that differ in some words."""
    random_ = random.Random(seed)
    rows = []
    for number in range(count):
        words = random_.choices(WORDS, k=random_.randint(20, 160))
        rows.append((f"d{number}", words))
        if number % 3 == 0:
            rows.append((f"d{number}-same", words))
            for copy in range(random_.randint(1, 2)):
                changed = words.copy()
                for _ in range(random_.randint(1, 4)):
                    changed[random_.randrange(len(words))] = random_.choice(WORDS)
                rows.append((f"d{number}-near{copy}", changed))
    random_.shuffle(rows)
    return [
        {"id": name, "text": " ".join(words), "quality": len(name) % 5, "site": f"s{i % 4}"}
        for i, (name, words) in enumerate(rows)
    ]


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def read_jsonl(path: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def found_bytes(folder: Path) -> dict[str, str]:
    """Digests of the files of findings that must not depend on how the scan was run."""
    names = ("documents.nd", "pairs.nd", "texts.nd")
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
