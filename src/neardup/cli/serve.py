"""`neardup serve`: the live index over HTTP."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import signal
import stat
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from neardup.cli.options import durability_option, json_option, threads_option
from neardup.errors import ConfigError, MissingExtra

__all__ = ["serve"]

NEEDED = ("granian", "msgspec", "prometheus_client")
TOKEN = "NEARDUP_TOKEN"


@click.command()
@click.argument("path", metavar="[INDEX]", required=False)
@click.option(
    "--index",
    "named",
    multiple=True,
    metavar="NAME=INDEX",
    help="Another index, served at /v1/indexes/NAME/; repeat it for several.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; any other than loopback needs a token.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="Port; 0 takes any free one.",
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False),
    help=f"A file with the bearer token; or set {TOKEN} in the environment.",
)
@click.option(
    "--read-token-file",
    type=click.Path(exists=True, dir_okay=False),
    help="A file with another token, whose owners may search and watch but not change the index.",
)
@click.option(
    "--tokens",
    "tokens_file",
    type=click.Path(exists=True, dir_okay=False),
    help="A TOML file of tokens, each for the indexes that it names; only its owner may be able to read it.",
)
@click.option(
    "--read-only",
    is_flag=True,
    help="Serve indexes that other processes write: search them, and change nothing.",
)
@durability_option
@threads_option(1)
@click.option("--ttl", type=float, help="Seconds after which documents are forgotten.")
@click.option("--max-body", default="16MB", show_default=True, help="Largest body of a request.")
@click.option(
    "--max-requests",
    type=click.IntRange(1),
    default=1024,
    show_default=True,
    help="Most requests that are processed at the same time.",
)
@click.option(
    "--log-requests", is_flag=True, help="Log all requests, not only those that fail or take over 1 s."
)
@json_option("Print the address as a JSON object.")
def serve(
    path: str | None, named: tuple[str, ...], host: str, port: int,
    token_file: str | None, read_token_file: str | None, tokens_file: str | None, read_only: bool,
    durability: Any, threads: int, ttl: float | None,
    max_body: str, max_requests: int, log_requests: bool, as_json: bool,
) -> None:  # fmt: skip
    """Serve an index over HTTP, or several; a new one is made if there is none, unless it is only read. SIGTERM ends it
    when all is answered.

    Logs go to standard error, one JSON object a line. `/v1/openapi.json` describes the routes.
    """
    # From here on, a signal to stop is no failure, even while the modules below are still loading.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))
    for package in NEEDED:
        if importlib.util.find_spec(package) is None:
            raise MissingExtra("neardup serve", "service")
    import neardup as nd
    from neardup.cli.index_options import shown
    from neardup.http.limits import RequestLimits
    from neardup.http.run import serve as run
    from neardup.http.server import ListenAddress
    from neardup.http.tokens import read_grants
    from neardup.values.sizes import parse_size

    limits = RequestLimits(body=parse_size(max_body), requests=max_requests)
    reader = None if read_token_file is None else _token(read_token_file)
    paths = _paths(path, named)
    grants = () if tokens_file is None else read_grants(tokens_file, paths)
    address = ListenAddress(host, port, _token(token_file), reader, grants)
    if read_only and ttl is not None:
        raise ConfigError("--ttl is for a service that writes: leave it out with --read-only")

    def started(url: str) -> None:
        one = {} if path is None else {"index": shown(path)}
        several = {name: shown(where) for name, where in paths.items() if name}
        if as_json:
            click.echo(json.dumps({**one, **({"indexes": several} if several else {}), "url": url}))
        else:
            click.echo(f"{', '.join([*one.values(), *several])}: listening on {url}")
        sys.stdout.flush()

    def opened(where: str) -> nd.Index:
        mode: Any = "read" if read_only else "write"
        return nd.Index(where, mode=mode, durability=durability, threads=threads, ttl=ttl)

    openers = {name: partial(opened, where) for name, where in paths.items()}
    run(
        openers.pop("", None),
        address,
        limits,
        named=openers,
        read_only=read_only,
        logs_all=log_requests,
        started=started,
    )


def _paths(path: str | None, named: tuple[str, ...]) -> dict[str, str]:
    """The indexes by name; that of INDEX is ""."""
    from neardup.http.tokens import check_name

    paths = {} if path is None else {"": path}
    for one in named:
        name, equals, where = one.partition("=")
        if not equals or not where:
            raise ConfigError(f"--index {one}: give a name and an index, NAME=INDEX")
        if check_name(name) in paths:
            raise ConfigError(f"--index {name}=...: there are two indexes of this name")
        paths[name] = where
    if not paths:
        raise ConfigError("name an index: neardup serve INDEX, or --index NAME=INDEX")
    return paths


def _token(file: str | None) -> str | None:
    if file is None:
        return os.environ.pop(TOKEN, None)
    from neardup.http.logs import log

    path = Path(file)
    try:
        token = path.read_text("ascii").strip()
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: a token may have only printable ASCII characters") from None
    if not token:
        raise ConfigError(f"{file}: there is no token in it")
    if path.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
        log("warning", reason=f"other users can read {file}; type: chmod 600 {shlex.quote(file)}")
    return token
