"""Records in bytes: packed in batches as one by one, and whatever else is there is refused."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.index.redis.records import FOLLOWER, GONE, KEEPER, PENDING, VOID, Record, pack_records


@given(
    st.lists(
        st.builds(
            Record,
            st.sampled_from([PENDING, KEEPER, FOLLOWER, VOID, GONE]),
            st.integers(0, 3) | st.integers(0, 2**48 - 1),
            st.integers(0, 3) | st.integers(0, 2**48 - 1),
            st.none() | st.integers(0, 2**48 - 1),
            st.none() | st.integers(0, 2**16 - 1),
            st.none() | st.floats(allow_nan=False),
            st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
            st.none() | st.binary(min_size=8, max_size=8),
            st.none() | st.text(max_size=10),
            st.booleans(),
        ),
        max_size=12,
    )
)
def test_records_of_a_batch_are_packed_as_each_of_them(records: list[Record]) -> None:
    packed = pack_records(records)
    assert packed == [record.to_bytes() for record in records]
    assert [Record.from_bytes(data, 8, "x") for data in packed] == records


@given(st.binary(max_size=60), st.integers(0, 63))
def test_any_bytes_are_a_record_or_refused(data: bytes, flags: int) -> None:
    for given_ in (data, b"K" + data[1:7] + bytes([flags]) + data[8:]):
        try:
            record = Record.from_bytes(given_, 8, "x")
        except nd.errors.FormatError:
            continue
        assert record.fingerprint is None or len(record.fingerprint) == 8
        assert Record.from_bytes(record.to_bytes(), 8, "x").id == record.id
