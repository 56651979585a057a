"""Tables of pairs, labels and clusters in every format; and mistakes in them, named by file and line."""

import gzip
import json

import pytest

import neardup as nd
from neardup.evaluate.truth import Names, PairTable, TruthClusters, read_table

ROWS = [("a", "b", 1, 0.9), ("c", "d", 0, 0.4), ("b", "c", 2, 0.75)]


def read(path, **how):
    names = Names()
    return read_table(path, names, **how), names


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["tsv", "csv", "jsonl", "parquet", "arrow", "tsv.gz"])
def test_formats_say_the_same(tmp_path, form):
    path = tmp_path / f"labels.{form}"
    head = ("ID_A", "id_b", "label", "similarity")
    if form in ("parquet", "arrow"):
        arrow = pytest.importorskip("pyarrow")
        columns = arrow.table({name: [row[i] for row in ROWS] for i, name in enumerate(head)})
        if form == "parquet":
            import pyarrow.parquet

            pyarrow.parquet.write_table(columns, path)
        else:
            with arrow.ipc.new_file(path, columns.schema) as file:
                file.write_table(columns)
    elif form == "jsonl":
        write(path, "".join(json.dumps(dict(zip(head, row, strict=True))) + "\n\n" for row in ROWS))
    else:
        sign = "," if form == "csv" else "\t"
        text = "\n".join(sign.join(map(str, row)) for row in [head, *ROWS]) + "\n"
        path.write_bytes(gzip.compress(text.encode()) if form.endswith("gz") else text.encode())
    table, names = read(path)
    assert isinstance(table, PairTable) and names.ids == ["a", "b", "c", "d"]
    said = {
        (names.ids[a], names.ids[b]): (label, near)
        for a, b, label, near in zip(table.left, table.right, table.label, table.score, strict=True)
    }
    assert said == {("a", "b"): (1, 0.9), ("c", "d"): (0, 0.4), ("b", "c"): (2, 0.75)}


@pytest.mark.parametrize("pair", [("left", "right"), ("id1", "id2"), ("source", "target"), ("a", "b")])
def test_obvious_names_of_columns(tmp_path, pair):
    table, _ = read(write(tmp_path / "p.csv", f"x,{pair[0]},{pair[1]},score\n1,i,j,0.5\n"))
    assert len(table) == 1 and table.score_name == "score"


def test_numbers_are_ids_and_keepers_belong_to_their_cluster(tmp_path):
    table, names = read(write(tmp_path / "k.jsonl", '{"id": 7, "keeper": 3}\n{"id": "9", "keeper": 3}\n'))
    assert isinstance(table, TruthClusters)
    assert {names.ids[id] for id in table.id} == {"3", "7", "9"} and set(table.cluster.tolist()) == {0}


def test_a_list_of_pairs_needs_no_header_unless_it_is_the_truth(tmp_path):
    path = write(tmp_path / "found.tsv", "i\tj\t0.5\nj\ti\t0.75\nk\tk\t1\n")
    table, _ = read(path, strict_pairs=False)
    assert (
        len(table) == 1
        and table.score.tolist() == [0.75]
        and table.itself == 1
        and "no header" in table.notes[0]
    )
    with pytest.raises(nd.DataError, match="line 1: neither pairs"):
        read(path)


