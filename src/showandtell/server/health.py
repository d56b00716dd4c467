"""Whether this worker lives, whether it can work, and what it has counted; for machines that look after it."""

from __future__ import annotations

import ipaddress
from typing import Any

from fastapi import APIRouter
from pydantic import ConfigDict
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from showandtell.server.auth.authenticate import current_user
from showandtell.server.observability.metrics import Metrics
from showandtell.server.schemas import Shape, answer, errors
from showandtell.server.state import CurrentServer

router = APIRouter(tags=["health"])

UNREADY: dict[str, Any] = {"ready": False, "database": "ok", "files": "it did not answer within 2 s"}
COUNTED = "showandtell_running 1.0\nshowandtell_open_streams 2.0\n"


def told_as(text: str) -> dict[str, Any]:
    """How plain text is described."""
    return {"content": {"text/plain": {"example": text}}}


class ReadyShape(Shape):
    """Whether this worker can work, and what is wrong where it can't."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ready": True, "database": "ok", "files": "ok"}]})

    ready: bool
    database: str
    files: str


@router.get("/healthz", operation_id="is_alive", response_class=PlainTextResponse, responses={200: told_as("ok\n")})
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
async def is_ready(here: CurrentServer) -> Response:
    """The database and the store of files answer, each within two seconds. Nobody has to be logged in."""
    found = await here.readiness.ask()
    return answer(found, 200 if found["ready"] else 503)


@router.get(
    "/metrics",
    operation_id="get_metrics",
    response_class=PlainTextResponse,
    responses={200: told_as(COUNTED), **errors()},
)
async def get_metrics(request: Request) -> PlainTextResponse:
    """What this worker has counted, as Prometheus reads it: for this machine itself, and for whoever is logged in."""
    if not is_neighbour(request):
        await current_user(request)
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
