"""The end of the time that a process has to stop."""

from __future__ import annotations

import os
import threading

from neardup.http.logs import log

__all__ = ["Deadline"]


class Deadline:
    """Within `with`: once started, the process ends after so many seconds, whatever its threads do.

    Work in a thread cannot be interrupted, and Python waits for threads when it ends. An index survives kill -9, so
    nothing that was acknowledged is lost.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._wait, name="deadline", daemon=True)
            self._thread.start()

    def _wait(self) -> None:
        if not self._done.wait(self.seconds):
            log("stopped", reason=f"work that was left after {self.seconds:g} seconds was given up")
            os._exit(0)

    def __enter__(self) -> Deadline:
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
