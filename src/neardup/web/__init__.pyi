# Listed once: `__init__.py` reads the names from here, and so do type checkers.
# ruff: isort: skip_file

# Names:
from neardup.web.html import Extracted as Extracted
from neardup.web.html import Failure as Failure
from neardup.web.html import HtmlExtractor as HtmlExtractor
