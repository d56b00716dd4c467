"""The application: routes, middleware, error handlers, and what is open while it runs."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute

from showandtell.agent.descriptions import name_describer
from showandtell.checking.checked import checked
from showandtell.config.user_settings import data_folder
from showandtell.errors import MissingKey, ShowAndTellError, StorageFailed
from showandtell.media import gate
from showandtell.network.transport import Transport
from showandtell.server.answers import install_error_handlers
from showandtell.server.auth import backchannel, login
from showandtell.server.auth.confirmations import Confirmations
from showandtell.server.auth.host_user import HostUsers
from showandtell.server.auth.keys import Keys, load_secret, previous_secrets
from showandtell.server.auth.login_codes import read_generation
from showandtell.server.auth.oidc import Issuer
from showandtell.server.auth.people import People
from showandtell.server.auth.renewals import follow_renewals
from showandtell.server.auth.sessions import Sessions
from showandtell.server.auth.stored_secrets import StoredSecrets
from showandtell.server.config import Config
from showandtell.server.deleting import UploadDeletions
from showandtell.server.files import attachments, contents, fetching
from showandtell.server.lifecycle import Lifecycle, OpenServer
from showandtell.server.middleware.install import install_middleware
from showandtell.server.middleware.mounted import Mounted
from showandtell.server.middleware.rate_limits import read_rates
from showandtell.server.model_catalog import Catalog, ModelCatalog
from showandtell.server.observability.logs import log_request, log_run
from showandtell.server.observability.metrics import Metrics, RunMeter
from showandtell.server.observability.requests import RequestLog
from showandtell.server.observability.telemetry import FASTAPI, make_telemetry
from showandtell.server.openapi import customize_openapi
from showandtell.server.provider_keys.access import ProviderAccess, open_access
from showandtell.server.provider_keys.provider_key import EVERYONE
from showandtell.server.readiness import Readiness
from showandtell.server.routes import (
    account,
    ag_ui,
    all_files,
    backups,
    chat,
    conversation_settings,
    conversations,
    entered_keys,
    examples,
    full_context,
    health,
    models,
    pending_messages,
    preferences,
    presets,
    shares,
)
from showandtell.server.routes.pages import BUILT, Assets, page_router, respond_not_found
from showandtell.server.runs.agents import Agents, ModelAgents
from showandtell.server.runs.execute import RunExecutor, Watcher
from showandtell.server.runs.given_agents import GivenAgents
from showandtell.server.runs.manager import Runs
from showandtell.server.runs.stream_addresses import StreamAddresses
from showandtell.server.runs.titles import Titles, UsageCounter
from showandtell.server.send_pending import send_forever
from showandtell.server.state import Server
from showandtell.storage.conversations.store import Store
from showandtell.storage.database.lease import Terms
from showandtell.version import VERSION

log = logging.getLogger(__name__)

#: Seconds that a message waits for a CLI run in its conversation, before it gets 409.
LOCK_TIMEOUT = 3.0
#: Seconds after which the lease of a silent worker expires: before its runs are taken over.
LEASE_SECONDS = 9.0
#: Seconds between garbage collections.
COLLECT_SECONDS = 3600.0
#: Seconds between checks whether the space that is reserved for deletions was used.
RESERVE_SECONDS = 60.0
#: Seconds after the start, in which the server answers its first requests.
LOAD_CLIENT_AFTER = 0.2
#: Maximum number of threads for blocking calls.
MAX_THREADS = 64
ROUTERS = (
    chat.router,
    ag_ui.router,
    fetching.router,
    attachments.router,
    contents.router,
    shares.router,
    backups.router,
    pending_messages.router,
    conversations.router,
    full_context.router,
    conversation_settings.router,
    conversation_settings.choices_router,
    all_files.router,
    models.router,
    examples.router,
    preferences.router,
    presets.router,
    entered_keys.router,
    account.router,
    login.router,
    backchannel.router,
    health.router,
)


@cache
def shared_routes() -> list[BaseRoute]:
    """The routes of every application in this process: FastAPI prepares them once, at the first request."""
    shared = APIRouter()
    for router in ROUTERS:
        shared.include_router(router)
    return shared.routes


@checked
def make_app(config: Config) -> FastAPI:
    """Return the server as an ASGI application. Its lifespan opens and closes the store and the runs."""
    metrics, telemetry = Metrics(VERSION), make_telemetry()
    watchers: tuple[Watcher, ...] = (log_run, lambda live: RunMeter(metrics, live.row.model).count, telemetry.watch)
    counters: tuple[UsageCounter, ...] = (
        lambda live, usage: metrics.count_tokens(metrics.model(live.row.model), usage),
        telemetry.count_title,
    )

    @asynccontextmanager
    async def open_with_metrics() -> AsyncGenerator[Server]:
        async with open_server(config, watchers, counters) as server:
            metrics.watch(lambda: server.runs.readers, lambda: server.runs.live_count)
            yield server

    lifecycle = Lifecycle(open_with_metrics)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        try:
            async with lifecycle.lifespan() as server:
                app.state.server = server
                yield
        except ShowAndTellError as error:
            app.state.failed = error  # the caller reports it in one line
            raise

    app = FastAPI(
        title="Show & Tell",
        version=VERSION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,  # the route is in openapi.py: it needs a login where there are accounts
        telemetry=FASTAPI,
    )
    install_error_handlers(app)
    app.add_exception_handler(404, respond_not_found)
    app.router.routes.extend(shared_routes())
    page_folder = config.page or BUILT
    app.include_router(page_router(page_folder))
    app.mount("/assets", Assets(directory=page_folder / "assets", check_dir=False))
    install_middleware(app, config)
    app.state.metrics, app.state.lifecycle = metrics, lifecycle
    app.add_middleware(
        RequestLog,
        observers=(partial(log_request, clients=config.log_clients), metrics.count_request, telemetry.trace_request),
    )
    app.add_middleware(OpenServer, lifecycle=lifecycle)
    app.add_middleware(Mounted, public_url=config.public_url)
    customize_openapi(app)
    return app


@asynccontextmanager
async def open_server(
    config: Config, watchers: Sequence[Watcher] = (), counters: Sequence[UsageCounter] = ()
) -> AsyncGenerator[Server]:
    """Open the parts of a server. `watchers` see the events of all runs, `counters` the tokens of titles."""
    location = config.place
    if config.user is None:  # the event loop is this server's own
        # More than Python's default: each wait for a file in a slow store occupies a thread.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MAX_THREADS, "work"))
    decoder = read_rates(config.rates)["decoder"]
    gate.BUDGET.seconds, gate.BUDGET.window = decoder.amount, decoder.seconds
    secret = config.secret or load_secret(folder_of(config))
    keys, secrets = Keys(secret, config.token), StoredSecrets(secret, *previous_secrets())
    terms = Terms(config.clock, length=LEASE_SECONDS, timeout=LOCK_TIMEOUT)
    async with (
        config.store or location.store(terms) as store,
        open_access(config, store.database, secrets) as access,
    ):
        agents, catalog = agents_of(config, access)
        await check_model(agents, default := await catalog.choose(None, EVERYONE, None))
        addresses = StreamAddresses(keys)
        titles = Titles(store.database, agents, counters)
        executor = RunExecutor(store, agents, addresses, (*watchers, titles.watch), config.deps)
        async with agents, titles, Runs(store, executor) as runs:
            people = People(store.database, config.oidc.admin_claim if config.oidc else None)
            accounts = config.oidc and Issuer(config.oidc, access.transports.direct.send, people.remember)
            confirmations = Confirmations(store.database, accounts, secrets, config.clock) if accounts else None
            sessions = Sessions(store.database, config.clock, confirmations, store.make_room)
            keys.use_generation(await read_generation(store.database))
            deletions = UploadDeletions()
            server = Server(
                config,
                store,
                keys,
                sessions,
                agents,
                runs,
                addresses,
                catalog,
                Readiness(store),
                access,
                accounts,
                HostUsers(config.user) if config.user is not None else None,
                deletions=deletions,
            )
            jobs = (
                collect_forever(store, sessions, deletions),
                keep_reserve(store),
                follow_renewals(store.database, keys, sessions),
                load_client(default),
                send_forever(server),
            )
            try:
                async with in_background(*jobs):
                    yield server
            finally:
                await deletions.close()
                if confirmations is not None:
                    await confirmations.close()


async def check_model(agents: Agents, model: str) -> None:
    """Log why the default model is not available. Others may work, and the page shows the reason."""
    try:
        await agents.get(model, agents.new_settings(model), EVERYONE)
    except MissingKey as error:
        log.warning("the default model %s is not available: %s", model, error)


@asynccontextmanager
async def in_background(*jobs: Coroutine[None, None, None]) -> AsyncGenerator[None]:
    """Run jobs until the end of the context."""
    tasks = [asyncio.create_task(job) for job in jobs]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


def folder_of(config: Config) -> Path:
    """The folder of a server's own data, beside what the store holds."""
    folder = config.store.folder if config.store is not None else config.place.data
    return folder or data_folder()


