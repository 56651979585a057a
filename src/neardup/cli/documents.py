"""Documents out of files named on the command line, pages turned into text, as a stream of batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, Literal

import neardup as nd

__all__ = ["stream"]


def stream(
    reader: nd.Reader, html: Literal["main", "whole", "none"], failed: dict[str, int], threads: int = 1
) -> Iterator[list[nd.Document]]:
    """The documents in batches; pages that give no text are counted in `failed`, by reason."""
    pages = html != "none" and any(source.format in ("html", "warc") for source in reader.files or ())
    opened: Any = nullcontext()
    if pages:
        from neardup.web import HtmlExtractor

        opened = HtmlExtractor(method=html, workers=threads)
    with opened as extractor:
        for batch in reader:
            if not pages:
                yield list(batch)
                continue
            found = extractor.extract([document.text for document in batch])
            yield [
                nd.Document(document.id, text, document.meta)
                for document, text in zip(batch, found.texts, strict=True)
                if text is not None
            ]
            for reason, count in found.counts.items():
                failed[f"HTML: {reason}"] = failed.get(f"HTML: {reason}", 0) + count
