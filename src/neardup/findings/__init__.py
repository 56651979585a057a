"""The findings of a scan, in a folder: read, summarized, applied, or cut at another threshold without a new scan."""

from neardup.findings.apply import Applied, check_output
from neardup.findings.cluster_list import list_clusters, write_clusters, write_pairs
from neardup.findings.decided import decided_cut
from neardup.findings.decisions import Decision, DecisionLog, Decisions, read_decisions
from neardup.findings.explain import ExplainedPair, explain_pair
from neardup.findings.folder import Findings
from neardup.findings.passages import by_passages, shared_words
from neardup.findings.protected import ProtectedDocument, list_protected
from neardup.findings.summary import Summary, alarms, summarize

__all__ = [
    "Applied",
    "Decision",
    "DecisionLog",
    "Decisions",
    "ExplainedPair",
    "Findings",
    "ProtectedDocument",
    "Summary",
    "alarms",
    "by_passages",
    "check_output",
    "decided_cut",
    "explain_pair",
    "list_clusters",
    "list_protected",
    "read_decisions",
    "shared_words",
    "summarize",
    "write_clusters",
    "write_pairs",
]
