"""Mirrors against the definition, counted naively, and on the crawl that has one of each kind."""

import gzip
import json
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.budgets import budget

import neardup as nd
from neardup import sample
from neardup.web.mirror_trees import Crawl
from neardup.web.mirrors import _suggested
from neardup.web.url_lists import read_pairs
from neardup.web.urls.contents import Contents


@pytest.fixture(scope="module")
def crawl():
    return list(read_pairs(sample.path("crawl.tsv")))


def named(mirrors):
    return {(str(mirror.left), str(mirror.right)) for mirror in mirrors}


def test_the_crawl_with_one_of_each_kind(crawl):
    found = nd.mirrors.find_mirrors(contents=crawl)
    names = named(found.mirrors)
    # The alias of a content network: the whole host.
    assert ("cdn.example.org/", "handbook.example.org/") in names
    # The mirror in another place, a few pages behind.
    assert ("handbook.example.org/", "mirror.example.net/pub/handbook/") in names
    whole = next(
        m for m in found.mirrors if str(m.right) == "mirror.example.net/pub/handbook/" and m.matched == 33
    )
    assert (whole.left_pages, whole.right_pages, whole.both, whole.matched) == (40, 35, 35, 33)
    assert (whole.left_share, whole.right_share) == (33 / 40, 33 / 35) and not whole.same_owner
    # The moved tree, and the partial mirror, each as the tree that matches and no more.
    assert ("handbook.example.org/old/edition-2/", "library.example.org/shelf/manuals/") in names
    assert any(left == "backup.example.com/guide/" for left, _ in names)
    assert not any(tree in ("backup.example.com/", "library.example.org/") for two in names for tree in two)
    # The unrelated host on the same software is nobody's mirror.
    everything = (*found.mirrors, *found.partial)
    assert not any("club.example.net" in str(tree) for m in everything for tree in (m.left, m.right))
    # No tree is reported again for a folder inside it.
    assert ("cdn.example.org/guide/", "handbook.example.org/guide/") not in names


def test_groups_and_the_same_path_elsewhere(crawl):
    found = nd.mirrors.find_mirrors(contents=crawl)
    largest = found.groups[0]
    assert [str(tree) for tree in largest.trees] == [
        "handbook.example.org/",
        "mirror.example.net/pub/handbook/",
        "cdn.example.org/",
    ]
    assert str(largest.preferred) == "handbook.example.org/"
    elsewhere = [other.url for other in found.same_page("http://cdn.example.org/guide/faq/")]
    assert elsewhere == [
        "https://handbook.example.org/guide/faq",
        "https://mirror.example.net/pub/handbook/guide/faq",
        "https://backup.example.com/guide/faq",
    ]
    assert (
        found.preferred_url("http://backup.example.com/guide/faq") == "https://handbook.example.org/guide/faq"
    )
    # A page nobody has seen there is worth a try; one outside of all trees has no mirror.
    unseen = {other.url: other.known for other in found.same_page("http://handbook.example.org/login")}
    assert unseen["https://mirror.example.net/pub/handbook/login"] is False
    assert unseen["https://cdn.example.org/login"] is True
    assert found.same_page("http://club.example.net/login") == () and found.same_page("no URL") == ()
    assert found.preferred_url("http://WWW.example.com/x/") == "https://example.com/x"
    assert found.preferred_url(" no URL ") == "no URL"
    chosen = nd.mirrors.find_mirrors(contents=crawl, prefer=["cdn.example.org"])
    assert chosen.preferred_url("http://backup.example.com/guide/faq") == "https://cdn.example.org/guide/faq"


def test_with_learnt_rules_no_aliases_are_left(crawl):
    rules = nd.urls.learn_url_rules(contents=crawl).rules
    names = named(nd.mirrors.find_mirrors(contents=crawl, rules=rules).mirrors)
    assert not any(tree.startswith(("cdn.", "m.")) for two in names for tree in two)
    assert ("handbook.example.org/", "mirror.example.net/pub/handbook/") in names


