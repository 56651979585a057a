"""`python -m tools.site.check FOLDER`: check the pages of a built site without any network.

Every link within the site must lead to a file and, with a `#`, to an element with that id. Nothing that a page loads
(scripts, styles, pictures, fonts) may be on another host. Prints what is wrong and exits with 1.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["check_site"]

LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "src"),
    ("video", "src"),
}
STYLE = re.compile(r"url\(\s*[\"']?((?:https?:)?//[^)\"']+)|@import\s+[\"']((?:https?:)?//[^\"']+)")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attributes}
        self.ids.update(named[name] for name in ("id", "name") if name in named)
        for name, value in named.items():
            # A canonical address is a statement about the page; a browser does not load it.
            if (tag, name) in LOADED and named.get("rel") not in ("canonical", "next", "prev"):
                self.loaded.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)


def check_site(folder: Path) -> list[str]:
    """What is wrong, one sentence each; empty if all is well."""
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        pages[path] = _Page()
        pages[path].feed(path.read_text("utf-8"))
    found = [] if pages else [f"{folder} holds no pages; build the site first: make docs"]
    for path, page in pages.items():
        name = path.relative_to(folder)
        found += [f"{name} loads {url} from another host" for url in page.loaded if urlsplit(url).netloc]
        for link in [*page.links, *page.loaded]:
            wrong = _broken(link, path, folder, pages)
            if wrong:
                found.append(f"{name} links to {link}: {wrong}")
    for path in sorted(folder.rglob("*.css")):
        urls = [one or other for one, other in STYLE.findall(path.read_text("utf-8"))]
        found += [f"{path.relative_to(folder)} loads {url} from another host" for url in urls]
    return found


def _broken(link: str, path: Path, folder: Path, pages: dict[Path, _Page]) -> str:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or not link:
        return ""
    target = path if not parts.path else _file(unquote(parts.path), path, folder)
    if not target.exists():
        return "there is no such file"
    known = pages.get(target)
    if parts.fragment and known is not None and unquote(parts.fragment) not in known.ids:
        return "there is no such heading"
    return ""


def _file(name: str, path: Path, folder: Path) -> Path:
    if path == folder / "404.html" and name.startswith("/"):
        name, path = name.lstrip("/"), folder / "index.html"
    found = (path.parent / name).resolve() if name else path
    return found / "index.html" if found.is_dir() else found


if __name__ == "__main__":
    wrong = check_site(Path(sys.argv[1]).resolve())
    print("\n".join(wrong) or "all links lead somewhere, and no page loads anything from another host")
    sys.exit(1 if wrong else 0)
