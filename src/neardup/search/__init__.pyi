# Listed once: `__init__.py` reads the names from here, and so do type checkers.
# ruff: isort: skip_file

# Names:
from neardup.search.agreement import Agree as Agree
from neardup.search.chance import chance_hits as chance_hits
from neardup.search.chance import safe_radius as safe_radius
from neardup.search.containment import Inverted as Inverted
from neardup.search.hamming.adjacent import Adjacent as Adjacent
from neardup.search.hamming.join import Join as Join
from neardup.search.hamming.live import LiveSearcher as LiveSearcher
from neardup.search.hamming.scan import Scan as Scan
from neardup.search.hamming.tables import BPHS as BPHS
from neardup.search.hamming.tables import Compact as Compact
from neardup.search.hamming.tables import Covering as Covering
from neardup.search.interface import Candidates as Candidates
from neardup.search.interface import Hits as Hits
from neardup.search.interface import Keyed as Keyed
from neardup.search.interface import KeyMethod as KeyMethod
from neardup.search.interface import Method as Method
from neardup.search.lsh import LSH as LSH
from neardup.search.planner import Plan as Plan
from neardup.search.planner import plan as plan
from neardup.search.psm.psm import PSM as PSM
from neardup.search.psm.vosh import FlipModel as FlipModel
from neardup.search.psm.vosh import volatility_tree as volatility_tree
from neardup.search.psm.vosh import vosh as vosh
from neardup.search.report import SearchReport as SearchReport
