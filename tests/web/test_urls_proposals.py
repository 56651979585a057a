"""Rules learnt from URLs whose content is known: what is found, what is refused, and with which evidence."""

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.budgets import budget

import neardup as nd
from neardup import sample
from neardup.web.url_lists import read_pairs

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import make_crawl


def said(learnt):
    return {(p.rule.kind, p.rule.host, p.rule.names or p.rule.to): p for p in learnt.proposals}


def test_the_bundled_crawl_is_what_its_tool_makes():
    assert sample.path("crawl.tsv").read_text(encoding="utf-8") == make_crawl.text()


def test_what_the_bundled_crawl_teaches():
    crawl = list(read_pairs(sample.path("crawl.tsv")))
    learnt = nd.urls.learn_url_rules(contents=crawl)
    found = said(learnt)
    assert {key for key, proposal in found.items() if proposal.accepted} == {
        ("host-alias", "cdn.example.org", "handbook.example.org"),
        ("host-alias", "m.shop.example.com", "shop.example.com"),
        ("drop-parameter", "shop.example.com", ("view",)),
        ("drop-parameter", "shop.example.com", ("visit",)),
        ("same-prefix", "shop.example.com", ("/en", "")),
        ("same-suffix", "shop.example.com", (".html", "")),
    }
    # The partial mirror shares too little, and the host on the same software says otherwise.
    partial = found["host-alias", "backup.example.com", "handbook.example.org"]
    assert not partial.accepted and partial.rule.counter == 0 and partial.overlap == pytest.approx(9 / 21)
    software = found["host-alias", "club.example.net", "handbook.example.org"]
    assert not software.accepted and software.rule.counter == 9
    contents = dict(crawl)
    by_form = {nd.urls.canonical_url(url): content for url, content in crawl}
    assert all(by_form[one] != by_form[other] for one, other in software.counter_examples)
    # With the rules, URLs are one exactly where their contents are, but for the pages of the partial mirrors.
    groups = nd.urls.canonical_urls(contents, learnt.rules).groups()
    urls = list(contents)
    assert all(len({contents[urls[row]] for row in rows}) == 1 for rows in groups.values())
    shop = [url for url in urls if "shop.example.com" in url]
    assert len(set(nd.urls.canonical_urls(shop, learnt.rules))) == len({contents[url] for url in shop})


def test_a_parameter_that_matters_anywhere_is_refused_with_the_counter_example():
    contents = {f"http://a.com/p{i}?lang={lang}": f"{i}" for i in range(5) for lang in ("de", "en")}
    contents |= {"http://a.com/q?lang=de": "deutsch", "http://a.com/q?lang=en": "english"}
    [proposal] = nd.urls.learn_url_rules(contents=contents).proposals
    assert not proposal.accepted and (proposal.rule.support, proposal.rule.counter) == (5, 1)
    assert proposal.counter_examples == (("https://a.com/q?lang=de", "https://a.com/q?lang=en"),)
    [lenient] = nd.urls.learn_url_rules(contents=contents, max_counter=0.2).proposals
    assert lenient.accepted


def test_one_page_for_every_unknown_id_teaches_nothing():
    contents = {f"http://a.com/item?id={i}": "not found" for i in range(50)}
    contents |= {f"http://a.com/item?id={i}": f"item {i}" for i in range(50, 60)}
    assert not nd.urls.learn_url_rules(contents=contents).accepted


def test_one_page_under_every_path_and_host_teaches_nothing():
    contents = {f"http://a.com/{path}?id={i}": "not found" for path in "pqrst" for i in range(9)}
    [proposal] = nd.urls.learn_url_rules(contents=contents).proposals
    assert not proposal.accepted and proposal.rule.support == 1
    parked = {f"http://{host}.com/{i}": "for sale" for host in "ab" for i in range(9)}
    assert not nd.urls.learn_url_rules(contents=parked).accepted


def test_parameters_that_only_change_together_are_one_rule():
    contents = {f"http://a.com/p{i}?t={i}{k}&u={k}{i}": f"{i}" for i in range(6) for k in range(3)}
    found = said(nd.urls.learn_url_rules(contents=contents))
    assert found["drop-parameter", "a.com", ("t", "u")].accepted


def test_hidden_rules_come_out_in_rounds():
    """The alias is seen only after the parameter of the phones' host is known not to matter."""
    contents = {f"http://a.com/p{i}": f"{i}" for i in range(8)}
    contents |= {f"http://m.a.com/p{i}?n={i}{k}": f"{i}" for i in range(8) for k in range(2)}
    learnt = nd.urls.learn_url_rules(contents=contents)
    assert len(set(nd.urls.canonical_urls(contents, learnt.rules))) == 8


def test_capitals():
    contents = {
        f"http://a.com/{form}": name for name in ("alpha", "beta", "gamma") for form in (name, name.title())
    }
    assert said(nd.urls.learn_url_rules(contents=contents))["path-case", "a.com", ""].accepted


def test_pairs_alone_are_taken_as_complete():
    pairs = [(f"http://a.com/{i}?r=1", f"http://a.com/{i}?r=2") for i in range(4)]
    assert nd.urls.learn_url_rules(pairs).accepted
    # The same URLs, paired otherwise, say that r matters.
    assert not nd.urls.learn_url_rules([*pairs[:2], ("http://a.com/2?r=1", "http://a.com/x"), ("http://a.com/2?r=2", "http://a.com/y"),
                                   pairs[3]]).accepted  # fmt: skip


def test_urls_with_two_contents_are_left_out():
    contents = [(f"http://a.com/{i}?r={r}", f"{i}") for i in range(4) for r in (1, 2)]
    unstable = [("http://a.com/0?r=1", "another time")]
    [proposal] = nd.urls.learn_url_rules(contents=[*contents, *unstable]).proposals
    assert proposal.accepted and proposal.rule.support == 3


def test_bad_settings():
    for wrong in ({"min_support": 0}, {"max_counter": 1.0}, {"min_overlap": 2}):
        with pytest.raises(nd.ConfigError):
            nd.urls.learn_url_rules([], **wrong)


URL = st.builds(
    lambda host, path, query: f"http://{host}/{'/'.join(path)}?{'&'.join(query)}",
    st.sampled_from(["a.com", "m.a.com", "b.org"]),
    st.lists(st.sampled_from(["x", "X", "en", "y.html", "y", "%C3%A9", "..", "p;q"]), max_size=3),
    st.lists(st.sampled_from(["a=1", "a=2", "b=1", "b=2", "c", "*=1", "=3"]), max_size=3),
)


@settings(max_examples=budget(150))
@given(st.dictionaries(URL, st.sampled_from("uvw"), max_size=25), st.integers(1, 3))
def test_accepted_rules_never_merge_known_different_pages(contents, support):
    """Whatever is learnt: no two URLs of different content become one that were not one before."""
    learnt = nd.urls.learn_url_rules(contents=contents, min_support=support)
    before, after = nd.urls.canonical_urls(contents), nd.urls.canonical_urls(contents, learnt.rules)
    label = {}
    for form, content in zip(before, contents.values(), strict=True):
        label.setdefault(form, set()).add(content)
    groups = {}
    for form, new in zip(before, after, strict=True):
        groups.setdefault(new, set()).add(form)
    for forms in groups.values():
        certain = [label[form] for form in forms if len(label[form]) == 1]
        assert all(one == certain[0] for one in certain)
    assert nd.urls.canonical_urls(after, learnt.rules).urls == after.urls
    for proposal in learnt.proposals:
        assert proposal.rule.support >= 1
        assert proposal.accepted <= (proposal.rule.support >= support and proposal.rule.counter == 0)
