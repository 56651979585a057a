"""`neardup fingerprint`: the fingerprints of text files."""

from __future__ import annotations

import json
from typing import Any

import click

import neardup as nd
from neardup.cli.inputs import read_text
from neardup.cli.options import fold_digits_option, json_option

__all__ = ["fingerprint"]

KINDS = ("simhash", "bits", "minhash", "digest", "sha256")


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--kind", type=click.Choice(KINDS), default="simhash", show_default=True, help="Which fingerprint."
)
@click.option(
    "--bits", type=click.Choice(["32", "64", "128"]), default="64", show_default=True, help="Bits of a code."
)
@click.option(
    "--values",
    type=click.IntRange(1, 65536),
    default=128,
    show_default=True,
    help="Values of a MinHash sketch.",
)
@click.option(
    "--width", type=click.IntRange(1, 1024), default=5, show_default=True, help="Words per shingle."
)
@click.option(
    "--idf", type=click.Path(exists=True, dir_okay=False), help="Frozen document frequencies for simhash."
)
@fold_digits_option
@click.option("--seed", type=str, default=None, help="Seed of the hashes, decimal or 0x hexadecimal.")
@json_option("One JSON object a line, with scheme and margins.")
def fingerprint(
    files: tuple[str, ...],
    kind: str,
    bits: str,
    values: int,
    width: int,
    idf: str | None,
    fold_digits: bool,
    seed: str | None,
    as_json: bool,
) -> None:
    """Print a fingerprint for each of the FILES (- is standard input), read as UTF-8 text.

    simhash: a code of words; near texts differ in few bits. bits: one bit of each MinHash value of word shingles, also
    a code. minhash: a sketch of word shingles. digest: 128 bits of the normalised text. sha256: of the raw bytes.
    """
    texts = [read_text(path) for path in files]
    how = nd.Normalize(digits="fold" if fold_digits else "keep")
    number = _seed(seed)
    prints: nd.fingerprints.Codes | nd.fingerprints.Sketches | nd.fingerprints.Digests
    if kind == "simhash":
        weights: Any = nd.Idf.load(idf) if idf else "count"
        prints = nd.fingerprint(
            texts, nd.Words(normalize=how, weights=weights, seed=number), nd.Simhash(int(bits))
        )
    elif kind == "bits":
        shingles = nd.Shingles(width, normalize=how, seed=number)
        prints = nd.fingerprint(texts, shingles, nd.BitMinHash(int(bits), seed=number))
    elif kind == "minhash":
        shingles = nd.Shingles(width, normalize=how, seed=number)
        prints = nd.fingerprint(texts, shingles, nd.MinHash(values, seed=number))
    else:
        prints = nd.fingerprints.digest(texts, normalized=how if kind == "digest" else None, seed=number)
    for row, path in enumerate(files):
        value = None if prints.empty[row] else _hex(prints, row)
        if not as_json:
            click.echo(f"{value or '(empty: no fingerprint)'}  {path}")
            continue
        said: dict[str, Any] = {"path": path, "kind": kind, "scheme": prints.scheme, "fingerprint": value}
        if isinstance(prints, nd.fingerprints.Codes) and prints.margins is not None and value is not None:
            said["margins"] = [round(float(margin), 6) for margin in prints.margins[row]]
        click.echo(json.dumps(said, ensure_ascii=False))


def _hex(prints: nd.fingerprints.Codes | nd.fingerprints.Sketches | nd.fingerprints.Digests, row: int) -> str:
    if isinstance(prints, nd.fingerprints.Digests):
        return bytes(prints.digests[row]).hex()
    if isinstance(prints, nd.fingerprints.Sketches):
        return "".join(f"{value:08x}" for value in prints.values[row].tolist())
    words = prints.codes[row].tolist()
    return "".join(f"{word:016x}" for word in reversed(words))[-prints.bits // 4 :]


def _seed(text: str | None) -> int:
    if text is None:
        return nd.fingerprints.DEFAULT_SEED
    try:
        return nd.Seed(int(text, 0)).value
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not a number from 0 to 2**64 - 1", param_hint="--seed"
        ) from None
