"""The settings of a server."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from showandtell.agent.agent import Agent
from showandtell.agent.settings import FilePolicy, ModelSettings, RunLimits
from showandtell.agent.toolsets import AnyTool
from showandtell.checking.checked import TakesDict
from showandtell.config.settings import BUILTIN
from showandtell.providers.retry import RetryPolicy
from showandtell.server.auth.host_user import IdentifyUser
from showandtell.server.auth.oidc import Oidc
from showandtell.storage.conversations.store import Store
from showandtell.storage.location import StorageLocation

if TYPE_CHECKING:
    from showandtell.network.fetch import Dialer

#: Who may do something: the only user of a server, everyone, or nobody.
Audience: TypeAlias = Literal["alone", "everyone", "nobody"]


@dataclass(frozen=True, slots=True)
class Config(TakesDict):
    """The settings of a server: storage, access, and limits of its agents.

    Args:
        place: where the server stores its data.
        store: a store to use in place of `place`.
        agents: those of the program that the application is mounted in, by name.
        user: identifies the users of the program that the application is mounted in.
        public_url: the address of the application for its clients, if their requests don't show it, as behind a proxy
            that adds a prefix.
        token: the single user's; without one, the server generates it.
        secret: the same on all machines that share a database.
        bind: the address that the server listens at.
        hosts: accepted Host names.
        origins: other sites that may send requests with a token.
        default_model: the model of messages that name none; None: as `choose_default` decides for each user.
        instructions: the operator's. Every model gets them, before those of the user.
        builtin: names of built-in tools; a tool of `tools` replaces one of its name.
        tools: further tools.
        deps: returns the `RunContext.deps` of a run for its user's id, or yields it once. It is called again by a
            worker that continues the run.
        folder: what the tool `read_file` reads; without one there is no such tool.
        model_settings, limits, retry, file_policy: those of the agents. Files are as large as `place` allows.
        max_message_files: maximum number of files of a message.
        lift_audience: the owner of a file that is for the user alone may show it to the model, for one message.
        rates: requests by group, like "chat=60/minute".
        admins: the users who may give keys of providers for everyone on the page; without accounts, the single user.
        user_keys: each user with an account may give keys of their own.
        provider_hosts: hosts inside the network, written `host` or `host:port`, that a base URL of the page may name.
        attach_addresses: who may attach the file at an address, which the server fetches: a single user, everyone, or
            nobody. `file_policy.fetch` may limit its hosts and ports.
        dialer: how such addresses are fetched.
        oidc: users sign in with an issuer's accounts, in place of the single user.
        log_clients: adds clients' addresses and users' names to the log.
        page: the folder of the built page, in place of the one in the package.
        clock: returns the time in epoch seconds.
    """

    place: StorageLocation = field(default_factory=StorageLocation)
    store: Store | None = None
    agents: Mapping[str, Agent] | None = None
    user: IdentifyUser | None = None
    public_url: str | None = None
    token: str | None = field(default=None, repr=False)
    secret: bytes | None = field(default=None, repr=False)
    bind: str = "127.0.0.1"
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    default_model: str | None = None
    instructions: str = ""
    builtin: tuple[str, ...] = BUILTIN
    tools: tuple[AnyTool, ...] = ()
    deps: Callable[[str], object] | None = None
    folder: Path | None = None
    model_settings: ModelSettings = field(default_factory=ModelSettings)
    limits: RunLimits = field(default_factory=lambda: RunLimits(seconds=900.0))
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    file_policy: FilePolicy = field(default_factory=FilePolicy)
    max_message_files: int = 50
    lift_audience: bool = False
    rates: str = ""
    admins: tuple[str, ...] = ()
    user_keys: bool = False
    provider_hosts: tuple[str, ...] = ()
    attach_addresses: Audience = "alone"
    dialer: Dialer | None = None
    oidc: Oidc | None = None
    log_clients: bool = False
    page: Path | None = None
    clock: Callable[[], float] = time.time

    @property
    def may_attach_addresses(self) -> bool:
        """Whether the users may attach files by their addresses."""
        if self.attach_addresses != "alone":
            return self.attach_addresses == "everyone"
        return self.oidc is None and self.user is None