def test_pairs_and_digests_say_the_same(crawl):
    """All pairs of equal content, or only each page with the first of its content: the same mirrors."""
    first: dict[str, str] = {}
    star = [(first.setdefault(content, url), url) for url, content in crawl]
    by_content: dict[str, list[str]] = {}
    for url, content in crawl:
        by_content.setdefault(content, []).append(url)
    every = [(a, b) for urls in by_content.values() for i, a in enumerate(urls) for b in urls[:i]]
    urls = [url for url, _ in crawl]
    expected = nd.mirrors.find_mirrors(contents=crawl)
    for pairs in (star, every):
        found = nd.mirrors.find_mirrors(pairs, urls)
        # Direct pairs may show two mirrors of a third to be mirrors of each other: more lines, the same groups.
        assert named(expected.mirrors) <= named(found.mirrors)
        for url in urls:
            assert {o.url for o in found.same_page(url)} >= {o.url for o in expected.same_page(url)}


def test_order_of_the_input_does_not_matter(crawl):
    shuffled = crawl[:]
    random.Random(1).shuffle(shuffled)
    one, other = nd.mirrors.find_mirrors(contents=crawl), nd.mirrors.find_mirrors(contents=shuffled)
    assert one.mirrors == other.mirrors and one.partial == other.partial and one.groups == other.groups


def test_without_all_urls_shares_are_too_high():
    pairs = [(f"http://a.com/{i}", f"http://b.com/{i}") for i in range(6)]
    alone = [f"http://a.com/only/{i}" for i in range(6)]
    assert [m.left_share for m in nd.mirrors.find_mirrors(pairs).mirrors] == [1.0]
    assert nd.mirrors.find_mirrors(pairs, alone).mirrors == ()
    [half] = nd.mirrors.find_mirrors(pairs, alone).partial
    assert (half.left_share, half.right_share) == (0.5, 1.0)


def test_pages_on_all_hosts_cost_no_square_of_the_hosts():
    """400 hosts with the same four pages: 79,800 pairs of hosts, of which two for each page are looked at."""
    contents = [
        (f"http://h{i}.com/{page}", page) for i in range(400) for page in ("", "about", "login", "a/help")
    ]
    found = Contents.of(digests=contents)
    shown = _suggested(found, Crawl.of(found))
    assert len(shown) <= 2 * len(contents) * 2 and sum(shown.values()) <= 2 * len(contents) * 2
    assert nd.mirrors.find_mirrors(contents=contents).mirrors == ()
    # With enough of the four asked for, all of them are one group all the same.
    [group] = nd.mirrors.find_mirrors(contents=contents, min_pages=4).groups
    assert len(group.trees) == 400


def test_copies_within_one_host():
    contents = [
        (f"http://a.com{prefix}/p{i}", f"{i}") for i in range(9) for prefix in ("/old/docs", "/docs", "/x/y")
    ]
    contents += [(f"http://a.com/z{i}", f"z{i}") for i in range(9)]
    found = nd.mirrors.find_mirrors(contents=contents)
    [group] = found.groups
    assert {str(tree) for tree in group.trees} == {"a.com/old/docs/", "a.com/docs/", "a.com/x/y/"}
    nested = [(f"http://a.com{prefix}/p{i}", f"{i}") for i in range(9) for prefix in ("", "/en")]
    assert named(nd.mirrors.find_mirrors(contents=nested).mirrors) == {("a.com/", "a.com/en/")}


def test_bad_settings():
    for wrong in ({"threshold": 0.0}, {"threshold": 1.1}, {"min_pages": 0}):
        with pytest.raises(nd.ConfigError):
            nd.mirrors.find_mirrors([], **wrong)
    with pytest.raises(nd.DataError, match="two URLs"):
        nd.mirrors.find_mirrors(["http://a.com/"])


PATH = st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=4).map("/".join)


