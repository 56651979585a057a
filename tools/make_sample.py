"""Make the bundled sample corpus: short pages with the edits that are usual on the web.

    python tools/make_sample.py            writes src/neardup/sample/{pages.jsonl.gz,truth.tsv}

Pages are composed from the sentences in tools/sample/*.toml, one file per site. A sentence may hold slots:
`{field}` (a fact of this page's record), `{field:lower}`, `{field:cap}`, `{field:slug}`, `{n:3-9}` (a
number), `{date}` (the page's day), `{earlier}`, `{later}`, `{clock}`, `{month}`, `{year}` and `[this|that]`
(one of them). Everything is drawn from one fixed seed, so the same sources always give the same pages.

Each site writes one page per record. Some pages get edited copies, which share the page's cluster in
truth.tsv. The last records of each site become hard negatives (`template`): the very sentences of another
page, the one its `models` names, with other facts, so that a person would not call them the same page.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import textwrap
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

SEED = "neardup sample v1"
SOURCES = Path(__file__).parent / "sample"
TARGET = Path(__file__).parents[1] / "src" / "neardup" / "sample"
SITES = ("recipes", "news", "notices", "help", "travel", "events", "garden", "jobs")
COPIES = (0, 0, 1, 1, 2, 2, 3, 4)  # how many edited copies a page gets, drawn at random
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
DATE = re.compile(rf"\b\d{{1,2}} (?:{'|'.join(MONTHS)}) \d{{4}}\b")
COUNTER = re.compile(
    r"(?<=· )\d+(?= (?:comments|people|places|of|applicants))|(?<=seen )\d+|(?<=printed )\d+|(?<=read )\d+"
)
DAYS = {"date": (0, 0), "earlier": (-400, -30), "later": (9, 80)}  # from the page's own day
Json = dict[str, Any]


@dataclass(frozen=True)
class Page:
    """One page: `body` holds its paragraphs, `byline` what changes at every visit."""

    cluster: str
    kind: str
    day: date
    url: str
    title: str
    header: str
    byline: str
    body: tuple[str, ...]
    footer: str

    @property
    def text(self) -> str:
        parts = (self.header, self.title, self.byline, *self.body, self.footer)
        return "\n\n".join(part for part in parts if part)


def written(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def parsed(text: str) -> date:
    day, month, year = text.split(" ")
    return date(int(year), MONTHS.index(month) + 1, int(day))


def fill(template: str, facts: dict[str, str], rng: random.Random) -> str:
    """Resolve the slots of a template; facts may hold slots of their own."""

    def slot(match: re.Match[str]) -> str:
        name, _, how = match[1].partition(":")
        if name == "n":
            low, high = map(int, how.split("-"))
            return str(rng.randint(low, high))
        if name in DAYS:
            return written(date.fromisoformat(facts["day"]) + timedelta(rng.randint(*DAYS[name])))
        if name == "clock":
            return f"{rng.randint(7, 20)}.{rng.choice(('00', '15', '30', '45'))}"
        if name == "month":
            return facts.get("month") or rng.choice(MONTHS)
        value = fill(facts[name], facts, rng)
        if how == "slug":
            return re.sub(r"[^a-z0-9]+", "-", value.lower()).strip("-")
        if how == "lower":
            return value[0].lower() + value[1:]
        return value[0].upper() + value[1:] if how == "cap" else value

    chosen = re.sub(r"\[([^\]]*\|[^\]]*)\]", lambda match: rng.choice(match[1].split("|")), template)
    return re.sub(r"\{([^}]+)\}", slot, chosen)


def pick(section: list[Any], choices: random.Random) -> list[str]:
    """One sentence of a section, or as many as the number it starts with."""
    count, options = (section[0], section[1:]) if isinstance(section[0], int) else (1, section)
    return choices.sample(options, count)


def compose(site: Json, record: list[str], cluster: str, choices: random.Random, rng: random.Random) -> Page:
    """Write one page. `choices` picks the sentences (equal choices, equal template), `rng` the numbers."""
    facts = dict(zip(site["fields"], record, strict=True))
    facts = {name: fill(value, facts, rng) for name, value in facts.items()}
    day = date(2019, 1, 1) + timedelta(rng.randrange(6 * 365))
    facts |= {"day": day.isoformat(), "year": str(day.year)}
    facts["title"] = title = fill(site["title"], facts, rng)
    body = []
    for paragraph in site["paragraph"]:
        chosen = [sentence for section in paragraph["sections"] for sentence in pick(section, choices)]
        body.append(" ".join(fill(sentence, facts, rng) for sentence in chosen))
    return Page(
        cluster=cluster,
        kind="original",
        day=day,
        url=f"https://{site['host']}/" + fill(site["path"], facts, rng),
        title=title,
        header=site["header"],
        byline=fill(site["byline"], facts, rng),
        body=tuple(body),
        footer=site["footer"],
    )


def sentences(paragraph: str) -> list[str]:
    return re.split(r'(?<=[.!?"]) (?=["A-Z£])', paragraph)


def with_paragraph(page: Page, index: int, paragraph: str) -> Page:
    body = list(page.body)
    body[index] = paragraph
    return replace(page, body=tuple(part for part in body if part))


def copy_exact(page: Page, edits: Json, rng: random.Random) -> Page:
    """The same words in another dress: shouted headings, wrapped lines, two spaces after a full stop."""
    body = tuple(textwrap.fill(part.replace(". ", ".  "), rng.randint(58, 90)) for part in page.body)
    return replace(page, title=page.title.upper(), body=body, header=page.header.replace(" · ", " | "))


def copy_typo(page: Page, edits: Json, rng: random.Random) -> Page:
    """A few letters swapped or dropped, as before or after proof-reading."""
    for _ in range(rng.randint(2, 4)):
        index = rng.randrange(len(page.body))
        words = page.body[index].split(" ")
        at = rng.choice([i for i, word in enumerate(words) if len(word) > 5 and word.isalpha()])
        word = words[at]
        cut = rng.randint(1, len(word) - 3)
        swapped = word[:cut] + word[cut + 1] + word[cut] + word[cut + 2 :]
        words[at] = rng.choice((swapped, word[:cut] + word[cut + 1 :]))
        page = with_paragraph(page, index, " ".join(words))
    return page


def copy_respelled(page: Page, edits: Json, rng: random.Random) -> Page:
    """An editor with other habits: color for colour, can't for cannot, here and there."""
    found = [(old, new) for old, new in edits["respell"] if re.search(rf"\b{old}\b", " ".join(page.body))]
    for old, new in rng.sample(found, min(4, len(found))):
        page = replace(page, body=tuple(re.sub(rf"\b{old}\b", new, part, count=1) for part in page.body))
    return page


