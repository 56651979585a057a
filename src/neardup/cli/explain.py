"""`neardup explain`: why two files are, or are not, near-duplicates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

import neardup as nd
from neardup.cli.inputs import read_text
from neardup.cli.options import MEASURES, fold_digits_option, json_option
from neardup.compare.explain import Explanation
from neardup.config.kinds import class_of
from neardup.values.wording import counted, printable

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["explain"]

LONGEST = 8  # passages shown
CHANGES, LONGEST_CHANGE = 40, 400  # of the differences shown; the second in characters


@click.command()
@click.argument("left")
@click.argument("right")
@click.option(
    "--findings",
    "-f",
    type=click.Path(exists=True, file_okay=False),
    help="Take LEFT and RIGHT as ids of a scan.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Smallest similarity of duplicates.  [default: the scan's, or 0.8]",
)
@click.option(
    "--measure",
    type=click.Choice(MEASURES),
    help="The measure that decides the verdict.  [default: the scan's, or jaccard]",
)
@click.option("--width", type=click.IntRange(1, 1024), help="Words per shingle.  [default: the scan's, or 5]")
@fold_digits_option
@click.option(
    "--samples", type=click.IntRange(0, 100), default=5, show_default=True, help="How many shingles to show."
)
@click.option("--no-decisions", is_flag=True, help="With -f: ignore the decisions of a review.")
@click.option("--full", is_flag=True, help="Show all differences, however many and long they are.")
@json_option("Everything as one JSON object.")
def explain(
    left: str,
    right: str,
    findings: str | None,
    threshold: float | None,
    measure: str | None,
    width: int | None,
    fold_digits: bool,
    samples: int,
    no_decisions: bool,
    full: bool,
    as_json: bool,
) -> None:
    """Compare the texts of two files, or with -f of two documents of a scan, by every measure, and show what they share
    and where they differ; of a scan also which of them is kept, and why."""
    from neardup.compare.explain import explain as compare

    how = nd.Normalize(digits="fold" if fold_digits else "keep")
    verdict: list[str] = []
    measured: tuple[str, float] | None = None
    template: float | None = None
    if findings is None:
        texts: list[str | bytes] = [read_text(left), read_text(right)]
    else:
        from neardup.findings import Decisions, Findings, explain_pair

        scanned = Findings(findings)
        pair = explain_pair(scanned, left, right, threshold, Decisions() if no_decisions else None)
        texts, verdict = list(pair.texts), list(pair.reasons)
        compared = scanned.config.shown
        threshold = scanned.threshold if threshold is None else threshold
        width = compared.width if width is None else width
        how = compared.normalize
        measured, template = (pair.measure, pair.similarity), pair.template
    found = compare(
        *texts,
        threshold=0.8 if threshold is None else threshold,
        width=5 if width is None else width,
        normalize=how,
        samples=samples,
    )
    if measure is not None:
        verify: Any = class_of(measure)
        verify = verify()
        measured = verify.name, verify.of_texts(nd.Shingles(found.width, normalize=how), *texts)
    if measured is not None:
        found = found.by_measure(measured[1])
    if as_json:
        said = found.to_json() | (
            {"reasons": verdict, "measure": measured[0], "similarity": measured[1], "template": template}
            if measured
            else {}
        )
        click.echo(json.dumps(said, ensure_ascii=False))
        return
    if template is not None:
        verdict.append(f"{template:.0%} of what they share is template: it recurs in their source.")
    _show(found, printable(left, 60), printable(right, 60), measured, verdict, full)


def _show(
    found: Explanation,
    left: str,
    right: str,
    measured: tuple[str, float] | None,
    verdict: list[str],
    full: bool,
) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, markup=False)
    colour = {"different": "yellow", "empty": "red"}.get(found.verdict, "green")
    console.print(Text.assemble((found.verdict, f"bold {colour}"), "  ", _reason(found, measured)))
    for line in verdict:
        click.echo(line)
    console.print()
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_column(style="dim")
    # Either name fits beside what is said of it, its beginning and its end.
    short = [_shortened(name, max(16, console.width - 64)) for name in (left, right)]
    words = [counted(many, "word") for many in found.tokens]
    shared, only_left, only_right = found.shingles
    table.add_row(
        "Jaccard",
        f"{found.jaccard:.3f}",
        f"{shared} of {shared + only_left + only_right} word {found.width}-shingles shared",
    )
    table.add_row("contained", f"{found.containment[0]:.3f}", f"of the shingles of {short[0]} ({words[0]})")
    table.add_row("", f"{found.containment[1]:.3f}", f"of the shingles of {short[1]} ({words[1]})")
    table.add_row("cosine", f"{found.cosine:.3f}", "of word counts")
    if found.edit is not None:
        table.add_row("edit", f"{found.edit:.3f}", "words kept by an insert/delete alignment")
    table.add_row("MinHash", f"{found.minhash:.3f}", "Jaccard as 128 values estimate it")
    table.add_row("simhash", f"{found.simhash_distance}", f"of 64 bits differ: {_bits(found.flipped_bits)}")
    table.add_row("", "", f"weakest bits of {short[0]}: {_bits(found.weakest_bits)}")
    table.add_row("1-bit MinHash", f"{found.bit_distance}", "of 64 bits differ")
    if found.verdict in ("near-duplicate", "different", "same words"):
        table.add_row("changes", "", f"{found.changes}")
        if found.changes.unknown:
            table.add_row(
                "", "", f"not compared, because a text has none: {', '.join(found.changes.unknown)}"
            )
    console.print(table)
    for title, sample, style in (
        ("shared", found.shared, "green"),
        (f"only in {left}", found.only_left, "red"),
        (f"only in {right}", found.only_right, "cyan"),
    ):
        if sample:
            console.print(Text(f"\n{title}", style="bold"))
            for shingle in sample:
                console.print(Text(f"  {shingle}", style=style))
    # If the texts have about the same length, the differences show as much.
    uneven = max(found.tokens) >= 2 * min(found.tokens) or found.diff is None
    uneven = uneven or (measured is not None and measured[0] == "Containment")
    if found.spans and uneven and found.verdict in ("near-duplicate", "different"):
        common = sum(span.words for span in found.spans)
        where = counted(len(found.spans), "passage")
        title = f"\n{common:,} of {words[0]} of {short[0]} are in {short[1]}, in {where}"
        console.print(Text(title, style="bold"))
        console.print(Text(f"  {'words':>7} {'left from':>10} {'right from':>11}", style="dim"))
        for span in sorted(found.spans, key=lambda span: -span.words)[:LONGEST]:
            place = f"  {span.words:>7,} {span.left:>10,} {span.right:>11,}  "
            shown = _shortened(span.text, min(60, console.width - len(place)))
            console.print(Text(place, style="dim"), Text(shown, style="green"), sep="")
    if found.diff is not None:
        console.print(Text("\ndifferences", style="bold"), Text(f"(-{short[0]} +{short[1]})", style="dim"))
        shown_parts, hidden = (found.diff, 0) if full else _bounded(found.diff)
        console.print(Padding(_diff(shown_parts), (0, 0, 0, 2)))
        if hidden:
            console.print(Text(f"  {counted(hidden, 'more change')}; --full shows everything", style="dim"))
    elif not found.tokens[0] or not found.tokens[1]:
        pass
    else:
        console.print(
            Text(
                "\nNo word-by-word view: the texts are too long, or type: pip install 'neardup[edit]'",
                style="dim",
            )
        )


def _reason(found: Explanation, measured: tuple[str, float] | None) -> str:
    if found.verdict == "empty":
        return "a text without words has no fingerprint and equals nothing"
    if found.verdict == "identical":
        return "the two texts are the same, byte for byte"
    if found.verdict == "same words":
        return "only case, white space, punctuation or the like differ"
    sign = ">=" if found.duplicate else "<"
    name, value = measured or ("Jaccard", found.jaccard)
    return f"{name} {value:.3f} {sign} threshold {found.threshold:g}"


def _shortened(text: str, width: int = 60) -> str:
    return text if len(text) <= width else f"{text[: width // 2 - 1]} … {text[-width // 2 + 2 :]}"


def _bits(bits: tuple[int, ...]) -> str:
    shown = " ".join(map(str, bits[:12]))
    return shown + (" ..." if len(bits) > 12 else "") if bits else "none"


def _bounded(parts: tuple[tuple[str, str], ...]) -> tuple[tuple[tuple[str, str], ...], int]:
    """The first changes, long ones cut in the middle, and how many more there are."""
    changes = [number for number, (kind, _) in enumerate(parts) if kind != "same"]
    end = len(parts) if len(changes) <= CHANGES else changes[CHANGES]
    shown = tuple(
        (kind, words if kind == "same" else _shortened(words, LONGEST_CHANGE)) for kind, words in parts[:end]
    )
    return shown, max(0, len(changes) - CHANGES)


def _diff(parts: tuple[tuple[str, str], ...], around: int = 8) -> Text:
    """The changes, each with a few words of the unchanged text around it."""
    from rich.text import Text

    text = Text()
    for number, (kind, words) in enumerate(parts):
        if kind != "same":
            style, sign = ("red", "-") if kind == "left" else ("cyan", "+")
            text.append(f"[{sign}{words}]", style=f"bold {style}").append(" ")
            continue
        split = words.split(" ")
        first, last = number == 0, number == len(parts) - 1
        if len(split) > 2 * around + 1:
            head = [] if first else split[:around]
            tail = [] if last else split[-around:]
            split = [*head, "…", *tail]
        text.append(" ".join(split) + " ", style="dim")
    return text
