"""The part of docs/inside/quality.md that is made from the kept result, between its marks."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from benchmarks.quality import limits, tables
from benchmarks.quality.recipes import CUT_SHARE
from benchmarks.quality.scores import best
from benchmarks.quality.tables import common_cut, named, pick, span
from tools.page_part import write_part

__all__ = ["text", "write"]

PAGE = Path(__file__).parents[2] / "docs" / "inside" / "quality.md"
Json = dict[str, Any]


def write(result: Json) -> None:
    """Put the text between its marks."""
    write_part(PAGE, "settings compared", text(result))


def text(result: Json) -> str:
    """All sections."""
    parts = [
        _opening(result),
        _defaults(result),
        _features(result),
        _html(result),
        _simhash(result),
        _minhash(result),
        _human(result),
        limits.versions(result),
        limits.cosine(result),
        limits.failures(result),
    ]
    return "\n".join(_wrapped(line) for part in parts for line in part)


def _wrapped(line: str) -> str:
    """Prose in lines of 120; tables, headings and pictures as they are."""
    if line.startswith(("|", "#", "!")):
        return line
    indent = "  " if line.startswith("- ") else ""
    return textwrap.fill(line, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _at(result: Json, threshold: float, **key: object) -> list[float]:
    """Mean precision, recall and F1 of exact Jaccard at a threshold."""
    at = pick(result["sets"][0]["jaccard"], **key)["cuts"].index(threshold)
    return [
        float(tables.mean(result, lambda given, n=name: pick(_jaccard(given), **key)[n])[at])  # type: ignore[misc]
        for name in ("precision", "recall", "f1")
    ]


PLAIN = {"digits": "kept", "template": "none"}


def _defaults(result: Json) -> list[str]:
    widths = ("3 words", "5 words", "8 words", "12 words")
    mean = {name: common_cut(result, _jaccard, features=name, **PLAIN)[1] for name in widths}
    widest = ", ".join(f"{name} {value:.3f}" for name, value in mean.items())
    at = {cut: _at(result, cut, features="5 words", **PLAIN) for cut in (0.8, 0.7, 0.5)}
    folded = common_cut(result, _jaccard, features="5 words", digits="folded", template="none")
    cut = common_cut(result, _jaccard, features="5 words", digits="kept", template="cut")
    five = common_cut(result, _jaccard, features="5 words", **PLAIN)
    weak = pick(result["sets"][-1]["jaccard"], features="5 words", digits="kept", template="cut")
    whole = pick(result["sets"][-1]["jaccard"], features="5 words", **PLAIN)
    lines = result["short_lines"]["short"]
    pages: dict[str, list[float]] = {}
    for given in result["html"]:
        pages.setdefault(given["set"], []).append(given["f1"][given["cuts"].index(0.8)][0])
    eight = [b["recall"][0] for g in result["jaccard_bands"] for b in g["methods"]["simhash, radius 8"][-2:]]
    bands = [
        b["recall"][0] for g in result["jaccard_bands"] for b in g["methods"]["MinHash 20x6 (for .8)"][-2:]
    ]
    return [
        "### Which defaults the measurements support",
        "",
        f"- **Shingles of 5 words**: "
        f"{'the best' if max(mean, key=mean.__getitem__) == '5 words' else 'not the best'} "
        f"mean F1 of the widths, with one threshold for all sets ({widest}). Wider ones suit long pages "
        f"judged by people "
        "(below) and miss short texts; with narrower ones, templates make short texts similar. The "
        "differences are small, and most of them come from `tldr_short`.",
        f"- **A threshold of .8**: mean precision {at[0.8][0]:.3f}, recall {at[0.8][1]:.3f}. At .5 they are "
        f"{at[0.5][0]:.3f} and {at[0.5][1]:.3f}, and the best F1 is at {five[0]:g} ({five[1]:.3f} against "
        f"{at[0.8][2]:.3f}): "
        "the labels say that pages are the same even if they differ in half of their shingles. But a removal may be "
        "final, and half of a page may be new. So the default removes only near-copies; use `threshold=0.5` for "
        "versions of pages.",
        f"- **Digits kept**: with folded digits the best mean F1 is {folded[1]:.3f} instead of {five[1]:.3f}, and "
        f"people called "
        "tables with other figures different.",
        f"- **Templates kept**: without them the mean F1 rises from {five[1]:.3f} to {cut[1]:.3f}, but it falls for "
        f"a corpus whose "
        f"documents are templates (`licenses`: {whole['f1'][best(whole)][0]:.3f} to "
        f"{weak['f1'][best(weak)][0]:.3f}). It "
        "is a setting for pages of sites, `templates=nd.Templates()`, not a default.",
        f"- **Bands of 20x6** for .8: they find {span(bands)} of the pairs from .8 up on the "
        f"version sets; "
        f"simhash of TF-IDF words at radius 8 finds {span(eight)}.",
        "- **The exact join of short documents** remains: on "
        + ", ".join(f"{row['similar']} pairs at {row['threshold']:g}" for row in lines if row["short"])
        + " among short lines it finds "
        + ", ".join(str(row["found"]) for row in lines if row["short"])
        + " and the bands without it "
        + ", ".join(str(row["found"]) for row in lines if not row["short"])
        + ". So it loses nothing, and its recall does not depend on chance.",
        '- **Main text of pages** (`html="main"`): at .8 F1 rises from '
        + " and from ".join(f"{a:.3f} to {b:.3f} on {name}" for name, (a, b) in pages.items())
        + ".",
        "",
    ]


def _html(result: Json) -> list[str]:
    rows = []
    for given in result["html"]:
        for cut in (0.8, 0.5):
            at = given["cuts"].index(cut)
            cells = [named(given[name][at]) for name in ("precision", "recall", "f1")]
            rows.append([given["set"], given["html"], f"{cut:g}", *cells])
    return [
        "### HTML: the whole page or its main text",
        "",
        "This table has 5 words and exact Jaccard on the two sets of HTML. All other tables on this page use the text "
        "of whole pages.",
        "",
        *tables.table(["set", "html", "threshold", "precision", "recall", "F1"], rows, left=2),
    ]


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
        "The section above asks whether a search finds similar pairs. This section asks whether similar pairs are "
        "*the same page* to the people who labelled the sets. All pairs of a set are compared by brute force. A pair "
        "is right if both documents are versions of one page (or a person said so), and wrong if they are known to "
        "be different pages; pairs without a label are not counted. Intervals are 95% intervals, over pages instead "
        "of pairs, because the versions of one page are often right or wrong together. Means are over all sets except "
        "`licenses`, whose labels are names of licences: two licences may share nearly all their text. Every fourth "
        "document of that set is used.",
        "",
    ]


def _features(result: Json) -> list[str]:
    five = common_cut(result, _jaccard, features="5 words", **PLAIN)
    three = common_cut(result, _jaccard, features="3 words", **PLAIN)
    return [
        "### Features, thresholds, digits, templates: an ideal detector",
        "",
        "The table shows the best F1 of exact Jaccard on each set with its threshold, then the one threshold "
        "that is best for all sets. "
        f"*Template cut* leaves out features that occur in more than {CUT_SHARE:.0%} of the documents of a set "
        f"(`nd.features.Common`).",
        "",
        *tables.features_table(result),
        f"3 words reach a mean F1 of {three[1]:.3f} at {three[0]:g}, 5 words {five[1]:.3f} at {five[0]:g}: "
        f"the narrower "
        "the shingle, the higher the threshold that separates different pages. Single words are not "
        "enough if different pages share a vocabulary.",
        "",
        "![F1 by threshold and features](../images/quality-thresholds.svg)",
        "",
        "5 words at thresholds in use:",
        "",
        *tables.threshold_table(result),
    ]


def _simhash(result: Json) -> list[str]:
    key = {"features": "words", "weights": "tf-idf", "bits": 64, "checked": 0.0}
    places = {given["set"]: best(pick(given["simhash"], **key)) for given in result["sets"]}
    return [
        "### Simhash: features, weights, bits, radius, verified or not",
        "",
        "The table shows the mean F1 over the sets, for all pairs within a radius: at radius 3, and at the radius "
        "from 0 to 12 that is best for "
        "all sets together. *Verified* pairs must also share half their 5-word shingles. The last column is "
        "the time from "
        "text to 64-bit codes, one thread.",
        "",
        *tables.simhash_table(result),
        "Radius by radius for TF-IDF words and for one bit of each MinHash value, mean precision, recall "
        "and F1:",
        "",
        *tables.radius_table(result),
        "![Precision and recall by radius](../images/quality-radii.svg)",
        "",
        "Without verification, no radius is right for all sets: the best one for TF-IDF words is "
        + ", ".join(f"{radius} on {name}" for name, radius in places.items())
        + '. A wide radius with verification is right for all sets; `method="simhash"` does this. '
        "128 bits need twice the radius for the same recall; without verification they have a higher "
        "precision.",
        "",
    ]


def _minhash(result: Json) -> list[str]:
    return [
        "### MinHash settings, and short documents",
        "",
        "The table shows the recall of pairs that are similar by exact Jaccard, over all sets, and "
        "the cost: bytes kept "
        "for each document, "
        "candidates to verify, and time for sketches and bands.",
        "",
        *tables.minhash_table(result),
        "Bands chosen for a threshold (20x6 for .8, 33x5 for .7, 93x4 for .5) find the pairs from this threshold up. "
        "The recall of pairs below it is lower. A lower threshold has more candidates to verify.",
        "",
        "The pipeline with and without the exact join of documents under 40 tokens, on pairs with such a "
        f"document:",  # noqa: F541
        "",
        *tables.short_table([*result["sets"], result["short_lines"]]),
    ]


def _human(result: Json) -> list[str]:
    given = result["human"]
    rules = {row["rule"]: row for row in given["rules"]}
    top = max(given["rules"], key=lambda row: row["f1"][0])
    wide, five = rules["Jaccard of 12 words"], rules["Jaccard of 5 words"]
    return [
        "## What people call near-duplicates",
        "",
        f"`gov2_human` has {given['pairs']} pairs that people judged. They called {given['same']} "
        "of them the same; the "
        "others were sampled among similar pages, so they are difficult. Thresholds (and weights, "
        "if a rule has any) are "
        f"chosen on nine tenths of the pairs and applied to the last tenth; this is repeated {given['repeats']} times. "
        "Pairs that share a document are always in the same part. Intervals come from resampling "
        "whole groups of pairs. "
        "IDF and templates are learnt from all documents, without labels.",
        "",
        *tables.rules_table(result),
        f"- The best rule out of sample is *{top['rule']}* with {named(top['f1'])}.",
        f"- The best rules that need only a threshold have 12 words or more. Jaccard of 12 words reaches "
        f"{named(wide['f1'])} at about {wide['threshold']:.2f}, where 5 words reach {named(five['f1'])}. "
        f"With the library: "
        "`nd.dedup(documents, features=nd.Shingles(width=12), threshold=0.33)`.",
        "- People called forms and tables with the same headings but other figures different, and pages with long "
        "shared passages the same. Wide shingles find such passages, and the share of numbers "
        "distinguishes the tables. "
        "Folded digits make the result worse.",
        f"- **These are the best of {len(given['rules'])} rules, chosen afterwards.** If the rule "
        f"itself is chosen "
        f"inside the folds, F1 is {named(given['chosen']['f1'])}. With {given['pairs']} pairs all intervals "
        f"overlap: "
        "an F1 of .90 is reached out of sample, but this set does not prove that it is above .90. "
        "We also knew this set when we wrote the list of rules, which no fold can correct.",
        "",
    ]
