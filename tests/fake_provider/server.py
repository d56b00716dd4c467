"""The server: a host of the inspector answers requests, with faults and blindness applied."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self, TypeAlias

from aiohttp import web

from showandtell.core.wire.http import HttpResponse
from showandtell.inspector.hosts import find_host
from showandtell.inspector.request import ApiError, Host, IncomingRequest, ModelRequest, Reply
from showandtell.inspector.send import Answerer, default_answerer, error_response, serve

from .auth import KEY_VARIABLES, TOKEN, check_key, make_account
from .blindness import Blindness, remove_unseen
from .faults import Fault, PlannedFault, read_fault
from .ledger import LedgerEntry, list_files, redact
from .recorded import RECORDED, Rejection, check_recorded
from .responses import iterate, read_body, rewrite_body, write
from .schedule import Plan
from .urls import BASES, TOKEN_PATH, base_of, name_variable

#: A request header that names a fault for that request.
FAULT_HEADER = "x-standin-fault"
#: A handler for other paths. It gets method and request first, and returns None for requests that it doesn't handle.
Handler: TypeAlias = Callable[[str, IncomingRequest], HttpResponse | None]


@dataclass
class _Exchange:
    """A request in progress: its content, what the model sees of it, and its fault."""

    host: Host
    incoming: IncomingRequest
    fault: Fault | None = None
    request: ModelRequest | None = None
    seen: ModelRequest | None = None
    is_recounted: bool = False


class FakeProvider:
    """All hosts on one port of 127.0.0.1, within `async with`.

    faults: plain faults apply to one request each, in order; a `PlannedFault` has its own position. blind: files that
    models don't see. reject: further rejections. answerer: computes replies. clock: for AWS signatures. handlers: serve
    other paths, such as uploads, and check their keys. fetch: adds the bytes of uploaded files to a request to a host.
    """

    def __init__(
        self,
        faults: Sequence[Fault | PlannedFault] = (),
        *,
        blind: Sequence[Blindness] = (),
        reject: Sequence[Rejection] = (),
        answerer: Answerer = default_answerer,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        handlers: Sequence[Handler] = (),
        fetch: Callable[[ModelRequest, str], ModelRequest] = lambda request, _: request,
        port: int = 0,
    ) -> None:
        self.plan = Plan(faults)
        self.blind, self.reject = list(blind), list(reject)
        self.answerer, self.clock, self.port = answerer, clock, port
        self.handlers, self.fetch = handlers, fetch
        self.ledger: list[LedgerEntry] = []
        self._stack = AsyncExitStack()
        self._account: Path | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.05, access_log=None)
        await runner.setup()
        self._stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", self.port).start()
        self.port = runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @property
    def url(self) -> str:
        """The URL of the server, without a trailing slash."""
        return f"http://127.0.0.1:{self.port}"

    def base(self, host: str) -> str:
        """The base URL of a host or provider, as its own SDK expects it."""
        return self.url + base_of(host)

    def environ(self) -> dict[str, str]:
        """Environment variables with base URLs and keys. Google's credentials file exists until the server closes."""
        bases = {name_variable(host): self.base(host) for host in BASES}
        return {**bases, **KEY_VARIABLES, "GOOGLE_APPLICATION_CREDENTIALS": str(self._write_account())}

    def _write_account(self) -> Path:
        if self._account is None:
            folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="standin-"))
            self._account = Path(folder) / "account.json"
            self._account.write_bytes(make_account(self.url + TOKEN_PATH))
        return self._account

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        """Answer a request and record it."""
        path, _, query = request.raw_path.partition("?")
        if path == TOKEN_PATH:
            return web.json_response({"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"})
        headers = {name.lower(): value for name, value in request.headers.items()}
        exchange = _Exchange(find_host(path)[0], IncomingRequest(path, query, headers, b""))
        answer = await self._answer(exchange, request)
        self.ledger.append(_make_entry(exchange, answer.status))
        is_struck = exchange.fault is not None and (answer.status == 200 or exchange.fault.instead is not None)
        return await write(request, answer, exchange.fault if is_struck else None)

    async def _answer(self, exchange: _Exchange, request: web.Request) -> HttpResponse:
        """The response of a handler, else of a fault, else of the host."""
        host, received = exchange.host, exchange.incoming
        try:
            exchange.incoming = incoming = IncomingRequest(
                received.path, received.query, received.headers, await read_body(request, host)
            )
            for handler in self.handlers:
                if (response := handler(request.method, incoming)) is not None:
                    return response
            exchange.fault = self._choose(exchange, request.method)
        except ApiError as error:
            return error_response(error, host)
        if exchange.fault is not None and exchange.fault.instead is not None:
            replacement = exchange.fault.instead(host)
            return HttpResponse(replacement.status, replacement.headers, iterate(replacement.body))
        answer = await serve(incoming, self._make_answerer(exchange))
        recounted = exchange.seen if exchange.is_recounted else None
        return await rewrite_body(answer, host, incoming.path, exchange.fault, recounted)

    def _choose(self, exchange: _Exchange, method: str) -> Fault | None:
        """Check a request and return its fault. Raises `ApiError`."""
        host, incoming = exchange.host, exchange.incoming
        if method != "POST":
            raise ApiError(f"Invalid URL ({method} {incoming.path})", status=404, kind=host.unknown_path_kind)
        check_key(host, incoming, self.clock())
        planned = self.plan.next(host.base)
        try:
            return read_fault(incoming.headers[FAULT_HEADER]) if FAULT_HEADER in incoming.headers else planned
        except ValueError as error:
            raise ApiError(str(error)) from None

    def _make_answerer(self, exchange: _Exchange) -> Answerer:
        """An answerer with rejections, blindness and the fault's reply."""

        def answerer(request: ModelRequest) -> Reply:
            host, fault = exchange.host.base, exchange.fault
            exchange.request = self.fetch(request, host)
            check_recorded(request, host, (*RECORDED, *self.reject))
            exchange.seen = seen = remove_unseen(exchange.request, host, self.blind)
            exchange.is_recounted = seen != request
            reply = self.answerer(seen)
            return reply if fault is None or fault.reply is None else fault.reply(seen, reply)

        return answerer


def _make_entry(exchange: _Exchange, status: int) -> LedgerEntry:
    incoming = exchange.incoming
    return LedgerEntry(
        host=exchange.host.base,
        path=incoming.path,
        headers=redact(incoming.headers),
        sha256=hashlib.sha256(incoming.body).hexdigest(),
        size=len(incoming.body),
        status=status,
        model=exchange.request.model if exchange.request else "",
        sent=list_files(exchange.request),
        seen=list_files(exchange.seen),
        fault=exchange.fault.name if exchange.fault else "",
    )