def naive_shares(contents, left, right):
    """Matches and sizes of two trees by the definition; a tree inside the other is no part of it."""
    (host1, a), (host2, b) = left, right

    def under(host, prefix, other_host, other):
        pages = {}
        for (page_host, path), content in contents.items():
            inside = path == prefix or path.startswith(f"{prefix}/")
            nested = host == other_host and other.startswith(f"{prefix}/")
            if (
                page_host == host
                and inside
                and not (nested and (path == other or path.startswith(f"{other}/")))
            ):
                pages[path[len(prefix) :]] = content
        return pages

    one, two = under(host1, a, host2, b), under(host2, b, host1, a)
    return len(one), len(two), sum(two.get(rest) == content for rest, content in one.items())


@settings(max_examples=budget(150))
@example({("h1.com", path): 0 for path in ("a/a", "a/a/a", "a/a/a/a", "a/a/b", "a/a/b/a")}, 0.5)
@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["h1.com", "h2.com", "h3.com"]), PATH), st.integers(0, 3), max_size=40
    ),
    st.sampled_from([0.5, 0.8, 1.0]),
)
def test_every_mirror_is_one_by_the_definition(pages, threshold):
    contents = {(host, f"/{path}"): content for (host, path), content in pages.items()}
    given_urls = {f"http://{host}{path}": str(content) for (host, path), content in contents.items()}
    found = nd.mirrors.find_mirrors(contents=given_urls, threshold=threshold, min_pages=2)
    for mirror, whole in [*((m, True) for m in found.mirrors), *((m, False) for m in found.partial)]:
        left, right = (mirror.left.host, mirror.left.prefix), (mirror.right.host, mirror.right.prefix)
        sizes = naive_shares(contents, left, right)
        assert sizes == (mirror.left_pages, mirror.right_pages, mirror.matched)
        low, high = sorted((sizes[2] / sizes[0], sizes[2] / sizes[1]))
        assert (low >= threshold) == whole and high >= threshold and sizes[2] >= 2
        for one, other in mirror.samples:
            assert given_urls[one.replace("https", "http")] == given_urls[other.replace("https", "http")]


@settings(max_examples=budget(150))
@given(
    st.sets(PATH, min_size=2, max_size=12),
    st.sampled_from(["", "/x", "/x/y"]),
    st.sampled_from(["", "/m"]),
    st.data(),
)
def test_a_mirror_that_is_there_is_found(paths, a, b, data):
    """Distinct pages copied whole, other pages beside them: every page's copy is found."""
    contents = {}
    for number, path in enumerate(sorted(paths)):
        contents[f"http://h1.com{a}/{path}"] = contents[f"http://h2.com{b}/{path}"] = f"page {number}"
    for host, prefix in (("h1.com", a), ("h2.com", b)):
        for number in range(
            data.draw(st.integers(0, 5)) if prefix else 0
        ):  # or the whole host would be no mirror
            contents[f"http://{host}/own{number}/z"] = f"{host} {number}"
    found = nd.mirrors.find_mirrors(contents=contents, threshold=1.0, min_pages=1)
    if (a and b) or not (a or b):
        assert (f"h1.com{a}/", f"h2.com{b}/") in named(found.mirrors)
    for path in paths:
        elsewhere = {other.url for other in found.same_page(f"http://h1.com{a}/{path}")}
        assert f"https://h2.com{b}/{path}" in elsewhere


def test_editions_of_a_real_manual(data):
    """Three editions of the Python manual: each tree is found to be the next one's, by near-duplicate pages alone."""
    folder = data / "pydoc_html_versions"
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        urls = {page["id"]: page["url"] for page in map(json.loads, file)}
    with gzip.open(folder / "exact_pairs.tsv.gz", "rt", encoding="utf-8") as file:
        rows = [line.split("\t") for line in file][1:]
    pairs = [(urls[a], urls[b]) for a, b, jaccard, *_ in rows if float(jaccard) >= 0.5]
    found = nd.mirrors.find_mirrors(pairs, urls.values(), threshold=0.6)
    assert ("docs.python.org/3.11/", "docs.python.org/3.9/") in named(found.mirrors)
    assert ("docs.python.org/3.11/", "docs.python.org/3.13/") in named(found.mirrors)
    elsewhere = {o.url for o in found.same_page("https://docs.python.org/3.11/library/email.header.html")}
    assert "https://docs.python.org/3.9/library/email.header.html" in elsewhere
