"""The service is not taken in by words that were forged for the public seed."""

from __future__ import annotations

from support.attacks import PAGE, forged_page, sticky_pages


def test_forged_words_are_unknown_to_the_service(http):
    assert http.post("/v1/documents", json={"id": "forgery-page", "text": PAGE}).status_code == 201
    found = http.post("/v1/search", json={"text": forged_page()}).json()
    assert found["hits"] == []
    assert http.post("/v1/search", json={"text": PAGE.upper()}).json()["hits"][0]["id"] == "forgery-page"
    said = http.post("/v1/compare", json={"left": PAGE, "right": forged_page()}).json()
    assert said["verdict"] == "different" and said["similarity"] == 0 and not said["duplicate"]
    shown = http.post(
        "/v1/collapse", json={"results": [{"id": "a", "text": PAGE}, {"id": "b", "text": forged_page()}]}
    ).json()
    assert [one["id"] for one in shown["results"]] == ["a", "b"]


def test_mined_shingles_match_nothing_in_the_service(http):
    *stored, asked = sticky_pages(4)
    for number, page in enumerate(stored):
        assert http.post("/v1/documents", json={"id": f"sticky-{number}", "text": page}).status_code == 201
    assert http.post("/v1/search", json={"text": asked}).json()["hits"] == []
    assert http.post("/v1/search", json={"text": stored[1]}).json()["hits"][0]["id"] == "sticky-1"