def copy_dates(page: Page, edits: Json, rng: random.Random) -> Page:
    """Visited on another day: dates and counters differ, nothing else does."""
    passed = timedelta(rng.randint(20, 300))

    def redate(text: str) -> str:
        text = DATE.sub(lambda match: written(parsed(match[0]) + passed), text)
        return COUNTER.sub(lambda match: str(int(match[0]) + rng.randint(1, 60)), text)

    return replace(page, byline=redate(page.byline), body=tuple(map(redate, page.body)))


def copy_ad(page: Page, edits: Json, rng: random.Random) -> Page:
    """One or two advertisements between the paragraphs."""
    body = list(page.body)
    for advert in rng.sample(edits["ads"], rng.randint(1, 2)):
        body.insert(rng.randint(1, len(body)), advert)
    return replace(page, body=tuple(body))


def copy_moved(page: Page, edits: Json, rng: random.Random) -> Page:
    """Two paragraphs change places."""
    at = rng.randrange(len(page.body) - 1)
    body = list(page.body)
    body[at], body[at + 1] = body[at + 1], body[at]
    return replace(page, body=tuple(body))


def copy_cut(page: Page, edits: Json, rng: random.Random) -> Page:
    """An editor strikes out a sentence."""
    index = rng.choice([i for i, part in enumerate(page.body) if len(sentences(part)) > 1])
    kept = sentences(page.body[index])
    kept.pop(rng.randrange(len(kept)))
    return with_paragraph(page, index, " ".join(kept))


