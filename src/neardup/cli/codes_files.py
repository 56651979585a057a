"""`neardup codes make`, `distribution`, `compress` and `info`: files of codes, one by one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import click

import neardup as nd
from neardup.cli.documents import stream
from neardup.cli.inputs import check_read, reading_of
from neardup.cli.options import json_option, page_options, quiet_option, threads_option
from neardup.cli.outputs import WritingCommand, may_overwrite, output_option, overwrite_option
from neardup.cli.progress import progress_shown
from neardup.errors import ConfigError
from neardup.progress import Progress
from neardup.values.sizes import size_text
from neardup.values.wording import counted

__all__ = ["bits_option", "code_format_option", "column_option", "compress", "distribution", "info", "make"]

FORMATS = "segment, compressed, parquet, npy, raw or hex; by default by the ending of the name"
bits_option = click.option(
    "--bits", type=click.Choice(["32", "64", "128"]), help="Bits of a code; needed for raw numbers."
)
code_format_option = click.option("--format", "code_format", help=f"Format of the codes: {FORMATS}.")
column_option = click.option("--column", help="Column of a Parquet file with the codes.  [default: code]")
memory_option = click.option(
    "--memory", default="1GB", show_default=True, help="Memory for sorting, such as 4GB."
)


@click.command(cls=WritingCommand)
@click.argument("inputs", nargs=-1, required=True)
@output_option("--out", "-o", required=True, help="The file of codes to write.")
@click.option("--out-format", help=f"Format of the output: {FORMATS}.")
@click.option(
    "--from",
    "kind",
    type=click.Choice(["documents", "codes"]),
    default="documents",
    show_default=True,
    help="What INPUTS hold; codes are written in another format.",
)
@click.option(
    "--method",
    type=click.Choice(["simhash", "bits"]),
    default="simhash",
    show_default=True,
    help="Codes of words (simhash), or one bit of each MinHash value of shingles (bits).",
)
@click.option(
    "--width", type=click.IntRange(1, 1024), default=5, show_default=True, help="Words per shingle (bits)."
)
@click.option("--idf", type=click.Path(exists=True, dir_okay=False), help="Frozen document frequencies.")
@bits_option
@column_option
@memory_option
@overwrite_option
@page_options
@threads_option()
@quiet_option
@json_option()
def make(inputs: tuple[str, ...], out: str, kind: str, **given: Any) -> None:
    """Make a file of codes from documents, or from codes in another format.

    INPUTS are documents (files, folders, globs), or with --from codes one file of codes. Parquet keeps ids, the scheme
    and the margins that PSM needs; hexadecimal text keeps ids; the others keep numbers alone. A segment is sorted, and
    keeps row numbers.
    """
    progress = progress_shown(given["quiet"])
    if kind == "codes":
        rows, empty = _converted(inputs, out, given, progress)
        extra: dict[str, Any] = {}
    else:
        reader = nd.read(list(inputs), **reading_of({**given}))
        rows, empty = _of_documents(reader, out, given, progress)
        extra = {"account": reader.account.to_json()}
    progress.finish()
    if given["as_json"]:
        said = {"out": out, "codes": rows - empty, "empty": empty, "bytes": _size(out)}
        click.echo(json.dumps(said | extra, ensure_ascii=False))
    else:
        gone = f"; {counted(empty, 'empty document')} without a code" if empty else ""
        click.echo(f"{counted(rows - empty, 'code')} in {out}{gone}")


def _size(path: str) -> int | None:
    return os.path.getsize(path) if os.path.isfile(path) else None


def _writer(out: str, scheme: str, bits: int, given: dict[str, Any]) -> Any:
    from neardup.search.code_files.writer import CodeWriter

    return CodeWriter(
        out,
        scheme,
        bits,
        format=given["out_format"],
        memory=given["memory"],
        overwrite=may_overwrite(),
        threads=given["threads"],
    )


def _converted(
    inputs: tuple[str, ...], out: str, given: dict[str, Any], progress: Progress
) -> tuple[int, int]:
    from neardup.search.code_files.reader import open_codes

    if len(inputs) != 1:
        raise click.UsageError("with --from codes name one file: rows are numbered in it")
    file = open_codes(
        inputs[0],
        format=given["format_"],
        bits=int(given["bits"]) if given["bits"] else None,
        column=given["column"],
    )
    progress.stage("codes", file.count, "codes")
    with _writer(out, file.scheme or f"bare{file.bits}", file.bits, given) as writer:
        for part in file.chunks():
            writer.add(part)
            progress.reached(writer.rows)
    return writer.rows, writer.empty


def _of_documents(reader: nd.Reader, out: str, given: dict[str, Any], progress: Progress) -> tuple[int, int]:
    from neardup.search.code_files.columns import CodeColumns

    bits = int(given["bits"] or 64)
    features: Any
    fingerprint: nd.Simhash | nd.BitMinHash
    if given["method"] == "bits":
        if given["idf"]:
            raise click.UsageError("--idf weighs words of simhash; shingles of --method bits have no weights")
        features, fingerprint = nd.Shingles(given["width"]), nd.BitMinHash(bits)
    else:
        weights: Any = nd.Idf.load(given["idf"]) if given["idf"] else "count"
        features, fingerprint = nd.Words(weights=weights), nd.Simhash(bits, margins="bytes")
    progress.stage("codes", None, "documents")
    with _writer(out, fingerprint.scheme(features.scheme), bits, given) as writer:
        for documents in _batches(reader, given):
            prints = nd.fingerprint(
                [document.text for document in documents], features, fingerprint, threads=given["threads"]
            )
            writer.add(CodeColumns.of_codes(prints, writer.rows, [document.id for document in documents]))
            progress.reached(writer.rows)
        check_read(reader, given)
    return writer.rows, writer.empty


def _batches(reader: nd.Reader, given: dict[str, Any]) -> Iterator[list[nd.Document]]:
    for batch in stream(reader, given["html"], {}, given["threads"]):
        if batch:
            yield batch


@click.command()
@click.argument("file")
@click.option(
    "--buckets", type=click.IntRange(1, 65536), default=16, show_default=True, help="A power of two."
)
@click.option(
    "--top", type=click.IntRange(0), default=10, show_default=True, help="Most frequent codes to show."
)
@code_format_option
@bits_option
@column_option
@json_option()
def distribution(
    file: str,
    buckets: int,
    top: int,
    code_format: str | None,
    bits: str | None,
    column: str | None,
    as_json: bool,
) -> None:
    """Show how the codes of FILE are spread: in equal intervals, in successive differences, and the most frequent.

    Predictions of speed and size assume uniform codes. Clusters make low places heavy, and empty or error pages give
    codes that very many documents share.
    """
    from neardup.search.code_files.reader import open_codes
    from neardup.search.disk.segment_set import open_segment
    from neardup.search.distribution import code_distribution, entropy_bound

    opened = open_codes(file, format=code_format, bits=int(bits) if bits else None, column=column)
    stored: Any = open_segment(file) if opened.format in ("segment", "compressed") else opened.load()[0]
    made = code_distribution(stored, buckets=buckets, spikes=top)
    spikes: list[dict[str, Any]] = [
        {"code": _digits(code, made.bits), "rows": int(rows)}
        for code, rows in zip(made.spike_codes, made.spike_rows, strict=True)
    ]
    if as_json:
        said = {
            "codes": made.count,
            "bits": made.bits,
            "buckets": made.buckets.tolist(),
            "leading": made.leading.tolist(),
            "entropy": made.entropy,
            "compressed_bits": made.compressed_bits,
            "uniform_bits": entropy_bound(made.bits, made.count),
            "spikes": spikes,
        }
        click.echo(json.dumps(said))
        return
    click.echo(f"{counted(made.count, 'code')} of {made.bits} bits")
    if not made.count:
        return
    most = max(int(made.buckets.max()), 1)
    for at, count in enumerate(made.buckets.tolist()):
        click.echo(f"  {at:>5} {'#' * round(40 * count / most):40} {count:,}")
    click.echo(
        f"compressed, a code takes at least {made.compressed_bits:.1f} bits; uniform codes would take "
        f"{entropy_bound(made.bits, made.count):.1f}"
    )
    for spike in spikes:
        if spike["rows"] > 1:
            click.echo(f"  {spike['code']} is the code of {spike['rows']:,} rows")


def _digits(words: Any, bits: int) -> str:
    return "".join(f"{int(word):016x}" for word in reversed(words.tolist()))[-bits // 4 :]


@click.command(cls=WritingCommand)
@click.argument("file")
@output_option("--out", "-o", required=True, help="The compressed segment to write, such as codes.segz.")
@click.option(
    "--block", type=click.IntRange(64, 65536), default=1024, show_default=True, help="Bytes of a block."
)
@click.option("--no-rows", is_flag=True, help="Codes alone: the row of a code is its place in the order.")
@code_format_option
@bits_option
@column_option
@memory_option
@overwrite_option
@json_option()
def compress(file: str, out: str, block: int, no_rows: bool, **given: Any) -> None:
    """Compress the codes of FILE to a segment that is searched without unpacking it whole.

    Sorted codes are stored as Huffman-coded differences in blocks (Manku, Jain and Das Sarma, 3.2).
    """
    from neardup.search.code_files.compress import compress_codes
    from neardup.search.code_files.reader import open_codes

    bits = int(given["bits"]) if given["bits"] else None
    opened = open_codes(file, format=given["code_format"], bits=bits, column=given["column"])
    made = compress_codes(opened, out, block=block, rows=not no_rows, memory=given["memory"])
    said = {
        "out": out,
        "codes": made.count,
        "bits_per_code": made.bits_per_code,
        "bytes_before": _size(file),
        "bytes": _size(out),
    }
    if given["as_json"]:
        click.echo(json.dumps(said, ensure_ascii=False))
        return
    click.echo(
        f"{counted(made.count, 'code')} in {out}: {made.bits_per_code:.1f} bits a code"
        f"{'' if no_rows else ' and 64 of its row'}, {size_text(os.path.getsize(out))} in all"
    )


@click.command()
@click.argument("file")
@click.option(
    "--radius", type=click.IntRange(0, 128), default=3, show_default=True, help="Radius of the chance hits."
)
@click.option("--verify", is_flag=True, help="Read the whole file and check it.")
@code_format_option
@bits_option
@column_option
@json_option()
def info(
    file: str,
    radius: int,
    verify: bool,
    code_format: str | None,
    bits: str | None,
    column: str | None,
    as_json: bool,
) -> None:
    """Describe FILE: its format, width, number of codes, scheme and margins, and the chance hits of a search in it."""
    from neardup.search.chance import SAFE, chance_hits, safe_radius
    from neardup.search.code_files.reader import open_codes
    from neardup.search.disk.segment_set import open_segment

    opened = open_codes(file, format=code_format, bits=int(bits) if bits else None, column=column)
    if radius > opened.bits:
        raise ConfigError(f"a radius is at most the {opened.bits} bits of these codes, not {radius}")
    said: dict[str, Any] = {
        "file": file,
        "format": opened.format,
        "bits": opened.bits,
        "rows": opened.count,
        "scheme": opened.scheme,
        "ids": opened.has_ids,
        "margins": opened.has_margins,
        "bytes": _size(file),
        "radius": radius,
        "chance_hits": chance_hits(opened.count, opened.bits, radius),
        "safe_radius": safe_radius(opened.count, opened.bits),
    }
    if verify:
        if opened.format in ("segment", "compressed"):
            open_segment(file).verify()
        said["empty"] = sum(int(part.empty.sum()) for part in opened.chunks())
        said["verified"] = True
    if as_json:
        click.echo(json.dumps(said, ensure_ascii=False))
        return
    click.echo(f"{file}: {opened.format}, {counted(opened.count, 'row')}, codes of {opened.bits} bits")
    click.echo(f"  scheme: {opened.scheme or 'not named in the file'}")
    have = [name for name, there in (("ids", opened.has_ids), ("margins", opened.has_margins)) if there]
    click.echo(f"  with {' and '.join(have) or 'neither ids nor margins'}")
    if verify:
        click.echo(f"  every code was read; {counted(said['empty'], 'row')} without one")
    safe = said["safe_radius"]
    click.echo(
        f"  chance alone puts {said['chance_hits']:.3g} of so many codes within radius {radius} of a query; "
        + (f"up to radius {safe} it is at most {SAFE:g}" if safe >= 0 else "no radius is safe, use more bits")
    )
