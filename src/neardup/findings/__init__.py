"""What a scan found, in a folder of its own: read, summed up, cut anew and applied without another scan."""

from neardup.findings.applying import Applied, apply, check_output
from neardup.findings.deciding import decided_cut
from neardup.findings.decisions import Decision, DecisionLog, Decisions, read_decisions
from neardup.findings.explaining import ExplainedPair, explain_pair
from neardup.findings.folder import Findings
from neardup.findings.listing import list_clusters, write_clusters, write_pairs
from neardup.findings.passages import by_passages, shared_words
from neardup.findings.scanning import scan
from neardup.findings.summary import Summary, alarms, summarize

__all__ = [
    "Applied",
    "Decision",
    "DecisionLog",
    "Decisions",
    "ExplainedPair",
    "Findings",
    "Summary",
    "alarms",
    "apply",
    "by_passages",
    "check_output",
    "decided_cut",
    "explain_pair",
    "list_clusters",
    "read_decisions",
    "scan",
    "shared_words",
    "summarize",
    "write_clusters",
    "write_pairs",
]
