"""Start the service on a free port, and ask it from Python which pages are new."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile

import neardup as nd
from neardup.http.client import Client

PAGES = [
    nd.Document("a", "The crew mend the nets on the quay in winter and paint the boats."),
    nd.Document("b", "the crew mend the nets on the quay in winter, and paint the boats"),
    nd.Document("c", "Tide tables for May are at the office of the harbour master."),
]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "neardup", "serve", f"{folder}/pages.nd", "--port", "0", "--json"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as service:
            assert service.stdout is not None
            try:
                with Client(json.loads(service.stdout.readline())["url"]) as client:
                    for answer in client.seen_all(PAGES):
                        print(
                            answer.id, "is new" if answer.new else f"is a duplicate of {answer.duplicate_of}"
                        )
            finally:
                service.terminate()


if __name__ == "__main__":
    main()
