"""Repeated lines and paragraphs beside a dictionary that counts them."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.repeats import lines_of, paragraphs_of

import neardup as nd

LINE = st.lists(st.sampled_from(["a", "B", "b!", "ü"]), max_size=4).map(" ".join)
TEXT = st.lists(LINE, max_size=8).map("\n".join)


def documents_of(texts: list[str]) -> list[nd.Document]:
    return [nd.Document(str(row), text) for row, text in enumerate(texts)]


def plain(found: nd.passages.Repeats) -> nd.passages.Repeats:
    return dataclasses.replace(found, seconds={}, spilled=0)


@given(
    st.lists(TEXT, min_size=1, max_size=6),
    st.sampled_from(["line", "paragraph"]),
    st.integers(1, 3),
    st.integers(2, 3),
    st.none() | st.integers(1, 3),
    st.sampled_from(["corpus", "document"]),
)
def test_counted_and_cut(tmp_path_factory, texts, unit, shortest, least, most, within):
    how, split = (nd.passages.Lines, lines_of) if unit == "line" else (nd.passages.Paragraphs, paragraphs_of)
    out = tmp_path_factory.mktemp("cut") / "out.jsonl"
    found = how(shortest, least=least, most=most, within=within).find(documents_of(texts), out=out)
    where: dict[tuple, list[tuple[int, int, int]]] = {}
    for row, text in enumerate(texts):
        for begin, end in split(text):
            words = nd.features.tokens([text[begin:end]])[0]
            if len(words) >= shortest:
                key = (*words, row if within == "document" else -1)
                where.setdefault(key, []).append((row, begin, end))
    repeated = {key: places for key, places in where.items() if len(places) >= least}
    dropped: list[list[tuple[int, int]]] = [[] for _ in texts]
    for places in repeated.values():
        for row, begin, end in places if most is not None and len(places) > most else places[1:]:
            dropped[row].append((begin, end))
    left = []
    for text, cuts in zip(texts, dropped, strict=True):
        for begin, end in sorted(cuts, reverse=True):
            text = text[:begin] + text[end:]
        left.append(text)
    assert [json.loads(line)["text"] for line in out.read_text().splitlines()] == left
    assert found.distinct == len(repeated)
    assert [(one.count, one.documents, one.words) for one in found.top] == [
        (len(places), len({row for row, _, _ in places}), len(key) - 1)
        for key, places in sorted(repeated.items(), key=lambda item: (-len(item[1]), item[1][0]))
    ]
    for one in found.top:
        assert [(int(p.id), p.begin, p.end) for p in one.occurrences] in [p[:5] for p in repeated.values()]
        place = one.occurrences[0]
        assert one.text == texts[int(place.id)][place.begin : place.end]
    assert found.cut == sum(len(a.encode()) - len(b.encode()) for a, b in zip(texts, left, strict=True))
    assert found.emptied == sum(
        bool(cuts) and not nd.features.tokens([text])[0] for cuts, text in zip(dropped, left, strict=True)
    )


@pytest.mark.parametrize(
    "how", [nd.passages.Lines(5), nd.passages.Paragraphs(10), nd.passages.Lines(5, within="document")]
)
@pytest.mark.parametrize(
    "settings", [{"threads": 2}, {"memory": 500_000}, {"memory": 1_000_000, "threads": 2}]
)
def test_memory_and_threads_change_nothing(data, tmp_path, how, settings):
    path = data / "tldr_short" / "docs.jsonl.gz"
    outs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    found = how.find(path, out=outs[0])
    again = how.find(nd.read(path, batch=77), out=outs[1], scratch=tmp_path, **settings)
    assert plain(found) == dataclasses.replace(plain(again), out=str(outs[0]))
    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert sorted(tmp_path.iterdir()) == outs
    assert (again.spilled > 0) == ("memory" in settings and found.distinct > 0)


def test_manuals_lose_their_boilerplate(data, tmp_path):
    path, out = data / "k8s_docs_rev" / "docs.jsonl.gz", tmp_path / "out.jsonl"
    found = nd.passages.Lines().find(path, out=out)
    assert 0.4 < found.cut / found.size < 0.65
    again = nd.passages.Lines().find(out)
    assert again.distinct == 0 and again.cut == 0  # a second run has nothing to do
    boilerplate = nd.passages.Lines(most=100).find(path)
    assert found.cut < boilerplate.cut < found.cut + 10_000
    assert found.top[0].count > 500 and found.top[0].documents < 100


def test_emptied_documents_can_be_left_out(tmp_path):
    line = "one two three four five six seven eight nine"
    texts = [line, f"{line.upper()}!\n", f"{line}\nand more"]
    out = tmp_path / "out.jsonl"
    found = nd.passages.Lines().find(documents_of(texts), out=out, drop_empty=True)
    assert (found.emptied, found.written, found.changed) == (1, 2, 2)
    assert [json.loads(row) for row in out.read_text().splitlines()] == [
        {"id": "0", "text": line},
        {"id": "2", "text": "and more"},
    ]


def test_changed_input_is_noticed(tmp_path):
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    row = '{"id": 1, "text": "one two three four five six seven eight nine"}\n'
    path.write_text(row * 2)
    reader = nd.read(path)

    class Growing(nd.Reader):
        def __iter__(self):  # the second pass
            path.write_text(row * 3)
            return super().__iter__()

    reader.__class__ = Growing
    with pytest.raises(nd.DataError, match="other documents"):
        nd.passages.Lines().find(reader, out=out)
    assert not out.exists()
