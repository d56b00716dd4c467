"""The state that all routes share: store, runs, agents, keys and more. One per worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import HTTPConnection

from showandtell.server.auth.authenticate import Accounts
from showandtell.server.auth.keys import Keys
from showandtell.server.auth.sessions import Sessions
from showandtell.server.config import Config
from showandtell.server.deleting import UploadDeletions
from showandtell.server.downloads import Downloads
from showandtell.server.model_catalog import ModelCatalog
from showandtell.server.readiness import Readiness
from showandtell.server.runs.agents import Agents
from showandtell.server.runs.manager import Runs
from showandtell.storage.conversations.store import Store


@dataclass(frozen=True, slots=True)
class Server:
    """An open server."""

    config: Config
    store: Store
    keys: Keys
    sessions: Sessions
    agents: Agents
    runs: Runs
    catalog: ModelCatalog
    readiness: Readiness
    accounts: Accounts | None = None
    downloads: Downloads = field(default_factory=Downloads)
    deletions: UploadDeletions = field(default_factory=UploadDeletions)

    @property
    def clock(self) -> Callable[[], float]:
        """Epoch seconds."""
        return self.config.clock


async def get_server(request: HTTPConnection) -> Server:
    """The server of a request. Async, because FastAPI runs other dependencies in a thread."""
    return cast("Server", request.app.state.server)


CurrentServer = Annotated[Server, Depends(get_server)]
