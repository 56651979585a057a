"""The last ten minutes of the service."""

from neardup.http.history import EVERY, MOMENTS, History


def test_moments():
    clock = [1000.0]
    history = History(lambda: clock[0])
    history.request("/v1/seen", 200, 0.5)
    history.request("/v1/seen", 503, 0.1)
    history.remembered(3, 1)
    history.request("/v1/live", 200, 9.0)  # the page itself
    history.request("/metrics", 200, 9.0)
    clock[0] = 1004.9
    history.request("/v1/search", 422, 0.2)
    clock[0] = 1010.0
    history.request("/v1/search", 200, 0.3)
    first, second = history.moments()
    assert (first.at, first.requests, first.searches, first.failed, first.refused) == (1000, 3, 1, 1, 1)
    assert (first.new, first.duplicates, first.p50, first.p99) == (3, 1, 0.2, 0.5)
    assert (second.at, second.requests, second.p50) == (1010, 1, 0.3)
    clock[0] = 1001.0 + EVERY * MOMENTS
    assert [one.at for one in history.moments()] == [1010]


def test_ten_minutes_are_kept():
    clock = [0.0]
    history = History(lambda: clock[0])
    for _ in range(3 * MOMENTS):
        history.remembered(1, 0)
        clock[0] += EVERY
    assert len(history.moments()) == MOMENTS
