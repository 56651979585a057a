"""Files of the pages over HTTP."""

import pytest

from neardup.pages import PageFiles
from neardup.pages.files import CSP, SHELL

FILES = PageFiles({})


def headers_of(reply):
    return dict(reply.headers)


@pytest.mark.parametrize("path", sorted(SHELL))
def test_a_file_has_its_kind_its_length_and_the_policy(path):
    reply = FILES.reply("GET", path)
    headers = headers_of(reply)
    assert reply.status == 200 and len(reply.body) == int(headers[b"content-length"]) > 0
    assert headers[b"content-security-policy"] == CSP.encode()
    assert headers[b"x-content-type-options"] == b"nosniff"
    kinds = {"css": b"text/css", "js": b"text/javascript", "svg": b"image/svg+xml"}
    assert headers[b"content-type"].startswith(kinds[path.rsplit(".")[-1]])


def test_what_the_browser_has_is_not_sent_again():
    tag = headers_of(FILES.reply("GET", "/page/style.css"))[b"etag"]
    for given in (tag, b'"other", ' + tag):
        again = FILES.reply("GET", "/page/style.css", given)
        assert again.status == 304 and again.body == b""
    assert FILES.reply("GET", "/page/style.css", b'"other"').status == 200


def test_a_head_has_the_length_of_the_body_that_is_left_away():
    head = FILES.reply("HEAD", "/page/style.css")
    assert head.status == 200 and head.body == b"" and int(headers_of(head)[b"content-length"]) > 0


@pytest.mark.parametrize(
    "path",
    [
        "/page/serving.py",
        "/page/../serving.py",
        "/page/",
        "/page",
        "/etc/passwd",
        "//page/style.css",
        "/page/%2e%2e/x",
        "",
    ],
)
def test_no_other_path_leads_to_a_file(path):
    assert path not in FILES.paths
    with pytest.raises(KeyError):
        FILES.reply("GET", path)


def test_the_policy_allows_nothing_from_elsewhere_and_no_inline_code():
    assert "unsafe" not in CSP and "http" not in CSP and "*" not in CSP and "data:" not in CSP
    assert CSP.startswith("default-src 'none'")
