"""Asks every part of compose.yaml once: the service, Prometheus that reads its counters, Grafana with its dashboard.

Needs nothing but Python. Ends with 1 and a sentence if a part does not answer as it should.
"""

from __future__ import annotations

import argparse
import base64
import json
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

HERE = Path(__file__).parent
PATIENCE = 90.0  # seconds: Prometheus reads the counters every 15
DIRECT = build_opener(ProxyHandler({}))


def ask(url: str, authorization: str = "", body: object = None) -> Any:
    """The JSON that is answered; SystemExit if there is none."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"authorization": authorization} if authorization else {}
    try:
        with DIRECT.open(Request(url, data, headers), timeout=10) as answer:
            return json.load(answer)
    except (URLError, TimeoutError, ValueError) as error:
        raise SystemExit(f"{url}: {error}") from None


def check_service(url: str, token: str) -> None:
    name = uuid.uuid4().hex  # words that no other run has sent
    text = " ".join(f"{name}{number} leaves the pier" for number in range(20))
    first = ask(f"{url}/v1/seen", f"Bearer {token}", {"id": f"{name}-a", "text": text, "ttl": 3600})
    second = ask(f"{url}/v1/seen", f"Bearer {token}", {"id": f"{name}-b", "text": text, "ttl": 3600})
    if not first["new"] or second["duplicate_of"] != f"{name}-a":
        raise SystemExit(f"{url}: a page sent twice should be new once: {first}, {second}")
    print(f"{url}: the second of two equal pages is a duplicate")


def check_prometheus(url: str) -> None:
    end = time.monotonic() + PATIENCE
    asked = urlencode({"query": 'up{job="neardup"} == 1 and on (instance) neardup_index_documents > 0'})
    while not ask(f"{url}/api/v1/query?{asked}")["data"]["result"]:
        if time.monotonic() > end:
            raise SystemExit(f"{url}: it has not read the counters of the service in {PATIENCE:.0f} seconds")
        time.sleep(2)
    rules = [rule for group in ask(f"{url}/api/v1/rules")["data"]["groups"] for rule in group["rules"]]
    if not rules or any(rule["health"] == "err" for rule in rules):
        raise SystemExit(f"{url}: the alert rules are not in use: {rules}")
    print(f"{url}: reads the service, and has {len(rules)} alert rules")


def check_grafana(url: str, password: str) -> None:
    login = "Basic " + base64.b64encode(f"admin:{password}".encode()).decode()
    found = ask(f"{url}/api/dashboards/uid/neardup", login)["dashboard"]
    state = ask(f"{url}/api/datasources/uid/prometheus/health", login)
    if state.get("status") != "OK":
        raise SystemExit(f"{url}: it does not reach Prometheus: {state}")
    print(f"{url}: reaches Prometheus, and has the dashboard {found['title']!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--service", default="http://127.0.0.1:8080")
    parser.add_argument("--prometheus", default="http://127.0.0.1:9090")
    parser.add_argument("--grafana", default="http://127.0.0.1:3000", help="'' leaves it out")
    parser.add_argument("--secrets", type=Path, default=HERE / "secrets")
    given = parser.parse_args()
    check_service(given.service, (given.secrets / "token").read_text().strip())
    check_prometheus(given.prometheus)
    if given.grafana:
        check_grafana(given.grafana, (given.secrets / "grafana").read_text().strip())


if __name__ == "__main__":
    main()
