"""Worker processes that can be killed: each works on one page at a time, so a bad page fails alone."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

from neardup.errors import ConfigError
from neardup.values.posix import require
from neardup.web.html_worker import MEMORY, OK, REQUEST, RESPONSE, SECOND, WHOLE

__all__ = ["ExtractedPage", "PageRequest", "Workers"]

START_SECONDS = 60.0  # time to start an interpreter and a parser on a busy machine
STARTS = 3  # workers in a row that may die before they accept a page
CHUNK = 1 << 20


class PageRequest(NamedTuple):
    """A page. `charset` is the declared charset of bytes, perhaps empty, and None if the page is text."""

    row: int
    page: str | bytes
    charset: str | None


class ExtractedPage(NamedTuple):
    """The result for a page: its text and title, or the reason why there are none. `whole`: the text is that of the
    whole page, because its main content is too little; `second`: it is trafilatura's, for the same reason. `marks` are
    the words that the page sets apart, a line for each kind, if they were asked for."""

    text: str | None
    title: str | None
    reason: str | None
    whole: bool = False
    second: bool = False
    marks: str = ""


class Worker:
    """One process with its two pipes. It never blocks the parent."""

    def __init__(self, arguments: Sequence[str]) -> None:
        require(signal, "setitimer", "the reading of HTML pages in workers with a time limit")
        # Use the same modules as this process, even if the path was changed; -P leaves out the names of this folder.
        paths = os.pathsep.join(path for path in sys.path if path)
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("html_worker.py")), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=os.environ | {"PYTHONPATH": paths},
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self.stdin, False)
        os.set_blocking(self.stdout, False)
        self.ready = False
        self.is_fresh = True  # it has received no request yet
        self.request: PageRequest | None = None
        self.deadline = time.monotonic() + START_SECONDS
        self._outgoing: deque[memoryview] = deque()
        self._incoming = bytearray()

    def ask(self, request: PageRequest, seconds: float) -> None:
        hint = (request.charset or "").encode("ascii", "replace")[:100]
        page = request.page.encode("utf-8", "replace") if isinstance(request.page, str) else request.page
        header = REQUEST.pack(request.charset is not None, len(hint), len(page))
        self._outgoing = deque([memoryview(header + hint), memoryview(page)])
        self.request, self.deadline = request, time.monotonic() + seconds
        self.is_fresh = False

    def write(self) -> bool:
        """Send as much as the pipe accepts; true while something is left to send."""
        try:
            while self._outgoing:
                sent = os.write(self.stdin, self._outgoing[0])
                if sent < len(self._outgoing[0]):
                    self._outgoing[0] = self._outgoing[0][sent:]
                else:
                    self._outgoing.popleft()
        except BlockingIOError:
            return True
        except BrokenPipeError:  # the worker has died, or stopped early; its output says which
            self._outgoing.clear()
        return False

    def read(self) -> tuple[int, list[str]] | None:
        """The status, and text, title and highlights when they are complete; EOFError if the worker has died."""
        try:
            while chunk := os.read(self.stdout, CHUNK):
                self._incoming += chunk
                if len(self._incoming) >= RESPONSE.size:
                    status, *lengths = RESPONSE.unpack_from(self._incoming)
                    if len(self._incoming) >= RESPONSE.size + sum(lengths):
                        ends = list(accumulate(lengths, initial=RESPONSE.size))
                        parts = [
                            self._incoming[begin:end].decode("utf-8", "replace")
                            for begin, end in pairwise(ends)
                        ]
                        self._incoming.clear()
                        return status, parts
        except BlockingIOError:
            return None
        raise EOFError

    def stop(self) -> None:
        """Kill and reap the process."""
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()


@dataclass
class Workers:
    """Up to `count` processes, started when they are first needed and replaced when they die.

    If a page takes longer than `seconds`, its worker is killed. If the worker of a page died or ran out of memory, the
    page is tried again in a new worker: the first worker may have been killed from outside, or its memory may have
    been full from earlier pages. The second result counts, so it does not depend on the pages before.
    """

    method: str
    count: int
    seconds: float
    memory: int

    def __post_init__(self) -> None:
        self.running: list[Worker] = []
        self.owner = os.getpid()

    def run(self, requests: Sequence[PageRequest]) -> Iterator[tuple[int, ExtractedPage]]:
        """The answer to each request with its row, in the order in which they arrive."""
        if os.getpid() != self.owner:  # after a fork the processes belong to the parent
            self.running, self.owner = [], os.getpid()
        # The worker of a repeated page was replaced, so there is, or can be, a new one for each.
        waiting, again = deque(requests), deque[PageRequest]()
        tried, failed_starts = set[int](), 0
        with selectors.DefaultSelector() as selector:
            for worker in self.running:
                selector.register(worker.stdout, selectors.EVENT_READ, worker)
            while waiting or again or self._busy():
                self._start(selector, len(waiting), len(again))
                self._hand_out(selector, waiting, again)
                for worker, events in self._happened(selector):
                    if events & selectors.EVENT_WRITE:
                        if not worker.write():
                            selector.unregister(worker.stdin)
                        continue
                    answer = self._heard(worker, events)
                    if answer is None:
                        continue
                    asked, starting = worker.request, not worker.ready
                    worker.request, worker.ready = None, True
                    if answer.reason in ("timeout", "memory", "crashed"):
                        self._replace(worker, selector)
                    if starting:
                        failed_starts = failed_starts + 1 if answer.reason else 0
                        self._check_start(answer, failed_starts)
                    elif asked is not None:
                        if answer.reason in ("memory", "crashed") and asked.row not in tried:
                            tried.add(asked.row)
                            again.append(asked)
                        else:
                            yield asked.row, answer

    def stop(self) -> None:
        """Kill every process, except those of a parent that forked."""
        while self.running:
            worker = self.running.pop()
            if os.getpid() == self.owner:
                worker.stop()

    def _start(self, selector: selectors.BaseSelector, waiting: int, again: int) -> None:
        """Start as many processes as the requests need, at most `count`."""
        while len(self.running) < self.count and self._is_short_of(waiting, again):
            worker = Worker([self.method, repr(self.seconds), str(self.memory)])
            self.running.append(worker)
            selector.register(worker.stdout, selectors.EVENT_READ, worker)

    def _hand_out(
        self, selector: selectors.BaseSelector, waiting: deque[PageRequest], again: deque[PageRequest]
    ) -> None:
        """Give each free process a request; pages that are tried again go to new processes only."""
        for worker in self.running:
            source = again if again and worker.is_fresh else waiting
            if source and worker.ready and worker.request is None:
                worker.ask(source.popleft(), self.seconds)
                if worker.write():
                    selector.register(worker.stdin, selectors.EVENT_WRITE, worker)

    def _busy(self) -> int:
        return sum(worker.request is not None for worker in self.running)

    def _is_short_of(self, waiting: int, again: int) -> bool:
        """Whether one more process would have work."""
        fresh = sum(worker.is_fresh for worker in self.running)
        return fresh < again or len(self.running) - self._busy() < waiting + again

    def _happened(self, selector: selectors.BaseSelector) -> Iterator[tuple[Worker, int]]:
        """Workers that can be written to or read from, and, with 0, those whose time is over."""
        soonest = min(w.deadline for w in self.running if w.request is not None or not w.ready)
        for key, events in selector.select(max(0.0, soonest - time.monotonic())):
            if key.fd in selector.get_map():
                yield key.data, events
        now = time.monotonic()
        for worker in list(self.running):
            if worker.deadline <= now and (worker.request is not None or not worker.ready):
                yield worker, 0

    def _heard(self, worker: Worker, events: int) -> ExtractedPage | None:
        if not events:
            return ExtractedPage(None, None, "timeout")
        try:
            response = worker.read()
        except EOFError:
            return ExtractedPage(None, None, "crashed")
        if response is None:
            return None
        status, (text, title, marks) = response
        if status in (OK, WHOLE, SECOND):
            return ExtractedPage(text, title or None, None, status == WHOLE, status == SECOND, marks)
        return ExtractedPage(None, None, "memory" if status == MEMORY else f"error: {text}")

    def _replace(self, worker: Worker, selector: selectors.BaseSelector) -> None:
        """End a worker; the loop starts another while there are pages for it."""
        for descriptor in (worker.stdin, worker.stdout):
            if descriptor in selector.get_map():
                selector.unregister(descriptor)
        self.running.remove(worker)
        worker.stop()

    def _check_start(self, answer: ExtractedPage, failed: int) -> None:
        if failed and (failed >= STARTS or answer.reason not in ("crashed", "memory")):
            raise ConfigError(
                f"no worker for HTML could start ({answer.reason}); check that "
                f'"{sys.executable}" can import the packages of neardup[web]'
            )
