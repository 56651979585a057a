"""Requests that come together are one call; a lone one waits for nothing, and only the faulty one gets the error."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from neardup.http.batcher import Batcher


def test_what_comes_together_or_meanwhile_is_one_batch():
    async def main() -> list[int]:
        sizes, go = [], threading.Event()

        def run(items):
            go.wait(120)
            return [item * 2 for item in items]

        with ThreadPoolExecutor(1) as executor:
            batcher = Batcher(run, executor, most=10, observe=sizes.append)
            first = [batcher.put(n) for n in range(3)]
            await asyncio.sleep(0.05)
            later = [batcher.put(n) for n in range(3, 20)]
            go.set()
            assert await asyncio.gather(*first, *later) == [2 * n for n in range(20)]
            assert await batcher.put(50) == 100
        return sizes

    assert asyncio.run(main()) == [3, 10, 7, 1]


def test_after_many_callers_a_batch_waits_for_half_of_them():
    async def main() -> list[int]:
        sizes: list[int] = []
        with ThreadPoolExecutor(1) as executor:
            batcher = Batcher(lambda items: items, executor, gather=3600, observe=sizes.append)
            await asyncio.gather(*map(batcher.put, range(8)))
            few = [batcher.put(n) for n in range(3)]
            for _ in range(100):
                await asyncio.sleep(0)
            assert sizes == [8]
            await asyncio.gather(*few, batcher.put(3))
            assert sizes == [8, 4]
            await asyncio.gather(batcher.put(1), batcher.put(2))
            assert await batcher.put(3) == 3
        return sizes

    assert asyncio.run(main()) == [8, 4, 2, 1]


def test_it_does_not_wait_for_callers_that_have_gone():
    async def main() -> list[int]:
        sizes: list[int] = []
        with ThreadPoolExecutor(1) as executor:
            batcher = Batcher(lambda items: items, executor, gather=0.001, observe=sizes.append)
            await asyncio.gather(*map(batcher.put, range(8)))
            assert await batcher.put(1) == 1
        return sizes

    assert asyncio.run(main()) == [8, 1]


def test_failures_go_to_those_they_belong_to():
    async def main() -> None:
        def run(items):
            if "all" in items:
                raise OSError("the disk is gone")
            return [ValueError(item) if item == "bad" else item for item in items]

        with ThreadPoolExecutor(1) as executor:
            batcher = Batcher(run, executor)
            found = await asyncio.gather(*map(batcher.put, ["a", "bad", "b"]), return_exceptions=True)
            assert found[0] == "a" and isinstance(found[1], ValueError) and found[2] == "b"
            found = await asyncio.gather(*map(batcher.put, ["all", "c"]), return_exceptions=True)
            assert all(isinstance(one, OSError) for one in found)
            assert await batcher.put("d") == "d"

    asyncio.run(main())


def test_a_caller_that_has_gone_is_left_out():
    async def main() -> list[list[int]]:
        given = []
        with ThreadPoolExecutor(1) as executor:
            batcher = Batcher(lambda items: given.append(items) or items, executor)
            gone, kept = batcher.put(1), batcher.put(2)
            gone.cancel()
            assert await kept == 2
            lone = batcher.put(3)
            lone.cancel()
            await asyncio.sleep(0.01)
            assert await batcher.put(4) == 4
            with pytest.raises(asyncio.CancelledError):
                await gone
        return given

    assert asyncio.run(main()) == [[2], [4]]
