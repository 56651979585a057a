"""How much of what two documents share is template: against a naive count, and in all that shows it."""

import json
import random

import numpy as np
import pytest
from click.testing import CliRunner

import neardup as nd
from neardup.cli import cli
from neardup.config.config import Templates
from neardup.findings import Findings

SCRIPTS = {
    "Latin": ("menu{} ", "word{} "),
    "Arabic": ("قائمة{} ", "كلمة{} "),
    "Han": ("首页导航菜单版权所有保留权利", "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏"),
    "Thai": ("หน้าแรกเมนูติดต่อเรา", "ปลาน้ำฟ้าดินลมไฟบ้านรถคนหมาแมวนก"),
}  # fmt: skip


def pages(script: str, count: int = 130) -> list[str]:
    """Pages with a menu that all have, and a body that only the next page has too."""
    menu, words = SCRIPTS[script]
    draw = random.Random(5)
    spaced = "{}" in words
    made = []
    for number in range(count):
        if number % 2 == 0:
            body = (
                "".join(words.format(draw.randrange(5000)) for _ in range(40))
                if spaced
                else "".join(draw.choices(words, k=60))
            )
        top = "".join(menu.format(i) for i in range(30)) if spaced else menu * 2
        made.append(f"{top}\n{body}{number if number % 2 else ''}")
    return made


def naive(texts: list[str], left: int, right: int) -> float:
    """The share of shingles of both that are in more documents than a template must be in."""
    sets = [set(nd.Shingles().extract([text]).hashes.tolist()) for text in texts]
    often = Templates().often(len(texts))
    shared = sets[left] & sets[right]
    return sum(sum(feature in s for s in sets) > often for feature in shared) / len(shared)


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_share_is_that_of_a_naive_count(tmp_path, script):
    texts = pages(script)
    path = tmp_path / "pages.jsonl"
    path.write_text(
        "".join(json.dumps({"id": f"d{i}", "text": t}) + "\n" for i, t in enumerate(texts)), "utf-8"
    )
    found = nd.scan(path, tmp_path / "f", nd.Config(verify=nd.Jaccard(0.6)))
    assert len(found.pairs) >= 60
    shares = found.template_at(np.arange(len(found.pairs)))
    assert np.isfinite(shares).all()
    for at in range(0, len(shares), max(1, len(shares) // 12)):
        expected = naive(texts, int(found.pairs.left[at]), int(found.pairs.right[at]))
        assert shares[at] == pytest.approx(expected, abs=0.0006)
    inside = shares[(found.pairs.right == found.pairs.left + 1) & (found.pairs.left % 2 == 0)]
    assert len(inside) and 0.05 < np.median(inside) < 0.95  # of a menu and of a body


def test_a_small_source_has_no_template(tmp_path):
    path = tmp_path / "few.jsonl"
    rows = [{"id": f"d{i}", "text": text} for i, text in enumerate(pages("Latin", 20))]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = nd.scan(path, tmp_path / "f", nd.Config(verify=nd.Jaccard(0.6)))
    assert len(found.pairs) and np.isnan(found.template_at(np.arange(len(found.pairs)))).all()
    pairs = tmp_path / "pairs.jsonl"
    assert CliRunner().invoke(cli, ["clusters", str(tmp_path / "f"), "--pairs", str(pairs)]).exit_code == 0
    assert all(json.loads(line)["template"] is None for line in pairs.read_text().splitlines())


def test_pairs_clusters_explain_and_report_show_it(tmp_path):
    path, folder, pairs = tmp_path / "pages.jsonl", tmp_path / "f", tmp_path / "pairs.jsonl"
    rows = [{"id": f"d{i}", "text": text} for i, text in enumerate(pages("Latin"))]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    nd.scan(path, folder, nd.Config(protect=()))
    run = CliRunner()
    shown = run.invoke(cli, ["clusters", str(folder), "--by", "change", "--pairs", str(pairs)])
    assert "% template" in shown.output, shown.output
    shares = [json.loads(line)["template"] for line in pairs.read_text().splitlines()]
    assert shares and all(0 < share < 1 for share in shares)
    reported = run.invoke(cli, ["explain", "-f", str(folder), "d0", "d1", "--json"])
    assert json.loads(reported.output)["template"] == shares[0]
    assert (
        "of what they share is template" in run.invoke(cli, ["explain", "-f", str(folder), "d0", "d1"]).output
    )
    page = tmp_path / "page.html"
    assert run.invoke(cli, ["report", str(folder), "--out", str(page)]).exit_code == 0
    assert "% template" in page.read_text("utf-8") and "Differs in" in page.read_text("utf-8")


def test_threads_and_memory_change_nothing(tmp_path):
    path = tmp_path / "pages.jsonl"
    rows = [{"id": f"d{i}", "text": text} for i, text in enumerate(pages("Latin"))]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    ways = [{"threads": 1}, {"threads": 2}, {"threads": 1, "memory": "100MB"}]
    config = nd.Config(verify=nd.Jaccard(0.6))
    made = []
    for number, way in enumerate(ways):
        nd.scan(path, tmp_path / f"f{number}", config, **way)
        found = Findings(tmp_path / f"f{number}")
        made.append(found.template_at(np.arange(len(found.pairs))))
    assert len(made[0]) and all(np.array_equal(made[0], other) for other in made[1:])
