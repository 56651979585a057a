"""Canonical URLs: each rule by example, then the promises that hold for any text whatever."""

import gzip
import html
import json
import re
import socket
import string
import sys
from urllib.parse import urljoin

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.budgets import budget

import neardup as nd
from neardup.web import suffixes
from neardup.web.urls import STANDARD, SiteRule
from neardup.web.urls import parser as url_parser
from neardup.web.urls.steps import RULES

ONE_PAGE = [
    "http://example.com/docs",
    "https://example.com/docs",
    "HTTPS://WWW.EXAMPLE.COM:443/docs/",
    "http://example.com:80/docs/index.html",
    "http://example.com/a/b/../../docs/./",
    "http://example.com/%64ocs#chapter-2",
    "http://www.example.com./docs?utm_source=mail&utm_campaign=x",
    "https://example.com/docs;jsessionid=0AB1C2",
    "https://example.com/docs?PHPSESSID=1b2c&fbclid=xyz",
    " http:\\\\example.com\\docs\t",
    "https://example.com/docs?",
    "https://example.com/(S(lit3py55t21z5v55vlm25s55))/docs",
]


def test_the_many_urls_of_one_page_are_one():
    made = nd.urls.canonical_urls(ONE_PAGE)
    assert set(made) == {"https://example.com/docs"}
    assert len(made.unparsed) == 0
    assert made.firsts().tolist() == [0]
    assert made.groups() == {"https://example.com/docs": list(range(len(ONE_PAGE)))}


# (rule, url, with only that rule, with that rule off)
BY_RULE = [
    ("scheme", "http://a.example/", "https://a.example/", "http://a.example/"),
    ("scheme", "http://a.example:443/", "https://a.example:443/", "http://a.example:443/"),
    ("host-case", "https://A.Example/", "https://a.example/", "https://A.Example/"),
    ("host-case", "https://WWW.A.com./", "https://www.a.com./", "https://A.com/"),
    ("default-port", "https://a.example:0443/", "https://a.example/", "https://a.example:443/"),
    ("default-port", "http://a.example:80/", "http://a.example/", "https://a.example:443/"),
    ("default-port", "http://a.example:443/", "http://a.example:443/", "https://a.example:443/"),
    ("dot-segments", "https://a.example/b/../c/%2E/", "https://a.example/c/", "https://a.example/b/../c/."),
    ("credentials", "https://u:p@a.example/", "https://a.example/", "https://u:p@a.example/"),
    ("host-dot", "https://a.example./", "https://a.example/", "https://a.example./"),
    ("www", "https://www.www.a.com/", "https://a.com/", "https://www.www.a.com/"),
    ("path-case", "https://a.com/Ab%c3%A9", "https://a.com/ab%C3%A9", "https://a.com/Ab%C3%A9"),
    (
        "percent-encoding",
        "https://a.com/%7e%2f|?x=%3a+%26",
        "https://a.com/~%2F%7C?x=:%20%26",
        "https://a.com/%7e%2f|?x=%3a+%26",
    ),
    (
        "session-path",
        "https://a.com/p;jsessionid=1;v=2/q",
        "https://a.com/p;v=2/q",
        "https://a.com/p;jsessionid=1;v=2/q",
    ),
    ("double-slash", "https://a.com//b///c", "https://a.com/b/c", "https://a.com//b///c"),
    ("session", "https://a.com/?PHPSESSID=1&id=2", "https://a.com/?id=2", "https://a.com/?PHPSESSID=1&id=2"),
    ("session", "https://a.com/?sid=42", "https://a.com/?sid=42", "https://a.com/?sid=42"),
    (
        "session",
        "https://a.com/?sid=0123456789abcdef0",
        "https://a.com/",
        "https://a.com/?sid=0123456789abcdef0",
    ),
    (
        "tracking",
        "https://a.com/?UTM_x=1&id=2&gclid=3",
        "https://a.com/?id=2",
        "https://a.com/?UTM_x=1&gclid=3&id=2",
    ),
    ("empty-query", "https://a.com/?a=1&&b=2", "https://a.com/?a=1&b=2", "https://a.com/?&a=1&b=2"),
    ("empty-query", "https://a.com/?", "https://a.com/", "https://a.com/?"),
    ("fragment", "https://a.com/#", "https://a.com/", "https://a.com/#"),
    ("query-order", "https://a.com/?b=1&a=2&b=0", "https://a.com/?a=2&b=1&b=0", "https://a.com/?b=1&a=2&b=0"),
    ("fragment", "https://a.com/#top", "https://a.com/", "https://a.com/#top"),
    ("fragment", "https://a.com/#!/top", "https://a.com/#!/top", "https://a.com/#!/top"),
    ("hash-route", "https://a.com/#/top", "https://a.com/", "https://a.com/#/top"),
    ("index", "https://a.com/b/Index.PHP", "https://a.com/b/", "https://a.com/b/Index.PHP"),
    ("trailing-slash", "https://a.com/b//", "https://a.com/b", "https://a.com/b//"),
]


