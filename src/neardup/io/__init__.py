"""Reading documents and writing results: the only code that opens users' files."""

from neardup.io.columns import Layout
from neardup.io.limits import Limits
from neardup.io.reading import Batch, Reader, read
from neardup.io.rejects import Rejects
from neardup.io.writers import Writer, open_writer

__all__ = ["Batch", "Layout", "Limits", "Reader", "Rejects", "Writer", "open_writer", "read"]
