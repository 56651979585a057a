"""Which links of near-duplicate pages are followed."""

from neardup.scrapy.follow import CHAIN, LEAST_NEW, RECENT, Links, url_pattern


def test_kinds_of_urls():
    assert url_pattern("https://a.org/2026/11/post-7?page=3&q=x") == "a.org/#/#/post-#?page&q"
    assert url_pattern("https://a.org/2025/1/post-12?q=y&page=9") == url_pattern(
        "https://a.org/1/2/post-3?page=&q="
    )
    assert url_pattern("http://[broken") == "http://[broken"


def test_links_of_a_copied_article_are_not_followed():
    links = Links()
    assert links.of_duplicate("http://m/a", ["http://m/b", "http://m/c"], words=200, chain=0) == (
        False,
        "copy",
        0,
    )


def test_a_short_text_is_no_reason_to_drop_links():
    followed = Links().of_duplicate("http://a/list/2", [f"http://a/article/{n}" for n in range(20)], 12, 0)
    assert followed == (True, "list", 0)


def test_a_chain_of_pages_of_one_kind_ends():
    links, chain, pages = Links(), 0, 0
    while True:
        followed = links.of_duplicate(
            f"http://a/calendar/{pages}", [f"http://a/calendar/{pages + 1}"], 20, chain
        )
        if not followed.follow:
            break
        chain, pages = followed.chain, pages + 1
    assert pages == CHAIN and followed.reason == "trap"


def test_a_kind_of_url_that_brings_nothing_new_is_no_reason_to_go_on():
    links = Links()
    for number in range(RECENT):
        links.judged(f"http://a/day/{number}", new=number < LEAST_NEW - 1)
    days = [f"http://a/day/{100 + n}" for n in range(30)]
    assert links.of_duplicate("http://a/month/3", days, 20, chain=CHAIN).reason == "trap"
    links.judged("http://a/day/99", new=True)
    links.judged("http://a/day/98", new=True)
    assert links.of_duplicate("http://a/month/4", [f"{day}0" for day in days], 20, chain=CHAIN) == (
        True,
        "list",
        0,
    )


def test_known_links_are_not_new():
    links = Links()
    articles = [f"http://a/article/{n}" for n in range(10)]
    links.found(articles)
    assert links.of_duplicate("http://a/list/2", articles, 10, chain=CHAIN).follow is False