def test_words_are_labels(tmp_path):
    text = "left,right,label\na,b,yes\nc,d,No\ne,f,unknown\ng,h,\ni,j,TRUE\n"
    table, _ = read(write(tmp_path / "l.csv", text))
    assert [None if label != label else label for label in table.label] == [1, 0, None, None, 1]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("t.tsv", "id_a\tid_b\tlabel\na\tb\t1\nc\td\tmaybe\n", "line 3: label is 'maybe'"),
        ("t.tsv", "id_a\tid_b\tlabel\na\tb\t1\nc\td\n", "line 3: 2 fields, but there should be 3"),
        ("t.tsv", "id_a\tid_b\tlabel\na\t\t1\n", "line 2: id_b is missing or empty"),
        ("t.csv", "id_a,id_b,label\na,a,1\n", "line 2: 'a' is paired with itself"),
        (
            "t.csv",
            "id_a,id_b,label\na,b,1\nx,y,1\nb,a,0\n",
            "line 4: this pair has another label than it has on line 2",
        ),
        ("t.csv", "id_a,id_b,similarity\na,b,nan\n", "line 2: similarity is 'nan'"),
        ("t.csv", "id_a,id_b,similarity\na,b,high\n", "line 2: similarity is 'high'"),
        ("t.csv", 'id_a,id_b,label\na,"b,1\n', "unexpected end"),
        ("t.csv", "id,cluster\na,1\nb,2\na,2\n", "line 4: 'a' is in another cluster on line 2"),
        ("t.csv", "id_a,id_a,label\na,b,1\n", "line 1: two columns have the same name"),
        ("t.csv", "name,colour\na,b\n", "line 1: neither pairs"),
        ("t.csv", "", "is empty"),
        ("t.jsonl", '{"left": "a", "right": "b", "label": 1}\n{"left": \n', "line 2: bad JSON"),
        ("t.jsonl", '{"left": "a", "right": "b", "label": 1}\n\n[1]\n', "line 3: not a JSON object"),
        ("t.jsonl", '{"left": "a", "right": 1.5, "label": 1}\n', "line 1: right is 1.5"),
        (
            "t.jsonl",
            '{"left": "a", "right": "b", "label": 1}\n{"left": "a", "right": "c", "label": [1]}\n',
            "line 2",
        ),
    ],
)
def test_mistakes_name_their_line(tmp_path, name, text, says):
    path = write(tmp_path / name, text)
    with pytest.raises(nd.DataError) as error:
        read(path)
    assert says in str(error.value) and str(path) in str(error.value)


def test_bad_bytes_and_damage_are_errors(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_bytes(b"id_a\tid_b\tlabel\na\tb\t1\n\xff\tb\t1\n")
    with pytest.raises(nd.DataError, match="line 3: not UTF-8"):
        read(path)
    damaged = tmp_path / "t.tsv.gz"
    damaged.write_bytes(gzip.compress(b"id_a\tid_b\tlabel\n" + b"a\tb\t1\n" * 1000)[:-20])
    with pytest.raises(nd.DataError, match="gzip"):
        read(damaged)
    with pytest.raises(nd.ConfigError, match="a table is csv"):
        read(write(tmp_path / "t.txt", "a b"))
    with pytest.raises(nd.DataError, match="no such file"):
        read(tmp_path / "none.csv")


def test_truth_must_say_something(tmp_path):
    pairs = [("a", "b")]
    zeros = write(tmp_path / "z.csv", "id_a,id_b,label\na,b,0\n")
    with pytest.raises(nd.DataError, match="no pair of label 1"):
        nd.evaluate.score(pairs, zeros)
    near = write(tmp_path / "n.csv", "id_a,id_b,jaccard\na,b,0.9\n")
    with pytest.raises(nd.ConfigError, match="threshold"):
        nd.evaluate.score(pairs, near)
    with pytest.raises(nd.DataError, match=r"no pair of similarity 0\.95"):
        nd.evaluate.score(pairs, near, threshold=0.95)
    bare = write(tmp_path / "b.csv", "id_a,id_b\na,b\n")
    with pytest.raises(nd.DataError, match="neither labels"):
        nd.evaluate.score(pairs, bare)
    with pytest.raises(nd.ConfigError, match="no column 'odd'"):
        nd.evaluate.score(pairs, near, column="odd", threshold=0.5)
    with pytest.raises(nd.DataError, match="tuples"):
        nd.evaluate.score([("a",)], near, threshold=0.5)
    assert nd.evaluate.score(pairs, [("a", "b", 1), ("a", "c", 0)]).right == 1
