"""What a server is told when it starts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from showandtell.agent.tools import Tool
from showandtell.server.auth.oidc import Oidc
from showandtell.storage.location import StorageLocation

#: The models that a server offers first.
DEFAULT_MODEL = "inspector"


@dataclass(frozen=True, slots=True)
class Config:
    """Where a server keeps what it keeps, who may come, and what its agents may do.

    `token` is that of the single user, in place of one that is made; `secret` the same bytes on every machine that
    shares a database. `hosts` are the names it answers to, `origins` the other pages that may ask with a token.
    `folder` is what `read_file` serves: without one there is no such tool. `max_steps` and `max_seconds` bound a run,
    `max_message_files` what one message brings. `rates` are requests by group, as "chat=60/minute". `oidc` makes
    accounts of an issuer, in place of the single user.
    """

    place: StorageLocation = field(default_factory=StorageLocation)
    token: str | None = field(default=None, repr=False)
    secret: bytes | None = field(default=None, repr=False)
    bind: str = "127.0.0.1"
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    default_model: str = DEFAULT_MODEL
    tools: tuple[Tool, ...] = ()
    folder: Path | None = None
    max_steps: int = 20
    max_seconds: float | None = 900.0
    max_message_files: int = 50
    rates: str = ""
    oidc: Oidc | None = None
    page: Path | None = None
    clock: Callable[[], float] = time.time
