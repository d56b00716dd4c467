"""Whether this worker lives, whether it can work, and what it has counted; for machines that look after it."""

from __future__ import annotations

import asyncio
import io
import ipaddress
import time
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter
from pydantic import ConfigDict
from sqlalchemy import text
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from showandtell.errors import ShowAndTellError
from showandtell.files import Facts
from showandtell.history.store import Store
from showandtell.server.metrics import Metrics
from showandtell.server.shapes import Shape, answer, errors
from showandtell.server.state import Here
from showandtell.server.who import who

router = APIRouter(tags=["health"])

#: How long the database and the store of files may take, and for how long what they said counts, in seconds.
PATIENCE, FRESH = 2.0, 1.0
ANYTHING = text("SELECT 1")
#: Bytes that are stored for a moment and found again by nobody.
TRIAL = b"ready?"
TRIAL_FACTS = Facts("0" * 64, "text/plain", len(TRIAL))

UNREADY: dict[str, Any] = {"ready": False, "database": "ok", "files": "it did not answer within 2 s"}


class ReadyShape(Shape):
    """Whether this worker can work, and what is wrong where it can't."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ready": True, "database": "ok", "files": "ok"}]})

    ready: bool
    database: str
    files: str


class Probe:
    """Asks something, one at a time whoever wants to know: a disk that hangs holds one thread, and no more."""

    def __init__(self, work: Callable[[], Awaitable[object]], clock: Callable[[], float] = time.monotonic) -> None:
        self._work, self._clock = work, clock
        self._task: asyncio.Task[str] | None = None
        self._until = float("-inf")

    async def ask(self, patience: float = PATIENCE) -> str:
        """What is wrong, or "ok"."""
        if self._task is None or (self._task.done() and self._clock() >= self._until):
            self._task = asyncio.create_task(self._try())
        done, _ = await asyncio.wait({self._task}, timeout=patience)
        return self._task.result() if done else f"it did not answer within {patience:g} s"

    async def _try(self) -> str:
        try:
            await self._work()
        except (ShowAndTellError, OSError) as error:
            # Its words may name a host or a folder, and anybody may ask.
            return f"it does not answer ({type(error).__name__}): the log of a request that needs it says more"
        finally:
            self._until = self._clock() + FRESH
        return "ok"


class Readiness:
    """What this worker needs: its database, and its store of files."""

    def __init__(self, store: Store) -> None:
        self._probes = Probe(lambda: store.database.read(ANYTHING)), Probe(lambda: asyncio.to_thread(try_blobs, store))

    async def ask(self) -> dict[str, Any]:
        """What both say."""
        database, files = await asyncio.gather(*(one.ask() for one in self._probes))
        return {"ready": database == files == "ok", "database": database, "files": files}


def try_blobs(store: Store) -> None:
    """Look for a file that isn't there, and write one that nobody keeps. Blocks."""
    blobs = store.blobs.of("")
    blobs.has(TRIAL_FACTS)
    blobs.drop(blobs.spool(lambda: io.BytesIO(TRIAL), "readiness", len(TRIAL)))


@router.get("/healthz", operation_id="is_alive", response_class=PlainTextResponse)
async def is_alive() -> PlainTextResponse:
    """This process answers. Nobody has to be logged in."""
    return PlainTextResponse("ok\n", headers={"cache-control": "no-store"})


@router.get(
    "/readyz",
    operation_id="is_ready",
    responses={
        200: {"model": ReadyShape},
        503: {"model": ReadyShape, "content": {"application/json": {"example": UNREADY}}},
    },
)
async def is_ready(request: Request, here: Here) -> Response:
    """The database and the store of files answer, each within two seconds. Nobody has to be logged in."""
    state = request.app.state
    if not hasattr(state, "readiness"):
        state.readiness = Readiness(here.store)
    found = await state.readiness.ask()
    return answer(found, 200 if found["ready"] else 503)


@router.get("/metrics", operation_id="get_metrics", response_class=PlainTextResponse, responses=errors())
async def get_metrics(request: Request) -> PlainTextResponse:
    """What this worker has counted, as Prometheus reads it: for this machine itself, and for whoever is logged in."""
    if not is_neighbour(request):
        await who(request)
    metrics: Metrics = request.app.state.metrics
    headers = {"cache-control": "no-store", "content-type": "text/plain; version=0.0.4; charset=utf-8"}
    return PlainTextResponse(metrics.text(), headers=headers)


def is_neighbour(request: Request) -> bool:
    """Whether a program on this machine asks for itself, and not a proxy for somebody else."""
    passed_on = any(name in request.headers for name in ("forwarded", "x-forwarded-for", "x-real-ip", "via"))
    try:
        return not passed_on and request.client is not None and ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
