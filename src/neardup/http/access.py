"""Who may ask: headers that are there once, names of this machine, pages of our own, and the token."""

from __future__ import annotations

import hmac
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from neardup.http.limits import Refused

__all__ = ["Access", "check_single"]

OWN_NAME = re.compile(rb"(localhost|127\.[0-9.]+|\[[0-9a-f:]+\])(:[0-9]*)?")
# Of two, a proxy in front of the service may use the first, and the service the last.
ONCE = frozenset({b"host", b"origin", b"content-length", b"authorization"})
OWN_SITES = frozenset({b"same-origin", b"none"})
Headers = Mapping[bytes, bytes]


def check_single(given: Sequence[tuple[bytes, bytes]]) -> None:
    """Refuse a header that decides who may do what if it is there twice."""
    for name, count in Counter(name for name, _ in given).items():
        if count > 1 and name in ONCE:
            raise Refused(400, f"the header {name.decode()} is there {count} times; send it once")


@dataclass(frozen=True)
class Access:
    """Rules for requests.

    token   what clients send as `Authorization: Bearer ...`; None if everybody may ask
    reader  another token, of those who may ask and not change anything
    local   answer under the names of this machine alone, and no pages of other origins
    wanted  the sentence for those who do not have the token
    more    another check of the headers of each request for data
    """

    token: str | None = field(default=None, repr=False)
    reader: str | None = field(default=None, repr=False)
    local: bool = True
    wanted: str = "this service needs a token: Authorization: Bearer ..."
    more: Callable[[Headers], None] | None = None

    def check(self, headers: Headers) -> None:
        """Refuse who may not ask for data."""
        if self.local:
            self._check_names(headers)
            if headers.get(b"sec-fetch-site", b"none") not in OWN_SITES:
                raise Refused(403, "pages of other sites get no answer here")
        if self.token is not None and not (_has(headers, self.token) or _has(headers, self.reader)):
            raise Refused(401, self.wanted, headers=((b"www-authenticate", b"Bearer"),))
        if self.more is not None:
            self.more(headers)

    def check_write(self, headers: Headers) -> None:
        """Refuse who may ask, but may not change anything."""
        if self.token is not None and not _has(headers, self.token):
            raise Refused(
                403, "this token only reads; to change the index, send the token of those who write"
            )

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


def _has(headers: Headers, token: str | None) -> bool:
    """Whether a request has this token."""
    if token is None:
        return False
    return hmac.compare_digest(headers.get(b"authorization", b""), b"Bearer " + token.encode())
