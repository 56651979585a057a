"""Ten million documents, really run: python -m benchmarks.pipeline.ten_million [--documents 10000000] [--folder DIR]

Makes the corpus (22 GB), scans it, scans it again, kills that scan with SIGKILL on its way, lets it resume, and
compares the findings byte for byte. Needs 45 GB of disk, which are given back at the end. About 40 minutes on two quiet
cores, most of them for making the corpus. The result is in results/ten-million.json, beside a million documents of
the same kind in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.corpus import CACHE, data
from benchmarks.pipeline.engines.ours import NEARDUP
from benchmarks.pipeline.measure import Cost, run

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RESULT = HERE.parent / "results" / "ten-million.json"
Json = dict[str, Any]


def generate(documents: int, folder: Path) -> int:
    """The corpus as a folder of parts; its bytes."""
    if not (folder / "whole").exists():
        shutil.rmtree(folder, ignore_errors=True)
        source = data() / "k8s_docs_rev" / "docs.jsonl.gz"
        command = [sys.executable, str(data() / "gen_corpus.py"), "--in", str(source), "--out", str(folder)]
        subprocess.run(
            [*command, "--docs", str(documents), "--jobs", "2"], check=True, stderr=subprocess.DEVNULL
        )
        for other in folder.glob("truth*"):
            other.unlink()
        (folder / "whole").touch()
    return sum(part.stat().st_size for part in folder.glob("part-*.jsonl"))


def command(corpus: Path, out: Path, threads: int) -> list[str]:
    inputs = sorted(str(part) for part in corpus.glob("part-*.jsonl"))
    settings = ("--threshold", "0.8", "--floor", "0.8", "--threads", str(threads), "--memory", "2GB")
    return [*NEARDUP, "scan", *inputs, "--out", str(out), *settings, "--seed", "7", "--json"]


def measured(corpus: Path, out: Path, threads: int) -> Cost:
    watched = out.with_name(f"{out.name}-watched")
    watched.mkdir()
    environment = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    cost = run(command(corpus, out, threads), folder=watched, environment=environment, timeout=7200)
    shutil.rmtree(watched)
    if cost.code:
        raise SystemExit(f"the scan failed with exit code {cost.code}: {cost.errors[-1000:]}")
    return cost


def killed(corpus: Path, out: Path, threads: int, shards: int) -> int:
    """Start a scan and kill it when it has written so many shards; how many there were."""
    child = subprocess.Popen(
        command(corpus, out, threads),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        start_new_session=True,
    )
    while child.poll() is None:
        written = len(list((out / "work").glob("*.shard"))) if (out / "work").exists() else 0
        if written >= shards:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return written
        time.sleep(0.2)
    raise SystemExit("the scan ended before it was to be killed")


def same(one: Path, other: Path) -> bool:
    """Whether two findings have the same bytes in all columns and the same counts."""
    names, others = (
        sorted(
            path.name
            for path in place.iterdir()
            if not path.name.startswith(".") and path.name != "manifest.json"
        )
        for place in (one, other)
    )
    if names != others:
        return False
    counts = [json.loads((place / "manifest.json").read_text("utf-8"))["counts"] for place in (one, other)]
    return counts[0] == counts[1] and all(
        subprocess.run(["cmp", "-s", str(one / name), str(other / name)], check=False).returncode == 0
        for name in names
    )


def row(corpus: Path, size: int, documents: int, place: Path, threads: int) -> Json:
    cost = measured(corpus, place, threads)
    facts = json.loads((place / "manifest.json").read_text("utf-8"))
    found: Json = {"documents": documents, "bytes": size, "seconds": round(cost.wall, 2)}
    found |= {"cpu_seconds": round(cost.cpu, 2), "peak_bytes": cost.peak, "anonymous_bytes": cost.anonymous}
    found |= {"mb_per_second": round(size / 1e6 / cost.wall, 1), "counts": facts["counts"]}
    return found | {"stages": facts["seconds"]}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=10_000_000)
    parser.add_argument(
        "--folder", type=Path, default=CACHE / "ten-million", help="where the corpus and findings go"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="where to keep the result")
    parser.add_argument("--keep", action="store_true", help="keep the corpus for another run")
    asked = parser.parse_args()
    folder: Path = asked.folder
    folder.mkdir(parents=True, exist_ok=True)
    result: Json = {"date": machine.now(), "commit": machine.commit(), "machine": machine.describe()}
    try:
        for name, documents in (("small", asked.documents // 10), ("large", asked.documents)):
            began = time.perf_counter()
            size = generate(documents, folder / name)
            print(
                f"{documents:,} documents, {size / 1e9:.1f} GB, made in {time.perf_counter() - began:.0f} s",
                flush=True,
            )
            result[name] = row(folder / name, size, documents, folder / f"{name}-findings", asked.threads)
            print(
                json.dumps({k: v for k, v in result[name].items() if k not in ("counts", "stages")}),
                flush=True,
            )
        again = folder / "resumed-findings"
        half = max(1, int(result["large"]["counts"]["shards"]) // 2)
        result["killed_after_shards"] = killed(folder / "large", again, asked.threads, half)
        cost = measured(folder / "large", again, asked.threads)
        result["resumed"] = {"seconds": round(cost.wall, 2), "peak_bytes": cost.peak}
        result["same_bytes"] = same(folder / "large-findings", again)
        small, large = result["small"], result["large"]
        per = [one["seconds"] / one["documents"] for one in (small, large)]
        result["time_per_document"] = round(per[1] / per[0], 3)
    finally:
        for path in folder.iterdir():
            if not (asked.keep and path.name in ("small", "large")):
                shutil.rmtree(path)
    print(f"  {'ok  ' if result['same_bytes'] else 'MISS'} resumed after SIGKILL with the same bytes")
    linear = result["time_per_document"]
    print(
        f"  {'ok  ' if linear <= 1.15 else 'MISS'} time per document is {linear} of that at a tenth; at most 1.15"
    )
    peak = result["large"]["peak_bytes"] / 1e9
    print(f"  {'ok  ' if peak <= 2.5 else 'MISS'} {peak:.2f} GB of memory; at most 2.5")
    out = asked.out or (RESULT if asked.documents == 10_000_000 else None)
    if out:
        out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        print(f"kept in {out}")
    return 0 if result["same_bytes"] else 1


if __name__ == "__main__":
    sys.exit(main())
