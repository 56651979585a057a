"""Progress on standard error: a bar with rate and time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import atexit
import os
import sys
import time
from contextlib import suppress
from typing import Any

import click

from neardup.progress import Progress

__all__ = ["progress_shown"]

_QUIET_FOR = 2.0  # seconds a stage may last before progress is shown
_EVERY = 5.0


def progress_shown(quiet: bool = False) -> Progress:
    """Bars on a terminal, lines elsewhere, nothing if `quiet`."""
    if quiet:
        return Progress()
    return _Bars() if sys.stderr.isatty() and os.environ.get("TERM") != "dumb" else _ProgressLines()


class _ProgressLines(Progress):
    """A line every few seconds, none for what takes under two."""

    def __init__(self) -> None:
        super().__init__()
        self._total: float | None = None
        self._unit, self._name = "", ""
        self._started = self._reported = time.perf_counter()

    def stage(self, name: str, total: float | None = None, unit: str = "") -> None:
        now = time.perf_counter()
        if self._name and now - self._started > _QUIET_FOR:
            click.echo(f"{self._name}: done in {now - self._started:.1f} s", err=True)
        super().stage(name, total, unit)
        self._name, self._total, self._unit = name, total, unit
        self._started = self._reported = now

    def reached(self, done: float) -> None:
        now = time.perf_counter()
        if now - self._started < _QUIET_FOR or now - self._reported < _EVERY:
            return
        self._reported = now
        click.echo(f"{self._name}: {_state(done, self._total, self._unit, now - self._started)}", err=True)


def _state(done: float, total: float | None, unit: str, seconds: float) -> str:
    rate = done / seconds if seconds else 0.0
    parts = []
    if total:
        parts.append(f"{min(1.0, done / total):.0%}")
    if unit == "bytes":
        parts.append(f"{rate / 1e6:.1f} MB/s")
    elif unit:
        parts.append(f"{rate:,.0f} {unit}/s")
    if total and rate:
        parts.append(f"{max(0.0, (total - done) / rate):.0f} s left")
    return ", ".join(parts)


class _Bars(Progress):
    """One bar, for the current stage."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        self._bars: Any = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[state]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        atexit.register(self._leave)
        self._task: Any = None
        self._total: float | None = None
        self._unit = ""
        self._started = time.perf_counter()

    def _leave(self) -> None:
        """A bar that is cut short, even while it is being drawn, must not leave the terminal without a cursor."""
        with suppress(Exception):
            self._bars.stop()
        self._bars.console.show_cursor(True)

    def stage(self, name: str, total: float | None = None, unit: str = "") -> None:
        super().stage(name, total, unit)
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None
        if not name:
            self._bars.stop()
            return
        self._bars.start()
        self._task = self._bars.add_task(name, total=total, state="")
        self._total, self._unit, self._started = total, unit, time.perf_counter()

    def reached(self, done: float) -> None:
        if self._task is not None:
            seconds = time.perf_counter() - self._started
            rate = _state(done, None, self._unit, seconds)
            self._bars.update(self._task, completed=done, state=rate)
