"""The application: routes, what is open while it runs, and what every request passes."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI

from showandtell.config.user_settings import data_folder
from showandtell.errors import MissingKey, ShowAndTellError
from showandtell.network.transport import Transport
from showandtell.server import account, chat, conversations, examples, health, models, preferences
from showandtell.server.answers import answer_errors
from showandtell.server.auth import login
from showandtell.server.auth.keys import Keys, load_secret
from showandtell.server.auth.oidc import Issuer
from showandtell.server.config import Config
from showandtell.server.files import attachments, contents
from showandtell.server.middleware.install import guard
from showandtell.server.middleware.origin_guard import hosts_of
from showandtell.server.model_catalog import ModelCatalog
from showandtell.server.observability.logs import log_run, log_visit
from showandtell.server.observability.metrics import Metrics, RunMeter
from showandtell.server.observability.requests import RequestLog
from showandtell.server.observability.telemetry import FASTAPI, make_telemetry
from showandtell.server.openapi import describe
from showandtell.server.pages import BUILT, Assets, answer_nothing, page_router
from showandtell.server.readiness import Readiness
from showandtell.server.runs.agents import Agents
from showandtell.server.runs.execute import RunExecutor, Watch
from showandtell.server.runs.manager import Runs
from showandtell.server.state import Server
from showandtell.storage.conversations.store import Store
from showandtell.storage.database.lease import Terms

log = logging.getLogger(__name__)

#: So long a message waits for a command line that is answering in the same conversation, in seconds: then it gets 409.
PATIENCE = 3.0
#: How often what nobody needs is deleted, in seconds.
COLLECT_EVERY = 3600.0
#: The most threads for what would hold up the event loop.
THREADS = 64
ROUTERS = (
    chat.router,
    attachments.router,
    contents.router,
    conversations.router,
    models.router,
    examples.router,
    preferences.router,
    account.router,
    login.router,
    health.router,
)


def make_app(config: Config) -> FastAPI:
    """The server as an ASGI application; what it works with is opened when it starts, and closed when it ends."""
    metrics, telemetry = Metrics(version("showandtell")), make_telemetry()
    watching: tuple[Watch, ...] = (log_run, lambda going: RunMeter(metrics, going.row.model).take, telemetry.watch)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        try:
            async with opened(config, watching) as server:
                app.state.server = server
                app.state.metrics.watch(lambda: server.runs.readers, lambda: server.runs.going)
                yield
        except ShowAndTellError as error:
            app.state.failed = error  # for whoever started it, to be told in one line
            raise

    app = FastAPI(
        title="Show & Tell",
        version=version("showandtell"),
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        telemetry=FASTAPI,
    )
    answer_errors(app)
    app.add_exception_handler(404, answer_nothing)
    for router in ROUTERS:
        app.include_router(router)
    built = config.page or BUILT
    app.include_router(page_router(built))
    app.mount("/assets", Assets(directory=built / "assets", check_dir=False))
    guard(app, hosts_of(config.bind, config.hosts), config.origins, config.rates, config.clock)
    app.state.metrics = metrics
    app.add_middleware(RequestLog, witnesses=(log_visit, metrics.count_visit, telemetry.trace_visit))
    describe(app)
    return app


@asynccontextmanager
async def opened(config: Config, watching: Sequence[Watch] = ()) -> AsyncGenerator[Server]:
    """Everything that a server works with; `watching` see all of its runs."""
    place = config.place
    # Beside the few that Python takes: whoever waits for a file of a store that is slow holds one.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "work"))
    keys = Keys(config.secret or load_secret(place.data or data_folder()), config.token)
    async with place.store(Terms(config.clock, patience=PATIENCE)) as store, Transport() as transport:
        agents = Agents(config, transport)
        try:
            agents.of(config.default_model)
        except MissingKey as error:  # others may be asked, and the page says why this one can't
            log.warning("the model %s can't answer yet: %s", config.default_model, error)
        async with Runs(store, RunExecutor(store, agents, watching)) as runs:
            accounts = Issuer(config.oidc, transport.send) if config.oidc is not None else None
            collecting = asyncio.create_task(collect_for_ever(store))
            try:
                yield Server(config, store, keys, agents, runs, ModelCatalog(), Readiness(store), accounts)
            finally:
                collecting.cancel()
                await asyncio.wait({collecting})


async def collect_for_ever(store: Store) -> None:
    """Delete what nobody needs, now and then: uploads that were never sent, conversions of what is gone."""
    while True:
        await asyncio.sleep(COLLECT_EVERY * random.uniform(0.5, 1.5))  # noqa: S311 - so that workers take turns
        try:
            await store.collect()
        except ShowAndTellError as error:
            log.warning("what nobody needs is not deleted: %s", error)
