"""A site with everything that makes crawls hard: articles on bare lists, on lists with teasers and under session ids, a
mirror, and a calendar without an end."""

from __future__ import annotations

import random
import re

__all__ = ["ARTICLES", "ArticleSite"]

ARTICLES = 176
ON_A_PAGE = 8
PAGES = ARTICLES // ON_A_PAGE
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September"]
MONTHS += ["October", "November", "December"]
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "il", "or", "us")]
NAVIGATION = "Home News Articles Calendar Search Contact About us Help Imprint Privacy"
VOCABULARY = ["".join(random.Random(f"word {n}").choices(SYLLABLES, k=2 + n % 3)) for n in range(3000)]
FOOTER = "All rights reserved. Terms of use and privacy policy apply to all pages of this site."


def _words(name: str, many: int) -> str:
    """Words of a made-up language, the first ones much more frequent, as in real ones."""
    draw = random.Random(name)
    return " ".join(VOCABULARY[int(len(VOCABULARY) * draw.random() ** 3)] for _ in range(many))


class ArticleSite(dict[str, str]):
    """Pages by path and query, made when they are asked for."""

    def get(self, path: str, default: str | None = None) -> str | None:  # type: ignore[override]
        plain, _, query = path.partition("?")
        session = re.fullmatch(r"sid=(\d+)", query)
        sid = int(session[1]) if session else None
        name, *rest = plain.strip("/").split("/")
        number = int(rest[-1]) if rest and rest[-1].isdecimal() else 0
        match name:
            case "" if plain == "/":
                links = {"/list/1": "All articles", "/teasers/1": "News", "/calendar/2026/1": "Calendar"}
                links |= {"/mirror/1": "A mirror", "/list/1?sid=1": "Log in"}
                return _page("Home", _words("home", 40), links)
            case "list" if 1 <= number <= PAGES:
                return self._list(number, sid, teasers=False)
            case "teasers" if 1 <= number <= PAGES:
                return self._list(number, sid, teasers=True)
            case "article" | "mirror" if 1 <= number <= ARTICLES:
                return self._article(number, name, sid)
            case "calendar" if len(rest) == 2 and all(part.isdecimal() for part in rest):
                return self._month(int(rest[0]), int(rest[1]))
        return default

    def _list(self, number: int, sid: int | None, teasers: bool) -> str:
        own = "teasers" if teasers else "list"
        shown = range(ON_A_PAGE * (number - 1) + 1, ON_A_PAGE * number + 1)
        # Every visit of a list gets a session of its own, as on sites that put them into URLs.
        more = "" if sid is None else f"?sid={sid + 1}"
        links = {f"/article/{n}{more}": f"Article {n}" for n in shown}
        if number < PAGES:
            links[f"/{own}/{number + 1}{more}"] = "Next page"
        text = " ".join(_words(f"article {n}", 200)[:120] + " ..." for n in shown) if teasers else ""
        return _page("Articles", text, links)

    def _article(self, number: int, name: str, sid: int | None) -> str:
        text = _words(f"article {number}", 60 + 7 * (number % 40))
        if name == "mirror":
            text += " mirrored today"
        following = number % ARTICLES + 1
        links = (
            {f"/{name}/{following}": "Read on"}
            if sid is None
            else {f"/article/{following}?sid={sid}": "Read on"}
        )
        return _page(f"Article {number}", text, links)

    def _month(self, year: int, month: int) -> str:
        days = " ".join(str(day) for day in range(1, 31))
        after = (year, month + 1) if month < 12 else (year + 1, 1)
        text = (
            f"{MONTHS[(month - 1) % 12]} {year} Mon Tue Wed Thu Fri Sat Sun {days} No events in this month."
        )
        return _page("Calendar", text, {f"/calendar/{after[0]}/{after[1]}": "Next month"})


def _page(title: str, text: str, links: dict[str, str]) -> str:
    anchors = "".join(f'<li><a href="{link}">{name}</a></li>' for link, name in links.items())
    return (
        f"<!doctype html><html><head><title>{title}</title></head><body><nav>{NAVIGATION}</nav>"
        f"<main><h1>{title}</h1><p>{text}</p></main><ul>{anchors}</ul><footer>{FOOTER}</footer></body></html>"
    )
