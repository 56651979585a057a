"""One driver at a time in a run's folder.

On a local filesystem the lock is a file lock of the operating system, which ends with the process. Other filesystems
have no locks, so the driver keeps a small file in the folder, its lease, and writes it again every few seconds. A
lease has expired if it does not change for `PATIENCE` seconds, or if its owner is a process of this machine that has
ended. Clocks of different machines are never compared.
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
"""Seconds between two heartbeats; without a heartbeat until a lease expires; and until a new lease is checked again,
because some object stores let two drivers create the same file at once."""
LOOKS = 10


class LeaseFolder(Protocol):
    """The interface of the run's folder for its lease."""

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
    """This process's right to write to a run's folder. `hold` and `release` may be called at any time. Another driver
    gets the folder only after all leases of this process on it are released or garbage-collected."""

    def __init__(self, place: LeaseFolder) -> None:
        self._place = place
        self._finalizer: Any = None

    def hold(self) -> None:
        """Take the lease. DataError if another driver holds it."""
        if self._finalizer is None or not self._finalizer.alive:
            key = self._place.path
            with _GUARD:
                if key not in _HELD:
                    _HELD[key] = [_taken(self._place), 0]
                _HELD[key][1] += 1
            self._finalizer = weakref.finalize(self, _release_one, key)

    def check(self) -> None:
        """DataError if another driver has taken the folder, for example after this one was suspended."""
        self.hold()
        _HELD[self._place.path][0].check()

    def release(self) -> None:
        if self._finalizer is not None:
            self._finalizer()


_HELD: dict[str, list[Any]] = {}  # by path: what is held, and how many leases share it
_GUARD = threading.RLock()


def _release_one(key: str) -> None:
    with _GUARD:
        held = _HELD[key]
        held[1] -= 1
        if not held[1]:
            del _HELD[key]
            held[0].release()


def _taken(place: LeaseFolder) -> _Locked | _Heartbeat:
    place.make()
    if place.local is not None:
        try:
            return _Locked(place, Path(place.local))
        except OSError:  # a mounted filesystem that has no locks
            pass
    return _Heartbeat(place)


def _refused(path: str, record: bytes) -> DataError:
    try:
        owner = json.loads(record)
        who = f"process {owner['process']} on {owner['host']}, since {owner['since']}"
    except (ValueError, TypeError, KeyError):
        who = "its name is not known"
    return DataError(
        f"{path}: another driver is writing there ({who}); wait for it, stop it, or name another folder for the run"
    )


def _record(**more: object) -> bytes:
    since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    return json.dumps({"process": os.getpid(), "host": platform.node(), "since": since, **more}).encode()


class _Locked:
    """A lock of the operating system on a file of the folder. Only the lock counts; the file remains."""

    def __init__(self, place: LeaseFolder, folder: Path) -> None:
        self._place, self._path = place, folder / LEASE
        try:
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644))
        except OSError as error:
            # Do not use a heartbeat instead: the owner of the file may hold the lock, and writes no heartbeat.
            raise DataError(
                f"{self._path}: {error.strerror}; only one user can use a run's folder; name another "
                "folder, or remove that file if no driver is working there"
            ) from None
        self._lock = FileLock(self._path, lambda record: _refused(place.path, record), _record())

    def check(self) -> None:
        """Nobody else can get the lock, but the folder may have been removed and created again."""
        if not self._lock.holds():
            raise DataError(
                f"{self._place.path}: was removed while this driver wrote to it; its stages are lost, run it again"
            )

    def release(self) -> None:
        self._lock.release()


class _Heartbeat:
    """A lease file with its owner's name and a number that grows while the owner runs."""

    def __init__(self, place: LeaseFolder) -> None:
        self._place, self._name, self._beats = place, uuid.uuid4().hex, 0
        self._over, self._lost = threading.Event(), ""
        # A heartbeat that is being written must not put back a lease that was given up meanwhile.
        self._writing = threading.RLock()
        if not place.create(LEASE, self._written()):
            self._displace()
        time.sleep(SETTLE)
        if not self._mine():
            raise self._refusal()
        threading.Thread(target=self._beat, name="neardup-lease", daemon=True).start()

    def _written(self) -> bytes:
        self._beats += 1
        return _record(name=self._name, beats=self._beats, system=_system(), started=_started(os.getpid()))

    def _mine(self) -> bool:
        return self._name.encode() in (self._place.state(LEASE) or (0, b""))[1]

    def _others(self) -> bool:
        """Whether another driver surely holds the lease; False if it cannot be read now."""
        there = self._place.state(LEASE)
        return there is None or (there[1] != b"" and self._name.encode() not in there[1])

    def _displace(self) -> None:
        """Replace an expired lease."""
        there, end = self._place.state(LEASE), time.monotonic() + PATIENCE
        while there is not None and not _ended(there[1]) and time.monotonic() < end:
            time.sleep(min(1.0, BEAT / 4))
            now = self._place.state(LEASE)
            if now is not None and now != there:
                raise self._refusal(now[1] or there[1])
            there = now
        if there is not None and self._place.state(LEASE) == there:
            aside = f"{LEASE}-{self._name}"
            # If two drivers do this at once, only one can rename the file.
            try:
                self._place.rename(LEASE, aside)
            except (DataError, Py4JJavaError):
                raise _refused(self._place.path, there[1]) from None
            self._place.remove(aside)
        if not self._place.create(LEASE, self._written()):
            raise self._refusal()

    def _refusal(self, record: bytes = b"") -> DataError:
        """The error for a lease of another driver, with its name. A lease that is being written is empty, so it is
        read again some times."""
        for _ in range(LOOKS):
            record = record or (self._place.state(LEASE) or (0, b""))[1]
            if record:
                break
            time.sleep(min(0.1, BEAT / 4))
        return _refused(self._place.path, record)

    def _beat(self) -> None:
        while not self._over.wait(BEAT):
            try:
                with self._writing:
                    if self._over.is_set():
                        return
                    if self._others():
                        self._lost = "another driver has taken it over"
                        return
                    self._place.replace(LEASE, self._written())
            except (Py4JError, OSError):
                continue  # the filesystem may be reachable again later

    def check(self) -> None:
        lost = self._lost
        # Read the file each time: a suspended machine cannot know from its clock how long that was.
        if not lost and self._others():
            lost = "another driver has taken it over"
        if lost:
            raise DataError(
                f"{self._place.path}: {lost}, because this one wrote no heartbeat for {PATIENCE:.0f} seconds; "
                "complete stages of the run are not lost"
            )

    def release(self) -> None:
        self._over.set()
        try:
            with self._writing:
                if self._mine():
                    self._place.remove(LEASE)
        except (Py4JError, OSError):  # Spark has stopped already; the lease expires
            pass


def _system() -> str:
    """An id of the running system and its process namespace; empty if the system has none."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _started(process: int) -> str:
    """The start time of a process in clock ticks; empty if it is not running."""
    try:
        state, *rest = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state == "Z" else rest[18]


def _ended(record: bytes) -> bool:
    """Whether the owner of a lease is a process of this system that has ended."""
    try:
        owner = json.loads(record)
        here = bool(owner["system"]) and owner["system"] == _system()
        return here and _started(owner["process"]) != owner["started"]
    except (ValueError, TypeError, KeyError):
        return False
