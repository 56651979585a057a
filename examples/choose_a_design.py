"""Which search design for how many codes? Predictions for a typical machine, without measuring this one."""

from __future__ import annotations

import neardup as nd
from neardup.search.planner.machine import REFERENCE


def main() -> None:
    for documents, memory in ((1e6, None), (1e9, "64GB"), (8e9, "64GB")):
        made = nd.plan(documents, bits=64, radius=3, memory=memory, machine=REFERENCE)
        print(made)
        print()
    best = nd.plan(1e8, radius=3, memory="2GB", machine=REFERENCE).best
    print(f"100M codes in 2 GB: {best.design}, {best.memory_bytes / 1e9:.1f} GB in {best.shards} shard(s)")


if __name__ == "__main__":
    main()
