import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from neardup import _core
from neardup.cli.plan import plan as command
from neardup.errors import ConfigError
from neardup.search.hamming.designs import compact, covering, manku
from neardup.search.planner import Plan, measure, plan, planner
from neardup.search.planner.cost import (
    batch_cost,
    flip_sets_needed,
    native_header_bits,
    psm_cost,
    row_map_bytes,
    tables_cost,
)
from neardup.search.planner.machine import REFERENCE, Machine
from neardup.values.sizes import parse_size


def make(documents: float, **settings: object) -> Plan:
    return plan(documents, machine=REFERENCE, **settings)  # type: ignore[arg-type]


def test_sizes() -> None:
    assert parse_size("64GB") == 64 * 10**9
    assert parse_size("512 MiB") == 512 * 2**20
    assert parse_size("1.5tb") == 1.5e12
    assert parse_size(8e9) == 8 * 10**9
    assert parse_size("4096") == 4096
    assert parse_size("1.5e9") == parse_size(1.5e9) == parse_size("1500 m") == 1_500_000_000
    assert parse_size("64g") == 64 * 10**9 and parse_size("2GiB") == parse_size(2**31) == 2**31
    for wrong in ("", "64 apples", "-3GB", "0", "GB", "1e", "1e999", 0, -5, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match="64GB"):
            parse_size(wrong)


def test_the_papers_k() -> None:
    assert [flip_sets_needed(t, 3, 0.95) for t in (16, 26)] == [7, 23]
    assert flip_sets_needed(24, 3, 0.99) == 72
    assert flip_sets_needed(24, 3, 1.0) == 24 + 276 + 2024
    assert flip_sets_needed(24, 0, 0.5) == 0
    for radius in range(1, 10):
        for t in (8, 16, 20, 24, 28, 32):
            counts = [flip_sets_needed(t, radius, recall) for recall in (0.8, 0.9, 0.95, 0.99, 0.999)]
            assert counts == sorted(counts)
            assert counts[0] >= 1


def test_bytes_follow_the_structure() -> None:
    # 2 bytes a bucket, the 40 bits the header does not imply, and for flips a presence word a bucket.
    n, t = 2.0**24, 24
    fast = tables_cost(REFERENCE, covering(64, 3, 8), n, t, kind="covering")
    assert fast.bytes == 8 * n * (5 + 2)
    small = tables_cost(REFERENCE, compact(64, 3), n, t, kind="compact")
    assert small.bytes == 2 * n * (5 + 2 + 8)
    psm = psm_cost(REFERENCE, 64, n, t, 18)
    assert psm.bytes == n * 7
    assert row_map_bytes(1e9) == 4e9
    assert row_map_bytes(8e9) == 64e9


