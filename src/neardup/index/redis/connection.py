"""Connections to one server or a cluster: pipelines of commands, routing by key, and retries.

Every command of this package may be sent twice. So commands that a broken connection, a failover or a moving slot
left undone are sent again until the timeout is over.
"""

from __future__ import annotations

import contextlib
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import accumulate, chain
from typing import Any, NamedTuple, Protocol

from neardup.errors import ConfigError, FormatError, MissingExtra
from neardup.index.redis.address import FILES, OPTIONS, Address
from neardup.index.redis.errors import refused, temporary_errors, translated_errors

__all__ = ["Command", "Connection", "Packed"]

FIRST_PAUSE, LONGEST_PAUSE = 0.005, 0.5
OURS = ", ".join([*OPTIONS, *FILES])
MOST_DIGITS = 19  # of a number of the server
AT_ONCE, LONG_AT_ONCE = 500, 100  # keys in one script or MGET: the server is blocked meanwhile


class Packed(NamedTuple):
    """Commands already encoded in the server's protocol, and the number of their replies. For one server, not a
    cluster."""

    data: bytes
    replies: int


class Command(NamedTuple):
    """A command, and the key that selects the cluster node. The reply to packed commands is a list."""

    key: bytes
    words: tuple[Any, ...] | Packed


Again = Callable[[], Sequence[Command]]


class CheckedIdentity(Protocol):
    """What is asked with every batch, and what is done with the replies. `key` holds `digest`."""

    key: bytes
    digest: bytes
    question: Sequence[Command]

    def check(self, replies: Sequence[Any]) -> None: ...


