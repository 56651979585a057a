"""The files for hosting, held against the program they are about: commands and options that exist, metrics that a
running service has, files and targets that are there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from support.command import serving

from neardup.cli import COMMANDS, LazyGroup

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
DASHBOARD = DEPLOY / "grafana" / "dashboards" / "neardup.json"
ALERTS = DEPLOY / "prometheus" / "alerts.yml"
TOKEN = "a-token-for-the-tests"
OF_PROMETHEUS = {"up": {"job", "instance"}}
ADDED = {"job", "instance"}  # labels that Prometheus gives to whatever it reads
WORDS = {"by", "on", "or", "and", "unless", "offset", "vector", "bool", "ignoring", "without"}


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def dockerfile() -> dict[str, list[str]]:
    """The arguments of each instruction, continued lines joined."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    found: dict[str, list[str]] = {}
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if line.strip():
            word, _, rest = line.partition(" ")
            found.setdefault(word, []).append(rest.strip())
    return found


def expressions() -> list[str]:
    board = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    of_panels = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    of_alerts = [rule["expr"] for group in loaded(ALERTS)["groups"] for rule in group["rules"]]
    asked = [one["definition"] for one in board["templating"]["list"] if one["type"] == "query"]
    return [*of_panels, *of_alerts, *[re.sub(r"^label_values\((.*), \w+\)$", r"\1", one) for one in asked]]