def copy_added(page: Page, edits: Json, rng: random.Random) -> Page:
    """A paragraph is added at the end."""
    addendum = fill(rng.choice(edits["addenda"]), {"day": page.day.isoformat()}, rng)
    return replace(page, body=(*page.body, addendum))


def copy_boilerplate(page: Page, edits: Json, rng: random.Random) -> Page:
    """The same page on another site: other navigation above, other small print below."""
    host = rng.choice(edits["mirrors"])
    url = f"https://{host}/" + page.url.removeprefix("https://")
    return replace(page, url=url, header=rng.choice(edits["headers"]), footer=rng.choice(edits["footers"]))


def copy_truncated(page: Page, edits: Json, rng: random.Random) -> Page:
    """A teaser: the first part of the page, then a link."""
    words = " ".join(page.body).split(" ")
    teaser = " ".join(words[: int(len(words) * rng.uniform(0.65, 0.85))])
    return replace(page, body=(teaser + " …", "Continue reading"), footer="")


def copy_mixed(page: Page, edits: Json, rng: random.Random) -> Page:
    """Three edits at once, as after a year."""
    for edit in rng.sample((copy_typo, copy_dates, copy_ad, copy_cut, copy_added, copy_respelled), 3):
        page = edit(page, edits, rng)
    return page


COPYISTS: dict[str, Callable[[Page, Json, random.Random], Page]] = {
    "exact": copy_exact,
    "typo": copy_typo,
    "respelled": copy_respelled,
    "dates": copy_dates,
    "ad": copy_ad,
    "moved": copy_moved,
    "cut": copy_cut,
    "added": copy_added,
    "boilerplate": copy_boilerplate,
    "truncated": copy_truncated,
    "mixed": copy_mixed,
}


def addresses(rng: random.Random) -> list[str]:
    """Copies live at the page's own address with a tail; one tail for each copy a page can have."""
    tails = ["print=1", "from=newsletter", f"v={rng.randint(2, 9)}", f"session={rng.randint(10**6, 10**7)}"]
    rng.shuffle(tails)
    return tails


def pages() -> list[Page]:
    """Every page in a shuffled order, so that copies are not side by side."""
    edits = tomllib.loads((SOURCES / "edits.toml").read_text("utf-8"))
    made: list[Page] = []
    kinds: list[str] = []
    for name in SITES:
        site = tomllib.loads((SOURCES / f"{name}.toml").read_text("utf-8"))
        records = site["records"]
        for number, record in enumerate(records):
            rng = random.Random(f"{SEED} {name} {number}")
            hard = number - (len(records) - len(site["models"]))
            model = site["models"][hard] if hard >= 0 else number
            choices = random.Random(f"{SEED} {name} {model} sentences")
            page = compose(site, record, f"{name}-{number:02}", choices, rng)
            if hard >= 0:
                made.append(replace(page, kind="template"))
                continue
            made.append(page)
            for tail in addresses(rng)[: rng.choice(COPIES)]:
                kinds = kinds or rng.sample(sorted(COPYISTS), len(COPYISTS))  # every kind equally often
                kind = kinds.pop()
                copy = COPYISTS[kind](page, edits, rng)
                url = copy.url + ("&" if "?" in copy.url else "?") + tail
                made.append(replace(copy, kind=kind, url=url))
    random.Random(f"{SEED} order").shuffle(made)
    return made


def files() -> dict[str, bytes]:
    """The files of the sample by name. The gzip header carries no time, so equal pages give equal bytes."""
    lines, truth = [], ["id\tcluster\tkind"]
    for number, page in enumerate(pages(), start=1):
        name = f"page-{number:03}"
        row = {"id": name, "url": page.url, "title": page.title, "text": page.text}
        lines.append(json.dumps(row, ensure_ascii=False))
        truth.append(f"{name}\t{page.cluster}\t{page.kind}")
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=9, mtime=0) as stream:
        stream.write(("\n".join(lines) + "\n").encode())
    return {"pages.jsonl.gz": packed.getvalue(), "truth.tsv": ("\n".join(truth) + "\n").encode()}


def main() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, content in files().items():
        (TARGET / name).write_bytes(content)
        print(f"{name}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
