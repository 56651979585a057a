"""Spark on a real object store: inputs, stages and outputs are there, and no output is copied to rename it."""

from __future__ import annotations

import gzip
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from benchmarks.spark.same import said_by
from pyarrow import parquet
from support.object_store import KEY, SECRET, Store, cut_at, need_s3a, stored_objects
from support.spark_runs import write_jsonl

import neardup as nd
from neardup.errors import ConfigError, DataError
from neardup.storage.checked_json import read_checked, write_checked

pytest.importorskip("pyspark")
ns = pytest.importorskip("neardup.spark")
file_system = pytest.importorskip("neardup.spark.storage").file_system
Bucket = pytest.importorskip("neardup.spark.uploads").Bucket
pytestmark = pytest.mark.slow

WORDS = (
    "ferry",
    "pier",
    "noon",
    "holiday",
    "fog",
    "morning",
    "boat",
    "captain",
    "ticket",
    "harbour",
    "island",
)


def rows(count: int, name: str) -> list[dict[str, object]]:
    """Documents of different words; every third is there in capitals, too, and with one more word."""
    made = []
    for n in range(count):
        text = " ".join(f"{word}{i}{name}{n}" for i, word in enumerate(WORDS * 4))
        copies = [text, text.upper(), f"also {text}"] if n % 3 == 0 else [text]
        made += [{"id": f"{name}{n}-{i}", "text": copy} for i, copy in enumerate(copies)]
    return made


def make_inputs(folder: Path, files: int) -> None:
    """JSONL, some of it compressed or cut in pieces, a table, and a format that cannot be written."""
    (folder / "more").mkdir(parents=True)
    for number in range(files):
        write_jsonl(folder / "more" / f"{number}.jsonl", rows(12, f"f{number}"))
    write_jsonl(folder / "large é.jsonl", rows(400, "large"))
    write_jsonl(folder / "packed.jsonl.gz", rows(20, "packed"))
    table = rows(30, "table")
    parquet.write_table(pa.Table.from_pylist([{**row, "n": [1, 2]} for row in table]), folder / "t.parquet")
    lines = "".join(f"{row['id']},{row['text']}\n" for row in rows(10, "csv"))
    (folder / "c.csv").write_text(f"id,text\n{lines}")


