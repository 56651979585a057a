"""The circuit breaker and the time budget of the client."""

import contextlib
import time

import httpx
import pytest

import neardup as nd
from neardup.http.client import Breaker, Client, Retry, ServiceError


def test_a_breaker_opens_tries_and_closes():
    clock = [0.0]
    breaker = Breaker(failures=2, first=1, longest=4, now=lambda: clock[0])
    assert breaker.ask()
    breaker.answered(False)
    assert breaker.ask() and not breaker.open
    breaker.answered(False)
    assert breaker.open and not breaker.ask()
    for pause in (1, 2, 4, 4):
        clock[0] += pause - 0.01
        assert not breaker.ask()
        clock[0] += 0.01
        assert breaker.ask() and not breaker.ask()  # one request tries the service
        breaker.answered(False)
    clock[0] += 4
    assert breaker.ask()
    breaker.answered(True)
    assert breaker.ask() and breaker.ask() and not breaker.open
    breaker.answered(False)
    assert breaker.ask()


@pytest.mark.parametrize("wrong", [{"failures": 0}, {"first": 0}, {"first": 5, "longest": 1}])
def test_settings_of_a_breaker(wrong):
    with pytest.raises(nd.ConfigError, match="a breaker has"):
        Breaker(**wrong)


def test_a_service_that_is_not_there_is_asked_a_few_times_only(monkeypatch):
    asked = []

    def refused(*given, **options):
        asked.append(options["timeout"])
        raise httpx.ConnectError("refused")

    with Client("http://127.0.0.1:9", retry=Retry(times=1, first=0), timeout=7, budget=3) as client:
        monkeypatch.setattr(client._http, "stream", refused)
        for _ in range(50):
            with pytest.raises(ServiceError) as caught:
                client.stats()
            assert caught.value.unavailable
    assert len(asked) == 6  # three requests of two attempts each
    assert all(0 < seconds <= 3 for seconds in asked)  # no attempt is longer than what is left of the budget
    assert "is not asked for a while" in str(caught.value)


def test_pauses_end_with_the_budget(monkeypatch):
    waited = []
    monkeypatch.setattr(time, "sleep", waited.append)
    with Client("http://127.0.0.1:9", retry=Retry(times=50, first=1, longest=60), budget=0.4) as client:
        monkeypatch.setattr(
            client._http, "stream", lambda *_, **__: contextlib.nullcontext(httpx.Response(503))
        )
        with pytest.raises(ServiceError) as caught:
            client.stats()
    assert caught.value.status == 503 and waited == []
