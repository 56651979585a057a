# Listed once: `__init__.py` reads the names from here, and so do type checkers.
# ruff: isort: skip_file

# Names:
from neardup.readers.layout import Layout as Layout
from neardup.readers.limits import Limits as Limits
from neardup.readers.batch import Batch as Batch
from neardup.readers.reader import Reader as Reader
from neardup.readers.reader import read as read
from neardup.readers.rejects import Rejects as Rejects
from neardup.readers.writers import Writer as Writer
from neardup.readers.writers import open_writer as open_writer
