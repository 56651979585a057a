"""Worked examples, rules of judgement, and the page: nothing on it that is not in the results."""

from __future__ import annotations

import json
import re
from math import comb

import numpy as np
import pytest
from papers import corpus, mk_designs, mz_fig12_3, page, sl_fig3, sl_table1, us_examples
from papers.experiment import RESULTS, Options, agrees, load, table

SMALL = Options(documents=100, largest=12, repeats=1)


def test_worked_examples_of_the_slides():
    rows = us_examples.run(SMALL)["rows"]
    assert len(rows) >= 17
    for row in rows:
        assert row["printed"] == row["here"], row["example"]


@pytest.mark.slow
def test_table_designs_are_those_of_the_paper(data, monkeypatch):
    # Any real text will do to compare searches on; all sets take ten times as long.
    some = ("tldr_short", "gov2_human")
    assert all((data / name).is_dir() for name in some)
    monkeypatch.setattr(corpus, "SETS", some)
    monkeypatch.setattr(corpus, "real", corpus.real.__wrapped__)
    found = mk_designs.run(SMALL)
    assert found["tables_needed"] == {
        "16": 4, "20": 10, "25": 10, "26": 16, "28": 16, "30": 20, "32": 20, "33": 35
    }  # fmt: skip
    assert all(row["as_scan"] and row["pairs"] > 100 for row in found["rows"].values())
    assert found["rows"]["20"]["key_bits"] == [31, 32, 33]


def test_the_count_is_of_codes_that_share_a_key():
    from neardup.search.hamming.designs import manku

    generator = np.random.default_rng(1)
    stored, queries = (generator.integers(0, 2**64, n, dtype=np.uint64) for n in (3000, 50))
    stored[:50] = queries ^ np.uint64(1)
    design = manku(4)
    expected = sum(
        (int(a) ^ int(b)) & entry.mask == 0 for entry in design.tables for a in queries for b in stored
    )
    assert mk_designs.shared(design, stored, queries) == expected / (4 * 50)


def test_quoted_values_of_the_notes_are_judged_rightly():
    p = {
        r: sum(comb(100, k) * float(r) ** k * (1 - float(r)) ** (100 - k) for k in range(90, 101))
        for r in mz_fig12_3.QUOTED
    }
    assert {r: mz_fig12_3.right(r, value) for r, value in p.items()} == {
        "0.8": True, "0.5": False, "0.9": False, "0.96": True
    }  # fmt: skip


def test_printed_flips_follow_from_printed_ratios():
    assert sl_fig3.printed("1", "0.5") == 2
    assert round(sl_fig3.printed("3", "0.8")) == 221
    assert sl_fig3.printed("2", "0.8") is None


def test_durations_are_spelled_in_the_unit_of_people():
    assert [sl_table1.duration(s) for s in (5, 34 * 60, 97 * 86400, 68 * sl_table1.YEAR)] == [
        "5 s", "34 min", "97 days", "68 years"
    ]  # fmt: skip


def test_agreement_is_a_factor_either_way_unless_better():
    assert agrees([10], [14]) == "yes" and agrees([14], [10]) == "yes"
    assert agrees([10], [16]) == "partly" and agrees([10], [31]) == "no"
    assert agrees([100], [10], "high") == "yes" and agrees([100], [10], "low") == "no"
    assert agrees([1, 5], [None, 5]) == "yes"


def test_tables_are_markdown():
    assert table(("a", "b"), [(1, 2)]) == ["| a | b |", "|---|---:|", "| 1 | 2 |", ""]


def test_every_experiment_was_measured_and_says_where():
    for experiment in page.EXPERIMENTS:
        result = load(experiment.name)
        assert result["experiment"] == experiment.name
        for key in ("machine", "versions", "commit", "date", "options", "seconds"):
            assert result[key], f"{experiment.name}: {key}"


def test_the_page_is_made_of_the_results():
    assert page.PAGE.read_text("utf-8") == page.text()


def test_the_page_changes_with_the_results(monkeypatch):
    changed = json.loads((RESULTS / "sl-table1.json").read_text("utf-8"))
    changed["rates"]["hamming"] *= 10
    monkeypatch.setattr(page, "load", lambda name: changed if name == "sl-table1" else load(name))
    assert page.text() != page.PAGE.read_text("utf-8")


def test_all_errata_and_plots_are_on_the_page():
    shown = page.PAGE.read_text("utf-8")
    for name in re.findall(r"\]\((papers/[\w-]+\.svg)\)", shown):
        assert (page.PAGE.parent / name).stat().st_size > 10_000
    assert {f"papers/{e.name}.svg" for e in page.EXPERIMENTS if e.draw} == set(
        re.findall(r"papers/[\w-]+\.svg", shown)
    )
    missing = [n for n in range(1, 45) if not re.search(rf"\bE{n}\b", shown)]
    assert not missing, f"errata not named: {missing}"


def test_plots_are_the_same_bytes_for_the_same_results(tmp_path):
    pytest.importorskip("matplotlib")
    from papers.plots import panels, save

    for name in ("a", "b"):
        figure, (axis,) = panels(1)
        axis.plot([1, 2], [3, 4])
        save(figure, name, tmp_path)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