def agents_of(config: Config, access: ProviderAccess) -> tuple[Agents, Catalog]:
    """The agents of a server, and what its users can choose from."""
    if config.agents is not None:
        given = GivenAgents(config.agents)
        return given, given
    describer = name_describer(config.file_policy.describe)
    catalog = ModelCatalog(default=config.default_model, describer=describer, access=access)
    return ModelAgents(config, access), catalog


async def collect_forever(store: Store, sessions: Sessions, deletions: UploadDeletions) -> None:
    """Collect garbage periodically: uploads that were never sent, conversions of deleted files, old sessions."""
    while True:
        await asyncio.sleep(COLLECT_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311 - spreads the workers
        try:
            await sessions.collect()
            await deletions.delete((await store.collect()).uploads)
        except ShowAndTellError as error:
            log.warning("garbage collection failed: %s", error)


async def load_client(model: str) -> None:
    """Load the HTTP client once the server is ready, unless its model is the inspector, which needs none."""
    if model.partition(":")[0] != "inspector":
        await asyncio.sleep(LOAD_CLIENT_AFTER)
        await Transport.load_client()


async def keep_reserve(store: Store) -> None:
    """Reserve space for deletions at once, and again after it was used."""
    while True:
        with suppress(StorageFailed):
            await store.restore_reserve()
        await asyncio.sleep(RESERVE_SECONDS)
