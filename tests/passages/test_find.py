"""Documents that contain a passage: compared with a plain search, word by word."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command import run
from support.corpora import write_jsonl

import neardup as nd
from neardup.passages import find_passage

WORDS = st.lists(st.sampled_from(["ab", "cd", "ef", "gh", "ij"]), max_size=30)


@given(
    st.lists(WORDS, max_size=8), st.lists(st.sampled_from(["ab", "cd", "ef", "gh"]), min_size=1, max_size=12)
)
def test_exact_hits_are_those_of_a_plain_search(texts, passage):
    documents = [nd.Document(str(i), " ".join(words).title()) for i, words in enumerate(texts)]
    found = find_passage(" ".join(passage), documents, threshold=1.0, top=100)
    plain = {str(i) for i, words in enumerate(texts) if f" {' '.join(passage)} " in f" {' '.join(words)} "}
    assert {hit.id for hit in found.hits if hit.exact} == plain and found.exact == len(plain)
    assert found.documents == len(texts) and found.words == len(passage)
    for hit in found.hits:
        if hit.exact:
            assert hit.text.lower().split() == passage
            assert documents[int(hit.id)].text[hit.begin : hit.end] == hit.text


def test_a_passage_with_changes_is_found_at_its_place():
    passage = "the ferry leaves the north pier at eight each morning and returns at noon except on holidays"
    changed = passage.replace("eight", "nine").replace("ferry", "“Fähre”")
    noise = " ".join(f"wörd{i}" for i in range(500))
    documents = [
        nd.Document("near", f"{noise}. {changed}! {noise}"),
        nd.Document("exact", f"{noise} {passage.upper()}; {noise} {passage}"),
        nd.Document("none", noise),
        nd.Document("spread", " ".join(f"{word} {noise}" for word in passage.split())),
    ]
    found = find_passage(passage, documents, threshold=0.5, width=3)
    assert [hit.id for hit in found.hits] == ["exact", "near"] and (found.exact, found.near) == (1, 1)
    first, second = found.hits
    assert first.exact == 2 and first.text == passage.upper() and first.share == 1
    assert 0.5 <= second.share < 1 and second.text in changed and second.text.startswith("leaves the north")
    assert find_passage(passage, documents, threshold=0.5, width=3, top=1).hits == (first,)


def test_wrong_settings_are_named():
    for settings in ({"threshold": 0}, {"threshold": 1.5}, {"width": 0}, {"top": -1}):
        with pytest.raises(nd.ConfigError):
            find_passage("words", [], **settings)
    with pytest.raises(nd.ConfigError, match="no words"):
        find_passage("...", [])


@pytest.mark.process
def test_the_command(tmp_path):
    path = write_jsonl(
        tmp_path / "in.jsonl",
        [{"id": "a", "text": "One. Two three, four five!"}, {"id": "b", "text": "one two"}],
    )
    result = run("find", "TWO THREE four", path)
    assert (
        result.returncode == 0 and b"1 contain" in result.stdout and b"a  characters 5 to 20" in result.stdout
    )
    said = json.loads(run("find", "two three four", path, "--json").stdout)
    assert said["hits"] == [
        {"id": "a", "exact": 1, "share": 1.0, "begin": 5, "end": 20, "text": "Two three, four"}
    ]
    assert run("find", "not there", path).returncode == 1
    assert run("find", "one two", "-", stdin=b"one two\nthree\n").returncode == 0
