"""Documents out of files named on the command line, pages turned into text, as a stream of batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Literal

import neardup as nd

__all__ = ["stream"]


def stream(
    reader: nd.Reader, html: Literal["main", "whole", "none"], failed: dict[str, int], threads: int = 1
) -> Iterator[list[nd.Document]]:
    """The documents in batches. Those of HTML and WARC files and of a column `html` are pages, as for a scan; pages
    that give no text, and what could not be read at all, are counted in `failed` at the end, by reason."""
    from neardup.readers.layout import is_html

    formats = {source.name: source.format for source in reader.files or ()}
    extractor: Any = None
    with ExitStack() as stack:
        for batch in reader:
            pages = is_html(batch.layout) or formats.get(batch.files[0]) in ("html", "warc")
            if not pages or html == "none":
                yield list(batch)
                continue
            if extractor is None:
                from neardup.web import HtmlExtractor

                extractor = stack.enter_context(HtmlExtractor(method=html, workers=threads))
            found = extractor.extract([document.text for document in batch])
            yield [
                nd.Document(document.id, text, document.meta)
                for document, text in zip(batch, found.texts, strict=True)
                if text is not None
            ]
            for reason, count in found.counts.items():
                failed[f"HTML: {reason}"] = failed.get(f"HTML: {reason}", 0) + count
        for reason, count in reader.rejects.counts.items():
            failed[reason] = failed.get(reason, 0) + count
