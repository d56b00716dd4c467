"""The server: requests come in up to a cap, a house of the inspector answers them, faults and blindness lie over that."""

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
from showandtell.inspector.request import Host, IncomingRequest, ModelRequest, Refusal, Reply
from showandtell.inspector.send import Answerer, refused, serve, think

from .answers import give, respell, take_body, write
from .auth import KEY_VARIABLES, TOKEN, check_key, make_account
from .blindness import Blindness, look_away
from .faults import Fault, Planned, read_fault
from .ledger import Received, list_sights, redact
from .places import BASES, TOKEN_PATH, base_of, name_variable
from .plans import Plan
from .recorded import RECORDED, Rejection, check_recorded

#: The header by which a request asks for a fault of its own.
FAULT_HEADER = "x-standin-fault"
#: Another door than models': it sees the method and the request first, and gives None for what isn't its own.
Door: TypeAlias = Callable[[str, IncomingRequest], HttpResponse | None]


@dataclass
class _Exchange:
    """One request on its way: what it asks, what the model saw of that, and what goes wrong."""

    house: Host
    incoming: IncomingRequest
    fault: Fault | None = None
    asked: ModelRequest | None = None
    seen: ModelRequest | None = None
    is_recounted: bool = False


class Standin:
    """Every house on one port of 127.0.0.1, open within `async with`.

    faults: bare ones strike one request after the other, `Planned` ones where they say. blind: what models don't see.
    reject: further rejections. mind: what thinks. clock: AWS's. doors: what serves other paths, such as uploads, and
    checks their keys; fetch: gives a request the bytes of files that were uploaded, by its house.
    """

    def __init__(
        self,
        faults: Sequence[Fault | Planned] = (),
        *,
        blind: Sequence[Blindness] = (),
        reject: Sequence[Rejection] = (),
        mind: Answerer = think,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        doors: Sequence[Door] = (),
        fetch: Callable[[ModelRequest, str], ModelRequest] = lambda asked, _: asked,
        port: int = 0,
    ) -> None:
        self.plan = Plan(faults)
        self.blind, self.reject = list(blind), list(reject)
        self.mind, self.clock, self.port = mind, clock, port
        self.doors, self.fetch = doors, fetch
        self.ledger: list[Received] = []
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
        """Where the stand-in listens, without a slash at its end."""
        return f"http://127.0.0.1:{self.port}"

    def base(self, house: str) -> str:
        """The base URL of a house or a provider, as its own SDK takes it."""
        return self.url + base_of(house)

    def environ(self) -> dict[str, str]:
        """Variables that lead every provider here, with keys; Google's file of credentials lasts as long as this."""
        bases = {name_variable(house): self.base(house) for house in BASES}
        return {**bases, **KEY_VARIABLES, "GOOGLE_APPLICATION_CREDENTIALS": str(self._write_account())}

    def _write_account(self) -> Path:
        if self._account is None:
            folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="standin-"))
            self._account = Path(folder) / "account.json"
            self._account.write_bytes(make_account(self.url + TOKEN_PATH))
        return self._account

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request, whatever it is, and note it."""
        path, _, query = request.raw_path.partition("?")
        if path == TOKEN_PATH:
            return web.json_response({"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"})
        headers = {name.lower(): value for name, value in request.headers.items()}
        exchange = _Exchange(find_host(path)[0], IncomingRequest(path, query, headers, b""))
        answer = await self._answer(exchange, request)
        self.ledger.append(_note(exchange, answer.status))
        is_struck = exchange.fault is not None and (answer.status == 200 or exchange.fault.instead is not None)
        return await write(request, answer, exchange.fault if is_struck else None)

    async def _answer(self, exchange: _Exchange, request: web.Request) -> HttpResponse:
        """What a door says, else a fault, else the house, once the request was let in."""
        house, bare = exchange.house, exchange.incoming
        try:
            exchange.incoming = incoming = IncomingRequest(
                bare.path, bare.query, bare.headers, await take_body(request, house)
            )
            for door in self.doors:
                if (found := door(request.method, incoming)) is not None:
                    return found
            exchange.fault = self._choose(exchange, request.method)
        except Refusal as refusal:
            return refused(refusal, house)
        if exchange.fault is not None and exchange.fault.instead is not None:
            made = exchange.fault.instead(house)
            return HttpResponse(made.status, made.headers, give(made.body))
        answer = await serve(incoming, self._mind_of(exchange))
        recounted = exchange.seen if exchange.is_recounted else None
        return await respell(answer, house, incoming.path, exchange.fault, recounted)

    def _choose(self, exchange: _Exchange, method: str) -> Fault | None:
        """Let a request in, and say what goes wrong with it. Raises `Refusal`."""
        house, incoming = exchange.house, exchange.incoming
        if method != "POST":
            raise Refusal(f"Invalid URL ({method} {incoming.path})", status=404, kind=house.unknown)
        check_key(house, incoming, self.clock())
        planned = self.plan.next(house.base)
        try:
            return read_fault(incoming.headers[FAULT_HEADER]) if FAULT_HEADER in incoming.headers else planned
        except ValueError as error:
            raise Refusal(str(error)) from None

    def _mind_of(self, exchange: _Exchange) -> Answerer:
        """The mind behind rejections, blindness and a fault's own words."""

        def mind(asked: ModelRequest) -> Reply:
            house, fault = exchange.house.base, exchange.fault
            exchange.asked = self.fetch(asked, house)
            check_recorded(asked, house, (*RECORDED, *self.reject))
            exchange.seen = seen = look_away(exchange.asked, house, self.blind)
            exchange.is_recounted = seen != asked
            reply = self.mind(seen)
            return reply if fault is None or fault.reply is None else fault.reply(seen, reply)

        return mind


def _note(exchange: _Exchange, status: int) -> Received:
    incoming = exchange.incoming
    return Received(
        house=exchange.house.base,
        path=incoming.path,
        headers=redact(incoming.headers),
        sha256=hashlib.sha256(incoming.body).hexdigest(),
        size=len(incoming.body),
        status=status,
        model=exchange.asked.model if exchange.asked else "",
        asked=list_sights(exchange.asked),
        seen=list_sights(exchange.seen),
        fault=exchange.fault.name if exchange.fault else "",
    )
