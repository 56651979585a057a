"""What mkdocs calls while it builds the site.

- Pages of the repository's root (ARCHITECTURE.md and others) become pages of the site.
- A comment `<!-- made from the code: NAME -->` in a page is replaced by what tools/site makes for that name.
- Links to files that are not on the site become plain text.
- The navigation lists every decision below "Decisions".
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from mkdocs.structure.files import File  # noqa: E402
from tools.site.commands import commands_page  # noqa: E402
from tools.site.http_api import http_page  # noqa: E402
from tools.site.names import EXTRAS, NAMESPACES, extra_page, names_page, namespace_page  # noqa: E402
from tools.site.settings import settings_page  # noqa: E402

if TYPE_CHECKING:
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

FROM_ROOT = {
    "ARCHITECTURE.md": "inside/architecture.md",
    "CHANGELOG.md": "inside/changes.md",
    "CONTRIBUTING.md": "inside/contributing.md",
    "SECURITY.md": "inside/security.md",
}
MADE = {"commands": commands_page, "settings": settings_page, "http": http_page, "names": names_page}
MARK = re.compile(r"<!-- made from the code: (\w+) -->")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"(^```.*?^```$)", flags=re.DOTALL | re.MULTILINE)


def on_config(config: Any) -> Any:
    """Put every decision into the navigation, in order."""
    inside = next(part["Inside"] for part in config["nav"] if "Inside" in part)
    entry = next(one for one in inside if "Decisions" in one)
    if isinstance(entry["Decisions"], str):  # `mkdocs serve` calls this again with the same settings
        found = sorted((ROOT / "docs" / "inside" / "decisions").glob("[0-9]*.md"))
        pages = [f"inside/decisions/{page.name}" for page in found]
        entry["Decisions"] = [{"All decisions": entry["Decisions"]}, *pages]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of the root, and a page for each namespace of the Python API."""
    for name, place in FROM_ROOT.items():
        if (ROOT / name).exists():
            files.append(File.generated(config, place, content=(ROOT / name).read_text("utf-8")))
    for name in NAMESPACES:
        place = f"reference/python/{'index_' if name == 'index' else name}.md"  # index.md would be the folder's page
        files.append(File.generated(config, place, content=namespace_page(name)))
    for name in EXTRAS:
        place = f"reference/python/{name.replace('.', '-')}.md"
        files.append(File.generated(config, place, content=extra_page(name)))
    return files


def on_page_markdown(markdown: str, page: Page, config: Any, files: Files) -> str:
    """Fill in what is made from the code, and fix the links."""
    source = page.file.src_uri
    made = MARK.sub(lambda found: MADE[found[1]](), markdown)
    old = next((name for name, place in FROM_ROOT.items() if place == source), f"docs/{source}")
    parts = FENCE.split(made)  # every second part is a block of code
    parts[::2] = [LINK.sub(lambda found: _link(found, old, source), part) for part in parts[::2]]
    return "".join(parts)


def _link(found: re.Match[str], old: str, source: str) -> str:
    """The same link, seen from the page's place on the site."""
    picture, text, target = found.groups()
    if re.match(r"[a-z]+:|#", target):
        return found[0]
    name, mark, heading = target.partition("#")
    wanted = os.path.normpath(os.path.join(os.path.dirname(old), name))
    wanted = FROM_ROOT.get(wanted, wanted.removeprefix("docs/") if wanted.startswith("docs/") else "")
    if not wanted:
        return text
    return f"{picture}[{text}]({os.path.relpath(wanted, os.path.dirname(source) or '.')}{mark}{heading})"
