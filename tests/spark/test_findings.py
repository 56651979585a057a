"""A run on Spark ends in an ordinary findings folder: what works on a local scan's works on it, and says the same."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from support.spark_runs import write_jsonl

import neardup as nd
from neardup.errors import DataError, UnreadableInput
from neardup.findings import explain_pair, list_clusters, summarize

pytest.importorskip("pyspark")
ns = pytest.importorskip("neardup.spark")

FERRY = "The ferry leaves the north pier at eight and returns at noon, except on public holidays and in fog"


def rows(count: int) -> list[dict[str, object]]:
    """Copies, edited copies that differ in figures, and others; one in seven has no id."""
    made = []
    for n in range(count):
        topic = " ".join(f"{word}{chr(97 + n // 12)}" for word in FERRY.split())
        text = f"{FERRY}, of {topic}, {'every day ' * (n % 3)}in the year {2000 + n % 4}."
        made.append({"id": f"d{n}", "text": text if n % 5 else text.upper(), "score": n % 3})
        if n % 7 == 0:
            del made[-1]["id"]
    return made


@pytest.mark.parametrize("small", [0, 1 << 20])  # found on the cluster, and by the driver
def test_findings_of_spark_are_those_of_a_local_scan(spark, tmp_path, small):
    folder = tmp_path / "pages"
    folder.mkdir()
    paths = write_jsonl(folder / "a.jsonl", rows(60), files=2)
    with open(paths[0], "ab") as file:
        file.write(b'no json\n{"id": "last", "text": "' + FERRY.encode() + b'"}\n')
    config = nd.Config.of(
        threshold=0.6,
        features=nd.Shingles(2, normalize=nd.Normalize(digits="fold")),
        keep=nd.Keep(by="score", score="score"),
    )
    here = nd.scan(folder, tmp_path / "here", config)
    there = ns.scan(str(folder), tmp_path / "there", config, spark=spark, partitions=2, small=small)
    names = sorted(path.name for path in (tmp_path / "here").iterdir())
    assert sorted(path.name for path in there.path.iterdir()) == sorted([*names, "spark.json"]), (
        "no work is left"
    )
    for name in ("documents.nd", "pairs.nd", "texts.nd", "documents.rejects.jsonl"):
        assert (there.path / name).read_bytes() == (here.path / name).read_bytes(), name
    assert here.manifest["counts"]["figures"] > 0 and here.manifest["counts"]["rejected"] == {"bad JSON": 1}
    assert there.manifest["account"] == here.manifest["account"]
    skipped = ("created", "seconds", "inputs", "memory")
    local, ours = ({k: v for k, v in f.manifest.items() if k not in skipped} for f in (here, there))
    local["counts"]["shards"] = 0  # texts and fingerprints are not kept for other scans
    assert ours == local
    assert summarize(there) == replace(summarize(here), seconds=summarize(there).seconds)
    listed = list_clusters(here, here.cut())
    assert len(listed) > 3 and list_clusters(there, there.cut()) == listed
    ids = here.ids(here.pairs.left[:3]), here.ids(here.pairs.right[:3])
    for left, right in zip(*ids, strict=True):
        assert explain_pair(there, left, right) == explain_pair(here, left, right)
    for write in ("kept", "annotated"):
        for found in (here, there):
            nd.apply(found, found.path.with_suffix(f".{write}.jsonl"), write=write, allow_mass_removal=True)
        kept = [found.path.with_suffix(f".{write}.jsonl").read_bytes() for found in (here, there)]
        assert kept[0] == kept[1] and kept[0].count(b"\n") > 3
    done = ns.apply(there, str(tmp_path / "out"), spark=spark, allow_mass_removal=True)
    parts = [path for path in sorted((tmp_path / "out").rglob("*.jsonl")) if path.is_file()]
    lines = [json.loads(line) for part in parts for line in part.read_text().splitlines()]
    assert [line["text"] for line in lines] == [
        json.loads(line)["text"] for line in (tmp_path / "here.kept.jsonl").read_text().splitlines()
    ]
    assert (done.written, done.documents) == (len(lines), len(here))


def test_a_changed_input_is_noticed_by_both(spark, tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", rows(24))[0]
    found = ns.scan(path, tmp_path / "found", nd.Config.of("exact"), spark=spark, partitions=1)
    with open(path, "ab") as file:
        file.write(b"{}\n")
    with pytest.raises(DataError, match="has changed since it was scanned"):
        nd.apply(found, tmp_path / "kept.jsonl", allow_mass_removal=True)
    with pytest.raises(DataError, match="has changed since it was scanned"):
        ns.apply(found, str(tmp_path / "kept"), spark=spark, allow_mass_removal=True)


@pytest.mark.parametrize("policy", ["newest", "oldest", "highest", "lowest"])
def test_fields_decide_as_in_a_local_scan(spark, tmp_path, policy):
    """By the findings, by the decisions on a DataFrame, and by those that the cluster makes itself."""
    days = ["2024-03-01", None, "20240401", "2023-12-31T23:59:59+01:00"]
    given = [{"id": f"d{n}", "text": FERRY + " again" * n, "date": day} for n, day in enumerate(days)]
    path = write_jsonl(tmp_path / "a.jsonl", given)[0]
    keep = nd.Keep(by=policy, score="date")
    config = nd.Config.of(threshold=0.6, keep=keep)
    here = nd.scan(path, tmp_path / "here", config)
    there = ns.scan(path, tmp_path / "there", config, spark=spark, partitions=1)
    kept = here.ids(here.cut().kept.nonzero()[0])
    assert kept == [{"newest": "d2", "oldest": "d3", "highest": "d0", "lowest": "d2"}[policy]]
    assert there.ids(there.cut().kept.nonzero()[0]) == kept
    rows = [(row["id"], row["text"], row["date"]) for row in given]
    frame = spark.createDataFrame(rows, "id string, text string, date string")
    assert [row["id"] for row in ns.dedup(frame, config, id="id").collect()] == kept
    # The same words in all, so that few stages are needed to rank them on the cluster.
    same = write_jsonl(tmp_path / "same.jsonl", [{**row, "text": FERRY} for row in given])[0]
    exact = nd.Config.of("exact", keep=keep)
    stages = ns.file_stages(same, str(tmp_path / "run"), exact, spark=spark, partitions=1, small=0)
    assert [row["id"] for row in stages.decisions().where("kept").collect()] == kept
    none = nd.Config.of(threshold=0.6, keep=nd.Keep(by=policy, score="id"))
    with pytest.raises(DataError, match="no document has a number or an ISO date in its field 'id'"):
        ns.scan(path, tmp_path / "none", none, spark=spark, partitions=1)
    if policy == "newest":
        with pytest.raises(DataError, match="no document has a number or an ISO date in its field 'id'"):
            ns.scan(path, tmp_path / "none", none, spark=spark, partitions=1, small=0)


def messy(folder):
    """A folder as people have it: eight files, of which Spark reads four."""
    (folder / "_private").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("[core]")
    (folder / ".hidden.jsonl").write_text('{"text": "hidden"}\n')
    (folder / "_SUCCESS").touch()
    (folder / "_private" / "b.jsonl").write_text(json.dumps({"id": "b", "text": FERRY}))
    (folder / "a.jsonl").write_text(
        '{"id": "a", "text": null}\n{"id": "n", "text": 5}\nno json\n' + '{"text": "x y"}\n' * 17
    )
    (folder / "notes").write_text("a text without an ending")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (folder / "t.csv").write_bytes("id;text\n1;café au lait\n".encode("latin-1"))


def test_the_account_of_a_messy_folder_is_the_local_one(spark, tmp_path):
    folder = tmp_path / "in"
    messy(folder)
    here = nd.scan(folder, tmp_path / "here")
    there = ns.scan(str(folder), tmp_path / "there", spark=spark, partitions=1)
    account = there.manifest["account"]
    assert account["files"]["found"] == 8 and account["files"]["read"] == 4
    assert account["files"]["skipped"] == {
        "binary": 1, "empty marker": 1, "hidden": 1, "version control": 1
    }  # fmt: skip
    assert account["rows"] == {
        "read": 23, "documents": 22, "rejected": {"bad JSON": 1}, "passed_over": {}
    }  # fmt: skip
    for part in ("files", "rows", "documents", "reasons", "notes"):
        assert account[part] == here.manifest["account"][part], part
    (folder / "_named.jsonl").write_text('{"text": "more"}\n')
    with pytest.raises(nd.ConfigError, match="Spark reads no file whose name begins with _"):
        ns.scan(str(folder / "_named.jsonl"), tmp_path / "no", spark=spark)
    again = ns.scan(str(folder), tmp_path / "again", spark=spark, partitions=1)
    assert again.manifest["account"]["files"]["skipped"]["name that Spark does not read"] == 1


def test_too_little_that_can_be_read_is_an_error_and_can_be_allowed(spark, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "fine"}\n' + "no json\n" * 4)
    with pytest.raises(UnreadableInput, match=r"4 of 5 rows could not be read") as raised:
        ns.scan(str(path), tmp_path / "found", spark=spark, partitions=1)
    listed = tmp_path / "found.rejects.jsonl"
    assert str(listed) in str(raised.value) and len(listed.read_text().splitlines()) == 4
    found = ns.scan(str(path), tmp_path / "found", spark=spark, partitions=1, allow_rejects=1)
    assert len(found) == 1 and found.manifest["counts"]["rejected"] == {"bad JSON": 4}
    with pytest.raises(UnreadableInput):
        ns.scan(str(path), tmp_path / "strict", spark=spark, partitions=1, allow_rejects=1, strict=True)
