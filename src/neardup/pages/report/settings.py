"""The inputs and settings of a scan, and the commands that repeat it."""

from __future__ import annotations

import shlex

from neardup.findings import Findings, Summary
from neardup.pages.report.markup import Html, label, raw, table, tag, text
from neardup.values.sizes import size_text

__all__ = ["settings_section"]

INPUTS = 40
NAMED = 8  # inputs written out in a command
MOST = 20_000  # characters of the settings


def settings_section(found: Findings, summary: Summary) -> Html:
    """Inputs with their digests, settings, versions, and how to repeat the scan."""
    manifest = found.manifest
    inputs = manifest["inputs"]
    rows = [
        [
            tag("span", text(str(entry["name"]), 120), class_="id"),
            raw(label(str(entry["format"]), 20)),
            raw(size_text(int(entry["bytes"])) if entry.get("bytes") is not None else "–"),
            tag(
                "span",
                raw(label(str(entry.get("sha256") or entry.get("digest") or "–"), 64)),
                class_="id digest",
            ),
        ]
        for entry in inputs[:INPUTS]
    ]
    files = [table(["Input", "Format", "Size", "Digest"], rows, frozenset({2}))]
    if len(inputs) > INPUTS:
        files.append(tag("p", raw(f"… and {len(inputs) - INPUTS:,} more inputs"), class_="soft small"))
    versions = {"neardup": manifest.get("neardup", "?"), **(manifest.get("versions") or {})}
    facts = {
        **{str(name): str(value) for name, value in list(versions.items())[:12]},
        "scanned": f"{str(manifest.get('created', '?'))[:19]} (UTC), in {summary.seconds:g} s",
        "threads": str(manifest.get("threads", "?")),
        "seed": str(manifest.get("seed", "?")),
        "scheme": str(manifest.get("scheme", "?")),
    }
    pairs = (
        part
        for name, value in facts.items()
        for part in (tag("dt", raw(label(name))), tag("dd", text(value, 400)))
    )
    cards = [
        tag("div", tag("h3", raw("Inputs")), *files, class_="card whole"),
        tag("div", tag("h3", raw("Repeat it")), *_repeat(found, summary), class_="card stack whole"),
        tag(
            "div",
            tag("h3", raw("Settings")),
            tag(
                "pre",
                text(found.config.to_toml(), MOST),
                tabindex="0",
                aria_label="settings.toml",
                role="region",
            ),
            class_="card stack",
        ),
        tag("div", tag("h3", raw("Versions")), tag("dl", *pairs, class_="facts small"), class_="card stack"),
    ]
    return tag("section", tag("h2", raw("Settings")), *cards, id="settings", class_="settings")


def _repeat(found: Findings, summary: Summary) -> list[Html]:
    names = [str(entry["name"]) for entry in found.manifest["inputs"]]
    given = shlex.join(names) if len(names) <= NAMED else f"{shlex.join(names[:1])} ..."
    folder = shlex.quote(
        f"{names[0].rstrip('/').rsplit('/', 1)[-1]}.findings" if names else "corpus.findings"
    )
    scan = ["neardup scan", given, "--config settings.toml"]
    columns = found.manifest["columns"]
    scan += [
        f"--{name} {shlex.quote(str(columns[name]))}"
        for name in ("text", "id", "format")
        if columns.get(name)
    ]
    scan += [f"--against {shlex.quote(str(one))}" for one in (found.manifest.get("against") or [])[:NAMED]]
    other = "" if summary.threshold == found.threshold else f" --threshold {summary.threshold:g}"
    lines = "\n".join(
        [" ".join([*scan, f"--out {folder}"]), f"neardup report {folder} -o report.html{other}"]
    )
    return [
        tag(
            "p",
            raw("Save the settings below as <code>settings.toml</code>, check that the inputs are the same, and run:"),
        ),
        tag("pre", text(lines, 4000), tabindex="0", role="region", aria_label="commands"),
        tag(
            "p",
            raw("Inputs with the same SHA-256, the same settings and the same version give the same findings, on "
                "any machine and with any number of threads."),
            class_="soft small",
        ),
    ]  # fmt: skip
