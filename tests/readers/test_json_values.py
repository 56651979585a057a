"""JSON arrays and objects over several lines are cut into their values, for any pieces they come in."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import json_values as naive

import neardup as nd
from neardup import _core
from neardup.readers import json_values
from neardup.readers.compression import Stream
from neardup.readers.json_values import Values, is_spread

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


class Pieces:
    """A stream that gives so many bytes at a time."""

    damage, direct = None, False

    def __init__(self, data, size):
        self._file, self._size = io.BytesIO(data), size

    def read(self, size=-1):
        return self._file.read(self._size)


def found(data, size=7, limit=1 << 20):
    return [(line, whole) for _, line, whole in Values(Pieces(data, size), limit)]


@settings(max_examples=200, deadline=None)
@given(st.lists(JSON, max_size=6), st.integers(1, 20), st.sampled_from([None, 0, 3]), st.booleans())
def test_values_are_those_of_json(rows, size, indent, escaped):
    data = json.dumps(rows, indent=indent, ensure_ascii=escaped)
    data = data.encode("utf-8", "surrogatepass")
    values = found(data, size)
    assert all(whole for _, whole in values)
    assert [json.loads(line.decode("utf-8", "surrogatepass")) for line, _ in values] == rows


@settings(max_examples=100, deadline=None)
@given(st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=5), st.integers(1, 20))
def test_objects_one_behind_the_other(rows, size):
    data = "\n".join(json.dumps(row, indent=2) for row in rows).encode()
    assert [json.loads(line) for line, _ in found(data, size)] == rows


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.integers(1, 9))
def test_any_bytes_come_to_an_end(data, size):
    values = found(data, size)
    assert sum(len(line) for line, _ in values) <= len(data)
    assert values == found(data, 1)


SIGNS = st.lists(st.sampled_from(b'[]{}"\\\\,:a \xff'), max_size=40).map(bytes)


@settings(max_examples=500, deadline=None)
@given(SIGNS, st.integers(0, 40), st.integers(0, 4), st.booleans())
def test_the_kernels_equal_their_twins(data, at, depth, in_string):
    at = min(at, len(data))
    assert _core.json_depth(data) == naive.json_depth(data)
    if depth or in_string:
        place = (data, at, depth, in_string)
        assert _core.pass_json_value(*place) == naive.pass_json_value(*place)


@pytest.mark.parametrize("place", [(4, 1, False), (0, 0, False)])
def test_a_place_outside_is_refused(place):
    with pytest.raises(ValueError, match="place"):
        _core.pass_json_value(b"[1]", *place)


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_value_beyond_the_limit_is_passed(size):
    data = json.dumps(["x" * 100, {"a": [1] * 50}, "y"]).encode()
    lengths = [(line[:2], whole) for line, whole in found(data, size, limit=20)]
    assert lengths == [(b'"x', False), (b'{"', False), (b'"y', True)]


def test_memory_is_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(json_values, "CHUNK", 100)
    (tmp_path / "a.json").write_text('[{"text": "' + "x" * 10_000 + '"},\n{"text": "y"}]')
    reader = nd.read(tmp_path / "a.json", limits=nd.readers.Limits(line_bytes=500))
    assert [d.text for d in reader.documents()] == ["y"] and reader.account.rejected == {"too large": 1}


@pytest.mark.parametrize(
    ("head", "spread"),
    [
        (b'{"a": 1}\n{"a": 2}\n', False),
        (b'{"a": 1}', False),
        (b'{\n  "a": 1\n}\n', True),
        (b'{"a": 1,\n "b": 2}\n', True),
        (b'\n\n[{"a": 1},\n{"a": 2}]', True),
        (b'[{"a": 1}, {"a": 2}]', True),
        (b'["a"]\n["b"]\n', False),
        (b'{"a": "cut,\n{"a": 1}\n', False),
        (b"bad\n{\n", False),
        (b"", False),
    ],
)
def test_what_is_spread(head, spread):
    assert is_spread(head) == spread


@pytest.mark.parametrize(
    ("data", "texts", "reason"),
    [
        ('[{"text": "a"}, {"text": "b"}', ["a", "b"], "ends within an array"),
        ('[{"text": "a"}, {"text": "b', ["a"], "truncated"),
        ('[{"text": "a"}, {"text": b}, {"text": "c"}]', ["a", "c"], "malformed"),
        ('[{"text": "a"}, 5]', ["a"], "not a JSON object"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, data, texts, reason):
    (tmp_path / "a.json").write_text(data)
    reader = nd.read(tmp_path / "a.json")
    assert [d.text for d in reader.documents()] == texts
    (reported,) = reader.account.reasons
    assert reason in reported.detail
    assert sum(map(len, reader.blocks())) == len(texts) and reader.account.reasons == [reported]


def test_a_stream_may_be_looked_at(tmp_path):
    (tmp_path / "a").write_bytes(b"0123456789" * 10)
    with Stream(open(tmp_path / "a", "rb"), nd.readers.Limits()) as stream:
        assert stream.peek(20, 7).startswith(b"01234567890123456789")
        room = bytearray(3)
        assert stream.readinto(memoryview(room)) == 3 and room == b"012"
        rest = b""
        while data := stream.read(7):
            rest += data
    assert rest == (b"0123456789" * 10)[3:]
