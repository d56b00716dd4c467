"""Requests that schemathesis makes of the OpenAPI, sent to a real server that runs in a thread of its own."""

import asyncio
import threading
from contextlib import contextmanager

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from showandtell import RunLimits
from support.serving import serving

RATES = "chat=1000000/minute, uploads=1000000/minute, reads=1000000/minute, login=1000000/minute"
#: What every answer must keep to.
KEPT = ("not_a_server_error", "response_schema_conformance", "content_type_conformance", "status_code_conformance")
load_all_checks()
schemathesis.serializer.alias("application/zip", "application/octet-stream")


@contextmanager
def apart(folder):
    """A server in another thread; gives its address, and the headers by which its user is known."""
    ready, over, found = threading.Event(), [], {}

    async def live():
        stop = asyncio.Event()
        async with serving(folder, rates=RATES, limits=RunLimits(seconds=5)) as site:
            over.append((asyncio.get_running_loop(), stop))
            found["url"], found["token"] = site.url, site.server.keys.token
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(live()), daemon=True)
    thread.start()
    assert ready.wait(60), "the server did not start"
    try:
        yield found["url"], {"authorization": f"Bearer {found['token']}"}
    finally:
        loop, stop = over[0]
        loop.call_soon_threadsafe(stop.set)
        thread.join(60)


def operations(url):
    """Every operation of a server that runs, as schemathesis reads it."""
    description = requests.get(f"{url}/api/openapi.json", timeout=60).json()
    for methods in description["paths"].values():
        for operation in methods.values():
            for answer in operation["responses"].values():
                # It would hold this schema against each event, and not against the text that a stream is.
                answer.get("content", {}).get("text/event-stream", {}).pop("schema", None)
    return [found.ok() for found in schemathesis.openapi.from_dict(description).get_all_operations()]


def ask_anything(url, headers, operation, count, *, mode=GenerationMode.POSITIVE, start=0):
    """Send `count` requests of one operation and check each: valid ones, or ones that break its rules."""
    checks = [CHECKS.get_one(name) for name in KEPT]

    @seed(start)
    @settings(max_examples=count, suppress_health_check=list(HealthCheck), phases=(Phase.generate,))
    @given(case=operation.as_strategy(mode))
    def ask(case):
        answer = case.call(base_url=url, session=session, headers=headers, timeout=60)
        case.validate_response(answer, checks=checks)

    with requests.Session() as session:
        ask()
