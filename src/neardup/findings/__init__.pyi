# Listed once: `__init__.py` reads the names from here, and so do type checkers.
# ruff: isort: skip_file

# Names:
from neardup.findings.apply import Applied as Applied
from neardup.findings.apply import check_output as check_output
from neardup.findings.cluster_list import list_clusters as list_clusters
from neardup.findings.cluster_list import write_clusters as write_clusters
from neardup.findings.cluster_list import write_pairs as write_pairs
from neardup.findings.decided import decided_cut as decided_cut
from neardup.findings.decision_log import DecisionLog as DecisionLog
from neardup.findings.decision_log import read_decisions as read_decisions
from neardup.findings.decisions import Decision as Decision
from neardup.findings.decisions import Decisions as Decisions
from neardup.findings.explain import ExplainedPair as ExplainedPair
from neardup.findings.explain import explain_pair as explain_pair
from neardup.findings.folder import Findings as Findings
from neardup.findings.in_links import kept_pages as kept_pages
from neardup.findings.passages import by_passages as by_passages
from neardup.findings.passages import shared_words as shared_words
from neardup.findings.protected import ProtectedDocument as ProtectedDocument
from neardup.findings.protected import list_protected as list_protected
from neardup.findings.removal_alarms import alarms as alarms
from neardup.findings.summary import Summary as Summary
from neardup.findings.summary import summarize as summarize
