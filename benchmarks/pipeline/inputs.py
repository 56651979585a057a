"""Other inputs than plain JSONL, each beside its bound: python -m benchmarks.pipeline.inputs [--share 0.02]

The bound of an input is the CPU time of a scan of the same documents as plain JSONL, and of what must be done before:
to inflate, to decode columns, to open files, to take the text out of pages (on one thread, with the same library). The
share of the bound that a scan reaches is the one over the other; plain JSONL has 1. Formats are made once and cached.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.corpus import CACHE, documents
from benchmarks.pipeline.corpus import build
from benchmarks.pipeline.engines.ours import NEARDUP
from benchmarks.pipeline.parts import seconds

Json = dict[str, Any]
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MEGABYTES = 100.0
FILES = 100_000
PAGES = 4000  # pages of HTML, repeated sets with another number in each


def lines_of(corpus: Path) -> Iterator[Json]:
    with corpus.open("rb") as lines:
        for line in lines:
            yield json.loads(line)


def as_gzip(corpus: Path, out: Path) -> None:
    with corpus.open("rb") as plain, gzip.GzipFile(out, "wb", 6, mtime=0) as packed:
        shutil.copyfileobj(plain, packed, 1 << 20)


def as_zstd(corpus: Path, out: Path) -> None:
    import zstandard

    with corpus.open("rb") as plain, out.open("wb") as packed:
        zstandard.ZstdCompressor(3).copy_stream(plain, packed)


def as_parquet(corpus: Path, out: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = list(lines_of(corpus))
    table = pa.table({name: [row[name] for row in rows] for name in ("id", "text")})
    pq.write_table(table, out, row_group_size=10_000, compression="zstd")


def as_csv(corpus: Path, out: Path) -> None:
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text"])
        writer.writerows((row["id"], row["text"]) for row in lines_of(corpus))


def as_files(corpus: Path, out: Path) -> None:
    for number, row in enumerate(lines_of(corpus)):
        folder = out / f"{number // 1000:03}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{row['id']}.txt").write_bytes(row["text"].encode())


def pages(most: int) -> Iterator[str]:
    """Pages of HTML, in rounds that differ in a number, so that no two are equal."""
    made, turn = 0, 0
    while made < most:
        for name in ("pydoc_html_versions", "wiki_html_variants"):
            for _, text in documents(name):
                if "<" in text and made < most:
                    yield text.replace("</body>", f"<p>Printed {turn}.</p></body>")
                    made += 1
        turn += 1
        if turn > 1 and not made:
            raise SystemExit("the sets have no pages of HTML")


def as_warc(texts: Iterator[str], out: Path) -> None:
    with out.open("wb") as file:
        for number, text in enumerate(texts):
            page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + text.encode()
            headers = (
                "WARC/1.0",
                "WARC-Type: response",
                f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number:012}>",
                "WARC-Date: 2024-05-13T00:00:00Z",
                f"WARC-Target-URI: https://example.org/{number}",
                "Content-Type: application/http; msgtype=response",
                f"Content-Length: {len(page)}",
            )
            file.write("\r\n".join(headers).encode() + b"\r\n\r\n" + page + b"\r\n\r\n")


def as_texts(archive: Path, out: Path) -> None:
    """The texts of the pages of an archive as JSONL."""
    from fastwarc.warc import ArchiveIterator

    from neardup.web.html_worker import reader

    read = reader("main")
    with archive.open("rb") as file, out.open("w", encoding="utf-8") as lines:
        for number, record in enumerate(ArchiveIterator(file)):
            text = read(record.reader.read().decode())[0]
            lines.write(json.dumps({"id": f"d{number:09}", "text": text}, ensure_ascii=False) + "\n")


def cached(path: Path, make: Callable[[Path], None]) -> Path:
    """What `make` writes, under its name once it is whole."""
    if not path.exists():
        unfinished = path.with_name(f"unfinished-{path.name}")
        if unfinished.is_dir():
            shutil.rmtree(unfinished)
        make(unfinished)
        os.replace(unfinished, path)
    return path


# What must be done before, as programs: their CPU time less that of a start of Python with the same imports.
BOUNDS = {
    "jsonl.gz": """
