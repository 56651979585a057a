"""Make docs/images/demo.svg, the picture in the README, from a real run of the demo: python tools/screenshot.py"""

from __future__ import annotations

import io
import os
import pty
import re
import sys
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).parents[1]
WIDTH = 100

# Rich's picture loads a font from the network, which a page of documentation should not: any monospaced one will do,
# since every run of text has its length written down.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
FORMAT = FORMAT.replace(
    "Fira Code, monospace", "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
)


def on_a_terminal(command: list[str]) -> str:
    """What a command writes to a terminal, colours and all."""
    seen: list[bytes] = []

    def read(handle: int) -> bytes:
        data = os.read(handle, 1 << 16)
        seen.append(data)
        return b"."  # the picture shows the real program

    os.environ |= {"COLUMNS": str(WIDTH), "LINES": "200", "TERM": "xterm-256color"}
    if pty.spawn(command, read):
        raise SystemExit("the demo failed")
    return b"".join(seen).decode().replace("\r\n", "\n")


def main() -> None:
    text = Text.from_ansi(on_a_terminal([sys.executable, str(ROOT / "examples" / "demo.py")]).rstrip())
    console = Console(record=True, width=WIDTH, force_terminal=True, highlight=False, file=io.StringIO())
    console.print(text)
    target = ROOT / "docs" / "images" / "demo.svg"
    target.parent.mkdir(parents=True, exist_ok=True)
    picture = console.export_svg(title="make demo", theme=MONOKAI, code_format=FORMAT, unique_id="demo")
    target.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
