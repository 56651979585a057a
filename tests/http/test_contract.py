"""schemathesis over the OpenAPI document: no 5xx, and no answer that is not described."""

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from support.budgets import budget
from support.serving import served

from neardup.http.app import make_app
from neardup.http.limits import RequestLimits

schemathesis = pytest.importorskip("schemathesis")
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    with served(tmp_path_factory.mktemp("fuzzed") / "index.nd") as server:
        yield server


@pytest.fixture(scope="module")
def described(fuzzed):
    return schemathesis.openapi.from_dict(httpx.get(f"{fuzzed.url}/v1/openapi.json", trust_env=False).json())


ROUTES = [
    ("/v1/seen", "POST"),
    ("/v1/search", "POST"),
    ("/v1/documents", "POST"),
    ("/v1/documents/{id}", "GET"),
    ("/v1/documents/{id}", "DELETE"),
    ("/v1/clusters/{id}", "GET"),
    ("/v1/compare", "POST"),
    ("/v1/collapse", "POST"),
    ("/v1/stats", "GET"),
    ("/v1/live", "GET"),
    ("/v1/try", "POST"),
    ("/v1/indexes", "GET"),
    ("/v1/health", "GET"),
    ("/v1/ready", "GET"),
    ("/metrics", "GET"),
    ("/v1/openapi.json", "GET"),
]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def test_every_route_is_described(described):
    found = {
        (operation.ok().path, operation.ok().method.upper()) for operation in described.get_all_operations()
    }
    assert found == set(ROUTES)


def test_the_document_and_the_table_have_the_same_routes(described):
    application, _ = make_app(RequestLimits())
    table = {(route.path, route.method) for route in application.routes.all}
    assert table == set(ROUTES)


@pytest.mark.parametrize("path", sorted({path for path, _ in ROUTES}))
def test_what_is_described_is_what_is_served(fuzzed, described, path):
    """Methods in the document find their handler; all others are refused, with the names of those that are served."""
    served_here = {method for known, method in ROUTES if known == path}
    for method in METHODS:
        answer = httpx.request(
            method, fuzzed.url + path.replace("{id}", "nobody"), trust_env=False, timeout=300
        )
        if method in served_here:
            assert answer.status_code in (200, 422) or "document of this id" in answer.json()["reason"]
        else:
            assert answer.status_code == 405 and answer.json()["reason"] and answer.json()["request_id"]
            assert set(answer.headers["allow"].split(", ")) == served_here


@pytest.mark.parametrize(
    ("path", "method", "kind"),
    [(*route, "positive") for route in ROUTES]
    + [(*route, "negative") for route in ROUTES if route[1] == "POST"],
)
def test_answers_are_as_described(fuzzed, described, path, method, kind):
    operation = described[path][method]
    mode = (
        schemathesis.GenerationMode.POSITIVE if kind == "positive" else schemathesis.GenerationMode.NEGATIVE
    )

    def check(case):
        answer = case.call(base_url=fuzzed.url, timeout=300)
        case.validate_response(answer, checks=CHECKS)

    strategy = operation.as_strategy(generation_mode=mode)
    run = settings(
        max_examples=budget(10, 200),
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    run(given(case=strategy)(check))()
