"""Make the saved indexes that the tests keep of each format version: tests/fixtures/index/vN.

Run it once when a version is new, and never again for an old one: the files must never change.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import neardup as nd
from neardup.index.local import session
from neardup.index.local.database import VERSION

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures" / "index"
TEXT = "river stone lantern harbour willow copper meadow signal winter garden thunder ribbon"
WORDS = TEXT.split()


def text(family: int, version: int) -> str:
    rng = np.random.default_rng(family)
    words = [WORDS[i] + str(i * family % 7) for i in rng.integers(0, len(WORDS), 60)]
    return " ".join([*words, *(["extra"] * version)])


def answers_of(index: nd.Index, queries: list[str]) -> dict:
    return {
        "scheme": index.scheme,
        "documents": [[e.id, e.keeper, e.meta, e.text and len(e.text)] for e in index.documents()],
        "hits": [[[h.id, h.distance, h.similarity] for h in hits] for hits in index.search(queries)],
    }


def main() -> None:
    folder = FIXTURES / f"v{VERSION}"
    folder.mkdir(parents=True)
    session.FEW_ROWS = 1
    texts = [text(n, 0) for n in range(6)]
    configs = {
        "bits": (None, "text"),
        "simhash": (nd.Config.of("simhash"), "features"),
        "minhash": (nd.Config.of("minhash"), "none"),
        "exact": (nd.Config.of("exact"), "none"),
    }
    expected = {"queries": texts}
    for name, (config, store) in configs.items():
        sample = texts if name == "simhash" else None
        with nd.Index(
            folder / name, config, store=store, seed=nd.Seed(99, secret=True), sample=sample
        ) as index:
            documents = [nd.Document(f"{n}-{v}", text(n, v), {"v": v}) for n in range(6) for v in range(3)]
            index.add(documents)
            index.remove(["0-0", "3-1"])
            index.compact()
            index.add([nd.Document("later", text(2, 1)), nd.Document("empty", "")])
            index.remove("5-0")
            expected[name] = answers_of(index, texts)
            session.FEW_ROWS = 1 << 30  # rows past the watermark remain there
        session.FEW_ROWS = 1
        (folder / name / "lock").unlink()
    (folder / "expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")
    for stray in folder.glob("*/index.sqlite-*"):
        stray.unlink()
    print(folder)


if __name__ == "__main__":
    main()
