"""Rules for single sites and redirects: what they do, the files they come from, and mistakes in them."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.web.url_lists import read_pairs, read_urls


def with_sites(*sites):
    return nd.urls.UrlRules(sites=sites)


def test_parameters_of_one_host_are_dropped_there_only():
    rules = with_sites(nd.urls.SiteRule("drop-parameter", "www.shop.com", ("View", "sort_*")))
    urls = ["http://shop.com/?id=1&view=2&sort_by=3", "http://other.com/?id=1&view=2"]
    assert nd.urls.canonical_urls(urls, rules).urls == [
        "https://shop.com/?id=1",
        "https://other.com/?id=1&view=2",
    ]


def test_aliases_are_followed_to_their_end_and_take_its_rules():
    rules = with_sites(
        nd.urls.SiteRule("host-alias", "a.com", to="www.b.com"),
        nd.urls.SiteRule("host-alias", "b.com", to="c.com:8080"),
        nd.urls.SiteRule("drop-parameter", "c.com:8080", ("x",)),
    )
    assert nd.urls.canonical_url("http://www.a.com/p?x=1", rules) == "https://c.com:8080/p"
    assert nd.urls.canonical_url("http://a.com:81/p?x=1", rules) == "https://a.com:81/p?x=1"
    with pytest.raises(nd.ConfigError, match=r"circle: a\.com -> b\.com"):
        nd.urls.canonical_url(
            "http://a.com/",
            with_sites(
                nd.urls.SiteRule("host-alias", "a.com", to="b.com"),
                nd.urls.SiteRule("host-alias", "b.com", to="a.com"),
            ),
        )
    # www.a.com is a.com already, so this says nothing.
    assert nd.urls.canonical_url(
        "http://a.com/", with_sites(nd.urls.SiteRule("host-alias", "a.com", to="www.a.com"))
    ) == ("https://a.com/")


def test_ends_of_paths_that_show_the_same():
    rules = with_sites(
        nd.urls.SiteRule("same-prefix", "a.com", ("", "/en")),
        nd.urls.SiteRule("same-prefix", "a.com", ("/~ann", "/people/ann")),
        nd.urls.SiteRule("same-suffix", "a.com", (".html", ".htm")),
        nd.urls.SiteRule("same-suffix", "a.com", ("/print", "")),
    )
    made = nd.urls.canonical_urls(
        [
            "http://a.com/en",
            "http://a.com/en/en/x",
            "http://a.com/english",
            "http://a.com/people/ann/x.html/print",
        ],
        rules,
    )
    assert made.urls == [
        "https://a.com/",
        "https://a.com/x",
        "https://a.com/english",
        "https://a.com/~ann/x.htm",
    ]


def test_capitals_and_escapes_converge():
    rules = with_sites(
        nd.urls.SiteRule("path-case", "a.com"), nd.urls.SiteRule("same-prefix", "a.com", ("/B", "/b/%c3%a9"))
    )
    assert nd.urls.canonical_url("http://a.com/B/%C3%A9/X%c3%89", rules) == "https://a.com/b/x%C3%89"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"kind": "drop", "host": "a.com"}, "no such kind"),
        ({"kind": "drop-parameter", "host": "a.com"}, "names must list"),
        ({"kind": "drop-parameter", "host": "a.com", "names": ("*",)}, "names must list"),
        ({"kind": "drop-parameter", "host": "http://a.com", "names": ("a",)}, "host must be"),
        ({"kind": "host-alias", "host": "a.com"}, "`to` must be"),
        ({"kind": "same-prefix", "host": "a.com", "names": ("/a",)}, "two different"),
        ({"kind": "same-prefix", "host": "a.com", "names": ("a", "/b")}, "begin with /"),
        ({"kind": "same-suffix", "host": "a.com", "names": ("html", "")}, "begin with one of"),
    ],
)
def test_a_mistaken_site_rule_says_what_is_wrong(fields, says):
    with pytest.raises(nd.ConfigError, match=says):
        nd.urls.SiteRule(**fields)


def test_a_host_that_is_none_is_found_when_used():
    with pytest.raises(nd.ConfigError, match="is not a host"):
        nd.urls.canonical_url("http://a.com/", with_sites(nd.urls.SiteRule("path-case", "a.com:99999")))


RULES = nd.urls.UrlRules(
    off=("www",),
    on=("path-case",),
    tracking=("promo_*",),
    keep=('q"uo\\te\x7f',),
    sites=(
        nd.urls.SiteRule("drop-parameter", "a.com", ("é", "b"), support=4, counter=0),
        nd.urls.SiteRule("host-alias", "b.com", to="a.com"),
        nd.urls.SiteRule("same-suffix", "a.com", (".html", "")),
        nd.urls.SiteRule("path-case", "a.com"),
    ),
)


@pytest.mark.parametrize("name", ["rules.toml", "rules.json"])
def test_rules_come_back_from_their_file(tmp_path, name):
    RULES.save(tmp_path / name)
    assert nd.urls.UrlRules.load(tmp_path / name) == RULES
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("format = 1", "expected format"),
        ("= nonsense", "TOML or JSON"),
        ('{"format": "neardup-url-rules/1", "offf": []}', "unknown: offf"),
        ('format = "neardup-url-rules/1"\noff = ["host-encoding"]', "part of parsing"),
        ('format = "neardup-url-rules/1"\n[[site]]\nkind = "path-case"', "has kind and host"),
        ('format = "neardup-url-rules/1"\nsite = 3', "table"),
        (
            'format = "neardup-url-rules/1"\n[[site]]\nkind = "drop-parameter"\nhost = "a"\nnames = "x"',
            "must be a list",
        ),
        ("[" * 100_000, "TOML or JSON"),
    ],
)
def test_a_mistaken_file_says_what_is_wrong(tmp_path, text, says):
    path = tmp_path / "rules.toml"
    path.write_text(text)
    with pytest.raises((nd.ConfigError, nd.errors.FormatError), match=says) as caught:
        nd.urls.UrlRules.load(path)
    assert "rules.toml" in str(caught.value)


def test_redirects_are_followed_to_the_end():
    redirects = nd.urls.Redirects.of(
        [
            ("http://a.com/1", "https://www.a.com/2/"),
            ("http://a.com/2", "http://b.com/3?utm_source=x"),
            ("http://a.com/", "https://a.com/"),  # says nothing under the rules
            ("http://a.com/1", "http://c.com/"),  # another opinion
        ]
    )
    rules = nd.urls.UrlRules(redirects=redirects)
    assert (
        nd.urls.canonical_urls(["http://a.com/1#x", "http://a.com/2", "http://b.com/3"], rules).urls
        == ["https://b.com/3"] * 3
    )
    assert nd.urls.explain_url("http://a.com/1", rules).steps[-1].rule == "redirect"
    assert redirects.conflicts == (("https://a.com/1", "https://a.com/2", "https://c.com/"),)
    assert redirects.loops == () and len(redirects) == 2


def test_targets_are_seen_from_the_page_that_names_them():
    """As the header of a redirect and rel=canonical have them; the login pages of two hosts are two pages."""
    redirects = nd.urls.Redirects.of(
        [
            ("http://a.com/x/y", "/login"),
            ("http://b.com/x/y", "/login"),
            ("http://a.com/x/z", "../new"),
            ("http://a.com/1", "//b.com/2"),
            ("http://a.com/bad", "//[x/"),
        ]
    )
    assert redirects.table == {
        "https://a.com/x/y": "https://a.com/login",
        "https://b.com/x/y": "https://b.com/login",
        "https://a.com/x/z": "https://a.com/new",
        "https://a.com/1": "https://b.com/2",
    }


def test_circles_of_redirects_are_reported_and_left_alone():
    redirects = nd.urls.Redirects.of([("http://x.com/b", "http://x.com/c"), ("http://x.com/c", "http://x.com/a"),
                                 ("http://x.com/a", "http://x.com/b"), ("http://x.com/z", "http://x.com/c"),
                                 ("http://x.com/p", "http://x.com/q")])  # fmt: skip
    assert redirects.loops == (("https://x.com/a", "https://x.com/b", "https://x.com/c"),)
    assert redirects.trapped == ("https://x.com/z",)
    assert redirects.table == {"https://x.com/p": "https://x.com/q"}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=15))
def test_redirects_against_a_walk(hops):
    pairs = [(f"https://x.com/{a}", f"https://x.com/{b}") for a, b in hops]
    redirects = nd.urls.Redirects.of(pairs)
    rules = nd.urls.UrlRules(redirects=redirects)
    first = {}
    for a, b in pairs:
        if a != b:
            first.setdefault(a, b)
    for page in range(10):
        url = start = f"https://x.com/{page}"
        seen = [url]
        while url in first and first[url] not in seen:
            url = first[url]
            seen.append(url)
        ended = url not in first
        made = nd.urls.canonical_url(start, rules)
        assert made == (url if ended else start)
        assert nd.urls.canonical_url(made, rules) == made
        in_loop = any(start in loop for loop in redirects.loops)
        assert (in_loop or start in redirects.trapped) == (not ended)


def test_pairs_from_every_kind_of_file(tmp_path):
    pair = ("http://a.com/1", "http://b.com/1,2")
    texts = {
        "plain.tsv": "http://a.com/1\thttp://b.com/1,2\n",
        "named.tsv": "similarity\tto\tfrom\n1.0\thttp://b.com/1,2\thttp://a.com/1\n",
        "spaces.txt": "\ufeffhttp://a.com/1  http://b.com/1,2\r\n\n",
        "quoted.csv": 'left,right\nhttp://a.com/1,"http://b.com/1,2"\n',
        "objects.jsonl": '{"similarity": 1, "left": "http://a.com/1", "right": "http://b.com/1,2"}\n',
        "lists.jsonl": '["http://a.com/1", "http://b.com/1,2"]\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert list(read_pairs(tmp_path / name)) == [pair], name
    (tmp_path / "packed.tsv.gz").write_bytes(gzip.compress(texts["plain.tsv"].encode()))
    assert list(read_pairs(tmp_path / "packed.tsv.gz")) == [pair]


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.tsv", "one\n"), ("a.jsonl", "{\n"), ("a.jsonl", '{"a": 1}\n'), ("a.jsonl", "[[],[]]\n")],
)
def test_a_bad_line_is_named(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(nd.DataError, match=f"{name}, line 1"):
        list(read_pairs(tmp_path / name))


def test_urls_from_lines_and_columns(tmp_path):
    (tmp_path / "a.txt").write_text("http://a.com/\n\n http://b.com/ \n")
    (tmp_path / "b.jsonl").write_text('{"url": "http://c.com/"}\n{"url": [3]}\n')
    (tmp_path / "c.csv").write_text("id,address\n1,http://d.com/\n")
    assert list(read_urls([tmp_path / "a.txt", tmp_path / "b.jsonl"])) == [
        "http://a.com/",
        "http://b.com/",
        "http://c.com/",
    ]
    assert list(read_urls([tmp_path / "c.csv"], column="address")) == ["http://d.com/"]
