"""Stored texts: both codecs, damage, and limits of memory."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup import _core
from neardup.errors import DataError, MissingExtra
from neardup.index.contents import Decoded, TextTooLarge, pack_text, pack_texts, unpack_text

pytest.importorskip("zstandard")
Codec = Literal["zlib", "zstd"]
PAGE = "The ferry leaves the north pier at eight and returns at noon, except on public holidays. " * 5
CODECS: list[Codec] = ["zlib", "zstd"]


@pytest.mark.parametrize("codec", CODECS)
@given(text=st.text(max_size=300), times=st.sampled_from([1, 3, 50]))
def test_texts_come_back(codec: Codec, text: str, times: int) -> None:
    assert unpack_text(pack_text(text * times, codec)) == text * times


@pytest.mark.parametrize("codec", CODECS)
@given(texts=st.lists(st.tuples(st.text(max_size=60), st.sampled_from([0, 1, 2, 40]))))
def test_many_are_packed_as_each_alone(codec: Codec, texts: list[tuple[str, int]]) -> None:
    given = [text * times for text, times in [*texts, (PAGE, 1), ("\ud800" * 99, 2)]]
    alone = [pack_text(text, codec) for text in given]
    encoded = Decoded([text.encode("utf-8", "surrogatepass") for text in given])
    assert list(encoded) == given and list(encoded[1:]) == given[1:]
    assert pack_texts(given, codec) == pack_texts(encoded, codec) == alone
    assert [unpack_text(packed) for packed in alone] == given


def test_texts_that_never_were_strings(tmp_path: Path) -> None:
    """What a reader found in its buffer is stored, compared and found like strings."""
    texts = [PAGE, "", "Grüße vom Hafen " * 30, PAGE, PAGE.replace("noon", "one"), "short"]
    native = _core.Texts()
    native.add(tuple(text.encode() for text in texts))
    ids = [str(at) for at in range(len(texts))]
    for name, config in (("near", None), ("exact", nd.Config.of("exact"))):
        with (
            nd.Index(tmp_path / f"{name}1", config, seed=1) as one,
            nd.Index(tmp_path / f"{name}2", config, seed=1) as two,
        ):
            assert list(one.seen_prepared(ids, one.prepare(native))) == list(
                two.seen([nd.Document(id, text) for id, text in zip(ids, texts, strict=True)])
            )
            assert [one.get(id).text for id in ids] == texts  # type: ignore[union-attr]
            again = one.prepare(native)
            assert one.seen_prepared([f"{id} again" for id in ids], again)[0].duplicate_of == "0"


@pytest.mark.parametrize("codec", CODECS)
def test_more_than_there_is_memory_for(codec: Codec) -> None:
    packed = pack_text("a" * 10_000_000, codec)
    assert len(packed) < 50_000
    assert len(unpack_text(packed)) == 10_000_000
    for most in (0, 100, 9_999_999):
        with pytest.raises(TextTooLarge):
            unpack_text(packed, most)


@pytest.mark.parametrize("codec", CODECS)
def test_damage_is_noticed(codec: Codec) -> None:
    packed = pack_text(PAGE, codec)
    for at in range(len(packed)):
        changed = bytearray(packed)
        changed[at] ^= 0x10
        try:
            found = unpack_text(bytes(changed))
        except DataError:
            continue
        assert found == PAGE  # a bit that says nothing about the text
    for end in range(1, len(packed)):
        with pytest.raises(DataError):
            unpack_text(packed[:end])
    if codec == "zstd":
        with pytest.raises(DataError):
            unpack_text(packed + b"more")
    with pytest.raises(DataError):
        unpack_text(b"\x07" + packed[1:])


def test_threads_have_machines_of_their_own() -> None:
    texts = [f"{number} {PAGE}" for number in range(400)]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda text: unpack_text(pack_text(text, "zstd")), texts)) == texts


def without(name: str) -> Callable[..., Any]:
    """As if a package was not installed."""
    found = importlib.util.find_spec
    return lambda asked, *rest: None if asked == name else found(asked, *rest)


def test_an_index_keeps_its_codec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with nd.Index(tmp_path / "fast.nd") as index:
        index.seen(PAGE, id="a")
        assert index._store.recipe.codec == "zstd"
    with monkeypatch.context() as patched:
        patched.setattr("neardup.index.recipe.find_spec", without("zstandard"))
        with nd.Index(tmp_path / "plain.nd") as index:
            index.seen(PAGE, id="a")
            assert index._store.recipe.codec == "zlib"
        with pytest.raises(MissingExtra, match=r"neardup\[io\]"):
            nd.Index(tmp_path / "fast.nd")
    for name, codec in (("plain.nd", "zlib"), ("fast.nd", "zstd")):
        with nd.Index(tmp_path / name) as index:
            assert index._store.recipe.codec == codec
            assert not index.seen(PAGE + " Today.", id="b").new
            assert index.get("a").text == PAGE
            assert index.verify().problems == ()


def test_an_index_without_texts_needs_no_codec(tmp_path: Path) -> None:
    with nd.Index(tmp_path / "index.nd", store="none") as index:
        assert index._store.recipe.codec == "zlib"
