"""Two workers share one index in Redis: a page that both find is new for one of them only. Needs redis-server."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import neardup as nd

PAGE = (
    "The ferry leaves the north pier at eight and returns at noon, except on public holidays and in storms."
)


def main() -> None:
    server = shutil.which("redis-server") or shutil.which("valkey-server")
    if server is None:
        raise SystemExit("this example starts a server: install redis-server or valkey-server first")
    with tempfile.TemporaryDirectory() as folder:
        socket = Path(folder, "redis.sock")
        command = [server, "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", folder]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                while not socket.exists():
                    time.sleep(0.05)
                address = f"redis+unix:///{str(socket).lstrip('/')}?name=pages"
                with nd.Index(address, seed=1) as one, nd.Index(address) as two:
                    print("first worker: new", one.seen(PAGE, id="https://example.org/ferry").new)
                    seen = two.seen(PAGE.upper(), id="https://mirror.example/ferry")
                    print("second worker: a duplicate of", seen.duplicate_of)
            finally:
                process.terminate()


if __name__ == "__main__":
    main()
