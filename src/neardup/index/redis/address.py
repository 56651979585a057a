"""The address of a shared index, such as redis://host:port/0?name=pages, and its options."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from neardup.errors import ConfigError
from neardup.values.sizes import parse_size

__all__ = ["Address"]

OPTIONS = ("name", "expected", "timeout", "patience", "replicas", "log", "sync")
FILES = {
    "ca": "ssl_ca_certs",
    "cert": "ssl_certfile",
    "key": "ssl_keyfile",
}  # for TLS: ours, and redis-py's name
SIGNS = "; in a password, / ? # : and @ are written as %2F %3F %23 %3A and %40"
EXPECTED = 1_000_000
MOST_EXPECTED = 1 << 40


@dataclass(frozen=True)
class Address:
    """A server, or any node of a cluster, and the name of an index there.

    expected   number of documents that a new index is laid out for; more can be added, but it becomes slower
    timeout    seconds to wait for a reply of the server, including retries
    patience   seconds after which a worker that stopped in the middle of a batch is considered dead
    replicas   number of replicas that must have a write before it counts (WAIT); 0: only the server itself
    log        a file that receives every acknowledged change, for `neardup index replay`
    sync       whether the log is on the disk before a change is acknowledged
    """

    url: str = field(repr=False)  # may hold a password
    shown: str
    cluster: bool
    name: str = "index"
    expected: int = EXPECTED
    timeout: float = 30.0
    patience: float = 5.0
    replicas: int = 0
    log: str | None = None
    sync: bool = False

    @classmethod
    def of(cls, address: str) -> Address:
        """Parse a URL. Query options that we do not know are passed to the client (redis-py's from_url)."""
        parts = _split(address)
        scheme, _, kind = parts.scheme.lower().partition("+")
        scheme = scheme.replace("valkey", "redis")
        try:
            _ = parts.port
        except ValueError:
            raise ConfigError(f"{shown(address)}: a port is a number from 0 to 65535{SIGNS}") from None
        if parts.fragment or ("@" in parts.path and kind != "unix"):
            raise ConfigError(f"{shown(address)}: this is not host:port/database{SIGNS}")
        if (
            "@" in parts.query
        ):  # checked before a message names any option: the option may be the rest of a password
            raise ConfigError(f"{shown(address)}: there is an @ after the ?{SIGNS}, in an option too")
        ours: dict[str, str] = {}
        others = []
        for option, value in parse_qsl(parts.query, keep_blank_values=True):
            if option in OPTIONS:
                ours[option] = value
            elif option in FILES:
                if scheme != "rediss":
                    raise ConfigError(
                        f"{option}={value}: certificates are for TLS, an address with rediss://"
                    )
                if not os.path.isfile(value):
                    raise ConfigError(f"{option}={value}: there is no such file")
                others.append((FILES[option], value))
            elif option == "decode_responses":
                raise ConfigError(f"{option}={value}: an index is made of bytes, which are not to be decoded")
            else:
                others.append((option, value))
        if kind == "cluster" and parts.path not in ("", "/", "/0"):
            raise ConfigError(f"{shown(address)}: a cluster has only the database 0")
        name = ours.get("name", "index")
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", name):
            raise ConfigError(
                f"name={name!r:.120}: an index is named by 1 to 100 letters, digits, dots, dashes and underscores"
            )
        if ours.get("sync", "0") not in ("0", "1"):
            raise ConfigError(f"sync={ours['sync']!r}: 0 or 1")
        replicas = ours.get("replicas", "0")
        if not re.fullmatch("[0-9]", replicas):
            raise ConfigError(f"replicas={replicas!r:.50}: a number from 0 to 9")
        url = urlunsplit((scheme, parts.netloc, parts.path, urlencode(others), ""))
        if kind == "unix":
            # The path of a socket is relative, or absolute with a third slash.
            user, _, first = parts.netloc.rpartition("@")
            where = quote(os.path.abspath(unquote(first + parts.path)))
            url = f"unix://{user and f'{user}@'}{where}?{urlencode(others)}"
        return cls(
            url=url,
            shown=shown(address),
            cluster=kind == "cluster",
            name=name,
            expected=_documents(ours.get("expected")),
            timeout=_seconds("timeout", ours.get("timeout", "30")),
            patience=_seconds("patience", ours.get("patience", "5")),
            replicas=int(replicas),
            log=ours.get("log"),
            sync=ours.get("sync") == "1",
        )


def shown(address: str) -> str:
    """The address without its user, password and options, for messages. If a password contains unescaped special
    characters, the parts that could belong to it are left out."""
    parts = _split(address)
    host, path = parts.netloc.rsplit("@", 1)[-1], parts.path
    if "@" in path + parts.fragment:
        host, path = (path + parts.fragment).rsplit("@", 1)[-1], ""
    port = host.rpartition(":")[2] if ":" in host.rpartition("]")[2] else ""
    if not (port.isdecimal() or not port) or host.startswith(":"):
        host, path = "...", ""
    if "@" in parts.query:
        return f"{parts.scheme}://..."
    name = dict(parse_qsl(parts.query)).get("name")
    return f"{parts.scheme}://{host}{path}" + (f"?name={name}" if name else "")


def _split(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError:  # its message may contain the password
        scheme = address.partition("://")[0]
        raise ConfigError(
            f"{scheme}://...: this is not host:port/database{SIGNS}; escape brackets and non-ASCII with % too"
        ) from None


def _seconds(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.01 <= value <= 86400:
        raise ConfigError(f"{name}={text!r:.50}: a number of seconds from 0.01 to 86400")
    return value


def _documents(text: str | None) -> int:
    if text is None:
        return EXPECTED
    try:
        value = int(text) if text.isdecimal() else parse_size(text)
    except ValueError:
        value = 0
    if not 1 <= value <= MOST_EXPECTED:
        raise ConfigError(
            f"expected={text!r:.50}: how many documents there will be, from 1 to {MOST_EXPECTED:,}"
        )
    return value
