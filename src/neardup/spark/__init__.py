"""The same pipeline over a cluster: Spark moves the rows, the core does the work, the answers are the same.

`import neardup` never loads pyspark; this package needs the extra `spark` and Java 17 or newer.
"""

from __future__ import annotations

from neardup.errors import MissingExtra

try:
    import pyspark  # noqa: F401
except ImportError as error:
    raise MissingExtra("running on Spark", "spark") from error

from neardup.spark.apply import apply
from neardup.spark.run import dedup, file_stages, frame_stages, scan
from neardup.spark.session import start
from neardup.spark.stages import Stages

__all__ = ["Stages", "apply", "dedup", "file_stages", "frame_stages", "scan", "start"]
