"""The report: the command's numbers, bounded, whole, safe, and the same bytes each time."""

import html
import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from support.command import run

import neardup as nd
from neardup.findings import Decisions, Findings
from neardup.pages.report.charts import ceiling
from neardup.pages.report.differences import COMPARED, compared, differences
from neardup.pages.report.examples import notable_clusters
from neardup.pages.report.markup import MOST_MARKS, label, text
from neardup.pages.review import Review
from neardup.sample import path as sample

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><script>alert(2)</script>",
    "{{constructor}} ${alert(3)} javascript:alert(4)",
    "safe‮txt.exe‬ and \x00 \x1b[31m red",
    "]]></svg><svg onload=alert(5)>",
]


class Reader(HTMLParser):
    """Elements and attributes of a page, as a browser would see them."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.words = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    return nd.scan([sample()], folder / "sample.findings", nd.Config.of(threshold=0.8, floor=0.7))


@pytest.mark.parametrize("threshold", [None, 0.7, 0.85, 0.95])
def test_the_numbers_are_the_summarys(findings, tmp_path, threshold):
    said = nd.report(findings, tmp_path / "r.html", threshold=threshold)
    summary = nd.summarize(findings, threshold=threshold)
    assert said == summary
    shown = Reader((tmp_path / "r.html").read_text()).text
    for number, name in (
        (summary.documents, "Documents"),
        (summary.kept, "Kept"),
        (summary.dropped, "Dropped"),
        (summary.exact, "The same words"),
        (summary.near, "Near-duplicates"),
        (summary.clusters, "Clusters"),
        (summary.pairs, "Pairs verified"),
    ):
        assert f"{name} {number:,} " in shown
    for at, gone, clusters in summary.table:
        assert f"{at:g} {gone:,} {clusters:,}" in shown


def test_it_is_one_file_that_asks_for_nothing(findings, tmp_path):
    nd.report(findings, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    seen = Reader(page)
    assert not {"script", "link", "img", "iframe", "object", "embed", "form", "base"} & set(seen.tags)
    assert all(not name.startswith("on") and name != "style" for name, _ in seen.attributes)
    assert all(value.startswith("#") for name, value in seen.attributes if name in ("href", "src", "action"))
    assert "default-src 'none'" in page and "unsafe" not in page
    assert not re.search(r"https?://(?!www\.w3\.org)", page)


def test_the_same_findings_give_the_same_bytes(findings, tmp_path):
    nd.report(findings, tmp_path / "a.html")
    nd.report(Findings(findings.path), tmp_path / "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_whole_or_not_at_all(findings, tmp_path):
    target = tmp_path / "r.html"
    target.write_text("before")
    with pytest.raises(nd.ConfigError, match="stored pairs from"):
        nd.report(findings, target, threshold=0.1)
    assert target.read_text() == "before" and list(tmp_path.iterdir()) == [target]
    with pytest.raises(nd.DataError, match="does not exist"):
        nd.report(findings, tmp_path / "no" / "r.html")
    with pytest.raises(nd.ConfigError, match="is one of the inputs"):
        nd.report(findings, sample())


def test_no_duplicates_no_documents(tmp_path):
    for name, lines in (("none", []), ("one", ["a few words that nobody repeats"])):
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps({"id": t[:3], "text": t}) + "\n" for t in lines)
        )
        found = nd.scan([tmp_path / f"{name}.jsonl"], tmp_path / f"{name}.findings")
        nd.report(found, tmp_path / "r.html")
        assert "There are no clusters at this threshold" in (tmp_path / "r.html").read_text()


def hostile_corpus(folder, long=0):
    words = " ".join(f"word{i}" for i in range(120))
    with (folder / "hostile.jsonl").open("w") as file:
        for i, bad in enumerate(HOSTILE):
            for copy in range(3):
                text = f"{bad} {words} {i} {bad} end{copy} {'x' * long}"
                file.write(json.dumps({"id": f"{bad}-{i}-{copy}", "text": text, "site": bad}) + "\n")
    return folder / "hostile.jsonl"


def test_hostile_texts_ids_and_sources_are_shown_as_text(tmp_path):
    config = nd.Config(keep=nd.Keep(source="site"))
    found = nd.scan([hostile_corpus(tmp_path)], tmp_path / "h.findings", config)
    nd.report(found, tmp_path / "r.html", clusters=20)
    page = (tmp_path / "r.html").read_text()
    seen = Reader(page)
    assert not {"script", "img"} & set(seen.tags)
    assert all(not name.startswith("on") for name, _ in seen.attributes)
    assert "<script>alert(1)</script>" in seen.text  # as text, it is there
    assert not set("‮‬\x00\x1b") & set(page)
    assert "U+202E" in page and "U+0000" in page


def test_bounded_for_long_documents_and_names(tmp_path):
    found = nd.scan([hostile_corpus(tmp_path, long=1 << 20)], tmp_path / "h.findings")
    nd.report(found, tmp_path / "r.html", clusters=20)
    assert (tmp_path / "r.html").stat().st_size < 200_000


def test_bounded_for_nothing_but_hidden_characters(tmp_path):
    with (tmp_path / "c.jsonl").open("w") as file:
        for i in range(60):
            for copy in range(2):
                text = " ".join(f"w{i}\x01{j}" for j in range(200)) + " \x02" * 3000 + f" v{copy}"
                file.write(json.dumps({"id": "\x03" * 2000 + f"{i}-{copy}", "text": text}) + "\n")
    found = nd.scan([tmp_path / "c.jsonl"], tmp_path / "c.findings")
    assert nd.report(found, tmp_path / "r.html", clusters=20).clusters == 60
    assert (tmp_path / "r.html").stat().st_size < 2_000_000


@pytest.mark.slow
def test_many_clusters(tmp_path):
    with (tmp_path / "c.jsonl").open("w") as file:
        for i in range(100_000):
            body = f"page {i} " * 3
            file.write(f'{{"id": "{i}a", "text": "{body}"}}\n{{"id": "{i}b", "text": "{body}"}}\n')
    found = nd.scan([tmp_path / "c.jsonl"], tmp_path / "c.findings")
    assert nd.report(found, tmp_path / "r.html").clusters == 100_000
    assert (tmp_path / "r.html").stat().st_size < 500_000


def test_the_command(findings, tmp_path):
    out = run("report", str(findings.path), "-o", str(tmp_path / "r.html"), "--threshold", "0.85", "--json")
    answer = json.loads(out.stdout)
    assert answer["out_bytes"] == (tmp_path / "r.html").stat().st_size
    assert answer["dropped"] == nd.summarize(findings, threshold=0.85).dropped
    missing = run("report", str(tmp_path), "-o", str(tmp_path / "other.html"))
    assert missing.returncode == 1 and b"contains no findings" in missing.stderr


def test_what_it_says_repeats_it(tmp_path):
    """The settings and commands on the page, followed to the letter, come to the same numbers."""
    shutil.copy(sample(), tmp_path / "pages of ours.jsonl.gz")
    config = nd.Config.of("bits", threshold=0.75, floor=0.6, keep=nd.Keep(by="first", source="host:url"))
    found = nd.scan([tmp_path / "pages of ours.jsonl.gz"], tmp_path / "x.findings", config)
    before = nd.report(found, tmp_path / "before.html", threshold=0.7)
    page = (tmp_path / "before.html").read_text()
    commands, settings = (html.unescape(one) for one in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL))
    (tmp_path / "settings.toml").write_text(settings)
    for line in commands.splitlines():
        done = subprocess.run([sys.executable, "-m", *shlex.split(line)], cwd=tmp_path, capture_output=True)
        assert done.returncode == 0, done.stderr
    again = Findings(tmp_path / "pages of ours.jsonl.gz.findings")
    assert again.config == found.config
    after = nd.summarize(again, threshold=0.7)
    assert replace(after, seconds=0) == replace(before, seconds=0)
    assert f"Dropped</dt><dd>{before.dropped}</dd>" in (tmp_path / "report.html").read_text()


def star(path, arms=4):
    """A keeper that documents resemble which do not resemble each other, and a pair apart from it."""
    words = [f"w{i}" for i in range(500)]
    texts = {"keeper": words, "pair": [f"p{i}" for i in range(300)], "pair2": [f"p{i}" for i in range(299)]}
    for arm in range(arms):
        own = [f"a{arm}x{i}" for i in range(20)]
        texts[f"arm{arm}"] = [*words[: 100 * arm], *own, *words[100 * arm + 45 :]]
    path.write_text("".join(json.dumps({"id": n, "text": " ".join(t)}) + "\n" for n, t in texts.items()))
    return path


def test_loose_clusters_come_first(tmp_path):
    found = nd.scan([star(tmp_path / "c.jsonl")], tmp_path / "c.findings")
    chosen = notable_clusters(found, found.cut())
    assert [one.kind for one in chosen] == ["suspicious", "suspicious"]
    assert found.ids(chosen[0].rows)[0] == "keeper" and len(chosen[0].rows) == 5
    assert chosen[0].why == "Its removals: meaning may change."
    rows = [int(row) for one in chosen for row in one.rows]
    assert len(set(rows)) == len(rows) == 7
    nd.report(found, tmp_path / "r.html")
    assert "meaning may change" in (tmp_path / "r.html").read_text()


def test_decisions_of_a_review_count(tmp_path):
    found = nd.scan([star(tmp_path / "c.jsonl")], tmp_path / "c.findings")
    before = nd.report(found, tmp_path / "r.html")
    left, right = (found.row_of(name) for name in ("pair", "pair2"))
    Review(found).decide("reject", left, right)
    after = nd.report(Findings(found.path), tmp_path / "r.html")
    assert (before.dropped, after.dropped, after.decisions) == (5, 4, 1)
    assert "made with 1 decision of a review" in (tmp_path / "r.html").read_text()
    assert nd.report(found, tmp_path / "r.html", decisions=Decisions()).dropped == 5


def test_differences_hold_both_texts():
    left, right = "the old cat sat on the mat today", "the new cat sat on a mat today indeed"
    parts = differences(left, right)
    for side, whole in (("left", left), ("right", right)):
        joined = " ".join(part.text.strip() for part in parts if part.kind in ("same", side))
        assert joined.split() == whole.split()


def test_differences_of_long_texts_are_short_and_unspaced_ones_are_distinguished():
    rng = np.random.default_rng(1)
    words = [f"w{n}" for n in rng.integers(0, 500, 4000)]
    other = list(words)
    for at in range(0, 4000, 40):
        other[at] = "changed"
    shown = compared(" ".join(words), " ".join(other))
    assert len(shown) < 10_000 and "more differences" in shown
    assert "same words" in compared("xxxxxxxxxx " * COMPARED, "xxxxxxxxxx " * COMPARED)
    parts = differences("吾輩は猫である", "吾輩は犬である")
    assert [part.text for part in parts if part.kind != "same"] == ["猫", "犬"]


def test_markup_of_texts():
    assert text("a<b>&\"'", 100) == "a&lt;b&gt;&amp;&quot;&#x27;"
    assert text("abcdef", 3) == 'abc <span class="soft">… (3 more characters)</span>'
    assert "U+202E" in text("\u202e", 10) and "\u202e" not in text("\u202e", 10)
    assert len(text("\x01" * 10_000, 10_000)) < 40 * MOST_MARKS + 10_000
    assert "\ud800" not in text("\ud800", 5)
    assert label('<b>"\u202e') == "&lt;b&gt;&quot;[U+202E]"


@pytest.mark.parametrize(
    ("value", "top"), [(0, 2), (1, 2), (3, 4), (10, 10), (11, 12), (15, 16), (9999, 10_000)]
)
def test_the_end_of_an_axis_is_round(value, top):
    assert ceiling(value) == top


def test_the_first_page_is_the_verdict(tmp_path):
    from neardup.findings.audit import draw_removals, record
    from neardup.findings.decision_log import Asked, DecisionLog

    found = nd.scan([star(tmp_path / "c.jsonl")], tmp_path / "c.findings")
    nd.report(found, tmp_path / "r.html")
    assert "Nobody has judged a random sample yet" in Reader((tmp_path / "r.html").read_text()).text
    drawn = draw_removals(found, found.cut(), 4)
    for at, one in enumerate(drawn):
        record(found, one, "wrong" if at == 0 else "right", "Ada <b>")
    DecisionLog(found).add_all([Asked("accept", drawn[1].keeper, drawn[1].row, name="Bo", how="bulk")])
    done = run("report", found.path, "--out", tmp_path / "s.html", "--json")
    trust = json.loads(done.stdout)["trust"]
    assert (trust["audit"]["right"], trust["audit"]["wrong"], trust["audit"]["names"]) == (3, 1, ["Ada <b>"])
    assert trust["people"] == {"Bo": {"accept": 1}} and trust["how"] == {"bulk": 1} and trust["model"] is None
    assert trust["worst"][0]["doubt"] >= trust["worst"][-1]["doubt"] and trust["worst"][0]["changes"]
    shown = Reader((tmp_path / "s.html").read_text()).text
    assert "Delete 5 of" in shown and "from 4 random removals judged by Ada <b>" in shown
    assert (
        "Bo: 1 accepted" in shown and "1 about whole lists" in shown and "The most doubtful removals" in shown
    )
