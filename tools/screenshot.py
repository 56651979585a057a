"""Make docs/images/demo.svg, the picture in the README, from a real run of the demo: python tools/screenshot.py"""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI

ROOT = Path(__file__).parents[1]
WIDTH = 84

# Rich's picture loads a font from the network, which a page of documentation should not: any monospaced one will do,
# since every run of text has its length written down.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
FORMAT = FORMAT.replace(
    "Fira Code, monospace", "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
)


def main() -> None:
    demo = runpy.run_path(str(ROOT / "examples" / "demo.py"))
    console = Console(record=True, width=WIDTH, force_terminal=True, highlight=False)

    def recorded(**_: Any) -> Console:
        return console

    demo["main"].__globals__["Console"] = recorded
    demo["main"]()
    target = ROOT / "docs" / "images" / "demo.svg"
    target.parent.mkdir(parents=True, exist_ok=True)
    picture = console.export_svg(title="make demo", theme=MONOKAI, code_format=FORMAT, unique_id="demo")
    target.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
