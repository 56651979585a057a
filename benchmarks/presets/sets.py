"""Labelled sets for the presets: shared ones, and others made by rule where no public one is at hand.

A set is texts and, for a pair of rows, whether it should be found: True, False or None where that is open.
"""

from __future__ import annotations

import random
import re
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from benchmarks.guards import Labels, load
from benchmarks.presets.rewriting import Rewriter, sentences_of

__all__ = ["MadeSet", "contracts", "mails", "modules", "rewritings", "stories"]


@dataclass(frozen=True)
class MadeSet:
    """Texts with labels; `kinds` names what was done to each, "" for a source."""

    texts: list[str]
    labels: Labels
    kinds: list[str]

    @classmethod
    def of(cls, rows: list[tuple[str, str, str]]) -> MadeSet:
        """Rows of cluster, kind and text: two texts of one cluster are the same."""
        clusters = {at: cluster for at, (cluster, _, _) in enumerate(rows)}
        return cls([text for *_, text in rows], Labels(clusters, {}), [kind for _, kind, _ in rows])


def _articles(words: int = 700, most: int = 95) -> list[list[str]]:
    """Different sentences of different articles and manual pages, of so many words at least."""
    texts, labels = load("wiki_html_variants")
    seen: dict[str, int] = {}
    for row in sorted(labels.clusters):
        seen.setdefault(labels.clusters[row], row)
    pages = [*(texts[row] for row in seen.values()), *_manuals()]
    found = (list(dict.fromkeys(sentences_of(page))) for page in pages)
    return [sentences for sentences in found if sum(len(s.split()) for s in sentences) >= words][:most]


def _manuals() -> list[str]:
    """One version of each manual page."""
    texts, labels = load("k8s_docs_rev")
    seen: dict[str, int] = {}
    for row in sorted(labels.clusters):
        seen[labels.clusters[row]] = row
    return [texts[row] for row in seen.values()]


def rewritings() -> MadeSet:
    """Answers of about 250 words beside their sources, at four levels of rewriting. What two answers have in common is
    left open; an answer and the source of another subject are different."""
    articles = _articles()
    write = Rewriter((" ".join(article) for article in articles), 11)
    texts, kinds, subject = [], [], []
    for number, article in enumerate(articles):
        half = len(article) // 2
        source, other = article[:half], article[half:]
        made = {
            "": " ".join(source),
            "near copy": write.near_copy(source, 250),
            "light": write.light(source, 250),
            "heavy": write.heavy(source, other, 250),
            "own words": write.own(other, 250),
        }
        for kind, text in made.items():
            texts.append(text)
            kinds.append(kind)
            subject.append(number)
    judged: dict[tuple[int, int], bool] = {}
    for a in range(len(texts)):
        for b in range(a + 1, len(texts)):
            if "" in (kinds[a], kinds[b]):
                judged[a, b] = subject[a] == subject[b] and "own words" not in (kinds[a], kinds[b])
    return MadeSet(texts, Labels({}, judged), kinds)


def stories() -> MadeSet:
    """Agency texts and their reprints: another headline, cut from the end, some words edited, a sentence added. A
    follow-up has the first paragraphs of another story as background and is a story of its own."""
    pages = [sentences_of(page) for page in _manuals()]
    pages = [page[:40] for page in pages if len(page) >= 25]
    write = Rewriter((" ".join(page) for page in pages), 12)
    draw = random.Random(13)
    rows: list[tuple[str, str, str]] = []
    for number, page in enumerate(pages):
        if number % 2:
            continue
        filler = pages[(number + 1) % len(pages)]
        rows.append((f"s{number}", "", f"{page[0]}\n" + " ".join(page)))
        for _ in range(2):
            cut = page[: round(len(page) * draw.uniform(0.65, 1.0))]
            edited = [write.reworded(s, 0.3) if draw.random() < 0.2 else s for s in cut]
            headline = " ".join(write.reworded(page[0], 0.7).split()[:9])
            rows.append((f"s{number}", "reprint", f"{headline}\n" + " ".join([*edited, draw.choice(filler)])))
        background = page[:8]
        rows.append((f"f{number}", "follow-up", f"{filler[0]}\n" + " ".join([*filler[1:25], *background])))
    return MadeSet.of(rows)