@pytest.mark.parametrize("codes", [1, 20, 1000, 60_000, 100_000])
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_headers_and_bytes_are_those_of_the_core(codes: int, bits: int) -> None:
    words = np.random.default_rng(codes).integers(0, 2**32, (codes, max(1, bits // 64)), dtype=np.uint64)
    for design in (covering(bits, 3, 6), compact(bits, 3, 2), compact(bits, 3, 3)):
        masks = [[t.mask >> 64 * w & 2**64 - 1 for w in range(words.shape[1])] for t in design.tables]
        flips = np.array([t.flips for t in design.tables], dtype=np.uint8)
        tables = _core.HammingTables(words, bits, 3, np.array(masks, dtype=np.uint64), flips)
        expected = [
            min(native_header_bits(bits, codes, flips=t.flips > 0), t.key_bits) for t in design.tables
        ]
        assert list(tables.header_bits) == expected
        if codes > 1000:
            guess = tables_cost(REFERENCE, design, codes, kind="covering").bytes
            assert guess == pytest.approx(tables.bytes, rel=0.05)


def test_longer_buckets_and_more_tables_cost_more() -> None:
    few = tables_cost(REFERENCE, manku(4), 6e7, 24, kind="bphs")
    ten = tables_cost(REFERENCE, manku(10), 6e7, 24, kind="bphs")
    assert few.all > ten.all
    assert few.bytes < ten.bytes
    assert few.build < ten.build
    assert few.first < few.all
    small = [tables_cost(REFERENCE, manku(4), n, 16, kind="bphs").all for n in (1e5, 1e6, 1e7, 1e8)]
    assert small == sorted(small)
    # Fixed tables: time grows with n itself once buckets are long (the papers' point about BPHS).
    assert small[3] / small[2] > 5


def test_a_batch_costs_the_larger_of_reading_and_computing() -> None:
    slow_disk = batch_cost(REFERENCE, 64, 1e9, 1e6, 1e-9, 0.5)
    assert slow_disk.all == pytest.approx(8 / 1e6)
    slow_core = batch_cost(REFERENCE, 64, 1e9, 1e6, 1e-7, 0.5, leaving=0.5)
    assert slow_core.all == pytest.approx(100.5 / 1e6)
    assert slow_core.first == pytest.approx(75.5 / 1e6)


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("radius", [0, 1, 3, 5, 8])
@pytest.mark.parametrize("documents", [1, 10, 1e4, 1e7, 8e9])
def test_plans_are_sound(bits: int, radius: int, documents: float) -> None:
    made = make(documents, bits=bits, radius=radius, memory="2GB", chance=1e30)
    speeds = [o.queries_per_second / o.shards for o in made.options]
    assert speeds == sorted(speeds, reverse=True)
    assert {"scan", "batch-bphs"} <= {o.method for o in made.options}
    for option in made.options:
        assert option.memory_bytes <= 2 * 10**9
        assert option.recall == (0.95 if "psm" in option.method else 1.0)
        assert option.first_per_second >= option.queries_per_second
        assert option.why and not option.why.endswith(".")
        assert option.header_bits <= min(bits, 32)


def test_what_the_plan_says_about_the_papers_case() -> None:
    made = make(8e9, memory="64GB")
    methods = {o.method for o in made.options}
    assert methods == {"scan", "covering", "bphs", "compact", "psm", "batch-bphs", "batch-psm"}
    psm = next(o for o in made.options if o.method == "psm")
    assert psm.shards * psm.memory_bytes == min(
        o.shards * o.memory_bytes for o in made.options if not o.batch and o.method != "scan"
    )
    assert all(o.shards > 1 for o in made.options if o.method in ("covering", "compact", "bphs"))
    assert {10} <= {o.tables for o in made.options if o.method == "bphs"}


def test_recall_and_queries_change_the_choice() -> None:
    assert not any("psm" in o.method for o in make(1e7, recall=1).options)
    assert make(1e7, queries=2).best.method == "scan"
    assert make(1e7, queries=1e9).best.method != "scan"
    assert make(1e7, recall=0.99).options != make(1e7, recall=0.9).options


def test_reading_a_plan() -> None:
    made = make(6e7)
    text = str(made)
    assert made.best.design in text.splitlines()[3]
    assert made.why in text
    loaded = json.loads(made.to_json())
    assert loaded["documents"] == 60_000_000
    assert loaded["options"][0]["design"] == made.best.design
    assert loaded["why"] == made.why


def test_wrong_requests() -> None:
    for settings in (
        {"documents": 0},
        {"documents": 1e6, "bits": 63},
        {"documents": 1e6, "radius": -1},
        {"documents": 1e6, "radius": 40},
        {"documents": 1e6, "recall": 0},
        {"documents": 1e6, "memory": "lots"},
    ):
        with pytest.raises(ConfigError):
            make(**settings)  # type: ignore[arg-type]


def test_access_costs_are_interpolated() -> None:
    machine = Machine(access=((2.0**20, 1.0), (2.0**30, 11.0)))
    assert machine.access_ns(1) == 1.0
    assert machine.access_ns(2.0**25) == 6.0
    assert machine.access_ns(2.0**40) == 11.0


def test_the_command() -> None:
    run = CliRunner().invoke(command, ["--documents", "8e9", "--memory", "64GB", "--no-measure"])
    assert run.exit_code == 0, run.output
    assert "psm" in run.output and "8B codes" in run.output
    run = CliRunner().invoke(command, ["--documents", "1e6", "--no-measure", "--json"])
    assert json.loads(run.output)["bits"] == 64
    run = CliRunner().invoke(command, ["--documents", "1e6", "--memory", "lots", "--no-measure"])
    assert run.exit_code == 2
    assert "64GB" in run.output


@pytest.mark.slow
def test_measuring_gives_a_usable_machine() -> None:
    machine = measure()
    assert machine is measure()  # kept in memory
    assert machine.measured
    assert {"covering", "compact", "bphs", "scan"} <= machine.scale.keys()
    assert all(factor > 0 for points in machine.scale.values() for _, factor in points)
    costs = [machine.access_ns(2.0**i) for i in range(20, 36)]
    assert costs[0] > 0 and costs[-1] >= costs[0]
    made = plan(1e6)
    assert made.measured
    assert "measured on this machine" in made.title


def test_nothing_need_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> None:
        raise AssertionError("measured")

    monkeypatch.setattr(planner, "measured_machine", never)
    made = plan(1e6, measure=False)
    assert made == plan(1e6, machine=REFERENCE) and not made.measured


@pytest.mark.parametrize(
    "seconds, text",
    [
        *{0: "-", 5e-6: "0.005 ms", 0.0123: "12.3 ms", 0.9996: "1 s", 9.87: "9.87 s", 59.96: "1 min"}.items(),
        *{100: "1.67 min", 3599: "1 h", 7300: "2.03 h", 1e6: "11.6 d", 1e9: "11,600 d"}.items(),
    ],
)
def test_durations_are_readable(seconds: float, text: str) -> None:
    assert planner._seconds_text(seconds) == text


def test_counts_are_readable() -> None:
    texts = [planner._count_text(count) for count in (0, 0.0004, 4, 999.9, 12_345, 999_990, 8e9, 8e12)]
    assert texts == ["0", "0.0004", "4", "1K", "12.3K", "1M", "8B", "8,000B"]


@pytest.mark.parametrize("documents", [999, 123_456_789, 8e11])
@pytest.mark.parametrize("bits, radius", [(64, 3), (128, 32)])
def test_the_title_fits_a_terminal(documents: float, bits: int, radius: int) -> None:
    made = make(documents, bits=bits, radius=radius, memory="1234MB", chance=1e30)
    assert len(made.title) < 80 and len(replace(made, measured=True).title) < 80


def test_a_search_that_drowns_in_chance_hits_is_not_recommended() -> None:
    with pytest.raises(ConfigError, match=r"1,278 within radius 3.*bits=64.*at most 0.*chance=1279"):
        make(1e9, bits=32, radius=3)
    assert make(1e9, bits=32, radius=3, chance=1279).chance == pytest.approx(1278, rel=1e-3)
    made = make(1e9, bits=64, radius=3)
    assert made.chance < 1e-5 and made.safe_radius == 8
    assert "radius 8 is the widest" in str(made) and json.loads(made.to_json())["safe_radius"] == 8


@pytest.mark.parametrize("documents", [float("nan"), float("inf"), -1, 0, 1e300, "many", None, [3]])
def test_a_number_of_documents_that_is_none_is_named(documents: object) -> None:
    with pytest.raises(ConfigError, match="documents"):
        make(documents)  # type: ignore[arg-type]