@pytest.fixture(scope="module")
def store(spark, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    need_s3a()
    with stored_objects(tmp_path_factory.mktemp("store")) as running, known(spark, running.settings()):
        yield running


@contextmanager
def known(spark, settings: dict[str, str]) -> Iterator[None]:
    configuration = spark._jsc.hadoopConfiguration()
    before = {name: configuration.get(name) for name in settings}
    for name, value in settings.items():
        configuration.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            configuration.unset(name) if value is None else configuration.set(name, value)


def contents(names: list[str], read) -> dict[str, object]:
    """What outputs hold: bytes, or rows of tables."""
    found: dict[str, object] = {}
    for name in names:
        data = read(name)
        if name.endswith(".parquet"):
            found[name] = parquet.read_table(pa.BufferReader(data)).to_pylist()
        else:
            found[name] = gzip.decompress(data) if name.endswith(".gz") else data
    return found


def local_contents(folder: Path) -> dict[str, object]:
    names = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
    names = [name for name in names if not name.rpartition("/")[2].startswith(".")]  # checksums of Hadoop
    return contents(names, lambda name: (folder / name).read_bytes())


def run(spark, store: Store, folder: Path, files: int) -> tuple[nd.Findings, Counter[str], Counter[str]]:
    """A scan and its output on the store, and the requests that each of them made."""
    make_inputs(folder / "in", files)
    name = folder.name
    store.copy(folder / "in", f"{name}/in")
    place = f"s3a://{store.bucket}/{name}"
    before = store.requests()
    found = ns.scan(f"{place}/in", folder / "there", spark=spark, work=f"{place}/work", partitions=2)
    between = store.requests()
    ns.apply(found, f"{place}/out", spark=spark, allow_mass_removal=True)
    return found, between - before, store.requests() - between


def test_outputs_are_those_of_a_local_run_and_nothing_is_copied(spark, store, tmp_path):
    found, scanned, applied = run(spark, store, tmp_path, 3)
    here = ns.scan(str(tmp_path / "in"), tmp_path / "here", spark=spark, partitions=2)
    assert said_by(found) == said_by(here) == said_by(nd.scan(tmp_path / "in", tmp_path / "local"))
    ns.apply(here, str(tmp_path / "out"), spark=spark, allow_mass_removal=True)
    name = tmp_path.name
    names = store.names(f"{name}/out")
    there = contents(names, lambda one: store.read(f"{name}/out/{one}"))
    assert there == local_contents(tmp_path / "out")
    assert {"_SUCCESS", "more/0.jsonl", "packed.jsonl.gz", "t.parquet", "c.csv.jsonl"} <= there.keys()
    assert sum(name.startswith("large é.jsonl/part-") for name in there) > 1, "it was read in pieces"
    assert store.names(f"{name}/work") == []
    assert applied["COPY"] == 0 and applied["PUT"] >= len(there)
    with pytest.raises(ConfigError, match="is not empty"):
        ns.apply(found, f"s3a://{store.bucket}/{name}/out", spark=spark, allow_mass_removal=True)
    # More files are not more copies. Those of the scan are the parts of its stage: one for each task.
    (tmp_path / "more").mkdir()
    _, scanned_more, applied_more = run(spark, store, tmp_path / "more", 12)
    assert applied_more["COPY"] == 0 and applied_more["PUT"] - applied["PUT"] >= 9
    assert scanned_more["COPY"] <= scanned["COPY"] <= 4


def test_a_failed_output_leaves_nothing(spark, store, tmp_path):
    make_inputs(tmp_path / "in", 2)
    name, place = tmp_path.name, f"s3a://{store.bucket}/{tmp_path.name}"
    store.copy(tmp_path / "in", f"{name}/in")
    found = ns.scan(f"{place}/in", tmp_path / "there", spark=spark, partitions=2)
    # An input has changed, and nothing but its content shows it: a task notices that, after others have written.
    data = store.read(f"{name}/in/more/1.jsonl")
    store.write(f"{name}/in/more/1.jsonl", data.replace(b"ferry", b"FERRY", 1))
    origin, _ = read_checked(found.path / "spark.json", "")
    for entry in origin["identity"]["inputs"]:
        system, path = file_system(spark, entry[0])
        entry[4] = system.getFileStatus(path).getModificationTime()
    write_checked(found.path / "spark.json", origin)
    with pytest.raises(DataError, match="the inputs have changed"):
        ns.apply(found, f"{place}/out", spark=spark, allow_mass_removal=True)
    assert store.names(f"{name}/out") == []


def test_a_bucket_is_known_by_the_settings_of_hadoop(spark, store, tmp_path):
    place = f"s3a://{store.bucket}/kept"
    bucket = Bucket.of(spark, place)
    assert bucket is not None and bucket.root == f"{store.bucket}/kept" and bucket.refused() == ""
    assert SECRET not in repr(bucket)
    assert Bucket.of(spark, str(tmp_path)) is None
    for name in ("encryption.algorithm", "proxy.host", "assumed.role.arn"):
        with known(spark, {f"fs.s3a.bucket.{store.bucket}.{name}": "x"}):
            assert Bucket.of(spark, place) is None, "only Hadoop knows how to write there"
    with known(spark, {f"fs.s3a.bucket.{store.bucket}.secret.key": "wrong"}):
        wrong = Bucket.of(spark, place)
        assert wrong is not None and "SIGNATURE_DOES_NOT_MATCH" in wrong.refused()


def test_half_an_upload_never_appears(store):
    """The connection is cut whenever the second part of an object is sent."""
    data = pa.py_buffer(random.Random(1).randbytes(35 << 20))
    with cut_at(store.endpoint, b"partNumber=2&") as endpoint:
        options = {"access_key": KEY, "secret_key": SECRET, "endpoint_override": endpoint, "scheme": "http"}
        broken = Bucket(f"{store.bucket}/cut", {**options, "region": "us-east-1"})
        with pytest.raises(DataError, match="cut/large: could not be written"):
            broken.upload("large", data)
        broken.upload("small", data[:1000])
    assert store.names("cut") == ["small"]
    replace(broken, options={**broken.options, "endpoint_override": store.endpoint}).upload("large", data)
    assert store.read("cut/large") == data.to_pybytes()


def test_spark_writes_where_python_has_no_credentials(spark, store, tmp_path, monkeypatch):
    """Java may have credentials that Python does not have: then files are renamed, and a warning says so."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "in"
    folder.mkdir()
    write_jsonl(folder / "a.jsonl", rows(12, "a"))
    write_jsonl(folder / "b.jsonl", rows(12, "b"))
    store.copy(folder, f"{tmp_path.name}/in")
    place = f"s3a://{store.bucket}/{tmp_path.name}"
    found = ns.scan(f"{place}/in", tmp_path / "there", spark=spark, partitions=2)
    java = spark._jvm.java.lang.System
    prefix = f"fs.s3a.bucket.{store.bucket}"
    java.setProperty("aws.accessKeyId", KEY)
    java.setProperty("aws.secretKey", SECRET)
    provider = "com.amazonaws.auth.SystemPropertiesCredentialsProvider"
    secretless = {
        f"{prefix}.access.key": "",
        f"{prefix}.secret.key": "",
        f"{prefix}.aws.credentials.provider": provider,
    }
    file_system(spark, place)[0].close()  # Hadoop keeps it, with the keys of the store
    before = store.requests()
    with known(spark, secretless), pytest.warns(UserWarning, match="a renamed object is copied"):
        ns.apply(found, f"{place}/out", spark=spark, allow_mass_removal=True)
    assert (store.requests() - before)["COPY"] > 2
    local = ns.scan(str(folder), tmp_path / "here", spark=spark, partitions=2)
    ns.apply(local, str(tmp_path / "out"), spark=spark, allow_mass_removal=True)
    names = store.names(f"{tmp_path.name}/out")
    assert contents(names, lambda one: store.read(f"{tmp_path.name}/out/{one}")) == local_contents(
        tmp_path / "out"
    )
