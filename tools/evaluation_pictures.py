"""Make the pictures of docs/how-to/evaluate.md from the bundled sample, with their numbers as JSON beside each:
python tools/evaluation_pictures.py"""

from __future__ import annotations

import json
from pathlib import Path

import neardup as nd
from neardup import sample
from neardup.evaluate.plot import plot_calibration, plot_curve

IMAGES = Path(__file__).parents[1] / "docs" / "images"


def main() -> None:
    pages = list(nd.read(sample.path()).documents())
    texts = [page.text for page in pages]
    bands = [nd.LSH.for_threshold(0.8), nd.LSH.for_threshold(0.6, values=256)]
    curves = {
        "curve-sketch": nd.evaluate.curve_sketch(100, 90),
        "curve-bands": nd.evaluate.curve_bands(*bands),
        "curve-radius": nd.evaluate.curve_radius(3, 8, corpus=texts),
        "curve-edits": nd.evaluate.curve_edits(texts, radii=(3, 8)),
    }
    for name, curve in curves.items():
        plot_curve(curve, IMAGES / f"{name}.svg")
        write(name, curve.to_json())
    found = nd.evaluate.calibrate(pages)
    plot_calibration(found, IMAGES / "calibration.svg")
    write("calibration", found.to_json())


def write(name: str, said: dict[str, object]) -> None:
    (IMAGES / f"{name}.json").write_text(
        json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
