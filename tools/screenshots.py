"""Make the pictures of the pages in docs/images from the bundled sample: python tools/screenshots.py [NAME ...]

Needs Chromium and the extra `test`. A picture is a function that brings a page to where it is worth a look; PICTURES
names them all.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

import neardup as nd
from neardup.sample import path as sample

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
LARGEST = 200_000  # bytes of a picture
WIDTH, SCALE = 1200, 1.5
OPTIONS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@contextmanager
def served(*command: str) -> Iterator[str]:
    """The address of a command of ours that serves a page, ended afterwards."""
    given = [sys.executable, "-m", "neardup", *command, "--port", "0", "--json"]
    with subprocess.Popen(given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.send_signal(signal.SIGTERM)


def report(page: Page, folder: Path) -> None:
    """Numbers and plots."""
    nd.report(nd.scan([sample()], folder / "f", nd.Config.of(floor=0.7), overwrite=True), folder / "r.html")
    page.goto((folder / "r.html").as_uri())
    take(page, "report", height=930)
    page.locator("article").first.screenshot(path=target("report-cluster"))


def report_dark(page: Page, folder: Path) -> None:
    """The same by night."""
    page.emulate_media(color_scheme="dark")
    nd.report(nd.scan([sample()], folder / "f", nd.Config.of(floor=0.7), overwrite=True), folder / "r.html")
    page.goto((folder / "r.html").as_uri())
    take(page, "report-dark", height=930)


def try_it(page: Page, folder: Path) -> None:
    """Two texts that differ in one word."""
    with served("try", "--no-open") as url:
        page.goto(url)
        page.get_by_role("button", name="One word changed").click()
        page.locator(".bands").wait_for()
        take(page, "try", height=880)
        page.evaluate("document.querySelector('.bar-top').remove()")  # it would lie over the others
        page.locator("section", has_text="Simhash: 64 bits").screenshot(path=target("try-bits"))
        page.locator("section", has_text="MinHash: a sketch").screenshot(path=target("try-sketch"))


def live(page: Page, folder: Path) -> None:
    """An index that takes the sample's pages, over and over and a little changed."""
    with gzip.open(sample(), "rt", encoding="utf-8") as file:
        pages = [json.loads(line) for line in file]
    with (
        served("serve", str(folder / "index.nd")) as url,
        httpx.Client(base_url=url, trust_env=False) as client,
    ):
        page.goto(url)
        for turn in range(8):
            for one in pages[turn * 20 :: 2 + turn % 3]:
                asked = {
                    "id": f"{one['url']}?visit={turn}",
                    "text": one["text"] + f" visited {turn} times" * turn,
                }
                client.post("/v1/seen", json=asked)
                client.post("/v1/search", json={"text": one["text"]}) if turn % 2 else None
            page.wait_for_timeout(2100)
        take(page, "live", height=1180)


def review(page: Page, folder: Path) -> None:
    """The overview, and two documents side by side."""
    config = nd.Config(verify=nd.Jaccard(0.8, floor=0.5), keep=nd.Keep(source="host:url"))
    nd.scan([sample()], folder / "sample.findings", config)
    with served("review", str(folder / "sample.findings"), "--no-open") as url:
        page.goto(url)
        page.locator("#overview .numbers").wait_for()
        page.wait_for_timeout(1500)
        take(page, "review", height=900)
        page.get_by_role("link", name="Go through the clusters").click()
        page.wait_for_timeout(1500)
        take(page, "review-clusters", height=900)
        page.keyboard.press("Enter")
        page.wait_for_timeout(2500)
        take(page, "review-compare", height=900)
        page.goto("about:blank")


PICTURES: dict[str, Callable[[Page, Path], None]] = {
    "report": report,
    "review": review,
    "report-dark": report_dark,
    "try": try_it,
    "live": live,
}


def target(name: str) -> Path:
    IMAGES.mkdir(parents=True, exist_ok=True)
    return IMAGES / f"{name}.png"


def take(page: Page, name: str, *, height: int) -> None:
    """A picture of the top of the page."""
    page.set_viewport_size({"width": WIDTH, "height": height})
    page.wait_for_timeout(300)
    page.screenshot(path=target(name))


def shrink(picture: Path) -> None:
    """256 colours are enough for pages like ours, and a third of the bytes."""
    from PIL import Image

    with Image.open(picture) as image:
        small = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(picture, optimize=True)
    if picture.stat().st_size > LARGEST:
        raise SystemExit(f"{picture}: {picture.stat().st_size:,} bytes are too many for a picture")


def make(browser: Browser, name: str) -> None:
    before = {picture: picture.stat().st_mtime_ns for picture in IMAGES.glob("*.png")}
    with tempfile.TemporaryDirectory() as folder:
        page = browser.new_page(viewport={"width": WIDTH, "height": 900}, device_scale_factor=SCALE)
        PICTURES[name](page, Path(folder))
        page.close()
    for picture in sorted(IMAGES.glob("*.png")):
        if before.get(picture) != picture.stat().st_mtime_ns:
            shrink(picture)
            print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size:,} bytes")


def main() -> None:
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if program is None:
        raise SystemExit("chromium is not installed; `make engines` installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=OPTIONS)
        for name in sys.argv[1:] or PICTURES:
            make(browser, name)
        browser.close()


if __name__ == "__main__":
    main()