@pytest.mark.parametrize(("rule", "url", "alone", "without"), BY_RULE)
def test_each_rule_alone_and_left_out(rule, url, alone, without):
    assert nd.urls.canonical_url(url, nd.urls.UrlRules.only(rule)) == alone
    assert nd.urls.canonical_url(url, nd.urls.UrlRules(off=(rule,))) == without


def test_every_rule_is_tried_above_and_said_in_the_list():
    assert {row[0] for row in BY_RULE} == {rule.name for rule in RULES} == set(nd.urls.UrlRules.known())
    assert nd.urls.UrlRules.only("www", "fragment").names == ("www", "fragment")
    assert nd.urls.UrlRules.only().names == ()


@pytest.mark.parametrize(
    "host",
    ["www.com", "www.co.uk", "www.github.io", "www.ck", "www.1.2.3", "www.localhost", "wwww.example.com"],
)
def test_www_is_kept_where_no_registered_name_would_remain(host):
    assert nd.urls.canonical_url(f"https://{host}/") == f"https://{host}/"


def test_international_hosts_are_one_in_every_spelling():
    forms = [
        "http://bücher.example/",
        "http://BÜCHER.example/",
        "http://xn--bcher-kva.example/",
        "http://bu\u0308cher.example",
    ]
    assert set(nd.urls.canonical_urls(forms)) == {"https://xn--bcher-kva.example/"}
    assert nd.urls.canonical_url("http://www.пример.рф/") == "https://xn--e1afmkfd.xn--p1ai/"


def test_urls_that_must_be_different():
    urls = [
        "http://a.com/?id=1",
        "http://a.com/?id=2",
        "http://a.com/?a&b",
        "http://a.com:8080/",
        "http://b.a.com/",
    ]
    urls += [
        "http://a.com/x;v=1",
        "http://a.com/A",
        "http://a.com/a",
        "http://a.com/a%2Fb",
        "http://a.com/a/b",
    ]
    urls += ["http://a.com/?q=a%26b", "http://a.com/?q=a&b", "http://a.com/?q=a%2Bb", "http://a.com/?q=a+b"]
    assert len(set(nd.urls.canonical_urls(urls))) == len(urls)


def test_other_schemes_are_only_parsed():
    assert nd.urls.canonical_url("mailto:A@B.example?utm_source=x") == "mailto:A@B.example?utm_source=x"
    assert nd.urls.canonical_url("ftp://www.A.com:21/x/../y/") == "ftp://www.a.com/y/"


@pytest.mark.parametrize(
    "text", ["", "  ", "//host/path", "example.com", "http://", "http://a b/", "http://[::1", "\ud800"]
)
def test_what_is_no_url_comes_back_and_is_reported(text):
    made = nd.urls.canonical_urls(["https://a.com/", text])
    assert made.urls == ["https://a.com/", text.strip()]
    assert made.unparsed.tolist() == [1] and made.unparsed.dtype == np.int64
    said = nd.urls.explain_url(text)
    assert not said.parsed and said.canonical == text.strip()


def test_lists_are_extended_and_parameters_kept():
    rules = nd.urls.UrlRules(tracking=("promo_*", "from"), session=("cart",), keep=("GCLID", "utm_c*"))
    url = "https://a.com/?promo_a=1&from=2&cart=3&gclid=4&utm_campaign=5&utm_source=6&id=7"
    assert nd.urls.canonical_url(url, rules) == "https://a.com/?gclid=4&id=7&utm_campaign=5"


