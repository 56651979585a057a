"""One driver at a time in a run's folder.

On a filesystem of the driver's own machine the lock is the system's: it is gone when the process is, however it ended.
Elsewhere nothing locks, so the driver keeps a small file in the folder, its lease, and writes it anew every few
seconds. A lease that does not change for `PATIENCE` is that of a driver which is gone, and so is one of a process of
this machine that does not run any more; no two clocks are compared.
"""

from __future__ import annotations

import json
import os
import platform
import threading
import time
import uuid
import weakref
from pathlib import Path
from typing import Any, Protocol

from py4j.protocol import Py4JError, Py4JJavaError

from neardup.errors import DataError
from neardup.storage.lock import FileLock

__all__ = ["BEAT", "LEASE", "PATIENCE", "SETTLE", "Lease"]

LEASE = ".driver"
BEAT, PATIENCE, SETTLE = 5.0, 30.0, 1.0
"""Seconds: between two signs of life; without one, until a driver counts as gone; until a new lease is looked at again,
for not every object store refuses the second of two who create a file at once."""


class Place(Protocol):
    """What is asked of the run's folder."""

    path: str

    @property
    def local(self) -> str | None: ...

    def make(self, name: str = "") -> None: ...

    def remove(self, name: str = "") -> None: ...

    def rename(self, old: str, new: str) -> None: ...

    def create(self, name: str, data: bytes) -> bool: ...

    def replace(self, name: str, data: bytes) -> None: ...

    def state(self, name: str) -> tuple[int, bytes] | None: ...


class Lease:
    """This process's right to write to a run's folder. `hold` and `release` may be called at any time; the folder is
    another's only when all leases of this process on it were released or forgotten."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._finalizer: Any = None

    def hold(self) -> None:
        """DataError if another driver has the folder."""
        if self._finalizer is None or not self._finalizer.alive:
            key = self._place.path
            with _GUARD:
                if key not in _HELD:
                    _HELD[key] = [_taken(self._place), 0]
                _HELD[key][1] += 1
            self._finalizer = weakref.finalize(self, _let_go, key)

    def check(self) -> None:
        """DataError if another driver has taken the folder, as after this one was suspended for long."""
        self.hold()
        _HELD[self._place.path][0].check()

    def release(self) -> None:
        if self._finalizer is not None:
            self._finalizer()


_HELD: dict[str, list[Any]] = {}  # by path: what is held, and how many leases share it
_GUARD = threading.RLock()


def _let_go(key: str) -> None:
    with _GUARD:
        held = _HELD[key]
        held[1] -= 1
        if not held[1]:
            del _HELD[key]
            held[0].release()


def _taken(place: Place) -> _Locked | _Beating:
    place.make()
    if place.local is not None:
        try:
            return _Locked(place, Path(place.local))
        except OSError:  # a mounted filesystem that has no locks
            pass
    return _Beating(place)


def _refused(path: str, record: bytes) -> DataError:
    try:
        owner = json.loads(record)
        who = f"process {owner['process']} on {owner['host']}, since {owner['since']}"
    except (ValueError, TypeError, KeyError):
        who = "who left no name"
    return DataError(
        f"{path}: another driver is writing there ({who}); wait for it, stop it, or name another folder for the run"
    )


def _record(**more: object) -> bytes:
    since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    return json.dumps({"process": os.getpid(), "host": platform.node(), "since": since, **more}).encode()


class _Locked:
    """The system's lock on a file of the folder; the file stays, and tells nothing by itself."""

    def __init__(self, place: Place, folder: Path) -> None:
        self._place, self._path = place, folder / LEASE
        try:
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644))
        except OSError as error:
            # Not to be taken for a filesystem without locks: its owner may be at work, and gives no other sign of life.
            raise DataError(
                f"{self._path}: {error.strerror}; a run's folder is one user's, so name another for yours, or remove "
                "that file if no driver is at work there"
            ) from None
        self._lock = FileLock(self._path, lambda record: _refused(place.path, record), _record())

    def check(self) -> None:
        """The system does not give it to anyone else; but the folder may have been removed, and made anew by others."""
        if not self._lock.holds():
            raise DataError(
                f"{self._place.path}: was removed while this driver wrote to it; what it has made is lost, run it again"
            )

    def release(self) -> None:
        self._lock.release()


class _Beating:
    """A file with its owner's name and a number that grows while the owner lives."""

    def __init__(self, place: Place) -> None:
        self._place, self._name, self._beats = place, uuid.uuid4().hex, 0
        self._over, self._lost = threading.Event(), ""
        if not place.create(LEASE, self._written()):
            self._displace()
        time.sleep(SETTLE)
        if not self._mine():
            raise _refused(place.path, (place.state(LEASE) or (0, b""))[1])
        threading.Thread(target=self._beat, name="neardup-lease", daemon=True).start()

    def _written(self) -> bytes:
        self._beats += 1
        return _record(name=self._name, beats=self._beats, system=_system(), started=_started(os.getpid()))

    def _mine(self) -> bool:
        return self._name.encode() in (self._place.state(LEASE) or (0, b""))[1]

    def _others(self) -> bool:
        """Whether the lease is surely not ours any more; one that cannot be read now may be."""
        there = self._place.state(LEASE)
        return there is None or (there[1] != b"" and self._name.encode() not in there[1])

    def _displace(self) -> None:
        """Take the place of a driver that is gone."""
        there, end = self._place.state(LEASE), time.monotonic() + PATIENCE
        while there is not None and not _gone(there[1]) and time.monotonic() < end:
            time.sleep(min(1.0, BEAT / 4))
            now = self._place.state(LEASE)
            if now is not None and now != there:
                raise _refused(self._place.path, now[1])
            there = now
        if there is not None and self._place.state(LEASE) == there:
            aside = f"{LEASE}-{self._name}"
            # Of two that do this at once one finds nothing to rename.
            try:
                self._place.rename(LEASE, aside)
            except (DataError, Py4JJavaError):
                raise _refused(self._place.path, there[1]) from None
            self._place.remove(aside)
        if not self._place.create(LEASE, self._written()):
            raise _refused(self._place.path, (self._place.state(LEASE) or (0, b""))[1])

    def _beat(self) -> None:
        while not self._over.wait(BEAT):
            try:
                if self._others():
                    self._lost = "another driver has taken it over"
                    return
                self._place.replace(LEASE, self._written())
            except (Py4JError, OSError):
                continue  # the filesystem may come back

    def check(self) -> None:
        lost = self._lost
        # Looked at each time: the clock of a machine that was suspended tells nothing of it.
        if not lost and self._others():
            lost = "another driver has taken it over"
        if lost:
            raise DataError(
                f"{self._place.path}: {lost}, for this one gave no sign of life for {PATIENCE:.0f} seconds; "
                "what is whole in the run is not lost"
            )

    def release(self) -> None:
        self._over.set()
        try:
            if self._mine():
                self._place.remove(LEASE)
        except (Py4JError, OSError):  # Spark has stopped before; the next driver sees that this one is gone
            pass


def _system() -> str:
    """Names the running system, and among the containers on it this one's processes; empty where that is not told."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _started(process: int) -> str:
    """When a process began, in the system's ticks; empty if it does not run."""
    try:
        state, *rest = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state == "Z" else rest[18]


def _gone(record: bytes) -> bool:
    """Whether a lease is of a process of this very system that does not run any more."""
    try:
        owner = json.loads(record)
        here = bool(owner["system"]) and owner["system"] == _system()
        return here and _started(owner["process"]) != owner["started"]
    except (ValueError, TypeError, KeyError):
        return False
