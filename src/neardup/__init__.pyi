# The public names of neardup, listed once: `__init__.py` reads them from here, and so do type checkers.
# ruff: isort: skip_file

# Namespaces: modules that hold everything that is not named below.
from neardup import clusters as clusters
from neardup import compare as compare
from neardup import config as config
from neardup import errors as errors
from neardup import evaluate as evaluate
from neardup import features as features
from neardup import findings as findings
from neardup import fingerprints as fingerprints
from neardup import index as index
from neardup import passages as passages
from neardup import pipeline as pipeline
from neardup import readers as readers
from neardup import result as result
from neardup import search as search
from neardup.web import mirrors as mirrors
from neardup.web import urls as urls

# Names: what most users type, at most 40.
from neardup.clusters import Keep as Keep
from neardup.clusters import cluster as cluster
from neardup.compare import Containment as Containment
from neardup.compare import Cosine as Cosine
from neardup.compare import Jaccard as Jaccard
from neardup.compare.explain import explain as explain
from neardup.config import Config as Config
from neardup.config import Filters as Filters
from neardup.config import Templates as Templates
from neardup.config import preset as preset
from neardup.dedup import dedup as dedup
from neardup.errors import ConfigError as ConfigError
from neardup.errors import DataError as DataError
from neardup.errors import NeardupError as NeardupError
from neardup.features import Characters as Characters
from neardup.features import Idf as Idf
from neardup.features import Normalize as Normalize
from neardup.features import Shingles as Shingles
from neardup.features import Vectors as Vectors
from neardup.features import Words as Words
from neardup.findings import Findings as Findings
from neardup.findings import summarize as summarize
from neardup.findings.apply import apply as apply
from neardup.findings.scan import scan as scan
from neardup.fingerprints import BitMinHash as BitMinHash
from neardup.fingerprints import MinHash as MinHash
from neardup.fingerprints import Seed as Seed
from neardup.fingerprints import Simhash as Simhash
from neardup.fingerprints import fingerprint as fingerprint
from neardup.index import Index as Index
from neardup.pages.report import report as report
from neardup.readers import Reader as Reader
from neardup.readers import read as read
from neardup.readers.document import Document as Document
from neardup.result import Result as Result
from neardup.search import BPHS as BPHS
from neardup.search import LSH as LSH
from neardup.search import PSM as PSM
from neardup.search import plan as plan
from neardup.version import __version__ as __version__
