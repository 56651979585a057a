"""Options that the commands of `neardup index` share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

import neardup as nd
from neardup.cli.options import json_option, threads_option
from neardup.values.wording import printable

__all__ = [
    "accepted",
    "access",
    "as_json",
    "config_of",
    "existing",
    "folder",
    "making",
    "nearness",
    "say",
    "shown",
    "shown_id",
    "threads",
]

METHODS = ("bits", "simhash", "minhash", "exact")
REASONS = 100
Command = Callable[..., None]


as_json = json_option("JSON, one object a line.")
threads = threads_option(1)
folder = click.argument("path", metavar="INDEX")
access = click.option(
    "--access",
    type=click.Choice(["owner", "group", "all"]),
    default="owner",
    show_default=True,
    help="Who may read the files; they hold the secret seed.",
)


def say(as_json: bool, facts: Mapping[str, Any], sentence: str) -> None:
    """The outcome of a command: its facts for programs, or a sentence for people."""
    click.echo(json.dumps(facts) if as_json else sentence)


def making(command: Command) -> Command:
    """The options of commands that make an index."""
    for option in (
        click.option(
            "--config", type=click.Path(exists=True, dir_okay=False), help="A TOML file for a new index."
        ),
        click.option(
            "--method",
            type=click.Choice(METHODS),
            help="Method of a new index; by default 1-bit MinHash codes.",
        ),
        click.option(
            "--threshold",
            type=click.FloatRange(0, 1, min_open=True),
            help="Smallest similarity of duplicates.  [default: 0.8]",
        ),
        click.option(
            "--radius", type=click.IntRange(0, 64), help="Largest distance of codes (bits, simhash), in bits."
        ),
        click.option(
            "--store",
            type=click.Choice(["text", "features", "none"]),
            help="What is stored of each document.  [default: text]",
        ),
    ):
        command = option(command)
    return command


def config_of(
    config: str | None, method: Any, threshold: float | None, radius: int | None, store: Any
) -> Any:
    """The Config these options describe, or None if they leave it to the index."""
    if config is not None:
        if method is not None or threshold is not None or radius is not None:
            raise click.UsageError("give either --config, or --method, --threshold and --radius")
        return nd.Config.load(config)
    if method is None and threshold is None and radius is None:
        return None
    name: Any = method or "bits"
    chosen: dict[str, Any] = {"threshold": 0.8 if threshold is None else threshold}
    if name in ("bits", "simhash"):
        usual = (6, 10) if name == "bits" else (3, 8)
        wide = radius if radius is not None else usual[0] if store == "none" else usual[1]
        chosen["search"] = nd.search.Compact(wide)
        if threshold is not None and store == "none":
            raise click.UsageError(
                "--threshold needs stored texts or features, by which hits are verified; with --store none use --radius"
            )
    elif radius is not None:
        raise click.UsageError(f"--radius is for codes, of bits or simhash; {name} has none")
    if name == "exact" and threshold is not None:
        raise click.UsageError("--threshold is for near-duplicates; exact finds equal texts")
    return nd.Config.of(name, **chosen)


def accepted(batch: Sequence[nd.Document], unread: dict[str, int]) -> list[nd.Document]:
    """The documents that an index takes; what is wrong with the others is counted, and stops none of these."""
    from neardup.index.inputs import check_ids, meta_text

    taken = []
    for document in batch:
        try:
            check_ids([document.id])
            meta_text(document.meta)
            taken.append(document)
        except nd.DataError as error:
            # A reason may name its document: of very many only the first are listed one by one.
            why = str(error) if len(unread) < REASONS or str(error) in unread else "more that no index takes"
            unread[why] = unread.get(why, 0) + 1
    return taken


def existing(path: str) -> None:
    """A command that changes an index does not make one."""
    with nd.Index(path, mode="read"):
        pass


def shown(path: str) -> str:
    """A folder, or the address of a shared index without its password."""
    from neardup.index.inputs import is_address

    if not is_address(path):
        return path
    from neardup.index.redis.address import shown as without_password

    return without_password(path)


def shown_id(id: str) -> str:
    """An id, safe for a terminal and never cut."""
    from neardup.index.inputs import LONGEST_ID

    return printable(id, LONGEST_ID)


def nearness(found: Any) -> str:
    said = [f"similarity {found.similarity:.3f}"] if found.similarity is not None else []
    return ", ".join(said + ([f"distance {found.distance}"] if found.distance is not None else []))
