"""The sections of docs/inside/quality.md on what methods miss: by similarity, by cosine, and by kind of change."""

from __future__ import annotations

from typing import Any

from benchmarks.quality import tables
from benchmarks.quality.tables import pick, span

from neardup.compare import similarity

__all__ = ["cosine", "failures", "versions"]

Json = dict[str, Any]


def versions(result: Json) -> list[str]:
    lines = [
        "## Recall by exact similarity on the version sets",
        "",
        "The tables group all pairs by exact Jaccard of 5 words, and show which share of them a method finds, before "
        "verification. Simhash uses TF-IDF words.",
        "",
    ]
    for given in result["jaccard_bands"]:
        lines += [f"`{given['set']}`:", "", *tables.bands_table(given)]
    return [*lines, "![Recall by exact Jaccard](../images/quality-jaccard-bands.svg)", ""]


def cosine(result: Json) -> list[str]:
    rows = [row for row in result["cosine_bands"] if row["radius"] == 3 and row["above"]]
    shares = [row["above_found"] / row["above"] for row in rows]
    wide = [
        row["above_found"] / row["above"]
        for row in result["cosine_bands"]
        if row["radius"] == 12 and row["above"]
    ]
    nine, top = (
        [b["recall"][0] for r in rows for b in r["bands"] if b["from"] == low and b["recall"][0] is not None]
        for low in (0.9, 0.99)
    )
    far = [row for row in result["cosine_bands"] if row["radius"] == 12 and row["found"]]
    below = [1 - row["above_found"] / row["found"] for row in far]
    return [
        "## Simhash radius 3 is not a cosine-0.9 detector",
        "",
        f"Of the pairs whose cosine is .9 or more, radius 3 of 64 bits finds {span(shares)} on the version "
        f"sets; of "
        f"those between .9 and .925, {span(nine)}; only from .99 up {span(top)}. At a cosine of .9 the "
        f"expected distance "
        f"is {float(similarity.expected_distance(0.9)):.1f} bits, and the binomial model gives a chance of "
        f"{float(similarity.within_radius(0.9, 3)):.1%} to be within 3. Radius 12 finds {span(wide)} of "
        f"the pairs of .9, "
        f"but {span(below)} of the pairs that it finds are below .9, and only verification removes them.",
        "",
        *tables.cosine_table(result),
        "![Share within a radius by cosine](../images/quality-cosine-bands.svg)",
        "",
    ]


def failures(result: Json) -> list[str]:
    variants = [
        ([row["kind"], "same" if row["label"] else "apart", row["pairs"]], row["said"])
        for row in result["variants"]
    ]
    frame = [
        pick(result[name], kind="boilerplate_only_diff")["said"]["Jaccard of 5 words >= .8"]
        for name in ("variants", "variants_main")
    ]
    numbers = [([g["set"], g["rows"][0]["documents"]], g["rows"][0]["said"]) for g in result["changed"]]
    short = [
        (
            [f"{row['from']} to {row['to']}" if row["to"] < 1 << 30 else f"{row['from']} up", row["pairs"]],
            row["said"],
        )
        for row in result["short_texts"]
    ]
    apart = [
        ([f"{g['set']}, all pairs known to be apart", f"{g['pairs']:,}"], g["count"])
        for g in result["templates"]
    ]
    alias = result["aliases"]
    apart.append(
        (
            [f"tldr_short, {alias['pages']} alias pages among themselves", f"{alias['pairs']:,}"],
            alias["count"],
        )
    )
    words = [([row["change"], row["documents"]], row["said"]) for row in result["changed"][0]["rows"][1:]]
    return [
        "## Where methods fail",
        "",
        "**Templates**: the number of pairs of different pages that are called the same. Alias pages have one "
        "sentence with another name in it; the documentation sets have generated reference pages, which "
        "share most of their words.",
        "",
        *tables.said_table(["pairs", "of"], apart),
        "**Variants of a page** (`wiki_html_variants`): the share that is called the same. If menus and frames change "
        "around an "
        f"unchanged text, 5 words at .8 find only {frame[0]:.3f} on the text of whole pages, but {frame[1]:.3f} on "
        f"their main text, "
        'which is the default (`html="main"`).',
        "",
        *tables.said_table(["variant", "label", "pairs"], variants),
        "**Short texts**: two versions of a page of `tldr_short`, by the number of tokens of the shorter one; the "
        "share that is called the same. One "
        "changed word changes five shingles of a short text, so .8 finds few of them. This is a limit of the measure, "
        "not of the search.",
        "",
        *tables.said_table(["tokens", "pairs"], short),
        "**Only numbers changed**: documents and copies of them in which every number was changed; the share that is "
        "called the same. "
        "Whether that is right depends on the corpus: copies with a new date are the same, tables with "
        "other figures "
        "are not. Folding digits calls them all the same, so it is off by default.",
        "",
        *tables.said_table(["set", "documents"], numbers),
        f"**Rewording**: documents of `{result['changed'][0]['set']}` and copies of them in which some words were "
        "replaced at random by other words of the set; the share that is called the same. Shingles of 5 words cannot "
        "find a paraphrase without five unchanged words in a row. Simhash and cosine of words find texts with more "
        "changes, and no method here knows synonyms.",
        "",
        *tables.said_table(["words changed", "documents"], words),
        "![Called the same by words changed](../images/quality-rewording.svg)",
        "",
    ]
