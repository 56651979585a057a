"""Every method of every public class, and what Spark and Scrapy offer, called with wrong values: the only errors are
those of neardup, or TypeError and ValueError with a sentence that names the argument."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.wrong_values import check_refusals
from test_wrong_arguments import PUBLIC

import neardup as nd
from neardup.search.disk.digests import write_digests
from neardup.search.interface import KeyMethod, Method

TEXTS = [
    "the ferry leaves the north pier at eight each day",
    "The ferry leaves the north pier, at eight each day!",
    "a recipe for a cake with four eggs and butter",
    "one more text about nothing at all",
]
FEATURES = nd.Words().extract(TEXTS)
CODES = nd.Simhash().compute(FEATURES)
NEAR = nd.search.Join(3).candidates(CODES)
GOOD: dict[str, Any] = {
    "bits": 64,
    "before": 1.0,
    "candidates": NEAR,
    "codes": CODES,
    "containment": 0.8,
    "digests": np.zeros((1, 2), np.uint64),
    "distance": np.array([1], np.uint8),
    "document": nd.Document("a", "b"),
    "features": FEATURES,
    "fingerprint": nd.Simhash(),
    "guards": (),
    "header": 4,
    "id": "a",
    "ids": ["a", "b"],
    "key_bits": 16,
    "left": np.array([0]),
    "many": 2,
    "margins": CODES.margins,
    "method": "psm",
    "mode": "all",
    "other": "b",
    "out": "out.jsonl",
    "path": "file.out",
    "prints": CODES,
    "queries": CODES,
    "radius": 3,
    "right": np.array([1]),
    "prefix": 8,
    "row": 0,
    "rows": np.arange(2),
    "scheme": CODES.scheme,
    "seed": 1,
    "share": 0.1,
    "size": 2,
    "start": 0,
    "stop": 2,
    "similarity": np.array([0.9]),
    "stored": CODES,
    "target": "copy.nd",
    "text": "a b",
    "texts": TEXTS,
    "threads": 1,
    "threshold": 0.8,
    "ttl": 5.0,
    "url": "http://a.example/c",
}
# What the pipeline calls on a search method; users name the method.
SEAM = (set(vars(Method)) | set(vars(KeyMethod))) - {"keys", "probes"}
# Classes whose methods have their own tests, or are called for each row of an output.
ELSEWHERE = {"DropDuplicates", "SaveDocuments", "Stage", "Layout", "Writer"}
ABSTRACT = {"Fingerprints", "KeyMethod", "Method", "Printer"}
LEAVE = {
    "calibrate": {"similar"},  # a function that is called; its errors are the user's
    **{name: {"labels"} for name in ("ask", "belief", "question", "tuned")},  # what `known` made of them
}
_number = count()


def documents() -> Path:
    path = Path(f"in-{next(_number)}.jsonl")
    path.write_text("".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(TEXTS)))
    return path


def findings() -> nd.Findings:
    return nd.scan(str(documents()), f"findings-{next(_number)}")


def index() -> nd.Index:
    made = nd.Index(f"index-{next(_number)}.nd", store="text")
    for name, text in zip("ab", TEXTS, strict=False):
        made.seen(text, id=name)
    return made


def answers() -> Any:
    with index() as made:
        return made.seen([nd.Document("c", "one more text")])


def segments() -> Any:
    folder = Path(f"segments-{next(_number)}")
    folder.mkdir()
    return PUBLIC["search.disk.segment_set.SegmentSet"](folder)


def digest_file() -> Any:
    path = Path(f"digests-{next(_number)}")
    write_digests(path, nd.fingerprints.Exact().compute(TEXTS))
    return PUBLIC["search.disk.digests.DigestFile"](path)


def mirrors() -> Any:
    pairs = [(f"http://a.example/{page}", f"http://b.example/{page}") for page in range(12)]
    return nd.mirrors.find_mirrors(pairs)


MAKE: dict[str, Callable[[], Any]] = {
    "Answers": answers,
    "Candidates": lambda: NEAR,
    "Codes": lambda: CODES,
    "CodeWriter": lambda: PUBLIC["search.code_files.writer.CodeWriter"]("codes.npy", CODES.scheme, 64),
    "Common": lambda: nd.features.Common.fit(TEXTS, nd.Words()),
    "Copies": lambda: nd.passages.find_copies([nd.Document(str(i), text) for i, text in enumerate(TEXTS)]),
    "DigestFile": digest_file,
    "DecisionLog": lambda: PUBLIC["findings.decision_log.DecisionLog"](findings()),
    "Design": lambda: nd.BPHS().design,
    "Digests": lambda: nd.fingerprints.Exact().compute(TEXTS),
    "Explanation": lambda: nd.explain(*TEXTS[:2]),
    "Features": lambda: FEATURES,
    "Findings": findings,
    "FlipModel": lambda: PUBLIC["search.psm.vosh.FlipModel"](np.linspace(0, 1, 10).astype(np.float32)),
    "Frequencies": lambda: nd.features.Frequencies.count(TEXTS, nd.Words()),
    "Idf": lambda: nd.Idf.fit(TEXTS),
    "Index": index,
    "Keys": lambda: nd.fingerprints.SuperFingerprints().compute(FEATURES),
    "LearntTemplates": lambda: nd.pipeline.learn_templates(
        [nd.Document(str(row), text, {"url": "http://a.example"}) for row, text in enumerate(TEXTS * 30)],
        nd.Config(templates=nd.Templates(share=0.3, least=10), keep=nd.Keep(source="host:url")),
    ),
    "Calibrator": lambda: nd.evaluate.measure_documents(TEXTS),
    "LSH": lambda: nd.LSH(4, 4),
    "Mirrors": mirrors,
    "Modulo": lambda: nd.features.Modulo(4),
    "PackedSketches": lambda: nd.MinHash(16).compute(FEATURES).pack(1),
    "Pairs": lambda: nd.Jaccard(0.5).check(NEAR, FEATURES),
    "Phrases": lambda: nd.features.Phrases.fit(TEXTS, at_least=1),
    "Reader": lambda: nd.read(str(documents())),
    "Redirects": lambda: PUBLIC["web.urls.redirects.Redirects"].of(
        [("http://a.example/1", "http://a.example/2")]
    ),
    "SearchReport": lambda: nd.search.SearchReport.of("join", 4, 64, 3),
    "Result": lambda: nd.dedup(TEXTS),
    "Seed": lambda: nd.Seed(1),
    "SegmentSet": segments,
    "Setting": lambda: PUBLIC["evaluate.settings.Setting"]("minhash", True, 0.8, 20, 5),
    "Sketches": lambda: nd.MinHash(16).compute(FEATURES),
    "Smallest": lambda: nd.features.Smallest(4),
    "Table": lambda: nd.BPHS().design.tables[0],
    "Winnow": lambda: nd.features.Winnow(4),
}


def methods(kind: type) -> Iterator[tuple[str, bool]]:
    """The public methods with arguments that a class has from neardup, and whether each needs an object."""
    for name in dir(kind):
        if name.startswith("_") or (issubclass(kind, Method) and name in SEAM):
            continue
        found = inspect.getattr_static(kind, name)
        free = isinstance(found, classmethod | staticmethod)
        function = found.__func__ if free else found
        if not inspect.isfunction(function) or not function.__module__.startswith("neardup"):
            continue
        if len(inspect.signature(function).parameters) > (not isinstance(found, staticmethod)):
            yield name, not free


CLASSES = {
    name: found
    for name, found in PUBLIC.items()
    if isinstance(found, type) and name.rpartition(".")[2] not in ELSEWHERE and any(methods(found))
}


def made(name: str) -> Any:
    """An object of a class; None where there can be none."""
    short = name.rpartition(".")[2]
    if short in ABSTRACT:
        return None
    return MAKE[short]() if short in MAKE else CLASSES[name]()


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_wrong_values_of_methods_are_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one = made(name)
    for method, bound in methods(CLASSES[name]):
        if one is None and bound:
            continue
        call = getattr(one if bound else CLASSES[name], method)
        check_refusals(call, good=GOOD, leave=LEAVE.get(method, set()))
    close = getattr(one, "close", None)
    closing = None if close is None else close()
    if inspect.iscoroutine(closing):
        asyncio.run(closing)


def code_file() -> Any:
    np.save("codes.npy", CODES.codes)
    return PUBLIC["search.code_files.reader.open_codes"]("codes.npy")


def segment(suffix: str) -> Any:
    disk = importlib.import_module("neardup.search.disk.segments")
    compressed = importlib.import_module("neardup.search.disk.compressed")
    disk.write_segment("codes.seg", CODES.codes, np.arange(len(CODES)), CODES.scheme, 64)
    if suffix == "seg":
        return disk.Segment.open("codes.seg")
    compressed.compress_segment(disk.Segment.open("codes.seg"), "codes.segz")
    return compressed.CompressedSegment.open("codes.segz")


GIVEN: dict[str, Callable[[], Any]] = {
    "codes of a file": code_file,
    "searcher of a scan": lambda: nd.search.Scan().index(CODES),
    "searcher of tables": lambda: nd.BPHS(tables=4).index(CODES),
    "searcher of PSM": lambda: nd.PSM(flips=2).index(CODES),
    "searcher that grows": lambda: PUBLIC["search.hamming.live.LiveSearcher"](nd.search.Compact()),
    "pairs of a join": lambda: nd.search.Join().within(CODES),
    "pairs between sets": lambda: nd.search.Join().between(CODES, CODES),
    "a segment": lambda: segment("seg"),
    "a compressed segment": lambda: segment("segz"),
    "a writer of segments": lambda: importlib.import_module(
        "neardup.search.disk.segment_writer"
    ).SegmentWriter("codes.seg", CODES.scheme, 64),
    "a plan": lambda: nd.plan(documents=1e6, measure=False),
    "a curve": lambda: nd.evaluate.curve_radius(3),
}
"""What users are given by functions, and do not make."""


@pytest.mark.parametrize("name", GIVEN)
def test_wrong_values_of_what_is_given_are_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one = GIVEN[name]()
    with one if hasattr(one, "__exit__") else nullcontext():
        for method, _ in methods(type(one)):
            check_refusals(getattr(one, method), good=GOOD, leave={"progress"})


def test_spark_refuses_before_it_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No session is made: the arguments that could start one are wrong in every call."""
    spark = pytest.importorskip("neardup.spark")
    from neardup.spark import queries, session

    def no_start(*given: object, **named: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(session.SparkSession.Builder, "getOrCreate", no_start)
    monkeypatch.chdir(tmp_path)
    for call in (spark.file_stages, spark.scan, spark.apply):
        check_refusals(call, fixed={"spark": object()}, leave={"spark"})
    for call in (spark.dedup, spark.frame_stages):
        check_refusals(call)
    for wrong in ({"master": 3}, {"name": None}, {"settings": ["a"]}, {"settings": {"a": 1}}):
        with pytest.raises(nd.ConfigError, match=next(iter(wrong))):
            spark.start(**wrong)
    check_refusals(queries.search, good={"queries": CODES})
    check_refusals(spark.Stages)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("NEARDUP_INDEX_OPTIONS", 3),
        ("NEARDUP_SERVICE_SECONDS", "soon"),
        ("NEARDUP_SERVICE_SECONDS", "nan"),
        ("NEARDUP_TOKEN", 5),
        ("NEARDUP_ACTION", 1),
        ("NEARDUP_MARK_FIELD", 5),
        ("NEARDUP_TEXT_FIELD", b"text"),
        ("NEARDUP_DROP_LINKS", "perhaps"),
        ("NEARDUP_PRIORITY_ADJUST", "much"),
        ("NEARDUP_HTML", []),
        ("NEARDUP_HTML_SECONDS", "inf"),
        ("NEARDUP_HTML_WORKERS", object()),
        ("NEARDUP_CANONICAL_URLS", "x"),
    ],
)
def test_settings_of_a_crawl_are_named(setting: str, value: object) -> None:
    pytest.importorskip("scrapy")
    from scrapy.settings import Settings

    from neardup.scrapy.options import Options

    field = setting.removeprefix("NEARDUP_").lower()
    with pytest.raises(nd.ConfigError, match=rf"{setting}|\b{field}\b"):
        Options.from_settings(Settings({setting: value}))


def test_the_plug_in_of_scrapy_refuses_other_objects() -> None:
    plug_in = pytest.importorskip("neardup.scrapy")
    for kind in (plug_in.NearDuplicateItems, plug_in.NearDuplicateLinks):
        check_refusals(kind)
        check_refusals(kind.from_crawler)
    check_refusals(plug_in.NearDuplicate)