def named(expression: str) -> tuple[dict[str, set[str]], set[str]]:
    """The metrics of an expression with the labels that select among them, and the labels it groups by."""
    plain = re.sub(r'"(\\.|[^"\\])*"', '""', expression)
    grouped: set[str] = set()
    for labels in re.findall(r"\b(?:by|on)\s*\(([^)]*)\)", plain):
        grouped |= {label.strip() for label in labels.split(",")}
    plain = re.sub(r"\b(?:by|on)\s*\([^)]*\)", " ", plain)
    plain = re.sub(r"\[[^\]]*\]", " ", plain)  # durations
    metrics: dict[str, set[str]] = {}
    for name, _, labels in re.findall(r"\b([a-z_]+)\b\s*(\{([^}]*)\})?(?!\s*\()", plain):
        if name not in WORDS:
            metrics.setdefault(name, set()).update(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", labels))
    return metrics, grouped


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> Iterator[dict[str, set[str]]]:
    """Every series of a service that has served each kind of request, with its labels."""
    httpx = pytest.importorskip("httpx")
    pytest.importorskip("granian", reason="the extra `service` is not installed")
    from prometheus_client.parser import text_string_to_metric_families

    folder = tmp_path_factory.mktemp("served")
    indexes = str(folder / "index.nd"), f"--index=pages={folder / 'pages.nd'}"
    with serving("serve", *indexes, "--port", "0", environment={"NEARDUP_TOKEN": TOKEN}) as server:
        header = {"authorization": f"Bearer {TOKEN}"}
        with httpx.Client(base_url=server.url, headers=header, trust_env=False, timeout=300) as client:
            for id in ("a", "b"):
                page = {"id": id, "text": "The ferry leaves the north pier at eight"}
                assert client.post("/v1/seen", json=page).status_code == 200
            assert client.post("/v1/search", json={"text": "The ferry leaves"}).status_code == 200
            text = client.get("/metrics").text
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    yield found


@pytest.mark.parametrize("expression", expressions())
def test_what_is_watched_is_exported(expression, exported):
    metrics, grouped = named(expression)
    known = {**exported, **OF_PROMETHEUS}
    assert metrics and set(metrics) <= set(known), set(metrics) - set(known)
    for name, labels in metrics.items():
        assert labels <= known[name] | ADDED, (name, labels)
    assert grouped <= set().union(*(known[name] for name in metrics)) | ADDED


def test_every_family_is_on_the_dashboard(exported):
    shown = {name for expression in expressions() for name in named(expression)[0]}
    families = {re.sub(r"_(bucket|count|sum)$", "", name) for name in exported}
    assert families <= {re.sub(r"_(bucket|count|sum)$", "", name) for name in shown}


def test_names_are_found_in_expressions():
    metrics, grouped = named(
        'sum by (le) (rate(a_b{x=~"y|z", w="{q}"}[5m])) / on (job) clamp(c, d) > 0.5 or e offset 5m'
    )
    assert metrics == {"a_b": {"x", "w"}, "c": set(), "d": set(), "e": set()} and grouped == {"le", "job"}


def test_alerts_have_tests():
    rules = {rule["alert"] for group in loaded(ALERTS)["groups"] for rule in group["rules"]}
    tests = loaded(DEPLOY / "prometheus" / "alerts.test.yml")["tests"]
    fired = {one["alertname"] for test in tests for one in test["alert_rule_test"] if one.get("exp_alerts")}
    assert rules == fired


def parsed(arguments: list[str]) -> dict[str, Any]:
    """The options of a command, as click reads them; an option that does not exist is an error."""
    assert arguments[0] in COMMANDS
    group = LazyGroup("neardup")
    command = group.get_command(click.Context(group), arguments[0])
    assert command is not None
    return command.make_context(arguments[0], arguments[1:]).params


def test_the_image_starts_a_service_that_its_health_check_finds(tmp_path):
    pytest.importorskip("granian", reason="the extra `service` is not installed")
    image = dockerfile()
    assert json.loads(image["ENTRYPOINT"][0]) == ["neardup"]
    command = json.loads(image["CMD"][0])
    options = parsed(command)
    assert (options["host"], str(options["port"])) == ("0.0.0.0", image["EXPOSE"][0])
    assert options["path"].startswith(image["VOLUME"][0] + "/")
    check = json.loads(image["HEALTHCHECK"][0].partition("CMD ")[2])
    assert check[0] == "python" and str(options["port"]) in check[2]

    def healthy(port: str) -> bool:
        asked = [sys.executable, "-c", check[2].replace(str(options["port"]), port)]
        return subprocess.run(asked, capture_output=True, timeout=300).returncode == 0

    here = {options["path"]: str(tmp_path / "index.nd"), str(options["port"]): "0"}
    with serving(*[here.get(one, one) for one in command], environment={"NEARDUP_TOKEN": TOKEN}) as server:
        port = server.url.rsplit(":", 1)[1]
        assert healthy(port)
    assert not healthy(port)


def test_the_image_is_made_of_files_that_are_there_and_let_in():
    image = dockerfile()
    copied = [one for line in image["COPY"] if not line.startswith("--from") for one in line.split()[:-1]]
    let_in = re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(copied) == sorted(let_in) and all((ROOT / name).exists() for name in copied)
    assert image["USER"] and not image["USER"][-1].startswith(("root", "0"))


def test_compose_names_what_exists(tmp_path):
    compose = loaded(DEPLOY / "compose.yaml")
    services = compose["services"]
    token = tmp_path / "token"
    token.write_text(TOKEN)
    command = [re.sub(r"\$\{\w+:-(.*)\}", r"\1", one) for one in services["neardup"]["command"]]
    secret = command[command.index("--token-file") + 1]
    options = parsed([str(token) if one == secret else one for one in command])
    assert secret.rpartition("/")[2] in services["neardup"]["secrets"]
    assert options["path"].startswith("redis://valkey:") and "valkey" in services
    assert not set(services["neardup"]["networks"]).isdisjoint(services["valkey"]["networks"])
    assert compose["networks"]["store"]["internal"] and "ports" not in services["valkey"]
    for name, service in services.items():
        assert service["read_only"] and set(service["networks"]) <= set(compose["networks"]), name
        assert set(service.get("secrets", [])) <= set(compose["secrets"])
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            there = (DEPLOY / source).exists() if source.startswith(".") else source in compose["volumes"]
            assert there, volume
    assert (DEPLOY / services["neardup"]["build"]["context"] / "Dockerfile").is_file()
    page = (ROOT / "docs" / "how-to" / "deploy.md").read_text(encoding="utf-8")
    for secret in compose["secrets"].values():
        made = (DEPLOY / secret["file"]).relative_to(ROOT)
        assert str(made) in page and "deploy/secrets/" in (ROOT / ".gitignore").read_text().split()


def test_prometheus_and_grafana_find_each_other():
    services = loaded(DEPLOY / "compose.yaml")["services"]
    scraped = loaded(DEPLOY / "prometheus" / "prometheus.yml")["scrape_configs"][0]
    (target,) = scraped["static_configs"][0]["targets"]
    command = services["neardup"]["command"]
    assert target == f"neardup:{command[command.index('--port') + 1]}"
    assert scraped["authorization"]["credentials_file"] == command[command.index("--token-file") + 1]
    assert f'job="{scraped["job_name"]}"' in ALERTS.read_text(encoding="utf-8")
    provisioning = DEPLOY / "grafana" / "provisioning"
    (source,) = loaded(provisioning / "datasources" / "prometheus.yml")["datasources"]
    assert source["url"].removeprefix("http://") in {f"{name}:9090" for name in services}
    (provider,) = loaded(provisioning / "dashboards" / "neardup.yml")["providers"]
    mounted = [one.split(":")[1] for one in services["grafana"]["volumes"]]
    assert provider["options"]["path"] in mounted


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_are_modest_and_their_targets_exist(path):
    workflow = loaded(path)
    assert workflow["permissions"] == {"contents": "read"} and workflow["concurrency"]
    make = shutil.which("make")
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 90
        matrix = job.get("strategy", {}).get("matrix", {})
        targets = {*matrix.get("target", []), *(one.get("target") for one in matrix.get("include", []))}
        for step in job["steps"]:
            run = step.get("run", "")
            asked = re.findall(r"^make (\S+)$", run.replace("${{ matrix.target }}", "MATRIX"), re.MULTILINE)
            for target in (targets - {None}) if asked == ["MATRIX"] else asked:
                assert make is not None
                done = subprocess.run([make, "-n", target], cwd=ROOT, capture_output=True, text=True)
                assert done.returncode == 0, done.stderr
            for file in re.findall(r"(?:python3? |--file |pytest )(\S+\.(?:py|yaml))", run):
                assert (ROOT / file).is_file(), file


def test_wheels_are_tested_by_files_that_are_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = re.findall(r"\{project\}/(\S+)", " ".join(project["tool"]["cibuildwheel"]["test-command"]))
    assert named and all((ROOT / name).exists() for name in named)


def test_other_files_can_be_read():
    assert len(WORKFLOWS) >= 5
    for path in [
        *DEPLOY.rglob("*.y*ml"),
        ROOT / ".pre-commit-config.yaml",
        ROOT / ".github" / "dependabot.yml",
    ]:
        assert isinstance(loaded(path), dict), path
