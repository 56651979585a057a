"""The page of the API: every route is described, and every example runs."""

import json

import httpx
import pytest
from playwright.sync_api import expect
from support.serving import served

from .conftest import PHONE, fits

TOKEN = "a-token-of-sixteen-or-more"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(tmp_path_factory.mktemp("api") / "index.nd") as server:
        yield server


def test_every_example_runs(server, open_page, axe):
    page = open_page(f"{server.url}/docs")
    expect(page.locator("#post-v1-seen")).to_be_visible()
    described = httpx.get(f"{server.url}/v1/openapi.json", trust_env=False).json()["paths"]
    for path, operations in described.items():
        for method in operations:
            heading = page.get_by_role("heading", name=f"{method.upper()} {path}", exact=True)
            expect(heading).to_be_visible()
    axe(page)
    buttons = page.get_by_role("button", name="Run")
    ids = buttons.evaluate_all("all => all.map((one) => one.id)")
    assert len(ids) == 1 + sum(
        len(operations) for operations in described.values()
    )  # documents has two bodies
    ids.sort(key=lambda id: id.startswith("delete"))  # the others ask for what it deletes
    for id in ids:
        page.locator(f"#{id}").click()
        section = page.locator("section", has=page.locator(f"#{id}"))
        expect(section.locator(".answer .badge")).to_have_text(
            "201" if id == "post-v1-documents-run" else "200"
        )
    answer = json.loads(page.locator("#post-v1-seen .answer pre").inner_text())
    assert answer["id"] == "page-1"
    axe(page)


def test_an_example_can_be_changed(server, open_page):
    page = open_page(f"{server.url}/docs#post-v1-compare")
    body = page.locator("#post-v1-compare-body")
    body.fill('{"left": "it\'s one", "right": "it\'s one"}')
    expect(page.locator("#post-v1-compare pre").first).to_contain_text("it'\\''s one")
    page.locator("#post-v1-compare-run").click()
    expect(page.locator("#post-v1-compare .answer pre")).to_contain_text('"verdict": "identical"')
    fits(page)


def test_a_refusal_is_shown_and_a_phone_is_wide_enough(server, open_page, axe, watch):
    watch.expected.append("422")
    page = open_page(f"{server.url}/docs", size=PHONE, dark=True)
    page.locator("#post-v1-seen-body").fill("{")
    page.locator("#post-v1-seen-run").click()
    expect(page.locator("#post-v1-seen .answer .badge")).to_have_text("422")
    expect(page.locator("#post-v1-seen .answer pre")).to_contain_text("reason")
    fits(page)
    axe(page)


def test_it_asks_for_the_token(open_page, watch, tmp_path):
    watch.expected.append("401")
    with served(tmp_path / "index.nd", environment={"NEARDUP_TOKEN": TOKEN}) as server, open_page:
        page = open_page(f"{server.url}/docs")
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Go on").click()
        page.locator("#get-v1-stats-run").click()
        expect(page.locator("#get-v1-stats .answer .badge")).to_have_text("200")
