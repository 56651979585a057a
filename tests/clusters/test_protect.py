"""Guards keep documents that differ from their keeper in a protected way."""

from __future__ import annotations

import pytest

import neardup as nd
from neardup.clusters.protect import DEFAULT, GUARDS, REASONS

BODY = "\n\n".join(
    f"Sentence {word} of {word} texts says {word} things about the {word} matter, {word} of them and no more."
    for word in ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
)


def page(title: str, *more: str) -> str:
    return "\n\n".join((f"# {title}", BODY, *more))


def kept(texts: list[str], *protect: str, **options: object) -> list[int]:
    return nd.dedup(texts, protect=protect, **options).kept.tolist()


def test_another_title_is_kept_by_default() -> None:
    texts = [page("Options"), page("Futures"), page("Futures", "The end.")]
    found = nd.dedup(texts)
    assert found.kept.tolist() == [0, 2]
    assert found.protected is not None
    assert found.protected.reasons_of([0, 1, 2]) == {0: "title differs"}
    assert "1 kept although similar to another: title differs" in found.summary()
    assert len(found.kept) + len(found.dropped) == len(found)


def test_without_guards_it_is_dropped() -> None:
    found = nd.dedup([page("Options"), page("Futures", "The end.")], protect=())
    assert found.kept.tolist() == [1]
    assert found.protected is None


@pytest.mark.parametrize(
    ("guard", "one", "other"),
    [
        ("title", page("Options"), page("Futures", "So.")),
        ("numbers", page("T", "It costs 5 USD."), page("T", "It costs 6 USD. So.")),
        ("names", page("T", "Made by Anna."), page("T", "Made by Otto. So.")),
        ("negation", page("T", "You may use it."), page("T", "You may not use it. So.")),
        ("lossless", page("T", "a b c d e f g h i j k."), page("T", "l m n o p q r s t u v w x y z.")),
    ],
)
def test_each_guard(guard: str, one: str, other: str) -> None:
    assert kept([one, other], guard, threshold=0.6) == [0, 1]
    others = set(GUARDS) - {guard, "lossless" if guard != "lossless" else "passages"}
    assert kept([one, other], *sorted(others), threshold=0.6) == [1]


def test_a_long_passage_and_a_short_one() -> None:
    long = " ".join(f"word{i}" for i in range(120)) + "."
    longer = " ".join(f"other{i}" for i in range(140)) + "."
    texts = [page("T", long), page("T", longer)]
    assert kept(texts, "passages", threshold=0.2) == [0, 1]
    assert kept(texts, threshold=0.2) == [1]


def test_what_only_the_keeper_has_is_no_reason() -> None:
    more = " ".join(f"Word{i}" for i in range(20)) + " costs 7 USD."
    assert kept([page("T"), page("T", more)], "numbers", "names", "lossless", threshold=0.6) == [1]
    assert kept([page("T", more), page("T")], "numbers", "names", "lossless", keep="last", threshold=0.6) == [
        0,
        1,
    ]


def test_the_same_words_are_one_document() -> None:
    """Copies of a protected document are still copies of each other."""
    texts = [page("Options"), page("Futures", "So."), page("Options"), page("Futures", "So.")]
    assert nd.dedup(texts).kept.tolist() == [0, 1]


def test_unknown_guards_are_refused() -> None:
    with pytest.raises(nd.ConfigError, match=r"protect must be a list of 'title', 'numbers'.*titles"):
        nd.dedup(["a"], protect=["titles"])
    with pytest.raises(nd.ConfigError, match="protect is a list"):
        nd.dedup(["a"], protect="title")


def test_every_guard_has_a_reason_and_a_bit() -> None:
    assert set(REASONS) == set(GUARDS)
    assert len(GUARDS) <= 8
    assert set(DEFAULT) <= set(GUARDS)


def test_in_a_config_file(tmp_path: object) -> None:
    config = nd.Config(protect=("numbers", "names"))
    assert nd.Config.from_plain(config.to_plain()) == config
    assert 'protect = ["numbers", "names"]' in config.to_toml()
    with pytest.raises(nd.ConfigError, match=r"protect must be a list of .*colour"):
        nd.Config.from_plain({"protect": ["colour"]})
