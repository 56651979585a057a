"""One plain style for all plots: measured lines in colour, what a paper printed in black, no decoration.

matplotlib is loaded by the first plot, so that results can be read and pages written without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "PRINTED", "counts", "legend", "panels", "save"]

FOLDER = Path(__file__).parent.parent / "docs" / "inside" / "papers"
COLOURS = ("#1f6fb4", "#d1611b", "#2f8f4e", "#8a4fa3", "#8c6d3f")
PRINTED: dict[str, Any] = {
    "color": "black",
    "marker": "x",
    "linestyle": "none",
    "markersize": 7,
    "markeredgewidth": 1.6,
}
"""How printed values are drawn."""
STYLE: dict[str, Any] = {
    "font.size": 10,
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "svg.hashsalt": "neardup",
    "figure.facecolor": "white",
}


def panels(
    columns: int, rows: int = 1, *, width: float = 4.6, height: float = 3.4
) -> tuple[Figure, list[Axes]]:
    """A figure and its panels, row by row."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.style.use(STYLE)
    figure, axes = plt.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False)
    return figure, list(axes.flat)


def counts(*axes: Axis) -> None:
    """Ticks of logarithmic axes at 1, 2 and 5 of each decade where these are few, spelled 200, 5K, 1M."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    def spelled(value: float, _: int) -> str:
        for unit, size in (("G", 1e9), ("M", 1e6), ("K", 1e3)):
            if value >= size:
                return f"{value / size:g}{unit}"
        return f"{value:g}"

    for axis in axes:
        low, high = axis.get_view_interval()
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 200 else (1,), numticks=20))
        axis.set_major_formatter(FuncFormatter(spelled))
        axis.set_minor_formatter(NullFormatter())


def legend(figure: Figure, axes: list[Axes], columns: int = 4) -> None:
    """One legend under the figure for all panels, each name once, where it hides no line."""
    named: dict[str, Any] = {}
    for axis in axes:
        for handle, name in zip(*axis.get_legend_handles_labels(), strict=True):
            named.setdefault(name, handle)
    figure.legend(named.values(), named.keys(), loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=columns)


def save(figure: Figure, name: str, folder: Path | None = None) -> None:
    """Write docs/inside/papers/NAME.svg, the same bytes for the same numbers."""
    import matplotlib.pyplot as plt

    target = folder or FOLDER
    target.mkdir(parents=True, exist_ok=True)
    figure.tight_layout(w_pad=2.5, h_pad=2.0)
    figure.savefig(target / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)
