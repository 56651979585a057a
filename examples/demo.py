"""Find the duplicates and near-duplicates in the bundled sample with the command: what a person sees first."""

from __future__ import annotations

import os
import shutil
import tempfile

import click

from neardup import sample
from neardup.cli import main as neardup

COMMANDS = (
    ["scan", "pages.jsonl.gz", "--threshold", "0.7", "--quiet"],
    ["clusters", "pages.jsonl.gz.findings", "--most", "2", "--members", "4"],
    ["explain", "-f", "pages.jsonl.gz.findings", "page-155", "page-045", "--samples", "1"],
    ["apply", "pages.jsonl.gz.findings", "--out", "kept.jsonl", "--quiet"],
)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copyfile(sample.path(), os.path.join(folder, "pages.jsonl.gz"))
        before = os.getcwd()
        os.chdir(folder)
        try:
            for command in COMMANDS:
                click.echo(click.style(f"$ neardup {' '.join(command)}", bold=True, fg="cyan"))
                neardup(command)
                click.echo()
        finally:
            os.chdir(before)


if __name__ == "__main__":
    main()
