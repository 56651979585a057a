"""HTML to text: sensible on real pages, equal to the corpora's own reduction, and not to be hung or crashed."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
import neardup.compare.similarity as similarity
from neardup.errors import ConfigError, DataError, MissingExtra
from neardup.web import Extracted, Failure, HtmlExtractor
from neardup.web.html_worker import _elements as elements

pytest.importorskip("resiliparse")
pytestmark = pytest.mark.process

PAGE = """<html><head><title> The
ferry </title><style>p {color: red}</style></head><body><nav><a href="/">Home</a> <a href="/map">Map</a></nav>
<script>var hidden = 1;</script><!-- a remark --><p>The ferry &amp; the <b>pier</b></p><p>leave&shy; at noon</p>
<noscript><style>b {}</style>No scripts</noscript><table><tr><td>one</td><td>two</td></tr></table></body></html>"""

HANGS = "<div>" * 100_000 + "deep"  # takes the parser time that grows with the square of the depth
GROWS = "<p>hello world</p>" * 400_000


def read(data: Path, name: str) -> tuple[list[str], list[str]]:
    with gzip.open(data / name / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    return [document["id"] for document in documents], [document["html"] for document in documents]


def children(extractor: HtmlExtractor) -> list[int]:
    return [worker.process.pid for worker in extractor._workers.running]


def state(pid: int) -> str:
    """The state of a process, such as S or R; Z when it ended and nobody waited for it, "" if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def used(pid: int) -> float:
    """Seconds of the processor that a process has used; infinite if there is none."""
    try:
        numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return float("inf")
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def wait_until(condition, seconds: float = 120.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def test_whole_page_is_all_that_a_reader_can_see():
    with HtmlExtractor("whole") as extractor:
        found = extractor.extract([PAGE, "", "plain words", "<frameset><frame></frameset>"])
    assert found.texts == [
        "Home Map\nThe ferry & the pier\nleave\xad at noon\none\ntwo",
        "",
        "plain words",
        "",
    ]
    assert found.titles == ["The ferry", None, None, None]
    assert found.failures == [] and found.counts == {}


def test_main_content_keeps_the_article_and_drops_navigation(data):
    _, pages = read(data, "pydoc_html_versions")
    pages = [page for page in pages if "<title>email.header: " in page][:2]
    with HtmlExtractor("whole") as whole, HtmlExtractor("main") as main:
        all_text, article = whole.extract(pages).texts, main.extract(pages).texts
    assert len(pages) == 2
    for before, after in zip(all_text, article, strict=True):
        assert 0.5 * len(before) < len(after) < 0.95 * len(before)
        assert "Create a MIME-compliant header that can contain strings in different" in " ".join(
            after.split()
        )
        assert "Report a Bug" in before or "Report a bug" in before
        assert "report a bug" not in after.lower() and "previous topic" not in after.lower()


def test_main_content_of_encyclopedia_pages(data):
    _, pages = read(data, "wiki_html_variants")
    with HtmlExtractor("whole") as whole, HtmlExtractor("main") as main:
        all_text, article = whole.extract(pages[:40]), main.extract(pages[:40])
    assert all_text.failures == article.failures == []
    shares = np.array([len(a) / len(b) for a, b in zip(article.texts, all_text.texts, strict=True)])
    assert 0.3 < np.median(shares) < 0.9
    assert sum("Privacy policy" in text for text in all_text.texts) > 30
    # Of short articles main content is under 30% of the page; those are read whole.
    assert sum("Privacy policy" in text for text in article.texts) < 8


def test_trafilatura_is_a_choice(data):
    pytest.importorskip("trafilatura")
    _, pages = read(data, "pydoc_html_versions")
    with HtmlExtractor("trafilatura", seconds=60) as extractor:
        found = extractor.extract(pages[:2])
    assert "Create a MIME-compliant header" in " ".join(found.texts[0].split())
    assert "report a bug" not in found.texts[0].lower()
    assert "email.header" in found.titles[0]


@pytest.mark.parametrize("name", ["pydoc_html_versions", "wiki_html_variants"])
def test_whole_pages_have_the_similarities_of_the_corpora(data, name):
    """exact_pairs was made by another reduction of the same pages; its similarities come out again."""
    ids, pages = read(data, name)
    with gzip.open(data / name / "exact_pairs.tsv.gz", "rt", encoding="utf-8") as file:
        pairs = [line.split("\t") for line in list(file)[1:]][::8]
    wanted = sorted({name for pair in pairs for name in pair[:2]})
    row = {name: number for number, name in enumerate(wanted)}
    page = dict(zip(ids, pages, strict=True))
    with HtmlExtractor("whole", workers=2, seconds=30) as extractor:
        texts = extractor.extract([page[name] for name in wanted]).texts
    features = nd.Shingles(5).extract(texts)
    got = similarity.jaccard(features, [row[pair[0]] for pair in pairs], [row[pair[1]] for pair in pairs])
    error = np.abs(got - [float(pair[2]) for pair in pairs])
    assert len(pairs) > 90
    assert error.mean() < 0.001 and error.max() < 0.02


def test_order_and_answers_do_not_depend_on_workers(data):
    _, pages = read(data, "wiki_html_variants")
    pages = [pages[0], "", PAGE, *pages[:30], "<p>last"]
    found: list[Extracted] = []
    for workers in (1, 2):
        with HtmlExtractor("main", workers=workers, seconds=30) as extractor:
            found.append(extractor.extract(pages))
            found.append(extractor.extract([page.encode() for page in pages]))
    assert all(other == found[0] for other in found)
    assert found[0].texts[-1] == "last" and found[0].texts[0] == found[0].texts[3]


@pytest.mark.process
@pytest.mark.parametrize("method", ["main", "whole", "anchors", "links"])
def test_a_page_of_many_links_drawings_and_scripts_is_read(method):
    """In time that grows with the page: what a selector finds took 500 seconds, one after another."""
    many = 20_000
    line = "<p>word <a href='/place'>name</a> <svg><title>icon</title></svg><script>code()</script></p>"
    with HtmlExtractor(method, seconds=60) as extractor:
        text = extractor.extract([f"<body>{line * many}"]).texts[0]
    assert text is not None and "icon" not in text and "code" not in text
    assert text.split().count("/place" if method == "links" else "name") == many


@given(
    st.lists(
        st.sampled_from(
            ["<a href='x'>", "<a>", "</a>", "<svg>", "</svg>", "<b>", "</b>", "t", "<script>u</script>"]
        )
    )
)
def test_elements_are_those_that_a_selector_finds(parts):
    parse = pytest.importorskip("resiliparse.parse.html").HTMLTree.parse
    page = "<body>" + "".join(parts)
    for names in (("a",), ("svg", "math"), ("script", "style", "noscript")):
        body = parse(page).body
        assert elements(body, *names) == list(body.query_selector_all(",".join(names)))


def test_a_hanging_page_fails_alone():
    with HtmlExtractor("whole", workers=2, seconds=2.0) as extractor:
        found = extractor.extract(["<p>first", HANGS, "<p>second", "<p>third", HANGS.encode()])
        assert found.texts == ["first", None, "second", "third", None]
        assert found.failures == [Failure(1, "timeout"), Failure(4, "timeout")]
        assert found.counts == {"timeout": 2}
        assert extractor.extract(["<p>again"]).texts == ["again"]


def test_a_page_that_takes_too_much_memory_fails_alone():
    with HtmlExtractor("whole", memory="64MB", seconds=30) as extractor:
        found = extractor.extract(["<p>first", GROWS, "<p>second"])
    assert found.texts == ["first", None, "second"]
    assert found.failures == [Failure(1, "memory")]
    with HtmlExtractor("whole", memory="1GB", seconds=60) as extractor:
        assert len(extractor.extract([GROWS]).texts[0]) == 400_000 * 12 - 1


def test_a_page_is_tried_again_in_a_fresh_worker():
    """Beside workers that have nothing to do but are not fresh; and the answer is the same for any number."""
    pages = ["<p>a", "<p>b", GROWS, "<p>c", GROWS, GROWS, "<p>d"]
    for workers in (1, 2, 3):
        with HtmlExtractor("whole", workers=workers, memory="64MB", seconds=30) as extractor:
            extractor.extract(["<p>used"] * 20)
            found = extractor.extract(pages)
            assert found.texts == ["a", "b", None, "c", None, None, "d"]
            assert found.counts == {"memory": 3}
            found = extractor.extract([GROWS])
            assert found.counts == {"memory": 1}
            assert extractor.extract(["<p>e"]).texts == ["e"]


def test_a_page_larger_than_a_worker_may_hold_is_not_reported_as_a_crash():
    with HtmlExtractor("whole", memory="4MB", seconds=30) as extractor:
        found = extractor.extract(["x" * 15_000_000, "<p>ok"])
    assert found.texts == [None, "ok"]
    assert found.failures == [Failure(0, "memory")]


def test_oversize_pages_are_not_tried():
    with HtmlExtractor("whole", largest="1KB") as extractor:
        found = extractor.extract(["x" * 1001, "é" * 501, "é" * 500, b"y" * 1001, b"y" * 1000])
    assert [failure.row for failure in found.failures] == [0, 1, 3]
    assert found.counts == {"too large": 3}
    assert [text is None for text in found.texts] == [True, True, False, True, False]


def test_a_worker_killed_once_costs_nothing():
    with HtmlExtractor("whole", workers=2) as extractor:
        extractor.extract(["<p>a", "<p>b"])
        for pid in children(extractor):
            os.kill(pid, signal.SIGKILL)
        found = extractor.extract(["<p>a", "<p>b", "<p>c"])
        assert found.texts == ["a", "b", "c"] and found.failures == []


def test_a_page_whose_worker_dies_twice_has_crashed():
    killed: set[int] = set()
    done = threading.Event()

    def kill(extractor: HtmlExtractor) -> None:
        while not done.is_set():
            for worker in list(extractor._workers.running):
                asked = worker.request
                if asked is not None and asked.row == 1 and worker.process.pid not in killed:
                    killed.add(worker.process.pid)
                    os.kill(worker.process.pid, signal.SIGSEGV)
            time.sleep(0.005)

    with HtmlExtractor("whole", seconds=60) as extractor:
        thread = threading.Thread(target=kill, args=[extractor])
        thread.start()
        try:
            found = extractor.extract(["<p>a", HANGS, "<p>c"])
        finally:
            done.set()
            thread.join()
    assert found.texts == ["a", None, "c"]
    assert found.failures == [Failure(1, "crashed")]
    assert len(killed) == 2


def test_a_stopped_worker_does_not_block_the_parent():
    """Not even when the page is larger than the pipe takes."""
    with HtmlExtractor("whole", seconds=2.0) as extractor:
        extractor.extract(["<p>a"])
        os.kill(children(extractor)[0], signal.SIGSTOP)
        found = extractor.extract(["x" * 5_000_000, "<p>b"])
    assert found.texts == [None, "b"] and found.counts == {"timeout": 1}


def test_no_process_is_left_behind():
    extractor = HtmlExtractor("whole", workers=2, seconds=0.5)
    extractor.extract(["<p>a", HANGS, *["<p>b"] * 50])
    pids = children(extractor)
    assert pids and all(state(pid) in ("S", "R", "D") for pid in pids)
    extractor.close()
    assert [state(pid) for pid in pids] == [""] * len(pids)
    extractor.extract(["<p>a"])
    (pid,) = children(extractor)
    del extractor  # forgotten, not closed
    assert state(pid) == ""


@pytest.mark.parametrize("page", ["<p>a", HANGS], ids=["idle", "hanging"])
def test_workers_end_when_the_parent_is_killed(page):
    script = """
import sys, threading, time
from neardup.web import HtmlExtractor
extractor = HtmlExtractor("whole", seconds=4)
page = sys.stdin.read()
extractor.extract(["<p>ready"])
print(extractor._workers.running[0].process.pid, flush=True)
extractor.extract([page])
time.sleep(60)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdin is not None and parent.stdout is not None
        parent.stdin.write(page)
        parent.stdin.close()
        pid = int(parent.stdout.readline())
        if page == HANGS:
            before = used(pid)
            assert wait_until(lambda: used(pid) > before + 0.1), "the page is in work"
        parent.kill()
    # Reaping the orphan is the business of the process that inherits it.
    assert wait_until(lambda: state(pid) in ("", "Z"))


def test_ctrl_c_ends_the_workers():
    extractor = HtmlExtractor("whole", seconds=60)
    extractor.extract(["<p>a"])
    pids = children(extractor)

    def interrupt() -> None:
        assert wait_until(lambda: any(worker.request for worker in extractor._workers.running))
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        extractor.extract([HANGS, "<p>b"])
    thread.join()
    assert children(extractor) == [] and [state(pid) for pid in pids] == [""]
    assert extractor.extract(["<p>c"]).texts == ["c"]


def test_a_forked_child_has_workers_of_its_own():
    script = """
import os
from neardup.web import HtmlExtractor
extractor = HtmlExtractor("whole")
print(extractor.extract(["<p>parent"]).texts, flush=True)
if not (child := os.fork()):
    print(extractor.extract(["<p>child"]).texts, flush=True)
    extractor.close()
    os._exit(0)
os.waitpid(child, 0)
before = extractor._workers.running[0].process.pid
print(extractor.extract(["<p>parent again"]).texts, extractor._workers.running[0].process.pid == before)
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.splitlines() == ["['parent']", "['child']", "['parent again'] True"]


def test_works_from_many_threads():
    with HtmlExtractor("whole", workers=2) as extractor:
        texts: dict[int, list[str | None]] = {}

        def extract(number: int) -> None:
            texts[number] = extractor.extract([f"<p>{number}-{row}" for row in range(20)]).texts

        threads = [threading.Thread(target=extract, args=[number]) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert texts == {number: [f"{number}-{row}" for row in range(20)] for number in range(4)}


RUSSIAN = "Паром отходит от северного причала в восемь часов и возвращается в полдень, кроме праздников. " * 5
JAPANESE = "渡し船は八時に北の桟橋を出て、正午に戻ります。祝日は運休です。" * 5


@pytest.mark.parametrize(
    ("page", "hint", "text"),
    [
        (RUSSIAN.encode("cp1251"), None, RUSSIAN),  # by detection
        (b'<meta charset="koi8-r"><p>' + RUSSIAN.encode("koi8-r"), None, RUSSIAN),  # by the meta element
        (b"<p>caf\xe9 \xa4", "iso-8859-15", "café €"),  # by the hint
        ("<p>naïve café".encode(), "ISO-8859-1", "naïve café"),  # a server's default, against the bytes
        ("<p>naïve café".encode(), "no-such-charset", "naïve café"),
        (JAPANESE.encode("shift_jis"), None, JAPANESE),
        (b'<meta charset="utf-8"><p>' + JAPANESE.encode("euc_jp"), None, JAPANESE),  # a wrong meta element
        (f"<p>{JAPANESE}".encode("utf-16"), "utf-8", JAPANESE),  # a byte order mark is stronger than all
        (b'<meta charset="utf-16"><p>plain', None, "plain"),
        (b"<p>caf\xc3\xa9", None, "café"),  # too short for statistics, but well-formed
        (b'<meta charset="iso-2022-jp"><p>' + JAPANESE.encode("iso2022_jp"), None, JAPANESE),
        ("<p>联通".encode("gbk"), "gb2312", "联通"),  # well-formed UTF-8 too, by chance
    ],
)
def test_charsets(page, hint, text):
    with HtmlExtractor("whole") as extractor:
        assert extractor.extract([page], charsets=[hint]).texts == [text.strip()]


def test_undecodable_characters_are_replaced():
    with HtmlExtractor("whole") as extractor:
        found = extractor.extract(["<p>a\ud800b", b"\xef\xbb\xbf<p>a\xffb"])
    assert found.texts == ["a?b", "a\ufffdb"]


@pytest.fixture(scope="module")
def shared():
    with HtmlExtractor("whole", workers=2, seconds=30) as extractor:
        yield extractor


MARKUP = st.lists(
    st.sampled_from(
        ["<p>", "</p>", "<script>", "<noscript>", "<style>", "</style>", "<table>", "<td>", "<b>", "<!--"]
    )
    | st.sampled_from(
        ["</noscript>", "</script>", "<template>", "<svg>", "<body>", "<frameset>", "&amp;", "\0"]
    )
    | st.text(max_size=5)
).map("".join)


@given(st.lists(MARKUP | st.binary(max_size=50), max_size=5))
def test_any_page_has_a_text_and_pages_do_not_touch(shared, pages):
    found = shared.extract(pages)
    assert found.failures == []
    assert found.texts == [shared.extract([page]).texts[0] for page in pages]


def test_none_only_decodes():
    with HtmlExtractor("none") as extractor:
        found = extractor.extract([PAGE, PAGE.encode("utf-16"), b"caf\xc3\xa9", ""])
        assert found.texts == [PAGE, PAGE, "café", ""]
        assert found.titles == [None] * 4


def test_mistakes_are_errors():
    for wrong in (
        {"method": "best"},
        {"workers": 0},
        {"seconds": 0},
        {"seconds": float("nan")},
        {"memory": "lots"},
        {"largest": "-1"},
    ):
        with pytest.raises(ConfigError):
            HtmlExtractor(**wrong)
    extractor = HtmlExtractor()
    with pytest.raises(DataError, match=r"\[page\]"):
        extractor.extract("<p>one")
    with pytest.raises(DataError, match="page 1 is NoneType"):
        extractor.extract(["<p>one", None])
    with pytest.raises(DataError, match="1 charsets for 2 pages"):
        extractor.extract([b"a", b"b"], charsets=["utf-8"])
    assert extractor.extract([]) == Extracted([], [], [])
    assert children(extractor) == []


def test_missing_extra(monkeypatch):
    monkeypatch.setattr("neardup.web.html.find_spec", lambda name: None)
    assert HtmlExtractor("none").extract(["as it is"]).texts == ["as it is"]
    with pytest.raises(MissingExtra, match=r"neardup\[web\]"):
        HtmlExtractor().extract(["<p>a"])


def test_workers_that_cannot_start_are_an_error(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    extractor = HtmlExtractor()
    with pytest.raises(ConfigError, match="could start"):
        extractor.extract(["<p>a"])
    assert children(extractor) == []


def test_structure_as_features():
    """Tags, anchor texts and URLs (Sood and Loguinov's other features), each a text for the same pipeline."""
    other = PAGE.replace("ferry", "train").replace("pier", "platform")
    for method, expected in (
        ("tags", "body nav a a script p b p noscript style table tbody tr td td"),
        ("anchors", "Home\nMap"),
        ("links", "/\n/map"),
    ):
        with HtmlExtractor(method) as extractor:
            found = extractor.extract([PAGE, other, "", "no markup"])
        assert found.texts[0] == found.texts[1] == expected
        assert found.texts[3] == ("body" if method == "tags" else "")
        assert found.failures == []


def test_structure_finds_pages_of_one_template(tmp_path):
    body = "<h1>{}</h1>" + "<p>{}</p><ul><li>{}</li></ul>" * 12
    pages = {name: body.format(*(f"{name}{i} text" for i in range(25))) for name in ("rain", "snow")}
    pages["other"] = "<table>" + "<tr><td>rain0 text</td></tr>" * 30 + "</table>"
    for name, page in pages.items():
        (tmp_path / f"{name}.html").write_text(f"<html><body>{page}</body></html>")
    same = nd.dedup(nd.read(tmp_path), nd.Config(html="tags"))
    assert [same.ids[d.row] for d in same.dropped] == ["snow.html"]
    assert not nd.dedup(nd.read(tmp_path), nd.Config(html="whole")).dropped
