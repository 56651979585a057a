"""Reading documents and writing results: the only code that opens users' files."""

from neardup.readers.layout import Layout
from neardup.readers.limits import Limits
from neardup.readers.reader import Batch, Reader, read
from neardup.readers.rejects import Rejects
from neardup.readers.writers import Writer, open_writer

__all__ = ["Batch", "Layout", "Limits", "Reader", "Rejects", "Writer", "open_writer", "read"]
