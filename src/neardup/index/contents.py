"""What an index stores of a document in addition to its fingerprint, and how two documents are verified with it."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from neardup.errors import DataError
from neardup.features.features import Features
from neardup.index.recipe import Codec, Recipe

__all__ = [
    "LARGEST_TEXT",
    "Decoded",
    "Held",
    "TextTooLarge",
    "pack_features",
    "pack_text",
    "pack_texts",
    "portions",
    "unpack_features",
    "unpack_text",
    "unpacked",
]

Held = tuple[bytes | None, bytes | str | None]  # a fingerprint and a content, as they are stored, or its text
Rows = NDArray[np.int64]

LARGEST_TEXT = 1 << 30
_RAW, _ZLIB, _ZSTD = b"\0", b"\1", b"\2"
_DENSEST = 1 << 16  # Zstandard makes no text smaller than this share of it
_AT_ONCE, _FEW = 16 << 20, 8  # bytes of contents that are compared at the same time, and rows that always are
_SHORTEST = 100  # compression does not make shorter texts smaller


_machines = threading.local()  # of Zstandard: each thread needs its own


class Decoded(Sequence[str]):
    """Texts given as UTF-8. Most of them are never compared with others, so each is decoded when it is asked for."""

    def __init__(self, encoded: Sequence[bytes]) -> None:
        self.encoded = encoded

    def __len__(self) -> int:
        return len(self.encoded)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Decoded: ...
    def __getitem__(self, at: int | slice) -> str | Decoded:
        if isinstance(at, slice):
            return Decoded(self.encoded[at])
        return self.encoded[at].decode("utf-8", "surrogatepass")


def pack_text(text: str, codec: Codec = "zlib") -> bytes:
    """A text as stored: one byte for the encoding, then its UTF-8, compressed if that makes it smaller."""
    return pack_texts([text], codec)[0]


def pack_texts(texts: Sequence[str], codec: Codec) -> list[bytes]:
    """Many texts as stored. All are compressed in one call, which leaves the interpreter to other threads."""
    if isinstance(texts, Decoded):
        encoded = list(texts.encoded)
    else:
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    small = _compressed([data for data in encoded if len(data) >= _SHORTEST], codec)
    mark, packed = _ZLIB if codec == "zlib" else _ZSTD, []
    for data in encoded:
        best: Any = data if len(data) < _SHORTEST else next(small)
        packed.append(b"".join((mark, best)) if len(best) < len(data) else _RAW + data)
    return packed


def _compressed(encoded: list[bytes], codec: Codec) -> Iterator[Any]:
    """Each as bytes or a buffer."""
    if codec == "zlib":
        return (zlib.compress(data, 1) for data in encoded)
    machine = _compressor()
    at_once = getattr(machine, "multi_compress_to_buffer", None)  # only the module in C has it
    if at_once is None or len(encoded) < 2:
        return map(machine.compress, encoded)
    return iter(at_once(encoded))


def _compressor() -> Any:
    if (made := getattr(_machines, "compressor", None)) is None:
        # The checksum is as that of zlib: a text that was changed on the disk is noticed.
        made = _machines.compressor = import_module("zstandard").ZstdCompressor(1, write_checksum=True)
    return made


def _decompressed(data: bytes, most: int) -> bytes:
    """What Zstandard has compressed. Its size is known, and plausible, before memory is allocated for it."""
    zstandard = import_module("zstandard")
    try:
        size = zstandard.get_frame_parameters(data).content_size
        if size > most:
            raise TextTooLarge(f"a stored text has more than {most:,} bytes")
        if size > _DENSEST * len(data):
            raise DataError("a stored text is damaged: its size cannot be")
        if (machine := getattr(_machines, "decompressor", None)) is None:
            machine = _machines.decompressor = zstandard.ZstdDecompressor()
        return bytes(machine.decompress(data, allow_extra_data=False))
    except zstandard.ZstdError as error:
        raise DataError(f"a stored text is damaged: {error}") from None


class TextTooLarge(DataError):
    """A stored text is larger than the caller has memory for."""


def unpack_text(content: bytes, most: int = LARGEST_TEXT) -> str:
    """Decode a stored text; TextTooLarge if it has more than `most` bytes, before memory is allocated for them."""
    data = content[1:]
    if content[:1] == _ZSTD:
        data = _decompressed(data, most)
    elif content[:1] != _RAW:
        machine = zlib.decompressobj()
        try:
            data = machine.decompress(content[1:], most + 1)
        except zlib.error as error:
            raise DataError(f"a stored text is damaged: {error}") from None
        if len(data) > most:
            raise TextTooLarge(f"a stored text has more than {most:,} bytes")
        if content[:1] != _ZLIB or not machine.eof:
            raise DataError("a stored text is damaged")
    if len(data) > most:
        raise TextTooLarge(f"a stored text has more than {most:,} bytes")
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise DataError(f"a stored text is damaged: {error.reason}") from None


def portions(rows: Rows, sizes: Callable[[Rows], Rows]) -> list[Rows]:
    """Rows in groups whose stored contents take little memory."""
    if len(rows) <= _FEW:
        return [rows]
    group = np.cumsum(sizes(rows)) // _AT_ONCE
    return np.split(rows, np.flatnonzero(np.diff(group)) + 1)


def unpacked(held: Mapping[int, Held], texts: bool) -> Iterator[tuple[Rows, Mapping[int, Held]]]:
    """What is held, by row, in groups of little memory also where texts were compressed a thousand times."""
    rows, size, found = sorted(held), 0, dict[int, Held]()
    if not texts and rows:
        yield np.array(rows, np.int64), held
    for row in rows if texts else ():
        fingerprint, content = held[row]
        text = unpack_text(content) if isinstance(content, bytes) else content
        found[row] = fingerprint, text
        size += len(text or "")
        if size >= _AT_ONCE or row == rows[-1]:
            yield np.array(list(found), np.int64), found
            size, found = 0, {}


def _weighted(recipe: Recipe) -> bool:
    return recipe.config.verify.weighted


def pack_features(recipe: Recipe, features: Features) -> list[bytes]:
    """Each document's feature hashes, followed by their weights if the measure needs them."""
    hashes, weights = features.hashes.astype("<u8"), features.weights.astype("<f4")
    weighted, ends = _weighted(recipe), features.offsets.tolist()
    packed = []
    for first, last in pairwise(ends):
        packed.append(hashes[first:last].tobytes() + (weights[first:last].tobytes() if weighted else b""))
    return packed


def unpack_features(recipe: Recipe, contents: Sequence[bytes]) -> Features:
    """Features of documents, decoded from their stored contents."""
    weighted = _weighted(recipe)
    unit = 12 if weighted else 8
    sizes = [len(content) // unit for content in contents]
    hashes = np.frombuffer(b"".join(c[: 8 * n] for c, n in zip(contents, sizes, strict=True)), "<u8")
    weights: NDArray[np.float32] = np.ones(len(hashes), np.float32)
    if weighted:
        weights = np.frombuffer(b"".join(c[8 * n :] for c, n in zip(contents, sizes, strict=True)), "<f4")
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Features(hashes.astype(np.uint64), weights.astype(np.float32), offsets, recipe.compared.scheme)
