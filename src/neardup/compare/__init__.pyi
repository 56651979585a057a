# Listed once: `__init__.py` reads the names from here, and so do type checkers.
# ruff: isort: skip_file

# Names:
from neardup.compare.explain import Explanation as Explanation
from neardup.compare.passages import Span as Span
from neardup.compare.verify import Containment as Containment
from neardup.compare.verify import Cosine as Cosine
from neardup.compare.verify import Edit as Edit
from neardup.compare.verify import Identity as Identity
from neardup.compare.verify import Jaccard as Jaccard
from neardup.compare.verify import Pairs as Pairs
