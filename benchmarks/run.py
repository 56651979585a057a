"""Run the text benchmarks: every engine on every case, each in a process of its own.

python benchmarks/run.py                          all cases, best of 3, result kept in benchmarks/results/
python benchmarks/run.py --check                  and fail unless the ratios of cases.toml hold
python benchmarks/run.py --megabytes 20 --repeat 1 --engines ours,gaoya      a quick look, not kept
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import machine

HERE = Path(__file__).parent
Json = dict[str, Any]


def main() -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--cases", default="", help="only these, separated by commas")
    parser.add_argument("--engines", default="", help="only these, separated by commas")
    parser.add_argument("--megabytes", type=float, help="size of the corpus instead of the one in cases.toml")
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many runs counts")
    parser.add_argument("--check", action="store_true", help="fail unless the ratios of cases.toml hold")
    asked = parser.parse_args()

    plan = tomllib.loads((HERE / "cases.toml").read_text("utf-8"))
    only_cases, only_engines = (set(filter(None, each.split(","))) for each in (asked.cases, asked.engines))
    unknown = only_engines - set(plan["engine"]) | only_cases - {case["name"] for case in plan["case"]}
    if unknown:
        parser.error(f"cases.toml knows nothing of {', '.join(sorted(unknown))}")
    size = asked.megabytes or plan["corpus"]["megabytes"]
    where = machine.describe()
    if float(str(where["load"])) > 0.5:
        print(
            f"The machine is busy (load {where['load']}): wall times, and so the ratio of threads, may be off."
        )
    rows: list[Json] = []
    failures: list[str] = []
    works: dict[str, set[str]] = {}

    for case in plan["case"]:
        if only_cases and case["name"] not in only_cases:
            continue
        print(f"\n{case['title']}")
        for name in case["engines"]:
            if only_engines and name not in only_engines:
                continue
            engine = plan["engine"][name]
            row = child(
                "measure.py",
                {
                    "case": case["name"],
                    "work": case["name"],
                    "expect": case["expect"],
                    "name": name,
                    "module": engine["module"],
                    "options": engine.get("options", {}),
                    "threads": engine.get("threads", 1),
                    "sets": plan["corpus"]["sets"],
                    "megabytes": min(size, engine.get("megabytes", size)),
                    "repeat": asked.repeat,
                },
            )
            if "error" in row:
                failures.append(f"{case['name']}: {name} did not run: {row['error']}")
                print(f"  {name:18} failed: {row['error']}")
                continue
            if row["megabytes"] == plan["corpus"]["megabytes"]:
                for fact, expected in plan["corpus"]["expect"].items():
                    if row["input"][fact] != expected:
                        failures.append(f"the text is not the expected one: {fact} {row['input'][fact]}")
            works.setdefault(name, set()).add(case["name"])
            rows.append(row)
            print(
                f"  {name:18} {row['mb_per_cpu_second']:8.1f} MB per CPU-second "
                f"{row['mb_per_second']:8.1f} MB/s {row['peak_mb']:8.1f} MB above input"
            )

    print("\nAgreement with exact similarity")
    agreement = agree(plan, works, failures)
    checks = compare(plan, rows)
    checks += remember(plan, rows)
    for one in checks:
        print(f"  {'ok  ' if one['holds'] else 'FAIL'} {one['says']}")
        if asked.check and not one["holds"]:
            failures.append(one["says"])

    result = {
        "suite": "text",
        "date": machine.now(),
        "commit": machine.commit(),
        "machine": where,
        "repeat": asked.repeat,
        "cases": {case["name"]: case["title"] for case in plan["case"]},
        "rows": rows,
        "agreement": agreement,
        "checks": checks,
        "failures": failures,
    }
    # The newest result becomes the page in docs, so only whole runs are kept.
    if not (asked.cases or asked.engines or asked.megabytes):
        target = HERE / "results" / f"text-{result['date'].replace(':', '')}.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        print(f"\nkept in {target.relative_to(HERE.parent)}")
    if failures:
        print("\nFAILED", *failures, sep="\n  ", file=sys.stderr)
    return 1 if failures else 0


def child(script: str, request: Json) -> Json:
    """The answer of a script in a process of its own, or why there is none."""
    done = subprocess.run(
        [sys.executable, str(HERE / script), json.dumps(request)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"]
        return {"error": lines[-1]}
    answer: Json = json.loads(done.stdout.splitlines()[-1])
    return answer


def agree(plan: Json, works: dict[str, set[str]], failures: list[str]) -> list[Json]:
    """Every engine that ran must estimate what is true; those that do not are named."""
    limits = plan["agreement"]
    reports = []
    for name, done in works.items():
        engine = plan["engine"][name]
        if engine.get("threads", 1) > 1 or engine.get("options", {}).get("arrow"):
            continue  # the same answer, byte for byte, which the tests see to
        request = {
            "name": name,
            "module": engine["module"],
            "options": engine.get("options", {}),
            "works": sorted(done),
            "sets": limits["sets"],
            "pairs": limits["pairs"],
        }
        report = child("agreement.py", request)
        reports.append(report)
        if "error" in report:
            failures.append(f"agreement of {name} could not be seen: {report['error']}")
            continue
        for what, errors in report.items():
            if not isinstance(errors, dict):
                continue
            limit = limits["mean_absolute_error" + ("_angle" if what.startswith("simhash") else "")]
            wrong = errors["mean_absolute_error"] > limit
            print(
                f"  {'FAIL' if wrong else 'ok  '} {name} {what}: mean absolute error "
                f"{errors['mean_absolute_error']:.4f} (at most {limit}), bias {errors['bias']:+.4f}"
            )
            if wrong:
                failures.append(f"{name} disagrees with exact similarity: {what} {errors}")
    return reports


def compare(plan: Json, rows: list[Json]) -> list[Json]:
    """The ratios that must hold; one whose engines did not run does not hold."""
    by_name = {(row["case"], row["engine"]): row for row in rows}
    checks = []
    for one in plan["check"]:
        field = "mb_per_second" if one.get("of") == "wall" else "mb_per_cpu_second"
        ours, theirs = (by_name.get((one["case"], one[side])) for side in ("engine", "over"))
        label = f"{one['case']}: {one['engine']} over {one['over']} in {field.replace('_', ' ')}"
        ratio = ours[field] / theirs[field] if ours and theirs else None
        says = f"{label}: {f'{ratio:.2f}' if ratio else 'not measured'}, at least {one['at_least']}"
        checks.append({"says": says, "ratio": ratio, "holds": bool(ratio and ratio >= one["at_least"])})
    return checks


def remember(plan: Json, rows: list[Json]) -> list[Json]:
    """Peak memory of our own engines above their input: the fingerprints and a fixed buffer."""
    checks = []
    for row in rows:
        if row["engine"] not in plan["memory"]["engines"]:
            continue
        # 128 values of 4 bytes; a code of 8 bytes with 64 margins of 4.
        prints = row["input"]["documents"] * (512 if row["case"] == "minhash" else 264) / 1e6
        limit = prints + plan["memory"]["buffer_megabytes"]
        says = f"{row['case']}: {row['engine']} takes {row['peak_mb']} MB above input, at most {limit:.0f}"
        checks.append({"says": says, "holds": row["peak_mb"] <= limit})
    return checks


if __name__ == "__main__":
    raise SystemExit(main())
