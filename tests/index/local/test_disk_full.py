"""A full disk: a clear error, nothing acknowledged lost, and it continues when there is room again."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import neardup as nd


def page(number: int) -> nd.Document:
    # Random words do not compress, so the disk fills soon.
    return nd.Document(f"page-{number}", os.urandom(2000).hex(), {"n": number})


@pytest.mark.parametrize("durability", ["normal", "full"])
def test_full_and_free_again(small_disk, durability):
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1 << 20))
    acknowledged = []
    with nd.Index(small_disk / "i", durability=durability) as index:
        with pytest.raises(OSError, match="disk is full") as raised:
            for number in range(0, 100_000, 10):
                index.seen([page(n) for n in range(number, number + 10)])
                acknowledged += range(number, number + 10)
        assert raised.value.errno == errno.ENOSPC and "index.sqlite" in str(raised.value.filename)
        assert len(acknowledged) > 50
        assert len(index) == len(acknowledged)
        assert all(index.get(f"page-{n}").meta == {"n": n} for n in acknowledged)
        assert index.get(f"page-{acknowledged[-1] + 1}") is None
        ballast.unlink()
        index.seen([page(-1)])
        assert len(index) == len(acknowledged) + 1 and index.verify().sound
    with nd.Index(small_disk / "i", mode="read") as index:
        assert len(index) == len(acknowledged) + 1 and index.verify().sound


LIMITED = """
import os, resource, signal, sys
import neardup as nd

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = sys.argv[1]
with nd.Index(path) as index:
    index.seen([nd.Document("first", "the first of all pages")])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
    done = 1
    try:
        for number in range(10_000):
            index.seen([nd.Document(str(number), os.urandom(2000).hex())])
            done += 1
        sys.exit("no limit was met")
    except OSError as error:
        assert "index.sqlite" in str(error.filename), error
    assert len(index) == done and index.get("first").text == "the first of all pages"
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    index.seen([nd.Document("last", "the last of all pages")])
    assert len(index) == done + 1 and index.verify().sound
print(done)
"""


@pytest.mark.process
def test_files_that_may_not_grow(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "i")], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 10
