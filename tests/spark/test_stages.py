"""Stages on their own: formats, rejects, what is written, going on after a stop, the same output twice."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from support.spark_runs import assert_same, said_by, said_there, write_jsonl

import neardup as nd
from neardup.errors import ConfigError, DataError

pytest.importorskip("pyspark")
ns = pytest.importorskip("neardup.spark")

from neardup.spark.findings import read_origin  # noqa: E402

WORDS = [
    "the",
    "ferry",
    "leaves",
    "the",
    "north",
    "pier",
    "at",
    "eight",
    "and",
    "returns",
    "at",
    "noon",
    "except",
    "on",
    "public",
    "holidays",
    "and",
    "in",
    "fog",
]


def rows_of_ferries(count: int) -> list[dict[str, object]]:
    """Texts of which every fifth is new; ids are missing now and then."""
    rows = []
    for n in range(count):
        topic = [f"{word}{n // 5}x{turn}" for turn in range(6) for word in WORDS]
        topic[n % 5] = f"line{n}" if n % 5 else topic[0]
        rows.append({"id": f"f{n}", "text": " ".join(topic), "n": n})
        if n % 11 == 0:
            del rows[-1]["id"]
    return rows


BAD = [
    b"not json",
    b"",
    b'{"id": 5}',
    b'{"id": 6, "text": 7}',
    b'["a"]',
    b'{"id": "x", "text": "\xff"}',
    b"   ",
    b'{"id": "nan", "text": "fine", "n": NaN}',
]


def spoilt(rows: list[dict[str, object]]) -> bytes:
    lines = [json.dumps(row).encode() for row in rows]
    for n, line in enumerate(BAD):
        lines.insert(3 + 97 * n % len(lines), line)
    return b"\xef\xbb\xbf" + b"\r\n".join(lines)


def test_lines_that_are_no_documents(spark, tmp_path):
    """In pieces of a file as in the whole: the same rejects, rows and made ids."""
    path = tmp_path / "odd [name] + 100%.jsonl"
    path.write_bytes(spoilt(rows_of_ferries(900)))
    found = ns.scan(str(tmp_path / "odd*"), tmp_path / "run", spark=spark, partitions=4, small=0)
    assert len(read_origin(found)["pieces"]) == 4
    rejects = tmp_path / "rejects.jsonl"
    result = nd.dedup(nd.read(str(path).replace("[", "[[]"), rejects=rejects))
    assert_same(found, result)
    assert any(name.startswith("odd [name] + 100%.jsonl:") for name in result.ids)
    here = [json.loads(line) for line in rejects.read_text().splitlines()]
    lines = (tmp_path / "run" / "documents.rejects.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == here
    assert found.manifest["counts"]["rejected"] == dict(Counter(r["reason"] for r in here))
    done = ns.apply(found, str(tmp_path / "out"), spark=spark, allow_mass_removal=True)
    assert done.written == int(result.cut.kept.sum())
    parts = sorted((tmp_path / "out" / path.name).iterdir())
    written = [
        line.strip(b"\r")
        for part in parts
        if part.suffix == ".jsonl"
        for line in part.read_bytes().splitlines()
    ]
    places = [n for line in written if (n := json.loads(line).get("n")) is not None]
    by_id = dict(zip(result.ids, result.cut.kept.tolist(), strict=True))
    rows = json.loads("[" + ",".join(line.decode() for line in written) + "]")
    assert all(by_id[str(row["id"])] for row in rows if isinstance(row.get("id"), str) and row["id"] != "nan")
    assert len(written) == done.written and places == sorted(places)


def test_parquet_and_apply(spark, tmp_path):
    rows = rows_of_ferries(300)
    folder = tmp_path / "in" / "parts"
    folder.mkdir(parents=True)
    table = pa.table(
        {
            "id": [row.get("id") for row in rows],
            "text": [None if n == 7 else row["text"] for n, row in enumerate(rows)],
            "path": [{"deep": [n, n + 1]} for n in range(300)],
        }
    )
    parquet.write_table(table.slice(0, 200), folder / "a.parquet", row_group_size=30)
    parquet.write_table(table.slice(200), tmp_path / "in" / "b.parquet", row_group_size=30)
    source = str(tmp_path / "in")
    found = ns.scan(source, tmp_path / "run", spark=spark, partitions=2)
    result = nd.dedup(nd.read(source))
    assert_same(found, result)
    assert found.manifest["counts"]["rejected"] == {}
    with pytest.raises(DataError, match="very many documents"):
        ns.apply(tmp_path / "run", str(tmp_path / "out"), spark=spark)
    kept, dropped = str(tmp_path / "out"), str(tmp_path / "dropped")
    ns.apply(tmp_path / "run", kept, spark=spark, allow_mass_removal=True)
    ns.apply(tmp_path / "run", dropped, spark=spark, write="dropped", allow_mass_removal=True)
    nd.scan(source, tmp_path / "findings")
    nd.apply(tmp_path / "findings", f"{tmp_path}/local/", allow_mass_removal=True)
    for name in ("parts/a.parquet", "b.parquet"):
        expected = parquet.read_table(tmp_path / "local" / name)
        kept_rows = parquet.read_table(tmp_path / "out" / name, partitioning=None)
        assert kept_rows.to_pylist() == expected.to_pylist()
        dropped_rows = parquet.read_table(tmp_path / "dropped" / name, partitioning=None)
        whole = parquet.read_table(tmp_path / "in" / name)
        assert kept_rows.num_rows + dropped_rows.num_rows == whole.num_rows
    with pytest.raises(ConfigError, match="not empty"):
        ns.apply(tmp_path / "run", kept, spark=spark, allow_mass_removal=True)
    (tmp_path / "in" / "b.parquet").write_bytes(b"")
    with pytest.raises(DataError, match="has changed since it was scanned"):
        ns.apply(tmp_path / "run", str(tmp_path / "other"), spark=spark, allow_mass_removal=True)
    assert not (tmp_path / "other").exists()


def test_outputs_do_not_take_each_others_place():
    from neardup.spark.apply import _check_targets, _target
    from neardup.spark.inputs import File

    def target(name, kind="lines"):
        return _target(File("", name, "", 0, 0), kind)

    assert target("file:/a/b.jsonl") == "a/b.jsonl" and target("b.csv", "files") == "b.csv.jsonl"
    with pytest.raises(DataError, match="is not a valid name"):
        target("a/../../b.jsonl")
    _check_targets(["a.jsonl", "b/a.jsonl", "b/c.jsonl", "ab/a.jsonl"])
    for names in (
        [target("b.csv", "files"), target("b.csv.jsonl")],
        [target("file:/a/b.jsonl"), target("a/b.jsonl")],
        ["a.jsonl", "a.jsonl/b.jsonl"],
    ):
        with pytest.raises(ConfigError, match="two inputs would be written"):
            _check_targets(names)


def warc(pages: list[tuple[str, str]]) -> bytes:
    records = []
    for url, html in pages:
        body = html.encode()
        http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + body
        head = (
            f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
            f"WARC-Record-ID: <urn:uuid:{len(records):08}-0000-0000-0000-000000000000>\r\n"
            f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
        )
        records.append(gzip.compress(head.encode() + http + b"\r\n\r\n"))
    return b"".join(records)


def test_warc_beside_jsonl(spark, tmp_path):
    pages = [
        (f"https://a.org/{n}", f"<html><body><main><p>{row['text']}</p></main></body></html>")
        for n, row in enumerate(rows_of_ferries(20))
    ]
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.warc.gz").write_bytes(warc(pages[:12]))
    (source / "b.warc.gz").write_bytes(warc(pages[8:]) + b"broken")
    write_jsonl(source / "c.jsonl.gz", rows_of_ferries(30))
    (source / "skipped.xyz").write_bytes(bytes(range(256)))
    config = nd.Config(html="whole")
    found = ns.scan(str(source), tmp_path / "run", config, spark=spark, partitions=2)
    result = nd.dedup(nd.read(str(source)), config)
    assert found.ids(np.arange(len(found))) == list(result.ids)
    assert found.cut().kept.tolist() == result.cut.kept.tolist()
    ns.apply(tmp_path / "run", str(tmp_path / "out"), spark=spark, allow_mass_removal=True)
    out = tmp_path / "out"
    written = [json.loads(line)["id"] for line in (out / "a.warc.gz.jsonl").read_text().splitlines()]
    kept = {name for name, keep in zip(result.ids, result.cut.kept, strict=True) if keep}
    assert written and set(written) <= kept
    with gzip.open(out / "c.jsonl.gz", "rt") as file:
        lines = file.readlines()
    with gzip.open(source / "c.jsonl.gz", "rt") as file:
        assert lines and set(lines) < set(file.readlines())


def test_zstd_is_written_as_it_is_read(spark, tmp_path):
    path = tmp_path / "a.jsonl.zst"
    rows = rows_of_ferries(20)
    with pa.CompressedOutputStream(str(path), "zstd") as file:
        file.write("".join(json.dumps(row) + "\n" for row in rows).encode())
    if spark.version.startswith("4.0."):  # it cannot read them, and says so
        with pytest.raises(nd.DataError, match=r"Spark: .*built without zstd support"):
            ns.scan(str(path), tmp_path / "run", spark=spark)
        return
    found = ns.scan(str(path), tmp_path / "run", spark=spark)
    done = ns.apply(found, str(tmp_path / "out"), spark=spark, allow_mass_removal=True)
    kept = nd.dedup(nd.read(path)).cut.kept.tolist()
    with pa.input_stream(str(tmp_path / "out" / path.name), compression="zstd") as file:
        written = [json.loads(line) for line in file.read().splitlines()]
    assert written == [row for row, keep in zip(rows, kept, strict=True) if keep]
    assert done.written == len(written) > 2


def test_files_that_workers_can_open_are_not_brought_by_spark(spark, tmp_path):
    """So that a WARC file of any size is streamed; from elsewhere it comes whole."""
    from neardup.spark.inputs import Files

    (tmp_path / "a b.warc.gz").write_bytes(warc([("https://a.org/", "<p>the only page of this file</p>")]))
    source = Files.find(spark, [str(tmp_path)], nd.Config())
    assert source.rows(source.recipes[0], spark).select("content").collect() == [(None,)]
    found = ns.scan(str(tmp_path / "*.gz"), tmp_path / "run", spark=spark)
    assert found.manifest["counts"]["documents"] == 1


def stage_rows(spark, run) -> dict[str, list[str]]:
    """All that every stage has written, in an order of its own."""
    names = sorted(path.name[:-5] for path in run.glob("*.json") if path.name != "run.json")
    return {
        name: sorted(map(str, spark.read.parquet(str(run / name)).toArrow().to_pylist())) for name in names
    }


def test_a_run_continues_and_gives_the_same(spark, tmp_path):
    rows = rows_of_ferries(200) + [
        {"id": f"s{n}", "text": f"a short one of number {n // 2}"} for n in range(40)
    ]
    path = write_jsonl(tmp_path / "a.jsonl", rows)[0]
    runs = [tmp_path / "one", tmp_path / "two"]
    # Some buckets are beyond the cap: their pairs are made in a stage after the others'.
    config = nd.Config(fingerprint=nd.MinHash(125), search=nd.LSH(25, 5, cap=3))
    done = [ns.file_stages(path, str(run), config, spark=spark, partitions=2, small=0) for run in runs]
    said = [said_there(stages) for stages in done]
    assert said[0] == said[1]
    (tmp_path / "found").mkdir()
    before_that = done[0].findings(tmp_path / "found", {"text": None, "id": None})
    assert said_by(before_that) == said[0] and before_that.manifest["counts"]["capped"] > 0
    one, two = (stage_rows(spark, run) for run in runs)
    stages = ("read", "fingerprints", "exact", "equal-prints", "key-pairs", "candidates", "short", "verified")
    assert set(stages) <= one.keys()
    assert {name for name in one if one[name] != two[name]} == set()
    # As if it had been killed while candidates were written.
    run = runs[0]
    for name in ("candidates", "verified", "clusters", "decisions"):
        (run / f"{name}.json").unlink()
    for part in (run / "candidates").glob("*.parquet"):
        part.write_bytes(b"half")
    before = (run / "read.json").stat().st_mtime_ns
    # On a cluster of another size, so in other partitions.
    resumed = ns.file_stages(path, str(run), config, spark=spark, partitions=3, small=0)
    assert said_there(resumed) == said[0]
    (tmp_path / "again").mkdir()
    again_found = resumed.findings(tmp_path / "again", {"text": None, "id": None})
    assert again_found.manifest["counts"] == before_that.manifest["counts"]
    for name in ("documents.nd", "pairs.nd", "texts.nd"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "found" / name).read_bytes()
    assert (run / "read.json").stat().st_mtime_ns == before
    now = stage_rows(spark, run)
    for made in (now, two):  # in addition to pairs, how many each task has compared
        made["verified"] = [row for row in made["verified"] if "'left': None" not in row]
    assert {name for name in two if now[name] != two[name]} == set()
    with pytest.raises(ConfigError, match="run of other config"):
        ns.file_stages(path, str(run), nd.Config.of(threshold=0.5), spark=spark)
    write_jsonl(tmp_path / "a.jsonl", rows[:-1])
    with pytest.raises(ConfigError, match="run of other inputs"):
        ns.file_stages(path, str(run), config, spark=spark)
    again = ns.file_stages(path, str(run), nd.Config.of("exact"), spark=spark, overwrite=True)
    assert again.decisions().count() == len(rows) - 1
    with pytest.raises(ConfigError, match="holds other files"):
        ns.scan(path, tmp_path, spark=spark)
    with pytest.raises(DataError, match="no such file"):
        ns.scan(str(tmp_path / "nix.jsonl"), tmp_path / "three", spark=spark)
    assert not (tmp_path / "three").exists()
