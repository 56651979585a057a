"""Documents out of files named on the command line, pages turned into text, as a stream of batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Literal

import neardup as nd

__all__ = ["StreamedDocument", "stream", "stream_with_lines"]

Html = Literal["main", "whole", "none"]


@dataclass(frozen=True, slots=True)
class StreamedDocument:
    """A document with its text, and what is needed to write it as it was read: its row, line, layout and format."""

    document: nd.Document
    original: nd.Document
    line: bytes | None
    layout: nd.readers.Layout
    format: str


def stream(
    reader: nd.Reader, html: Html, failed: dict[str, int], threads: int = 1
) -> Iterator[list[nd.Document]]:
    """The documents in batches. Those of HTML and WARC files and of a column `html` are pages, as for a scan; pages
    that give no text, and what could not be read at all, are counted in `failed` at the end, by reason."""
    for batch in _streamed(reader, html, failed, threads):
        yield [one.document for one in batch]


def stream_with_lines(
    reader: nd.Reader, html: Html, failed: dict[str, int], threads: int = 1
) -> Iterator[list[StreamedDocument]]:
    """As `stream`, with the lines that documents were read from."""
    reader.keep_lines = True
    return _streamed(reader, html, failed, threads)


def _streamed(
    reader: nd.Reader, html: Html, failed: dict[str, int], threads: int
) -> Iterator[list[StreamedDocument]]:
    from neardup.readers.layout import is_html

    formats = {source.name: source.format for source in reader.files or ()}
    extractor: Any = None
    with ExitStack() as stack:
        for batch in reader:
            texts: list[str | None] = [document.text for document in batch]
            if html != "none" and (is_html(batch.layout) or formats.get(batch.files[0]) in ("html", "warc")):
                if extractor is None:
                    from neardup.web import HtmlExtractor

                    extractor = stack.enter_context(HtmlExtractor(method=html, workers=threads))
                found = extractor.extract(texts)
                texts = found.texts
                for page in found.failures:
                    why = reader.account.reject_page(batch.files[page.row], batch.rows[page.row], page.reason)
                    failed[why] = failed.get(why, 0) + 1
            rows = zip(batch, texts, batch.files, batch.lines or [None] * len(batch), strict=True)
            yield [
                StreamedDocument(
                    document if text is document.text else replace(document, text=text),
                    document,
                    line,
                    batch.layout,
                    formats.get(file, "jsonl"),
                )
                for document, text, file, line in rows
                if text is not None
            ]
        for reason, count in reader.rejects.counts.items():
            failed[reason] = failed.get(reason, 0) + count
