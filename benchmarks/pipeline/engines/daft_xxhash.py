"""daft with the fastest hash it has, which is not its default."""

from __future__ import annotations

from functools import partial

from benchmarks.pipeline.engines.daft import find
from benchmarks.pipeline.rows import main

if __name__ == "__main__":
    main(partial(find, hash_function="xxhash3_64"))