class Connection:
    """A client of one server or of a cluster. Any number of threads may use it."""

    _pack: Callable[[tuple[Any, ...]], bytes] | None = None
    _no_more: object = (
        None  # the value that the native parser returns when the next reply has not arrived yet
    )

    def __init__(self, address: Address) -> None:
        try:
            redis = import_module("redis")
        except ModuleNotFoundError:
            raise MissingExtra("an index in Redis", "redis") from None
        self.address, self._errors = address, redis.exceptions
        self.identity: CheckedIdentity | None = None
        self._sleeping: Callable[[float], None] = time.sleep
        with contextlib.suppress(ModuleNotFoundError):
            self._pack = import_module("hiredis").pack_command
            self._no_more = getattr(import_module("redis._parsers.hiredis"), "NOT_ENOUGH_DATA", None)
        retry = import_module("redis.retry").Retry(import_module("redis.backoff").NoBackoff(), 0)
        # One reply may use the whole timeout. A dead server is noticed sooner, by the keepalive settings.
        wait = min(address.timeout, 5.0)
        options: dict[str, Any] = {
            "socket_timeout": wait,
            "socket_connect_timeout": wait,
            "retry": retry,
            "protocol": 2,
        }
        self._client: Any
        with translated_errors(self._errors, self.address):
            try:
                if address.cluster:
                    made = redis.cluster.RedisCluster
                    self._client = self._until(lambda: made.from_url(address.url, **options))
                else:
                    self._client = redis.Redis.from_url(address.url, **options)
                    self._until(self._client.ping)
            except (TypeError, ValueError) as error:
                unknown = re.search(r"unexpected keyword argument '(\w+)'", str(error))
                why = f"there is no option {unknown[1]!r}; ours are {OURS}" if unknown else str(error)
                raise ConfigError(f"{address.shown}: {why}") from None

    def close(self) -> None:
        with contextlib.suppress(self._errors.RedisError):
            self._client.close()

    def one(self, key: bytes, *words: Any) -> Any:
        """The reply to one command."""
        return self.run([Command(key, words)])[0]

    def in_order(self, *steps: Sequence[Command], again: Again | None = None) -> list[list[Any]]:
        """The replies to several steps. Each step begins when the one before it is done; one server gets them in one
        pipeline. If a reply of it is lost, later steps may have taken effect before the first one is sent again:
        `again` then gives the first step as it should be now."""
        if self.address.cluster:
            return [self.run(step) for step in steps]
        later = [command for step in steps[1:] for command in step]
        replies = self.run([*steps[0], *later], None if again is None else lambda: [*again(), *later])
        rest = iter(replies[len(replies) - len(later) :])
        return [replies[: len(replies) - len(later)], *([next(rest) for _ in step] for step in steps[1:])]

    def unchecked(self, key: bytes, word: str = "GET", *words: Any) -> Any:
        """The reply to one command about a key, whatever index the server has."""
        return self._run([Command(key, (word, key, *words))])[0]

    def run(self, commands: Sequence[Command], again: Again | None = None) -> list[Any]:
        """The replies to commands, each executed at least once. Commands for the same node are sent in one pipeline,
        in order. On one server, a command takes final effect only after all commands before it. SharedIndexError if the
        server turns out to have lost the index. `again` gives the commands that are sent after an error, if they are
        others."""
        if self.identity is None or not commands:
            return self._run(commands, again)
        own = self.identity.question
        replies = self._run([*commands, *own], None if again is None else lambda: [*again(), *own])
        self.identity.check(replies[-len(own) :])
        return replies[: -len(own)]

    def _run(self, commands: Sequence[Command], again: Again | None = None) -> list[Any]:
        replies: list[Any] = [None] * len(commands)
        left = list(range(len(commands)))
        deadline, pause = time.monotonic() + self.address.timeout, FIRST_PAUSE
        with translated_errors(self._errors, self.address):
            while left:
                failed = self._send(commands, left, replies)
                if not failed:
                    break
                if time.monotonic() + pause > deadline:
                    raise _error(replies[failed[0]])
                self._sleeping(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
                self._look_again([_error(replies[at]) for at in failed])
                if again is not None:
                    commands, failed = again(), [0]
                    replies = [None] * len(commands)
                left = failed if self.address.cluster else list(range(failed[0], len(commands)))
        return replies

    def grouped(self, keys: Sequence[bytes], most: int = AT_ONCE) -> list[list[int]]:
        """Positions of keys that one command may contain: in a cluster, those with the same hash tag."""
        if not self.address.cluster:
            return [list(range(at, min(at + most, len(keys)))) for at in range(0, len(keys), most)]
        groups: dict[bytes, list[int]] = {}
        for at, key in enumerate(keys):
            groups.setdefault(key[: key.index(b"}")], []).append(at)
        return [group[at : at + most] for group in groups.values() for at in range(0, len(group), most)]

    def each(
        self, script: str, keys: Sequence[bytes], words: Sequence[Sequence[Any]], *last: Any
    ) -> list[Any]:
        """Run a script over keys, each with its own arguments, and the last arguments of all; returns one value for
        each key."""
        groups = self.grouped(keys)
        return self.spread(groups, self.run(self.calls(script, keys, words, groups, *last)), len(keys))

    def total(
        self, script: str, keys: Sequence[bytes], words: Sequence[Sequence[Any]], last: Any
    ) -> list[Command]:
        """Commands for a script over keys whose replies are added up; `last` is the last argument. Few keys each:
        their values may be long."""
        return self.calls(script, keys, words, self.grouped(keys, LONG_AT_ONCE), last)

    @staticmethod
    def calls(
        script: str,
        keys: Sequence[bytes],
        words: Sequence[Sequence[Any]],
        groups: Sequence[Sequence[int]],
        *last: Any,
    ) -> list[Command]:
        """Commands for a script over groups of keys. Each key has its own arguments; the last arguments are
        shared."""
        commands = []
        for group in groups:
            if len(group) == len(keys):
                named, given = keys, chain.from_iterable(words)
            else:
                named, given = [keys[at] for at in group], chain.from_iterable([words[at] for at in group])
            commands.append(Command(named[0], ("EVAL", script, len(named), *named, *given, *last)))
        return commands

    @staticmethod
    def spread(groups: Sequence[Sequence[int]], replies: Sequence[Sequence[Any]], count: int) -> list[Any]:
        """One value for each key, from the replies to groups of keys."""
        found: list[Any] = [None] * count
        for group, reply in zip(groups, replies, strict=True):
            for at, value in zip(group, reply, strict=True):
                found[at] = value
        return found

    def values(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The strings under keys."""
        groups = self.grouped(keys)
        commands = [Command(keys[group[0]], ("MGET", *(keys[at] for at in group))) for group in groups]
        return self.spread(groups, self.run(commands), len(keys))

    def scan(self, pattern: str) -> Iterator[bytes]:
        """The keys that match a pattern; some may be returned twice."""
        with translated_errors(self._errors, self.address):
            if not self.address.cluster:
                yield from self._client.scan_iter(match=pattern, count=1000)
                return
            for node in self._client.get_primaries():
                yield from self._client.get_redis_connection(node).scan_iter(match=pattern, count=1000)

    def counts(self, key: bytes, names: Sequence[str]) -> dict[str, int]:
        """Whole numbers in a hash; 0 for those that are not there. FormatError if one is anything else."""
        found = dict(zip(names, self.one(key, "HMGET", key, *names), strict=True))
        for name, value in found.items():
            if value is not None and not (value.removeprefix(b"-").isdigit() and len(value) <= MOST_DIGITS):
                where = f"{self.address.shown} {key.decode()}"
                raise FormatError(where, f"the number of {name}", f"{value!r:.50}")
        return {name: int(value or 0) for name, value in found.items()}

    def memory(self) -> int:
        """Bytes that the server, or all masters of the cluster, use for all their data."""
        with translated_errors(self._errors, self.address):
            nodes = self._client.get_primaries() if self.address.cluster else [None]
            infos = [
                self._client.info("memory")
                if node is None
                else self._client.info("memory", target_nodes=node)
                for node in nodes
            ]
        return sum(int(info["used_memory"]) for info in infos)

    def _send(self, commands: Sequence[Command], left: Sequence[int], replies: list[Any]) -> list[int]:
        """Send the remaining commands. Returns those that must be sent again, with the error in the place of the
        reply."""
        again: list[int] = []
        asked: list[int] = []
        for client, places in self._routed(commands, left, replies, again):
            try:
                found = self._asked(client, [commands[at].words for at in places])
            except (self._errors.ConnectionError, self._errors.TimeoutError, OSError) as error:
                found = [error] * len(places)
            for at, reply in zip(places, found, strict=True):
                replies[at] = reply
                first = _error(reply) if isinstance(commands[at].words, Packed) else reply
                if self._redirected(first):
                    asked.append(at)
                elif self._passes(first):
                    again.append(at)
                elif isinstance(first, Exception):
                    raise first
        for at in asked:
            self._ask(commands[at], at, replies, again)
        return sorted(again)

    def _asked(self, client: Any, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The replies of one server, including errors, after the requested number of replicas has the writes.

        This is redis-py's pipeline without its work for every reply, which took as long as the rest of the client.
        """
        wanted = self.address.replicas
        sent = [*commands, ("WAIT", wanted, 1000)] if wanted else commands
        sizes = [words.replies if isinstance(words, Packed) else 1 for words in sent]
        pool = client.connection_pool
        connection = pool.get_connection()
        try:
            connection.send_packed_command(self._packed(connection, sent))
            flat = self._replies(connection, sum(sizes))
        except BaseException:
            _cut(connection)  # late replies must not be taken for the replies to other commands
            raise
        finally:
            pool.release(connection)
        if wanted and isinstance(have := flat.pop(), int) and have < wanted:
            raise self._errors.ConnectionError(f"{have} of {wanted} replicas have what was written")
        if len(flat) == len(commands) and not any(isinstance(words, Packed) for words in commands):
            return flat
        ends = list(accumulate(sizes))
        return [
            flat[end - size : end] if isinstance(words, Packed) else flat[end - 1]
            for words, size, end in zip(commands, sizes, ends, strict=False)
        ]

    def _replies(self, connection: Any, count: int) -> list[Any]:
        """So many replies, including errors; replies that arrived together are parsed at once."""
        taken = getattr(getattr(connection._parser, "_reader", None), "gets", None)
        found: list[Any] = []
        while len(found) < count:
            try:
                found.append(connection.read_response())
            except self._errors.ResponseError as error:
                found.append(error)
            if taken is not None and self._no_more is not None:
                found.extend(iter(taken, self._no_more))
        return found

    def _packed(self, connection: Any, commands: Sequence[tuple[Any, ...]]) -> list[bytes]:
        pack = self._pack or (lambda words: b"".join(connection.pack_command(*words)))
        return [b"".join([words.data if isinstance(words, Packed) else pack(words) for words in commands])]

    def _routed(
        self, commands: Sequence[Command], left: Sequence[int], replies: list[Any], again: list[int]
    ) -> list[tuple[Any, list[int]]]:
        if not self.address.cluster:
            return [(self._client, list(left))]
        routes: dict[str, tuple[Any, list[int]]] = {}
        for at in left:
            try:
                node = self._client.get_node_from_key(commands[at].key)
                client = self._client.get_redis_connection(node)
            except (self._errors.RedisError, OSError) as error:
                replies[at] = error
                again.append(at)
                continue
            routes.setdefault(node.name, (client, []))[1].append(at)
        return list(routes.values())

    def _ask(self, command: Command, at: int, replies: list[Any], again: list[int]) -> None:
        """A slot is being moved, and this command belongs to the target node."""
        error = replies[at]
        try:
            node = self._client.get_node(host=error.host, port=error.port)
            if node is None:
                raise self._errors.ConnectionError(f"{error.host}:{error.port} is not known yet")
            client = self._client.get_redis_connection(node)
            replies[at] = self._asked(client, [("ASKING",), command.words])[1]
        except (self._errors.ConnectionError, self._errors.TimeoutError, OSError) as caught:
            replies[at] = caught
        if self._redirected(replies[at]) or self._passes(replies[at]):
            again.append(at)
        elif isinstance(replies[at], Exception):
            raise replies[at]

    def _redirected(self, reply: Any) -> bool:
        if not self.address.cluster:  # the address names a cluster node as a single server
            return False
        return isinstance(reply, self._errors.AskError) and not isinstance(reply, self._errors.MovedError)

    def _passes(self, reply: Any) -> bool:
        final = [self._errors.AuthenticationError]
        if not self.address.cluster:
            final.append(self._errors.MovedError)  # the address names a cluster node as a single server
        return isinstance(reply, temporary_errors(self._errors)) and not isinstance(reply, tuple(final))

    def _look_again(self, errors: Sequence[Exception]) -> None:
        """Load the current positions of the slots."""
        if not self.address.cluster or all(isinstance(e, self._errors.TryAgainError) for e in errors):
            return
        with contextlib.suppress(self._errors.RedisError, OSError):
            self._client.nodes_manager.initialize()

    def _until(self, call: Callable[[], Any]) -> Any:
        """The result of a call, which is repeated until the timeout is over."""
        deadline, pause = time.monotonic() + min(self.address.timeout, 5.0), FIRST_PAUSE
        while True:
            try:
                return call()
            except self._errors.AuthenticationError:
                raise
            except (self._errors.RedisError, OSError) as error:
                if refused(error) or time.monotonic() + pause > deadline:
                    raise
            self._sleeping(pause)
            pause = min(2 * pause, LONGEST_PAUSE)


def _error(reply: Any) -> Any:
    """The first error among the replies to packed commands, or the reply itself."""
    if isinstance(reply, list):
        return next((part for part in reply if isinstance(part, Exception)), reply)
    return reply


def _cut(connection: Any) -> None:
    """Close a connection at once, so that commands still on the way do not arrive after they are sent again."""
    with contextlib.suppress(OSError, AttributeError):
        connection._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.disconnect()
