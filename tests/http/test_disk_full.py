"""A full disk behind the service: an error in JSON, nothing acknowledged lost, and it continues when there is room
again."""

import os

import httpx
from support.serving import served


def test_full_and_free_again(small_disk):
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1 << 20))
    taken, number = [], 0
    with (
        served(small_disk / "i") as server,
        httpx.Client(base_url=server.url, trust_env=False, timeout=300) as http,
    ):

        def page(number):
            # Random words do not compress, so the disk fills soon.
            return {"id": f"page-{number}", "text": os.urandom(2000).hex()}

        while True:
            answer = http.post("/v1/seen", json=page(number))
            if answer.status_code != 200:
                break
            taken.append(number)
            number += 1
            assert number < 10_000
        assert len(taken) > 50
        assert answer.status_code == 507 and "full" in answer.json()["reason"] and answer.json()["request_id"]
        assert str(small_disk) not in answer.text
        lines = "\n".join(
            httpx.Request("POST", "/", json=page(n)).content.decode() for n in range(10**6, 10**6 + 300)
        )
        answer = http.post("/v1/documents", content=lines, headers={"content-type": "application/x-ndjson"})
        assert answer.status_code == 507 and "full" in answer.json()["reason"]
        # What was acknowledged is there, the refused one is not, and queries are answered.
        for n in taken:
            assert http.get(f"/v1/documents/page-{n}").json()["id"] == f"page-{n}"
        assert http.get(f"/v1/documents/page-{number}").status_code == 404
        assert http.post("/v1/search", json={"text": "anything"}).status_code == 200
        assert http.get("/v1/health").status_code == 200 and http.get("/v1/ready").status_code == 200
        ballast.unlink()
        assert http.post("/v1/seen", json=page(number)).json()["new"]
        assert http.get("/v1/stats").json()["documents"] >= len(taken) + 1
