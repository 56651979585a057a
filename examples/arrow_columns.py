"""Arrow columns: string buffers are read where they are, and fingerprints go back as columns."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa

import neardup as nd
from neardup import sample


def main() -> None:
    with gzip.open(sample.path(), "rt", encoding="utf-8") as file:
        table = pa.Table.from_pylist([json.loads(line) for line in file])
    texts = table["text"]  # a ChunkedArray; nulls are empty documents
    codes = nd.fingerprint(texts, nd.Shingles(5), nd.BitMinHash(64), threads=2)
    digests = nd.fingerprints.digest(texts, normalized=nd.Normalize())

    table = table.append_column("code", pa.array(codes.codes[:, 0], mask=codes.empty))
    packed = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(16), len(digests), [None, pa.py_buffer(digests.digests.tobytes())]
    )
    table = table.append_column("digest", packed)
    # The scheme travels with the numbers: without it nobody knows what they may be compared with.
    table = table.replace_schema_metadata(
        {"neardup.code": codes.scheme, "neardup.fingerprints.digest": digests.scheme}
    )
    print(table.select(["id", "code", "digest"]).schema.to_string(show_schema_metadata=False))
    groups = table.group_by("digest").aggregate([("id", "count")])
    print(f"{len(table)} pages, {len(groups)} different by their words")


if __name__ == "__main__":
    main()
