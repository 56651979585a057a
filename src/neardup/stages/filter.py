"""Stage 6: a task writes the kept documents of its inputs, each input to a file of its own."""

from __future__ import annotations

from os import PathLike

from neardup.errors import DataError
from neardup.findings.apply import Applied, Write, apply_inputs
from neardup.findings.decided import decided_cut
from neardup.findings.folder import Findings
from neardup.findings.removal_alarms import alarms
from neardup.progress import Progress
from neardup.values.checks import checked
from neardup.values.parts import Part, by_size

__all__ = ["filter_inputs"]


@checked
def filter_inputs(
    findings: str | PathLike[str],
    out: str | PathLike[str],
    task: int,
    tasks: int,
    *,
    write: Write = "kept",
    allow_mass_removal: bool = False,
    progress: Progress | None = None,
) -> Applied:
    """Write the kept documents (or the dropped ones) of a task's inputs to the folder `out`, each input in its format.
    A file appears when it is complete; a repeated task writes the same files again."""
    found, part = Findings(findings), Part(task, tasks)
    cut = decided_cut(found)
    reasons = alarms(found, cut)
    if reasons and not allow_mass_removal:
        raise DataError("very many documents would be dropped:\n  " + "\n  ".join(reasons))
    entries = found.manifest["inputs"]
    mine = by_size(entries, [entry["bytes"] or 0 for entry in entries], part)
    return apply_inputs(found, out, mine, cut, write=write, progress=progress)
