"""Who may ask: headers that are there once, names of this machine, pages of our own, and the tokens."""

from __future__ import annotations

import hmac
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from neardup.http.limits import Refused

__all__ = ["DEFAULT", "EVERY", "Access", "Grant", "check_framing", "check_single"]

OWN_NAME = re.compile(rb"(localhost|127\.[0-9.]+|\[[0-9a-f:]+\])(:[0-9]*)?")
# Of two, a proxy in front of the service may use the first, and the service the last.
ONCE = frozenset(
    {
        b"host",
        b"origin",
        b"authorization",
        b"content-length",
        b"content-type",
        b"content-encoding",
        b"transfer-encoding",
        b"sec-fetch-site",
        b"sec-fetch-mode",
        b"sec-fetch-dest",
    }
)
OWN_SITES = frozenset({b"same-origin", b"none"})
EVERY = "*"  # in place of the name of an index: all of them
DEFAULT = "default"  # what tokens and lists call the index without a name
Headers = Mapping[bytes, bytes]


def check_single(given: Sequence[tuple[bytes, bytes]]) -> None:
    """Refuse a request with two headers of one name, if that header decides who may do what."""
    for name, count in Counter(name for name, _ in given).items():
        if count > 1 and name in ONCE:
            raise Refused(400, f"the header {name.decode()} is there {count} times; send it once")


def check_framing(headers: Headers) -> bool:
    """Whether the body comes in chunks. Refuse what a proxy in front of the service could understand otherwise."""
    coding = headers.get(b"transfer-encoding")
    if coding is None:
        return False
    if coding.strip().lower() != b"chunked":
        raise Refused(400, "a Transfer-Encoding is chunked, and nothing else")
    if b"content-length" in headers:
        raise Refused(400, "send Content-Length or Transfer-Encoding, not both")
    return True


@dataclass(frozen=True)
class Grant:
    """What the owner of a token may do: the names of the indexes that they may read, and of those that they may change
    as well; EVERY for all."""

    token: str = field(repr=False)
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset({EVERY})

    def may_read(self, index: str | None) -> bool:
        """Whether this access may read an index; None is for requests that concern no index."""
        return index is None or self.may_write(index) or EVERY in self.reads or index in self.reads

    def may_write(self, index: str | None) -> bool:
        """Whether this access may change the index."""
        return EVERY in self.writes or index in self.writes


ANYBODY = Grant("")


@dataclass(frozen=True)
class Access:
    """Rules for requests.

    token   what clients send as `Authorization: Bearer ...`; None if everybody may ask
    reader  another token, of those who may ask and not change anything
    grants  more tokens, each for some indexes
    local   answer under the names of this machine alone, and no pages of other origins
    wanted  the sentence for those who do not have the token
    more    another check of the headers of each request for data
    """

    token: str | None = field(default=None, repr=False)
    reader: str | None = field(default=None, repr=False)
    grants: tuple[Grant, ...] = ()
    local: bool = True
    wanted: str = "this service needs a token: Authorization: Bearer ..."
    more: Callable[[Headers], None] | None = None
    _given: tuple[tuple[bytes, Grant], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        known = [] if self.token is None else [Grant(self.token)]
        known += [] if self.reader is None else [Grant(self.reader, frozenset({EVERY}), frozenset())]
        given = tuple((b"Bearer " + one.token.encode(), one) for one in (*known, *self.grants))
        object.__setattr__(self, "_given", given)

    def check(self, headers: Headers) -> Grant:
        """What the sender of a request for data may do; refuse who may not ask."""
        if self.local:
            self._check_names(headers)
            if headers.get(b"sec-fetch-site", b"none") not in OWN_SITES:
                raise Refused(403, "pages of other sites get no answer here")
        found = self._grant(headers.get(b"authorization", b"")) if self._given else ANYBODY
        if found is None:
            raise Refused(401, self.wanted, headers=((b"www-authenticate", b"Bearer"),))
        if self.more is not None:
            self.more(headers)
        return found

    def _grant(self, sent: bytes) -> Grant | None:
        """The grant of a token. All are compared, whichever it is."""
        found = None
        for wanted, grant in self._given:
            if hmac.compare_digest(sent, wanted):
                found = grant
        return found

    def check_page(self, headers: Headers) -> None:
        """Refuse who may not ask for a file of a page, which everybody may but pages of other sites. A person may
        follow a link from there."""
        if self.local:
            self._check_names(headers)
        if headers.get(b"sec-fetch-site", b"none") in OWN_SITES:
            return
        followed = headers.get(b"sec-fetch-mode") == b"navigate"
        if not followed or headers.get(b"sec-fetch-dest") != b"document":
            raise Refused(403, "pages of other sites get no answer here")

    @staticmethod
    def _check_names(headers: Headers) -> None:
        """Programs on this machine may ask, pages in its browser may not: neither from an origin of their own nor
        under a name that was made to resolve to this machine."""
        host = headers.get(b"host", b"localhost").lower()
        if not OWN_NAME.fullmatch(host):
            raise Refused(403, "this service answers to the names of this machine alone")
        origin = headers.get(b"origin")
        if origin is not None and origin.lower() != b"http://" + host:
            raise Refused(403, "this service answers no pages of other origins")
