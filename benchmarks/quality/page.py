"""The part of docs/quality.md that is made from the kept result, between its marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.quality import tables
from benchmarks.quality.recipes import CUT_SHARE
from benchmarks.quality.tables import common_cut, named, pick

__all__ = ["text", "write"]

PAGE = Path(__file__).parents[2] / "docs" / "quality.md"
BEGIN, END = "<!-- settings compared: begin -->", "<!-- settings compared: end -->"
Json = dict[str, Any]


def write(result: Json) -> None:
    """Put the text between its marks, at the end of the page if there are none; whole or not at all."""
    page = PAGE.read_text("utf-8")
    if BEGIN in page:
        page = page[: page.index(BEGIN)] + text(result) + page[page.index(END) + len(END) :]
    else:
        page = f"{page.rstrip()}\n\n{text(result)}\n"
    partial = PAGE.with_suffix(".partial")
    partial.write_text(page, "utf-8")
    partial.replace(PAGE)


def text(result: Json) -> str:
    """All sections."""
    parts = [
        _opening(result),
        _features(result),
        _simhash(result),
        _minhash(result),
        _human(result),
        _versions(result),
        _cosine(result),
        _failures(result),
    ]
    return "\n".join([BEGIN, *(line for part in parts for line in part)]).rstrip() + f"\n{END}"


def _jaccard(given: Json) -> list[Json]:
    rows: list[Json] = given["jaccard"]
    return rows


def _opening(result: Json) -> list[str]:
    machine = result["machine"]
    return [
        f"Made by `make quality` at commit `{result['commit']}` in {result['seconds']} s on "
        f"{machine['cpu']}, "
        f"{machine['cores']} cores, load {machine['load']}; do not edit between the marks. Every number is "
        f"from "
        "`benchmarks/results/quality.json`.",
        "",
        "## Settings compared on the labelled sets",
        "",
        "Here the question is no longer whether a search finds what is similar, but whether what is similar "
        "is *the same "
        "page* to those who labelled the sets. All pairs of a set are compared by brute force. A pair is "
        "right when both "
        "documents are versions of one page (or a person said so), wrong when they are known to be "
        "different pages; pairs "
        "of unknown label count for nothing. Intervals are of 95%, over pages rather than pairs, for the "
        "versions of one "
        "page stand and fall together. Means are over the sets but `licenses`, whose labels are licence "
        "names: two names "
        "may share nearly all their text. Of that set every fourth document is taken.",
        "",
    ]


def _features(result: Json) -> list[str]:
    plain = {"digits": "kept", "template": "none"}
    five = common_cut(result, _jaccard, features="5 words", **plain)
    three = common_cut(result, _jaccard, features="3 words", **plain)
    folded = common_cut(result, _jaccard, features="5 words", digits="folded", template="none")
    at = pick(result["sets"][0]["jaccard"], features="5 words", **plain)["cuts"].index(0.8)
    strict = [
        tables.mean(result, lambda g, n=name: pick(_jaccard(g), features="5 words", **plain)[n])[at]  # type: ignore[misc]
        for name in ("precision", "recall", "f1")
    ]
    return [
        "### Features, thresholds, digits, templates: an ideal detector",
        "",
        "The best F1 of exact Jaccard on each set with the threshold that gives it, then the one threshold "
        "best for all. "
        f"*Template cut* leaves out features of more than {CUT_SHARE:.0%} of a set's documents "
        f"(`nd.Common`).",
        "",
        *tables.features_table(result),
        f"- **Width.** 3 words reach a mean F1 of {three[1]:.3f} at {three[0]:g}, 5 words {five[1]:.3f} at "
        f"{five[0]:g}: "
        "narrower shingles bear edits better and need a higher threshold for the same precision. Single "
        "words are no "
        "measure of sameness where pages share a vocabulary.",
        f"- **Threshold.** At the default of .8, 5 words have a mean precision of {strict[0]:.3f}, recall of "
        f"{strict[1]:.3f} and F1 of {strict[2]:.3f}; at {five[0]:g} precision {five[2]:.3f}, recall "
        f"{five[3]:.3f}. A "
        "deduplicator throws documents away, so the default stays on the side of precision; whoever wants "
        "versions of "
        "pages together asks for .5.",
        f"- **Digits.** Folded, the mean F1 is {folded[1]:.3f} instead of {five[1]:.3f}.",
        "",
        "![F1 by threshold and features](images/quality-thresholds.svg)",
        "",
        "5 words at thresholds in use:",
        "",
        *tables.threshold_table(result),
    ]


def _simhash(result: Json) -> list[str]:
    return [
        "### Simhash: features, weights, bits, radius, verified or not",
        "",
        "Mean F1 over the sets, of all pairs within a radius: at radius 3, and at the radius from 0 to 12 "
        "that is best for "
        "all sets together. *Verified* pairs must also share half their 5-word shingles. The last column is "
        "the time from "
        "text to 64-bit codes, one thread.",
        "",
        *tables.simhash_table(result),
        "Radius by radius for TF-IDF words and for one bit of each MinHash value, mean precision, recall "
        "and F1:",
        "",
        *tables.radius_table(result),
        "![Precision and recall by radius](images/quality-radii.svg)",
        "",
        "Unverified, no radius is right for all sets: precision falls off between radius 6 and 12, at "
        "another place in "
        'each. A wide radius with verification needs no such luck, which is what `method="simhash"` does.',
        "",
    ]


def _minhash(result: Json) -> list[str]:
    return [
        "### MinHash settings, and short documents",
        "",
        "Recall of pairs that are similar by exact Jaccard, over all sets, and what it costs: bytes kept "
        "for each document, "
        "candidates to verify, and time for sketches and bands.",
        "",
        *tables.minhash_table(result),
        "Bands chosen for a threshold (20x6 for .8, 33x5 for .7, 93x4 for .5) find what they are chosen "
        "for. The recall of "
        "pairs below it falls off, and the candidates to verify grow with each step down.",
        "",
        "The pipeline with and without the exact join of documents under 40 tokens, on pairs with such a "
        f"document:",  # noqa: F541
        "",
        *tables.short_table(result),
    ]


def _human(result: Json) -> list[str]:
    given = result["human"]
    rules = {row["rule"]: row for row in given["rules"]}
    top = max(given["rules"], key=lambda row: row["f1"][0])
    wide, five = rules["Jaccard of 12 words"], rules["Jaccard of 5 words"]
    return [
        "## What people call near-duplicates",
        "",
        f"`gov2_human` holds {given['pairs']} pairs judged by people, {given['same']} of them the same; the "
        f"others were "
        "sampled among similar pages and so are hard. Thresholds (and weights, where a rule has any) are "
        "chosen on nine "
        f"tenths of the pairs and applied to the last, {given['repeats']} times over; pairs that share a "
        f"document stay "
        "together. Intervals come from drawing whole groups of pairs anew.",
        "",
        *tables.rules_table(result),
        f"- The best out of sample is *{top['rule']}* with {named(top['f1'])}.",
        f"- The best that needs no fitting but a threshold: 12 words and more. Jaccard of 12 words reaches "
        f"{named(wide['f1'])} at about {wide['threshold']:.2f}, where 5 words reach {named(five['f1'])}. "
        f"With the library: "
        "`nd.dedup(documents, features=nd.Shingles(width=12), threshold=0.33)`.",
        "- People called forms and tables with the same headings and other figures different, and long "
        "shared passages "
        "the same: wide shingles see passages, and a share of numbers tells the tables apart. Folding "
        "digits makes it worse.",
        f"- **These are the best of {len(given['rules'])} rules, looked up afterwards.** When the rule "
        f"itself is picked "
        f"inside the folds, F1 is {named(given['chosen']['f1'])}. With {given['pairs']} pairs all intervals "
        f"overlap: "
        "an F1 of .90 is reached out of sample, but that it is above .90 is not proven by this set.",
        "",
    ]


def _versions(result: Json) -> list[str]:
    lines = [
        "## Recall by exact similarity on the version sets",
        "",
        "All pairs of a band of exact Jaccard of 5 words, and the share of them that a method brings "
        "together, before "
        "anything is verified. Simhash is of TF-IDF words.",
        "",
    ]
    for given in result["jaccard_bands"]:
        lines += [f"`{given['set']}`:", "", *tables.bands_table(given)]
    return [*lines, "![Recall by exact Jaccard](images/quality-jaccard-bands.svg)", ""]


def _cosine(result: Json) -> list[str]:
    rows = [row for row in result["cosine_bands"] if row["radius"] == 3 and row["above"]]
    shares = [row["above_found"] / row["above"] for row in rows]
    wide = [
        row["above_found"] / row["above"]
        for row in result["cosine_bands"]
        if row["radius"] == 12 and row["above"]
    ]
    nine = [
        band["recall"][0]
        for row in rows
        for band in row["bands"]
        if band["from"] == 0.9 and band["recall"][0] is not None
    ]
    return [
        "## Simhash radius 3 is not a cosine-0.9 detector",
        "",
        f"Of the pairs whose cosine is .9 or more, radius 3 of 64 bits finds {min(shares):.0%} to "
        f"{max(shares):.0%} on "
        f"the version sets; of those between .9 and .925, {min(nine):.0%} to {max(nine):.0%}. At a cosine "
        f"of .9 the "
        "expected distance is 9.2 bits, and the binomial model gives a chance of 1.7% to be within 3. What "
        "radius 3 finds "
        f"are near-copies of cosine .98 and more. Radius 12 finds {min(wide):.0%} to {max(wide):.0%} of the "
        f"pairs of .9, "
        "at the price of pairs far below, which only verification removes.",
        "",
        *tables.cosine_table(result),
        "![Share within a radius by cosine](images/quality-cosine-bands.svg)",
        "",
    ]


def _failures(result: Json) -> list[str]:
    variants = [
        ([row["kind"], "same" if row["label"] else "apart", row["pairs"]], row["said"])
        for row in result["variants"]
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
        "**Templates**: pairs of different pages that are called the same, counted. Alias pages are one "
        "sentence with "
        "another name in it; the documentation sets have reference pages made by a generator.",
        "",
        *tables.said_table(["pairs", "of"], apart),
        "**Variants of a page** (`wiki_html_variants`), share called the same. A changed frame around an "
        "unchanged text "
        "is what 5 words at .8 miss, on the text of the whole page; extracting the main text first "
        '(`html="main"`, the '
        "default) is the remedy.",
        "",
        *tables.said_table(["variant", "label", "pairs"], variants),
        "**Short texts**: two versions of a page of `tldr_short`, by tokens of the shorter, share called "
        "the same. One "
        "changed word takes five shingles of a short text, so .8 finds few of them; the measure fails here, "
        "not the search.",
        "",
        *tables.said_table(["tokens", "pairs"], short),
        "**Only numbers changed**: documents beside a copy in which every number is another one, share "
        "called the same. "
        "Whether that is right depends on the corpus: copies with a new date are the same, tables with "
        "other figures "
        "are not. Folding digits calls them all the same, so it is off by default.",
        "",
        *tables.said_table(["set", "documents"], numbers),
        f"**Rewording**: documents of `{result['changed'][0]['set']}` beside a copy in which each word was "
        f"replaced with "
        "some chance by another of the same set, share called the same. A paraphrase that leaves no five "
        "words in a row "
        "is invisible to shingles of any width; simhash and cosine of words bear more, and no method here "
        "knows synonyms.",
        "",
        *tables.said_table(["words changed", "documents"], words),
        "![Called the same by words changed](images/quality-rewording.svg)",
        "",
    ]
