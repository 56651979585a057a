"""HTML to text, in worker processes with limits: if a page hangs or crashes a parser, only that page fails."""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Literal, NamedTuple, get_args

from neardup.errors import ConfigError, DataError, MissingExtra
from neardup.values.checks import checked, checked_methods
from neardup.values.sizes import parse_size
from neardup.web.html_worker import HIGHLIGHTS
from neardup.web.html_workers import PageRequest, Workers

__all__ = ["Extracted", "Failure", "HtmlExtractor", "Method"]

Method = Literal["main", "second-opinion", "whole", "trafilatura", "tags", "anchors", "links", "none"]


MARKED = ("main", "whole")  # methods whose text keeps the marks of highlights
ASKED = ("trafilatura", "second-opinion")  # methods that need trafilatura


class Failure(NamedTuple):
    """A page without text, and why: "timeout", "memory", "crashed", "too large" or "error: ..."."""

    row: int
    reason: str


@dataclass(frozen=True)
class Extracted:
    """Columns over the rows of a batch of pages: texts (None for failed pages), titles, and the failures by row.
    `whole` lists the rows whose text is that of the whole page, because their main content was too little, and `second`
    those whose text is the main content by trafilatura, for the same reason. `highlights`, if they were asked for, are
    the words of headings, bold words and the words of links in each text, on a line each."""

    texts: list[str | None]
    titles: list[str | None]
    failures: list[Failure]
    whole: list[int] = field(default_factory=list)
    second: list[int] = field(default_factory=list)
    highlights: list[str] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """The number of failed pages for each reason; all errors are counted together."""
        return dict(sorted(Counter(f.reason.partition(":")[0] for f in self.failures).items()))


@checked_methods
class HtmlExtractor:
    """Text of HTML pages, each within limits of time and memory.

    Methods: "main" is the main content (resiliparse), or the whole page if that holds under 30% of its words;
    "second-opinion" is the same, but such a page is first given to trafilatura, whose text is taken if it holds more;
    "whole" is all text of the page without scripts and styles, "trafilatura" the main content by a slower and more
    careful method, "none" the decoded page itself. A page can also be represented by its structure instead of its text:
    "tags" are the names of its elements in order, "anchors" the texts of its links and "links" their addresses as
    written, one on each line.

    `seconds` is the wall-clock time for a page; a slower worker is killed. `memory` is the address space that a page
    may use beyond a new worker, enforced if the system has RLIMIT_AS (Linux); elsewhere only time is limited. Pages
    with more than `largest` bytes of UTF-8 are not tried. Processes start with the first batch and end with `close`.
    The texts do not depend on the number of workers, but a page near the time limit may pass or fail. With `highlights`
    the words are given that a page sets apart.
    """

    @checked
    def __init__(
        self,
        method: Method = "main",
        workers: int = 1,
        seconds: float = 5.0,
        memory: int | str = "512MB",
        largest: int | str = "16MB",
        *,
        highlights: bool = False,
    ) -> None:
        if method not in get_args(Method):
            raise ConfigError(f"HTML becomes text by one of {', '.join(get_args(Method))}, not {method!r}")
        if workers < 1:
            raise ConfigError(f"workers={workers}: at least one process is needed")
        if not 0 < seconds < float("inf"):
            raise ConfigError(f"seconds={seconds}: a page needs a limit above 0")
        if highlights and method not in MARKED:
            raise ConfigError(f'highlights are in the text of "main" or "whole" pages, not of {method!r}')
        self.method = method
        self.largest = parse_size(largest)
        self._workers = Workers(method + HIGHLIGHTS * highlights, workers, float(seconds), parse_size(memory))
        self._lock = threading.Lock()
        # This also runs when the extractor is garbage-collected or the interpreter ends.
        self._finalizer = weakref.finalize(self, Workers.stop, self._workers)

    def extract(
        self, pages: Sequence[str | bytes], charsets: Sequence[str | None] | None = None
    ) -> Extracted:
        """The text of each page, in order. `charsets` are hints for pages of bytes, for example from HTTP headers."""
        if isinstance(pages, (str, bytes)):
            raise DataError("extract takes a list of pages; for one page give [page]")
        if charsets is not None and len(charsets) != len(pages):
            raise DataError(f"{len(charsets)} charsets for {len(pages)} pages")
        found = Extracted([None] * len(pages), [None] * len(pages), [], highlights=[""] * len(pages))
        requests = []
        for row, page in enumerate(pages):
            if not isinstance(page, (str, bytes)):
                raise DataError(f"page {row} is {type(page).__name__}; pages are str or bytes")
            if self._is_too_large(page):
                found.failures.append(Failure(row, "too large"))
            elif isinstance(page, bytes):
                requests.append(PageRequest(row, page, (charsets[row] if charsets else None) or ""))
            elif self.method == "none":
                found.texts[row] = page
            else:
                requests.append(PageRequest(row, page, None))
        if requests:
            self._run(requests, found)
        found.failures.sort()
        found.whole.sort()
        found.second.sort()
        return found

    def close(self) -> None:
        """End the processes; a later batch starts new ones."""
        with self._lock:
            self._workers.stop()

    def __enter__(self) -> HtmlExtractor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _is_too_large(self, page: str | bytes) -> bool:
        if len(page) > self.largest or isinstance(page, bytes):
            return len(page) > self.largest
        # A character has at most four bytes, so only few pages must be encoded to get their size.
        return 4 * len(page) > self.largest and len(page.encode("utf-8", "replace")) > self.largest

    def _run(self, requests: list[PageRequest], found: Extracted) -> None:
        for package in ("resiliparse", *(["trafilatura"] if self.method in ASKED else [])):
            if find_spec(package) is None:
                raise MissingExtra("reading HTML", "web")
        with self._lock:
            try:
                for row, answer in self._workers.run(requests):
                    found.texts[row], found.titles[row] = answer.text, answer.title
                    found.highlights[row] = answer.marks
                    if answer.whole:
                        found.whole.append(row)
                    if answer.second:
                        found.second.append(row)
                    if answer.reason is not None:
                        found.failures.append(Failure(row, answer.reason))
            except BaseException:
                self._workers.stop()  # they are working on pages that nobody waits for
                raise
