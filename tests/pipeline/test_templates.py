"""Templates: what is learnt of sources, and what leaving it out does to real pages."""

import csv
import gzip
import itertools
import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command import run

import neardup as nd
from neardup.clusters.keepers import host_of
from neardup.features.lines import lines_of, recurring_lines, without_lines

# What is recommended for pages of the web; docs/how-to/templates.md has the table.
WEB = nd.Config(
    features=nd.Shingles(normalize=nd.Normalize(digits="fold")),
    verify=nd.Jaccard(0.6),
    templates=nd.Templates(share=0.05),
    html="main",
)
MENU = "Home Products Support About us Contact\nSign in or make a new account today"
FOOTER = "All rights reserved by the owners of this site\nYou are visitor number {n} today"


def pages(host, count, body):
    return [
        nd.Document(
            f"{host}-{n}",
            f"{MENU}\n{body(n)}\n{FOOTER.format(n=1000 + n)}",
            {"url": f"https://www.{host}/{n}"},
        )
        for n in range(count)
    ]


def words(n, many=26):
    return " ".join(f"{chr(97 + n // 26)}{chr(97 + n % 26)}{chr(97 + i)}" for i in range(many))


TEMPLATES = {"templates": nd.Templates(share=0.3, least=10), "keep": nd.Keep(source="host:url")}


def config():
    return nd.Config(**TEMPLATES)


def test_what_recurs_in_a_host_is_learnt_and_small_hosts_are_left_alone():
    documents = pages("shop.example", 20, words) + pages("small.example", 3, words)
    learnt = nd.pipeline.learn_templates(documents, config())
    (one,) = learnt.sources
    assert (one.source, one.documents, learnt.small) == ("shop.example", 20, 1)
    assert one.lines == 3  # the two of the menu and the first of the footer; the counter differs
    assert {text for text, _ in one.line_samples} == set(
        nd.features.normalize([*MENU.splitlines(), FOOTER.splitlines()[0]])
    )
    assert all(count == 20 for _, count in one.line_samples)
    assert one.passages[0] == (nd.features.normalize([MENU])[0], 20)
    menu, footer = (len(nd.features.tokens([text])[0]) - 4 for text in (MENU, FOOTER.split("{")[0]))
    every = len(nd.Shingles().extract([documents[0].text]).hashes)
    assert one.features == menu + footer
    assert one.share == pytest.approx((menu + footer) / every)


def test_passages_are_counted_in_all_documents_of_a_source():
    """Also what the first of them have not: the notice is in every page from the 100th on."""
    notice = "please mind the new opening hours of our shop in the harbour"
    own = [" ".join(f"own{page}x{i}" for i in range(12)) for page in range(200)]
    documents = [
        nd.Document(f"{page}", f"{text} {notice if page >= 100 else ''}", {"url": f"http://a.com/{page}"})
        for page, text in enumerate(own)
    ]
    config = nd.Config(templates=nd.Templates(share=0.05), keep=nd.Keep(source="host:url"))
    [source] = nd.pipeline.learn_templates(documents, config).sources
    assert source.passages == ((notice, 100),)


def test_strip_takes_template_lines_out_and_empties_nothing():
    documents = pages("shop.example", 20, words)
    learnt = nd.pipeline.learn_templates(documents, config())
    assert learnt.strip(documents[3].text, "shop.example").splitlines() == [
        words(3),
        "You are visitor number 1003 today",
    ]
    assert learnt.strip(MENU, "shop.example") == MENU
    assert learnt.strip(documents[3].text, "other.example") == documents[3].text


