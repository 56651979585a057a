"""Damaged files of every format, malformed Arrow columns in memory: an error of ours, never the end of the process."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from support.budgets import budget
from support.mutated_files import FORMATS, run_mutations

import neardup as nd


@pytest.mark.parametrize("format", FORMATS)
def test_damaged_files_are_rejected_and_kill_nobody(format):
    assert run_mutations(format, 0, budget(60, 3000)) == []


def test_a_column_that_pyarrow_must_not_be_asked_for():
    """A case that a soak found."""
    assert run_mutations("parquet", 1_002_993, 1) == []


def text_array(offsets, data=b"one two three", kind=None):
    """A column whose offsets are damaged after it was made: making it checks them a little."""
    kind = kind or pa.string()
    width = np.int64 if kind == pa.large_string() else np.int32
    ends = np.linspace(0, len(data), len(offsets)).astype(width)
    array = pa.Array.from_buffers(kind, len(offsets) - 1, [None, pa.py_buffer(ends), pa.py_buffer(data)])
    ends[:] = offsets
    return array


def text_views():
    views = np.array([3, 0, 0, 0] * 2, np.int32)
    array = pa.Array.from_buffers(
        pa.string_view(), 2, [None, pa.py_buffer(views), pa.py_buffer(b"some longer text")]
    )
    views[:] = [500, 0, 0, 7_000_000] * 2
    return array


def of_pandas(column) -> pd.Series:
    """A column of pandas that keeps its values in Arrow."""
    return pd.Series(pd.arrays.ArrowExtensionArray(column))


MALFORMED = {
    "offsets beyond the data": lambda: text_array([0, 3, 4_000_000, 8]),
    "the last offset beyond the data": lambda: text_array([0, 3, 8, 4_000_000]),
    "descending offsets": lambda: text_array([0, 8, 3, 13]),
    "negative offsets": lambda: text_array([-7, 3, 8, 13]),
    "large strings": lambda: text_array([0, 3, 1 << 60, 8], kind=pa.large_string()),
    "binary": lambda: text_array([0, 3, 4_000_000, 8], kind=pa.binary()),
    "a dictionary": lambda: pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 5_000_000]), pa.array(["one", "two"]), safe=False
    ),
    "views": text_views,
    "chunks": lambda: pa.chunked_array([pa.array(["fine"]), text_array([0, 3, 4_000_000, 8])]),
}
try:
    text_views()
except ValueError:  # pyarrow 16 cannot make a view from buffers, so neither can this test
    del MALFORMED["views"]

CALLS = {
    "dedup": lambda column: nd.dedup(column),
    "dedup by a field": lambda column: nd.dedup(column, keep=nd.Keep(by="score", score="n")),
    "fingerprint": lambda column: nd.fingerprint(column),
    "digest": lambda column: nd.fingerprints.digest(column),
    "digest by sha256": lambda column: nd.fingerprints.digest(column, algorithm="sha256"),
    "features": lambda column: nd.features.Shingles().extract(column),
    "dedup of pandas": lambda column: nd.dedup(of_pandas(column)),
    "dedup of a table of pandas": lambda column: nd.dedup(pd.DataFrame({"text": of_pandas(column)})),
    "fingerprint of pandas": lambda column: nd.fingerprint(of_pandas(column)),
    "read": lambda column: list(nd.read(pa.table({"text": column})).documents()),
}

CHILD = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
import pyarrow as pa
import neardup as nd
from readers.test_mutated import CALLS, MALFORMED
for name, make in MALFORMED.items():
    for call, run in CALLS.items():
        print(f"{name}: {call}", flush=True)
        try:
            run(make())
        except nd.errors.NeardupError as error:
            print("    refused", "malformed" in str(error), flush=True)
        except pa.ArrowInvalid:  # pyarrow does not make a table of it
            print("    refused", call == "read", flush=True)
"""


def test_malformed_columns_in_memory_are_refused():
    done = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(sys.path)], capture_output=True, text=True, timeout=300
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (lines[-1:], done.stderr[-600:])
    assert len(lines) == 2 * len(MALFORMED) * len(CALLS)
    assert set(lines[1::2]) == {"    refused True"}, lines


def test_sound_columns_pass_as_before():
    texts = ["one two three", None, "é", "", "日本"]
    kinds = (pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string()))
    columns = [pa.array(texts).cast(kind) for kind in kinds]
    columns.append(pa.array(["before", *texts, "behind"]).slice(1, len(texts)))
    columns += [of_pandas(column) for column in columns]
    expected = nd.fingerprint(texts).values
    for column in columns:
        assert np.array_equal(nd.fingerprint(column).values, expected)


def test_a_row_that_is_not_utf8_is_rejected_alone(tmp_path):
    table = pa.table(
        {
            "text": text_array([0, 3, 5, 9], b"one\xff\xfethre"),
            "words": pa.ListArray.from_arrays([0, 1, 2, 3], text_array([0, 3, 5, 9], b"one\xff\xfethre")),
        }
    )
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as writer:
        writer.write_table(table)
    reader = nd.read(tmp_path / "a.arrow")
    assert [document.text for document in reader.documents()] == ["one", "thre"]
    assert dict(reader.rejects.counts) == {"invalid encoding": 1}