def test_mistaken_rules_say_what_is_wrong():
    with pytest.raises(nd.ConfigError, match="part of parsing"):
        nd.urls.UrlRules(off=("host-encoding",))
    with pytest.raises(nd.ConfigError, match="no rule 'wwww'"):
        nd.urls.UrlRules(on=("wwww",))
    with pytest.raises(nd.ConfigError, match="must be a list"):
        nd.urls.UrlRules(tracking="promo")
    with pytest.raises(nd.ConfigError, match="parameter name"):
        nd.urls.UrlRules(keep=("*",))
    with pytest.raises(nd.DataError, match="URL 1 is int"):
        nd.urls.canonical_urls(["https://a.com/", 3])


def test_explanation_names_the_rules_in_order():
    said = nd.urls.explain_url("HTTP://WWW.Example.com:80/a/../B/?utm_source=x&b=2&a=1#top")
    assert [step.rule for step in said.steps] == [
        *("scheme-case", "host-case", "default-port", "dot-segments"),
        *("scheme", "www", "tracking", "query-order", "fragment", "trailing-slash"),
    ]
    assert said.canonical == "https://example.com/B?a=1&b=2"
    assert said.to_json()["steps"][0]["rule"] == "scheme-case"


def test_explanation_leaves_out_what_is_off():
    url = "http://A.Example:80/b/../C/#top"
    said = nd.urls.explain_url(url, nd.urls.UrlRules.only("fragment"))
    assert [step.rule for step in said.steps] == ["fragment"]
    assert said.canonical == "http://A.Example:80/b/../C/"
    for rule in ("host-case", "default-port", "dot-segments"):
        assert rule in [step.rule for step in nd.urls.explain_url(url).steps]
        assert rule not in [
            step.rule for step in nd.urls.explain_url(url, nd.urls.UrlRules(off=(rule,))).steps
        ]


def test_a_path_may_hold_the_name_that_replaces_dots():
    url = "https://a.com/dot-segment/../dot-segments/./x"
    assert nd.urls.canonical_url(url, nd.urls.UrlRules(off=("dot-segments",))) == url


def test_the_suffix_list_is_read_without_a_network(monkeypatch, tmp_path):
    def refuse(*_, **__):
        raise AssertionError("something was fetched")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("HOME", str(tmp_path))
    suffixes._extractor.cache_clear()
    suffixes.registered_name.cache_clear()
    assert nd.urls.canonical_url("http://www.never-seen-before.co.uk/") == "https://never-seen-before.co.uk/"
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize(
    ("module", "cache"), [("can_ada", url_parser.parser), ("tldextract", suffixes._extractor)]
)
def test_a_missing_package_says_what_to_type(monkeypatch, module, cache):
    monkeypatch.setitem(sys.modules, module, None)
    cache.cache_clear()
    try:
        with pytest.raises(nd.errors.MissingExtra, match=r"neardup\[web\]"):
            nd.urls.canonical_url("http://www.not-asked-before.com/")
    finally:
        cache.cache_clear()


# Text that looks enough like URLs to get deep into the rules.
HOSTS = [
    "a.com",
    "www.a.com",
    "www.www.co.uk",
    "WWW.X.example.",
    "1.2.3",
    "1.2..",
    "0x7f.1",
    "[::1]",
    "bücher.de",
]
HOSTS += ["u:p@a.com", "a.com:80", "a.com:443", "a.com:8080", "..", "www.", "%41.com", "a%2ecom", "xn--a"]
BITS = [
    "index.html",
    "Index.HTM",
    "..",
    ".",
    "%2e%2E",
    "%",
    "%%32%65",
    "%25",
    "%7e",
    ";jsessionid=1",
    ";sid=",
]
BITS += [
    "(S(abcdefgh1))",
    "//",
    "/",
    "\\",
    " ",
    "+",
    "é",
    "\t",
    "'",
    "|",
    "&",
    "=",
    "?",
    "#",
    "#!",
    "utm_source=1",
]
BITS += [
    "sid=0123456789abcdef",
    "%C3%a9",
    "a",
    "B",
    ".html",
    "/en",
    "/En/",
    "old",
    "\ud800",
    "\u00a0",
    "\x00",
    "~",
]
PIECES = st.one_of(st.sampled_from(BITS), st.text(string.printable, max_size=3), st.characters())
CONSTRUCTED = st.builds(
    lambda scheme, host, bits: f"{scheme}{host}/{''.join(bits)}",
    st.sampled_from(
        ["http://", "https://", "HTTP:", "https:\\\\", "ftp://", "x:", "data:", "file://", "ws://", ""]
    ),
    st.sampled_from(HOSTS),
    st.lists(PIECES, max_size=12),
)
SITES = (
    SiteRule("drop-parameter", "a.com", ("a", "old*")),
    SiteRule("same-prefix", "a.com", ("/en", "")),
    SiteRule("same-prefix", "www.a.com", ("/old", "/B")),
    SiteRule("same-suffix", "a.com", (".html", "")),
    SiteRule("same-suffix", "a.com", ("/a", ".a")),
    SiteRule("path-case", "a.com"),
    SiteRule("host-alias", "a.com:8080", to="www.a.com"),
)
RULE_SETS = st.builds(
    lambda names, sites: nd.urls.UrlRules(
        off=tuple(n for n in nd.urls.UrlRules.known() if n not in names), on=tuple(names), sites=sites
    ),
    st.sets(st.sampled_from(sorted(nd.urls.UrlRules.known()))),
    st.sampled_from([(), SITES]),
)


