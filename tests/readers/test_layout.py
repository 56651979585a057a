"""Text and id are found when obvious; otherwise the error lists what there is."""

import json

import pytest

import neardup as nd


def read_rows(tmp_path, rows, **options):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return list(nd.read(path, **options).documents())


@pytest.mark.parametrize("name", ["text", "content", "body", "raw_content", "Text", "CONTENT"])
@pytest.mark.parametrize("id_name", ["id", "url", "doc_id", "ID"])
def test_obvious_columns(tmp_path, name, id_name):
    found = read_rows(tmp_path, [{"title": "t", name: "words", id_name: "n", "z": 1}])
    assert found == [nd.Document("n", "words", {"title": "t", id_name: "n", "z": 1})]


def test_likelier_names_win_and_options_beat_them(tmp_path):
    row = {"url": "u", "id": 7, "body": "b", "text": "t"}
    assert read_rows(tmp_path, [row])[0].id == "7"
    assert read_rows(tmp_path, [row])[0].text == "t"
    assert read_rows(tmp_path, [row], text="body", id="url") == [
        nd.Document("u", "b", row_without(row, "body"))
    ]


def row_without(row, name):
    return {key: value for key, value in row.items() if key != name}


def test_the_only_other_column_is_the_text(tmp_path):
    assert read_rows(tmp_path, [{"id": "1", "story": "s"}])[0].text == "s"


def test_errors_list_the_columns(tmp_path):
    rows = [{"headline": "h", "story": "s", "id": 1}]
    with pytest.raises(nd.ConfigError, match=r"a\.jsonl.*text=.*headline, story, id"):
        read_rows(tmp_path, rows)
    with pytest.raises(nd.ConfigError, match="no column 'body' for the text"):
        read_rows(tmp_path, rows, text="body")
    with pytest.raises(nd.ConfigError, match="no column 'key' for the id"):
        read_rows(tmp_path, rows, text="story", id="key")
    (tmp_path / "a.csv").write_text("headline,story\nx,y\n")
    with pytest.raises(nd.ConfigError, match="headline, story"):
        list(nd.read(tmp_path / "a.csv"))
    (tmp_path / "a.csv").write_text("text,text\nx,y\n")
    with pytest.raises(nd.ConfigError, match="same name"):
        list(nd.read(tmp_path / "a.csv"))


def test_columns_may_appear_late(tmp_path):
    found = read_rows(tmp_path, [{"error": 1, "code": 2}, {"text": "a"}, {"id": "x", "text": "b"}])
    assert [(d.id, d.text) for d in found] == [("a.jsonl:2", "a"), ("x", "b")]


def test_a_later_file_without_text_is_rejected_not_fatal(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "x", "id": 1}\n')
    (tmp_path / "b.jsonl").write_text('{"p": "x", "q": 1}\n')
    reader = nd.read(tmp_path)
    assert [d.text for d in reader.documents()] == ["x"]
    assert reader.rejects.counts == {"no text": 1}


def test_records_keep_the_order_of_columns(tmp_path):
    path = tmp_path / "a.jsonl"
    lines = ['{"z":1,"text":"a","id":"1","a":[{"b":null}]}', '{"z":2,"text":"b","id":"2","late":true}']
    path.write_text("\n".join(lines) + "\n")
    with nd.readers.open_writer(tmp_path / "b.jsonl") as writer:
        for batch in nd.read(path):
            writer.write_all(batch.records())
    assert (tmp_path / "b.jsonl").read_text() == path.read_text()


def test_chosen_columns(tmp_path):
    row = {"id": 1, "text": "t", "x": 2, "y": 3}
    assert read_rows(tmp_path, [row], columns=["x"])[0].meta == {"x": 2}
    assert read_rows(tmp_path, [row], columns=[])[0].meta == {}
