"""A scan as tasks that any scheduler can run: `fingerprint`, `exact`, `shuffle` and `verify` by many tasks side by
side, `cluster` by one, `filter_inputs` by many again.

Each task reads and writes files of one folder that all machines can reach, and nothing else. A task that is run again
continues or does nothing; so one that was killed is simply repeated. The findings are those of `neardup scan`.
"""

from neardup.stages.cluster import cluster
from neardup.stages.exact import exact
from neardup.stages.filter import filter_inputs
from neardup.stages.fingerprint import fingerprint
from neardup.stages.plan import TaskPlan
from neardup.stages.shuffle import shuffle
from neardup.stages.verify import verify

__all__ = ["TaskPlan", "cluster", "exact", "filter_inputs", "fingerprint", "shuffle", "verify"]