def check(url, rules):
    once = nd.urls.canonical_urls([url], rules)
    assert nd.urls.canonical_urls(once, rules).urls == once.urls
    said = nd.urls.explain_url(url, rules)
    assert said.canonical == once[0]
    assert said.parsed == (len(once.unparsed) == 0)
    steps = [said.url, *(step.after for step in said.steps)]
    assert [step.before for step in said.steps] == steps[:-1] and steps[-1] == said.canonical
    assert {step.rule for step in said.steps} <= {*STANDARD, *nd.urls.UrlRules.known(), "site"}


@settings(max_examples=budget(400))
@example("http://a.com/index.html/index.html/")
@example("http://a.com/x/..;jsessionid=1/y")
@example("http://a.com/%%32%65%%32%65/x")
@example("http://1.2../")
@given(CONSTRUCTED)
def test_canonical_of_canonical_is_itself(url):
    check(url, nd.urls.UrlRules())


@settings(max_examples=budget(400))
@given(CONSTRUCTED, RULE_SETS)
def test_so_it_is_under_any_rules(url, rules):
    check(url, rules)


@given(st.text())
def test_no_text_makes_it_raise(text):
    check(text, nd.urls.UrlRules())


@given(st.lists(CONSTRUCTED, max_size=8))
def test_a_batch_is_its_urls_one_by_one(urls):
    assert nd.urls.canonical_urls(urls).urls == [nd.urls.canonical_url(url) for url in urls]


@pytest.mark.parametrize("length", [16_000, 1_000_000])
@pytest.mark.parametrize(
    "unit", ["/..", "/index.html", ";jsessionid=1/..", "&a=1", "%2", "|", "//", "/en", "?#", "/a.html"]
)
def test_long_urls_end_in_a_canonical_form(unit, length):
    url = f"http://a.com/{unit * (length // len(unit))}"
    check(url, nd.urls.UrlRules(sites=SITES))
    check(
        url.replace("a.com", "A.com:80"), nd.urls.UrlRules(off=("host-case", "default-port", "dot-segments"))
    )


def test_the_links_of_real_pages(data):
    """315 pages of an encyclopedia: every link has a form, and a page is where it says it is."""
    with gzip.open(data / "wiki_html_variants" / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        pages = [json.loads(line) for line in file]
    links = set()
    for page in pages:
        for link in re.findall(r'href="([^"]+)"', page["html"]):
            links.add(urljoin(page["url"], html.unescape(link)))
    made = nd.urls.canonical_urls(sorted(links))
    assert len(links) > 5000 and len(made.unparsed) == 0
    assert nd.urls.canonical_urls(made).urls == made.urls
    assert not any(re.search(r"[?&](utm_|wmf_)", form) for form in made)
    named = [
        (page["url"], re.findall(r'<link rel="canonical" href="([^"]+)"', page["html"])) for page in pages
    ]
    claims = [(url, html.unescape(claim[0])) for url, claim in named if claim]
    assert len(claims) > 0
    redirects = nd.urls.Redirects.of(claims)
    assert redirects.loops == ()
    assert (
        nd.urls.canonical_urls(url for url, _ in claims).urls
        == nd.urls.canonical_urls(claim for _, claim in claims).urls
    )
