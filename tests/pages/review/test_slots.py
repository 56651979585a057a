"""A template as a table: fixed text once, a column for each slot, usable with thousands of documents."""

from __future__ import annotations

import re

from support.reviewing import scanned

from neardup.compare.diff import SplitText, align
from neardup.pages.review import Review
from neardup.pages.review.slots import PAGE, slots_between, slots_of, values_of

WORD = re.compile(r"\S+")
FORM = "Dear {name} your order of {what} was sent to {place} today and will arrive within three days"


def filled(name: str, what: str, place: str) -> str:
    long = " ".join(f"clause{n}" for n in range(150))
    return f"{long} " + FORM.format(name=name, what=what, place=place) + f" {long}x"


def test_slots_and_values() -> None:
    texts = [
        filled("Ada", "two lamps", "Bonn"),
        filled("Bo", "a chair", "Old York"),
        filled("Cy", "nothing", "Bonn"),
    ]
    split = SplitText.of(texts[0], WORD)
    others = [SplitText.of(text, WORD) for text in texts[1:]]
    slots = slots_between(align(split.keys, other.keys) for other in others)
    assert [values_of(split, text, slots) for text in texts] == [
        ["Ada", "two lamps", "Bonn"],
        ["Bo", "a chair", "Old York"],
        ["Cy", "nothing", "Bonn"],
    ]


def test_a_cluster_of_many_documents_comes_in_pages(tmp_path) -> None:
    rows = [
        {"id": f"d{n}", "text": filled(f"name{n}", "a lamp", f"town{n % 7}"), "site": "s"} for n in range(250)
    ]
    found = scanned(tmp_path, rows)
    review = Review(found)
    view = review.view(0.8, table=True)
    first = slots_of(review, view, 0)
    assert (first["total"], first["slots"], len(first["rows"])) == (250, 2, PAGE)
    assert sum(piece.get("slot", 0) > 0 for piece in first["fixed"]) == 2
    rest = slots_of(review, view, 0, 200)
    assert len(rest["rows"]) == 50
    for one in (*first["rows"], *rest["rows"]):
        n = int(one["id"][1:])
        assert one["values"] == [f"name{n}", f"town{n % 7}"]
