"""The state that all routes share: store, runs, agents, keys and more. One per worker."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import HTTPConnection

from showandtell.media.turns import Turns
from showandtell.server.auth.authenticate import SERVER_KEY, Accounts
from showandtell.server.auth.host_user import HostUsers
from showandtell.server.auth.keys import Keys
from showandtell.server.auth.sessions import Sessions
from showandtell.server.config import Config
from showandtell.server.deleting import UploadDeletions
from showandtell.server.downloads import Downloads
from showandtell.server.model_catalog import Catalog
from showandtell.server.provider_keys.access import ProviderAccess
from showandtell.server.readiness import Readiness
from showandtell.server.runs.agents import Agents
from showandtell.server.runs.line import Line
from showandtell.server.runs.manager import Runs
from showandtell.server.runs.open_conversations import OpenConversations
from showandtell.server.runs.pending_work import PendingWork
from showandtell.server.runs.stream_addresses import StreamAddresses
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
    addresses: StreamAddresses
    catalog: Catalog
    readiness: Readiness
    access: ProviderAccess
    accounts: Accounts | None = None
    host_users: HostUsers | None = None
    line: Line = field(default_factory=Line)
    pending: PendingWork = field(default_factory=PendingWork)
    conversations: OpenConversations = field(default_factory=lambda: OpenConversations(time.monotonic))
    downloads: Downloads = field(default_factory=Downloads)
    #: Imports of conversations that run at once.
    imports: Turns = field(default_factory=lambda: Turns("imports", 2))
    #: Addresses that are fetched at once.
    fetches: Turns = field(default_factory=lambda: Turns("addresses", 4))
    deletions: UploadDeletions = field(default_factory=UploadDeletions)

    @property
    def clock(self) -> Callable[[], float]:
        """Epoch seconds."""
        return self.config.clock


async def get_server(request: HTTPConnection) -> Server:
    """The server of a request. Async, because FastAPI runs other dependencies in a thread."""
    return cast("Server", request.scope[SERVER_KEY])


CurrentServer = Annotated[Server, Depends(get_server)]
