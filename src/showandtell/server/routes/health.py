"""Health checks and metrics of this worker."""

from __future__ import annotations

import ipaddress
from typing import Any

from fastapi import APIRouter
from pydantic import ConfigDict
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from showandtell.server.auth.authenticate import current_user
from showandtell.server.observability.metrics import Metrics
from showandtell.server.schemas import Shape, errors, json_response
from showandtell.server.state import CurrentServer

router = APIRouter(tags=["health"])

NOT_READY: dict[str, Any] = {"ready": False, "database": "ok", "files": "it did not answer within 2 s"}
METRICS_EXAMPLE = "showandtell_running 1.0\nshowandtell_open_streams 2.0\n"


def text_example(text: str) -> dict[str, Any]:
    """Return the OpenAPI response object of plain text."""
    return {"content": {"text/plain": {"example": text}}}


class ReadyShape(Shape):
    """Whether this worker can handle requests, and what is wrong if it can't."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ready": True, "database": "ok", "files": "ok"}]})

    ready: bool
    database: str
    files: str


@router.get(
    "/healthz", operation_id="is_alive", response_class=PlainTextResponse, responses={200: text_example("ok\n")}
)
async def is_alive() -> PlainTextResponse:
    """Responds if the process is alive. Needs no login."""
    return PlainTextResponse("ok\n", headers={"cache-control": "no-store"})


@router.get(
    "/readyz",
    operation_id="is_ready",
    responses={
        200: {"model": ReadyShape},
        503: {"model": ReadyShape, "content": {"application/json": {"example": NOT_READY}}},
    },
)
async def is_ready(server: CurrentServer) -> Response:
    """Checks that the database and the file store respond, each within two seconds. Needs no login."""
    report = await server.readiness.check()
    return json_response(report, 200 if report["ready"] else 503)


@router.get(
    "/metrics",
    operation_id="get_metrics",
    response_class=PlainTextResponse,
    responses={200: text_example(METRICS_EXAMPLE), **errors()},
)
async def get_metrics(request: Request) -> PlainTextResponse:
    """Returns this worker's metrics for Prometheus. Needs a login, except for clients on this machine."""
    if not is_local(request):
        await current_user(request)
    metrics: Metrics = request.app.state.metrics
    headers = {"cache-control": "no-store", "content-type": "text/plain; version=0.0.4; charset=utf-8"}
    return PlainTextResponse(metrics.text(), headers=headers)


def is_local(request: Request) -> bool:
    """Whether the client is a program on this machine, and not a proxy."""
    is_proxied = any(name in request.headers for name in ("forwarded", "x-forwarded-for", "x-real-ip", "via"))
    try:
        return not is_proxied and request.client is not None and ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