def mails() -> MadeSet:
    """Waves of mail from a few senders: names, amounts, ids and dates differ within a wave; different waves of one
    sender share greeting, signature and legal notice."""
    pages = [sentences_of(page) for page in _manuals()]
    bodies = [page[:6] for page in pages if len(page) >= 12]
    notices = [" ".join(page[-3:]) for page in pages if len(page) >= 12]
    draw = random.Random(14)
    names = ["Ann", "Bob", "Eve", "Raj", "Mia", "Tom", "Ola", "Kim", "Ben", "Ida"]
    rows: list[tuple[str, str, str]] = []
    for number, body in enumerate(bodies[:160]):
        sender = number % 12
        for _ in range(draw.randrange(1, 5)):
            who, sum_, day = draw.choice(names), draw.randrange(20, 900), draw.randrange(1, 29)
            text = (
                f"Dear {who},\n\n{' '.join(body[:3])} Your reference is {draw.randrange(10**6, 10**7)}. The sum of "
                f"{sum_} euros is due on {day} May. {' '.join(body[3:])}\n\n"
                f"Kind regards,\nTeam {sender}\n\n{notices[sender]}"
            )
            rows.append((f"w{number}", "", text))
    return MadeSet.of(rows)


def contracts() -> MadeSet:
    """Licence texts and their versions: other parties, dates and sums, a clause left out, one added, two exchanged. A
    contract of another kind shares a third of its clauses, its general terms, with the first one."""
    texts, labels = load("licenses")
    seen: dict[str, int] = {}
    for row in sorted(labels.clusters):
        seen.setdefault(labels.clusters[row], row)
    long = [clauses for row in seen.values() if len(clauses := sentences_of(texts[row])) >= 15]
    draw = random.Random(15)
    write = Rewriter((" ".join(clauses) for clauses in long), 16)
    chosen = draw.sample(long, min(120, len(long)))
    parties = ["Acme Corp", "Blue Ltd", "Delta Inc", "Omega GmbH", "Norden AS"]
    rows: list[tuple[str, str, str]] = []
    for number, clauses in enumerate(chosen):
        own = [
            write.reworded(clause, 0.5) for clause in clauses
        ]  # licences share clauses: these are nobody else's
        rows.append((f"c{number}", "", "\n".join(own)))
        for _ in range(2):
            version = [re.sub(r"\d+", lambda _: str(draw.randrange(1, 99)), clause) for clause in own]
            del version[draw.randrange(len(version))]
            at = draw.randrange(len(version) - 1)
            version[at], version[at + 1] = version[at + 1], version[at]
            version.insert(draw.randrange(len(version)), write.reworded(draw.choice(clauses), 0.6))
            rows.append(
                (
                    f"c{number}",
                    "version",
                    f"Between {' and '.join(draw.sample(parties, 2))}.\n" + "\n".join(version),
                )
            )
        third = len(own) // 3
        others = [write.reworded(clause, 0.6) for clause in clauses[third:]]
        rows.append((f"k{number}", "another contract", "\n".join([*own[:third], *others])))
    return MadeSet.of(rows)


def modules() -> MadeSet:
    """Modules of Python's library and their copies: comments left out, names changed, a function left out, another
    header. The tables of character sets are different files of one shape."""
    library = Path(sysconfig.get_paths()["stdlib"])
    paths = [path for path in sorted(library.glob("*.py")) if 3_000 < path.stat().st_size < 60_000]
    draw = random.Random(17)
    rows: list[tuple[str, str, str]] = []
    for number, path in enumerate(paths[:110]):
        code = path.read_text("utf-8", "replace")
        rows.append((f"m{number}", "", code))
        plain = "\n".join(line for line in code.splitlines() if not line.lstrip().startswith("#"))
        rows.append((f"m{number}", "comments", f"# Copied from elsewhere. All rights reserved.\n{plain}"))
        names = sorted({word for word in re.findall(r"\b[a-z_]{5,}\b", code)})
        for name in draw.sample(names, len(names) // 25):
            code = re.sub(rf"\b{name}\b", f"my_{name}", code)
        parts = re.split(r"(?m)^(?=def |class )", code)
        if len(parts) > 3:
            del parts[draw.randrange(1, len(parts))]
        rows.append((f"m{number}", "renamed", "".join(parts)))
    for path in sorted((library / "encodings").glob("*.py")):
        rows.append((f"e{path.stem}", "", path.read_text("utf-8", "replace")))
    return MadeSet.of(rows)