import gzip
file = gzip.open(P)
while file.read(1 << 20): pass
""",
    "jsonl.zst": """
import zstandard
file = zstandard.ZstdDecompressor().stream_reader(open(P, "rb"))
while file.read(1 << 20): pass
""",
    "parquet": """
import pyarrow.parquet as parquet
for batch in parquet.ParquetFile(P).iter_batches(columns=["id", "text"], use_threads=False): pass
""",
    "csv": """
import pyarrow.csv as csv
for batch in csv.open_csv(P, parse_options=csv.ParseOptions(newlines_in_values=True)): pass
""",
    "text files": """
import os
for folder, _, names in os.walk(P):
    for name in names:
        with open(f"{folder}/{name}", "rb") as file: file.read()
""",
    "warc": """
from neardup.web.html_worker import reader
from fastwarc.warc import ArchiveIterator
read = reader("main")
for record in ArchiveIterator(open(P, "rb")): read(record.reader.read().decode())
""",
}


def before(name: str, path: Path, repeat: int) -> float:
    """CPU seconds of what must be done before."""
    code = BOUNDS[name]
    imports = "\n".join(line for line in code.splitlines() if line.startswith(("import", "from")))
    whole = seconds([sys.executable, "-c", f"P={str(path)!r}\n{code}"], repeat)[1]
    return max(0.0, whole - seconds([sys.executable, "-c", imports], repeat)[1])


def measure(share: float, threads: int, repeat: int) -> list[Json]:
    """A row for each kind of input."""
    plan = tomllib.loads((HERE / "cases.toml").read_text("utf-8"))["corpus"]
    real = build("real", plan["real"], share).first(MEGABYTES * share).path
    small = build("100k", plan["100k"], share).path
    place = CACHE / "pipeline" / f"inputs-{share:g}"
    place.mkdir(parents=True, exist_ok=True)
    html = cached(place / "pages.warc", lambda out: as_warc(pages(max(20, int(PAGES * share))), out))
    texts = cached(place / "pages.jsonl", lambda out: as_texts(html, out))
    made: dict[str, tuple[Path, Path]] = {
        "jsonl.gz": (cached(place / "real.jsonl.gz", lambda out: as_gzip(real, out)), real),
        "jsonl.zst": (cached(place / "real.jsonl.zst", lambda out: as_zstd(real, out)), real),
        "parquet": (cached(place / "real.parquet", lambda out: as_parquet(real, out)), real),
        "csv": (cached(place / "real.csv", lambda out: as_csv(real, out)), real),
        "text files": (cached(place / "files", lambda out: as_files(small, out)), small),
        "warc": (html, texts),
    }
    findings = place / "findings"

    def scan(path: Path, *more: str) -> tuple[float, float]:
        settings = [
            "--threshold",
            "0.8",
            "--threads",
            str(threads),
            "--memory",
            "2GB",
            "--json",
            "--overwrite",
        ]
        cost = seconds([*NEARDUP, "scan", str(path), "--out", str(findings), *settings, *more], repeat)
        return cost

    plain: dict[Path, float] = {}
    rows = []
    for name, (path, source) in made.items():
        html_mode = ("--html", "main") if name == "warc" else ()
        wall, cpu = scan(path, *html_mode)
        row: Json = {
            "input": name,
            "bytes": bytes_of(path),
            "seconds": round(wall, 3),
            "cpu_seconds": round(cpu, 3),
        }
        row["before"] = round(before(name, path, repeat), 3)
        if source not in plain:
            plain[source] = scan(source)[1]
        rest = plain[source]
        row["plain"] = round(rest, 3)
        row["share"] = round((row["before"] + rest) / cpu, 3)
        row["busy"] = round(cpu / wall / threads, 3)
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    shutil.rmtree(findings, ignore_errors=True)
    return rows


def bytes_of(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    return sum(os.stat(f"{folder}/{name}").st_size for folder, _, names in os.walk(path) for name in names)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--share", type=float, default=1.0, help="of every corpus: a quick look")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=2)
    asked = parser.parse_args()
    print(json.dumps(measure(asked.share, asked.threads, asked.repeat), indent=1))


if __name__ == "__main__":
    main()
