"""Manku, Jain and Das Sarma, section 3.2: what compressed codes take, by their number, with what none can beat."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neardup.search.disk.compressed import CompressedSegment, write_compressed
from neardup.search.distribution import entropy_bound, predicted_bits
from papers import corpus
from papers.experiment import Claim, Experiment, Options, Result, table
from papers.plots import COLOURS, PRINTED, panels, save

PAPER, HALF, SMALLEST = 33, 0.5, 12


def ratio(codes: NDArray[np.uint64], folder: Path) -> float:
    """Bits a code takes in blocks of 1,024 bytes, padding counted, over the 64 it has."""
    path = folder / "codes.segz"
    write_compressed(path, codes, None, "bare64", 64)
    with CompressedSegment.open(path) as stored:
        return stored.bits_per_code / 64


def run(options: Options) -> Result:
    generator = np.random.default_rng(32)
    real, made = corpus.real().codes, corpus.generated(options.documents).codes
    uniform = generator.integers(0, 2**64, 1 << options.largest, dtype=np.uint64)
    columns = {
        "real text": generator.permutation(real.codes[~real.empty, 0]),
        "generated text": generator.permutation(made.codes[~made.empty, 0]),
        "uniform": uniform,
    }
    found: Result = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, codes in columns.items():
            sizes = [1 << d for d in range(SMALLEST, int(np.log2(len(codes))) + 1, 2)]
            sizes += [len(codes)] if sizes[-1:] != [len(codes)] else []
            found[name] = [
                {
                    "codes": size,
                    "ratio": ratio(codes[:size], Path(folder)),
                    "uniform": predicted_bits(64, size) / 64,
                    "bound": entropy_bound(64, size) / 64,
                }
                for size in sizes
            ]
    line = range(SMALLEST, PAPER + 1)
    return {
        "measured": found,
        "log2": list(line),
        "bound": [entropy_bound(64, 2.0**d) / 64 for d in line],
        "predicted": [predicted_bits(64, 2.0**d) / 64 for d in line],
    }


def draw(result: Result) -> None:
    figure, (axis,) = panels(1, width=6.6, height=3.9)
    for colour, (name, points) in zip(COLOURS, result["measured"].items(), strict=False):
        axis.plot(
            [np.log2(p["codes"]) for p in points],
            [p["ratio"] for p in points],
            color=colour,
            marker="o",
            label=f"{name}, measured",
        )
    axis.plot(
        result["log2"], result["predicted"], color=COLOURS[2], linestyle=":", label="uniform, predicted"
    )
    axis.plot(
        result["log2"], result["bound"], color="black", linewidth=1.2, label="entropy bound of uniform codes"
    )
    axis.plot([PAPER], [HALF], **PRINTED, label="printed: “less than 32 GB”")
    axis.set(xlabel="log2 of the number of codes", ylabel="compressed size / 64 bits", ylim=(0.4, 1.0))
    axis.set(title="Size of compressed codes")
    axis.legend(fontsize=8)
    save(figure, "mk-compression")


def section(result: Result) -> list[str]:
    rows: list[tuple[object, ...]] = [
        (name, f"{p['codes']:,}", f"{p['ratio']:.3f}", f"{p['uniform']:.3f}", f"{p['bound']:.3f}")
        for name, points in result["measured"].items()
        for p in points
    ]
    last = result["log2"].index(PAPER)
    rows.append(
        (
            "not measured",
            f"{2**PAPER:,}",
            "",
            f"{result['predicted'][last]:.3f}",
            f"{result['bound'][last]:.3f}",
        )
    )
    return [
        "Sorted codes are stored in blocks of 1,024 bytes: for each code, the position of the leading bit that "
        "differs from the code before, in a Huffman code, and then the lower bits as they are. Sizes are shares "
        "of 64 bits a code. The bound is what sorted uniform codes need at least: 64 - log2 n + log2 e bits a code.",
        "",
        "![Compressed size by number of codes](papers/mk-compression.svg)",
        "",
        *table(("codes", "number", "measured", "uniform, predicted", "bound"), rows),
        "Printed: 8 billion codes take less than 32 GB, half their size. Uniform codes need at least "
        f"{result['bound'][last]:.3f} of it and would take {result['predicted'][last]:.3f}, which is "
        f"{result['predicted'][last] * 64:.1f} GB (E43). So the printed figure is possible only if codes form "
        "clusters; real text does take less than uniform codes. Errata E20: the first code of a block takes f "
        "bits, not 8f. E21: equal codes need a symbol of their own. E22: file F becomes smaller.",
        "",
    ]


def claims(result: Result) -> list[Claim]:
    last = result["log2"].index(PAPER)
    predicted = result["predicted"][last]
    real = result["measured"]["real text"][-1]
    return [
        Claim(
            "MK 3.2",
            "8 billion codes shrink to about half, less than 32 GB",
            f"below {HALF:.2f}",
            f"{predicted:.2f} for uniform codes; real text {real['ratio']:.2f} at {real['codes']:,} codes, "
            f"where uniform ones take {real['uniform']:.2f}",
            "yes" if predicted < HALF else "partly",
            "about half is right; less than half is possible only if codes form clusters",
        )
    ]


EXPERIMENT = Experiment("mk-compression", "MK section 3.2: compression", run, section, claims, draw)