def test_exact_digests_find_what_needed_near_duplicate_search():
    # Ten pages, each under two counters; and two that differ in a figure of their own.
    documents = pages("shop.example", 20, lambda n: words(n // 2))
    documents[18:] = pages("shop.example", 2, lambda n: f"{words(99)} price {n}")
    learnt = nd.pipeline.learn_templates(documents, config())
    assert learnt.exact == (0, 0, 10)
    assert learnt.figures == 10
    same = pages("shop.example", 20, lambda n: words(n // 2))
    same = [
        nd.Document(d.id, d.text.replace(f"number {1000 + n}", "number"), d.meta) for n, d in enumerate(same)
    ]
    menus = [
        nd.Document(d.id, d.text if n % 2 else d.text.replace(MENU, ""), d.meta) for n, d in enumerate(same)
    ]
    learnt = nd.pipeline.learn_templates(menus, config())
    assert learnt.exact == (0, 10, 10)
    assert learnt.figures == 0


def test_pages_similar_only_in_the_template_part_and_pages_that_differ_only_there_are_found():
    documents = pages("shop.example", 20, lambda n: words(n, 12))
    documents.append(nd.Document("copy", words(4, 12), {"url": "http://shop.example/copy"}))
    made = nd.Config(features=nd.Shingles(normalize=nd.Normalize(digits="fold")), verify=nd.Jaccard(0.39))

    def found(config):
        pairs = (result := nd.dedup(documents, config)).pairs
        return {(result.ids[a], result.ids[b]) for a, b in zip(pairs.left, pairs.right, strict=True)}

    before, after = found(made), found(replace(made, **TEMPLATES))
    assert len(before) > 100
    assert all("copy" not in pair for pair in before)
    assert after == {("shop.example-4", "copy")}


def test_lines_are_left_out_before_shingles_are_made():
    # A label between any two lines breaks every run of words, and is too short to be a shingle of its own.
    def page(n, label):
        one = [f"{a} {b}" for a, b in zip(words(n).split()[::2], words(n).split()[1::2], strict=True)]
        return f"\n{label}\n".join(one)

    documents = [nd.Document(f"a{n}", page(n, "read more"), {}) for n in range(12)]
    documents += [nd.Document(f"b{n}", page(n, "see also"), {}) for n in range(12)]
    found = {}
    for lines in (False, True):
        settings = nd.Templates(share=0.3, least=10, lines=lines)
        result = nd.dedup(documents, nd.Config(verify=nd.Jaccard(0.8), templates=settings))
        pairs = zip(result.pairs.left, result.pairs.right, strict=True)
        found[lines] = {(result.ids[a], result.ids[b]) for a, b in pairs}
    assert found[False] == set()
    assert found[True] == {(f"a{n}", f"b{n}") for n in range(12)}


def test_a_page_of_template_lines_alone_is_not_emptied():
    documents = [nd.Document(f"t{n}", f"{MENU}\n{words(n)}", {}) for n in range(20)]
    turned = "\n".join(reversed(MENU.splitlines()))
    documents += [nd.Document("m1", MENU, {}), nd.Document("m2", turned, {})]
    settings = nd.Templates(share=0.3, least=10)
    result = nd.dedup(documents, nd.Config(features=nd.Words(), templates=settings))
    assert [result.ids[d.row] for d in result.dropped] == ["m2"]


TEXTS = st.lists(
    st.lists(st.sampled_from(["a b", "A, b!", "c", "", " ", "d e f", "é 1", "é 2"]), max_size=6).map(
        "\n".join
    ),
    max_size=6,
)


@given(TEXTS, st.integers(0, 3), st.booleans())
def test_lines_equal_the_definition(texts, often, fold):
    how = nd.Normalize(digits="fold" if fold else "keep")
    features = nd.Shingles(normalize=how)
    raw = [text.encode() for text in texts]
    counts = Counter(
        line for text in texts for line in set(nd.features.normalize(text.split("\n"), how)) - {""}
    )
    known, many = recurring_lines(iter([lines_of(raw, features)]), often)
    assert sorted(many.tolist()) == sorted(count for count in counts.values() if count > often)
    recurring = {line for line, count in counts.items() if count > often}
    for text, left in zip(texts, without_lines(raw, known, features, 2), strict=True):
        lines = text.split("\n")
        kept = [line for line in lines if nd.features.normalize([line], how)[0] not in recurring]
        expected = kept if any(nd.features.normalize(kept, how)) else lines
        assert [line for line in left.decode().split("\n") if line] == [line for line in expected if line]


def test_long_lines_are_no_template():
    long = " ".join(f"w{i}" for i in range(1500)).encode()
    assert len(lines_of([long] * 3, nd.Shingles())) == 0
    known = lines_of([b"menu"], nd.Shingles())
    assert without_lines([b"menu\n" + long, b"menu"], known, nd.Shingles()) == [long, b"menu"]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://www.Example.org:8080/a?b", "example.org"),
        ("example.org/a", "example.org"),
        ("http://user@sub.example.org./", "sub.example.org"),
        ("", ""),
        ("http://[::1", ""),
    ],
)
def test_hosts_are_sources(url, host):
    assert host_of(url) == host


def test_hosts_are_sources_of_a_scan(tmp_path):
    path = tmp_path / "pages.jsonl"
    with open(path, "w") as file:
        for d in pages("a.example", 3, words) + pages("b.example", 3, words):
            file.write(json.dumps({"id": d.id, "text": d.text, **d.meta}) + "\n")
    found = nd.scan(path, tmp_path / "out", nd.Config(keep=nd.Keep(source="host:url", prefer=("b.example",))))
    dropped = found.ids(found.cut().dropped)
    assert sorted(dropped) == ["a.example-0", "a.example-1", "a.example-2"]


def labelled(data):
    with open(data / "wiki_html_variants" / "truth_pairs.tsv", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_wikipedia_pages_that_differ_in_boilerplate_are_pairs_and_swapped_bodies_are_not(data):
    folder = data / "wiki_html_variants"
    result = nd.dedup(folder / "docs.jsonl.gz", WEB, threads=2)
    scored = nd.evaluate.score(result, folder / "truth_pairs.tsv")
    assert scored.recall.value >= 0.95
    assert scored.precision.value >= 0.95
    row, first = {name: i for i, name in enumerate(result.ids)}, result.found.first
    pairs = set(zip(result.pairs.left.tolist(), result.pairs.right.tolist(), strict=True))
    hits = {}
    for pair in labelled(data):
        a, b = sorted(int(first[row[pair[name]]]) for name in ("id_a", "id_b"))
        hits.setdefault(pair["note"], []).append(a == b or (a, b) in pairs)
    shares = {note: sum(some) / len(some) for note, some in hits.items()}
    assert shares.pop("full_content_swap") == 0
    assert len(shares) == 5
    assert min(shares.values()) >= 0.95, shares


def test_the_command_shows_what_was_learnt_and_what_it_changes(data, tmp_path):
    folder = data / "wiki_html_variants"
    arguments = ["templates", str(folder / "docs.jsonl.gz"), "--threshold", "0.6", "--samples", "2"]
    answer = json.loads(
        run(*arguments, "--fold-digits", "--truth", str(folder / "truth_pairs.tsv"), "--json").stdout
    )
    exact = answer["exact"]
    assert exact["before"] < exact["without_lines"] <= exact["folded"]
    assert answer["sources"][0]["line_samples"][0][0] == "jump to content"
    quality = answer["effect"]["quality"]
    assert set(quality) == {"nothing", "shingles", "lines and shingles"}
    assert min(quality["lines and shingles"].values()) >= 0.95
    # How it is shown, and with other settings, a third of the pages shows as well.
    some = tmp_path / "some.jsonl"
    with gzip.open(folder / "docs.jsonl.gz", "rb") as pages:
        some.write_bytes(b"".join(itertools.islice(pages, 110)))
    arguments[1] = str(some)
    kept = json.loads(run(*arguments, "--keep-lines", "--json").stdout)["effect"]["pairs"]
    assert set(kept) == {"nothing", "shingles"}
    shown = run(*arguments)
    assert shown.returncode == 0
    assert b"jump to content" in shown.stdout
    assert b"without template lines" in shown.stdout
    assert run("templates", "no-such-file.jsonl").returncode == 1
