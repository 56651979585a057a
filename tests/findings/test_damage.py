"""Every small file of a findings folder checks itself: a flipped bit never changes an output or ends in a traceback."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from support.budgets import budget
from support.corpora import planted, read_jsonl, write_jsonl
from support.reviewing import run_cli

import neardup as nd
from neardup.errors import ConfigError, DataError, FormatError, NeardupError
from neardup.findings import Findings, summarize
from neardup.findings.apply import apply
from neardup.findings.decision_log import DECISIONS, DecisionLog, read_decisions
from neardup.findings.explain import explain_pair
from neardup.findings.scan import scan
from neardup.storage.checked_json import checked_json, parse_checked, read_checked, write_checked

OLD = Path(__file__).parents[1] / "fixtures" / "findings-1"


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> Findings:
    folder = tmp_path_factory.mktemp("scanned")
    return scan(write_jsonl(folder / "in.jsonl", planted(40)), folder / "found")


@pytest.fixture
def old(tmp_path) -> Path:
    """Findings of format 1, which have no checksums."""
    shutil.copytree(OLD, tmp_path / "old")
    manifest = tmp_path / "old" / "manifest.json"
    corpus = shutil.move(tmp_path / "old" / "in.jsonl", tmp_path / "in.jsonl")
    manifest.write_text(manifest.read_text().replace("CORPUS", str(corpus)))
    return tmp_path / "old"


def flips(data: bytes, many: int) -> list[bytes]:
    """The data with one bit flipped, so many times: all places in a soak, some of them otherwise."""
    places = random.Random(7).sample(range(8 * len(data)), min(many, 8 * len(data)))
    return [data[: b // 8] + bytes([data[b // 8] ^ 1 << b % 8]) + data[b // 8 + 1 :] for b in places]


def answers(folder: Path, out: Path, pair: tuple[str, str]) -> object:
    """What apply, clusters and explain answer, and what is in the output then."""
    findings = Findings(folder)
    apply(findings, out, allow_mass_removal=True, overwrite=True)
    listed = run_cli("clusters", str(folder), "--json")
    assert listed[0] == 0
    return out.read_bytes(), listed[1], explain_pair(findings, *pair)


def test_every_flipped_bit_of_the_list_of_rejected_rows_is_noticed(tmp_path):
    bad = [{"id": "a", "text": True}, {"id": "b", "text": ["one", 2]}]
    found = scan(write_jsonl(tmp_path / "in.jsonl", planted(9) + bad), tmp_path / "found", allow_rejects=1)
    listed, summary = found.path / "documents.rejects.jsonl", summarize(found)
    sound = listed.read_bytes()
    assert sound.count(b"\n") == 2 and summary.rejected == {"wrong type": 2}
    for damaged in (*flips(sound, budget(100, 10_000)), sound[:-9], b""):
        listed.write_bytes(damaged)
        with pytest.raises(FormatError, match="rejects"):
            summarize(Findings(found.path))
    code, _ = run_cli("apply", str(found.path), "--out", str(tmp_path / "kept.jsonl"))
    assert code != 0 and not (tmp_path / "kept.jsonl").exists()
    listed.unlink()  # a person may take it away
    assert summarize(Findings(found.path)) == summary


def test_no_flipped_bit_of_a_manifest_changes_an_output(found, tmp_path, capsys):
    folder, out = tmp_path / "found", tmp_path / "kept.jsonl"
    shutil.copytree(found.path, folder)
    pair = tuple(found.ids(found.pairs.left[:1]) + found.ids(found.pairs.right[:1]))
    right = answers(folder, out, pair)
    good, manifest = out.read_bytes(), folder / "manifest.json"
    assert good.count(b"\n") > 5
    for number, damaged in enumerate(flips(manifest.read_bytes(), budget(400, 100_000))):
        manifest.write_bytes(damaged)
        with pytest.raises(FormatError, match=r"manifest\.json"):
            apply(folder, out, overwrite=True)
        if number % 20:
            continue
        for command in (["apply", "--overwrite", "--out", str(out)], ["clusters"], ["explain", *pair, "-f"]):
            assert run_cli(*command, str(folder))[0] == 1
            assert "manifest.json: expected" in capsys.readouterr().err
        assert out.read_bytes() == good
    shutil.copy(found.path / "manifest.json", manifest)
    assert answers(folder, out, pair) == right


def test_findings_of_an_older_version_open(old, tmp_path):
    found = Findings(old)
    assert apply(found, tmp_path / "kept.jsonl").written == 4
    assert [row["id"] for row in read_jsonl(tmp_path / "kept.jsonl")] == ["a", "b", "c", "d"]
    assert [decision.decision for decision in read_decisions(found)] == ["accept"]
    DecisionLog(found).add("reject", found.row_of("a"), found.row_of("a-near"))
    assert [decision.decision for decision in read_decisions(Findings(old))] == ["reject"]
    assert apply(found, tmp_path / "kept.jsonl", overwrite=True).written == 5


def test_a_flipped_bit_of_an_older_manifest_writes_nothing_less(old, tmp_path):
    """Without a checksum not every flip is found, but none leaves documents out or ends in another error than ours."""
    manifest, out = old / "manifest.json", tmp_path / "kept.jsonl"
    reported = 0
    for damaged in flips(manifest.read_bytes(), budget(600, 100_000)):
        manifest.write_bytes(damaged)
        try:
            apply(old, out, threshold=0.7, keep=nd.Keep(), allow_mass_removal=True, overwrite=True)
            assert [row["id"] for row in read_jsonl(out)] in (
                ["a", "b", "c", "d"],
                ["a", "a-near", "b", "c", "d"],
            )
            summarize(Findings(old)).to_json()
            explain_pair(Findings(old), "a", "a-near")
        except NeardupError:
            reported += 1
    assert reported > 200


@pytest.mark.parametrize("name", ["documents.nd", "pairs.nd", "texts.nd"])
def test_files_of_two_scans_are_not_mixed(found, tmp_path, name):
    rows = planted(40)
    other = scan(write_jsonl(tmp_path / "in.jsonl", rows[1:] + rows[:1]), tmp_path / "other")
    shutil.copy(found.path / name, other.path / name)
    with pytest.raises(FormatError, match=name):
        opened = Findings(other.path)
        opened.cut()
        opened.stored  # noqa: B018


def test_a_document_without_its_input_is_named(old, tmp_path):
    manifest = json.loads((old / "manifest.json").read_text())
    manifest["inputs"][0]["name"] = "other.jsonl"
    (old / DECISIONS).unlink()
    (old / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "kept.jsonl").write_text("good\n")
    with pytest.raises(FormatError, match=r"manifest.json.*in.jsonl"):
        apply(old, tmp_path / "kept.jsonl", overwrite=True)
    assert (tmp_path / "kept.jsonl").read_text() == "good\n"


def test_no_flipped_bit_of_a_decision_is_taken(found, tmp_path):
    shutil.copytree(found.path, tmp_path / "found")
    findings = Findings(tmp_path / "found")
    log, path = DecisionLog(findings), findings.path / DECISIONS
    log.add("reject", int(findings.pairs.left[0]), int(findings.pairs.right[0]), 0.9)
    log.add("keep", int(findings.pairs.right[1]), int(findings.pairs.left[1]), 0.9)
    for damaged in flips(path.read_bytes(), budget(800, 100_000)):
        path.write_bytes(damaged)
        with pytest.raises((FormatError, DataError), match=DECISIONS):
            read_decisions(findings)
        with pytest.raises((FormatError, DataError), match=DECISIONS):
            DecisionLog(findings).add("accept", 0, 1)
        assert path.read_bytes() == damaged


def test_no_flipped_bit_of_the_mark_of_an_unfinished_scan_is_resumed(tmp_path):
    path = write_jsonl(tmp_path / "in.jsonl", planted(40))
    scan(path, tmp_path / "whole", reusable=True)
    (tmp_path / "found" / "work").mkdir(parents=True)
    (tmp_path / "found" / ".neardup-lock").touch()
    shutil.copy(tmp_path / "whole" / "shards" / "00000.shard", tmp_path / "found" / "work")
    mark = tmp_path / "found" / "work" / "run.json"
    write_checked(mark, {"config": "of another scan"})
    for damaged in flips(mark.read_bytes(), 40):
        mark.write_bytes(damaged)
        with pytest.raises((DataError, ConfigError), match=r"--overwrite"):
            scan(path, tmp_path / "found")
    assert len(scan(path, tmp_path / "found", overwrite=True)) == len(read_jsonl(path))


def test_checked_json_finds_every_flipped_bit(tmp_path):
    value = {"name": "a \ud800 b", "number": 1, "list": [{"checksum": "0" * 32}]}
    write_checked(tmp_path / "file.json", value)
    assert read_checked(tmp_path / "file.json", "a file") == (value, True)
    for data in ((tmp_path / "file.json").read_bytes(), checked_json(value, indent=None)):
        assert parse_checked(data, "file.json", "a file") == (value, True)
        for damaged in flips(data, 8 * len(data)):
            try:
                said, checked = parse_checked(damaged, "file.json", "a file")
            except FormatError:
                continue
            # Its name may be gone, which the caller refuses; or the flip is in the white space behind it.
            assert not checked or said == value
    assert parse_checked(b'{"older": 1}', "file.json", "a file") == ({"older": 1}, False)


@pytest.mark.parametrize("name", ["../evil.jsonl", "a/../../evil.jsonl", "..", "a\0b.jsonl", "evil.jsonl\0"])
def test_names_in_a_forged_manifest_remain_within_the_output_folder(found, tmp_path, name):
    """Anybody can write a manifest with a checksum that fits."""
    shutil.copytree(found.path, tmp_path / "found")
    path = tmp_path / "found" / "manifest.json"
    manifest, _ = read_checked(path, "a manifest")
    manifest["file_names"] = [name]
    manifest["inputs"][0]["name"] = name
    write_checked(path, manifest)
    with pytest.raises(NeardupError, match="valid name"):
        apply(tmp_path / "found", f"{tmp_path / 'out'}/")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["found"]
