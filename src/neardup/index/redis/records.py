"""The stored record of one document, as bytes: docs/reference/format.md, "Shared index"."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from neardup.errors import FormatError

__all__ = ["FOLLOWER", "GONE", "KEEPER", "PENDING", "VOID", "Record", "pack_records"]

PENDING, KEEPER, FOLLOWER, VOID, GONE = b"P", b"K", b"F", b"V", b"R"
"""Being added (under a ticket), a keeper, a follower, voided (its worker must search again), being removed."""
_STATES = (PENDING, KEEPER, FOLLOWER, VOID, GONE)
_EXPIRES, _DISTANCE, _SIMILARITY, _PRINT, _META = 1, 2, 4, 8, 16


class Record(NamedTuple):
    """`other` is the ticket of a pending document, the keeper's row of a follower, else 0. Times are in milliseconds
    since 1970. `fingerprint` is None for an empty document and if fingerprints are stored with the contents
    (`apart`)."""

    state: bytes
    other: int
    added: int
    expires: int | None
    distance: int | None
    similarity: float | None
    id: str
    fingerprint: bytes | None
    meta: str | None
    empty: bool = False

    def to_bytes(self) -> bytes:
        """A state, a row or ticket, flags, and then the fields that are present."""
        name = self.id.encode()
        flags, rest = 32 if self.empty else 0, len(name).to_bytes(2, "little") + name
        if self.similarity is not None:
            flags, rest = flags | _SIMILARITY, struct.pack("<d", self.similarity) + rest
        if self.distance is not None:
            flags, rest = flags | _DISTANCE, self.distance.to_bytes(2, "little") + rest
        if self.expires is not None:
            flags, rest = flags | _EXPIRES, self.expires.to_bytes(6, "little") + rest
        if self.fingerprint is not None:
            flags, rest = flags | _PRINT, rest + self.fingerprint
        if self.meta is not None:
            flags, rest = flags | _META, rest + self.meta.encode("utf-8", "surrogatepass")
        times = (flags | self.added << 8).to_bytes(7, "little")
        return b"%b%b%b%b" % (self.state, self.other.to_bytes(6, "little"), times, rest)

    @classmethod
    def from_bytes(cls, data: bytes, width: int, where: object) -> Record:
        """The inverse of `to_bytes`; `width` is the size of a fingerprint in bytes. FormatError if the data is
        damaged."""
        state, flags, place = data[:1], data[7] if len(data) > 7 else 0, 14
        if state not in _STATES or flags > 63:
            raise FormatError(where, "the record of a document", f"something else ({data[:20]!r})")
        other, added = int.from_bytes(data[1:7], "little"), int.from_bytes(data[8:14], "little")
        expires = distance = similarity = meta = fingerprint = None
        try:
            if flags & _EXPIRES:
                expires, place = int.from_bytes(data[place : place + 6], "little"), place + 6
            if flags & _DISTANCE:
                distance, place = int.from_bytes(data[place : place + 2], "little"), place + 2
            if flags & _SIMILARITY:
                similarity, place = struct.unpack_from("<d", data, place)[0], place + 8
            end = place + 2 + int.from_bytes(data[place : place + 2], "little")
            id = data[place + 2 : end].decode()
            if flags & _PRINT:
                fingerprint, place = data[end : end + width], end + width
            else:
                place = end
            if place > len(data) or (place < len(data) and not flags & _META):
                raise ValueError("it has another length")
            if flags & _META:
                meta = data[place:].decode("utf-8", "surrogatepass")
        except (ValueError, struct.error) as error:
            raise FormatError(where, "the record of a document", f"a damaged one ({error})") from None
        return cls(
            state, other, added, expires, distance, similarity, id, fingerprint, meta, bool(flags & 32)
        )

    @property
    def head(self) -> bytes:
        """The first bytes, which identify this state of the record."""
        return self.state + self.other.to_bytes(6, "little")

    def pending(self, ticket: int) -> Record:
        return self._replace(state=PENDING, other=ticket, distance=None, similarity=None)

    def following(self, keeper: int, distance: int, similarity: float) -> Record:
        """The record as a follower of another row; a distance of -1 and a similarity of NaN mean none."""
        return self._replace(
            state=FOLLOWER,
            other=keeper,
            distance=distance if distance >= 0 else None,
            similarity=similarity if similarity == similarity else None,
        )

    def expired(self, now: int) -> bool:
        return self.expires is not None and self.expires <= now


def pack_records(records: Sequence[Record]) -> list[bytes]:
    """`to_bytes` of each record. Records of a batch share their first bytes, which are made once."""
    packed, begins = [], dict[tuple[bytes, int, int, bool], bytes]()
    for record in records:
        state, other, added, expires, distance, similarity, id, fingerprint, meta, empty = record
        if expires is not None or distance is not None or similarity is not None or meta is not None:
            packed.append(record.to_bytes())
            continue
        begin = begins.get((state, other, added, fingerprint is None))
        if begin is None or empty:
            begin = record._replace(id="").to_bytes()[:14]
            if not empty:
                begins[state, other, added, fingerprint is None] = begin
        name = id.encode()
        packed.append(b"%b%b%b%b" % (begin, len(name).to_bytes(2, "little"), name, fingerprint or b""))
    return packed
