"""The current user and the server's limits, which the page loads first."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import ConfigDict, Field
from starlette.requests import Request

from showandtell.server.addresses import public_path
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.routes.entered_keys import permissions_of
from showandtell.server.schemas import Shape, errors
from showandtell.server.state import CurrentServer
from showandtell.storage.conversations.users import name_of
from showandtell.version import VERSION

router = APIRouter(prefix="/api/me", tags=["me"])
EXAMPLE: dict[str, Any] = {
    "user": "local",
    "name": None,
    "mode": "alone",
    "limits": {"max_file_bytes": 20_000_000, "max_message_files": 50},
    "addresses": True,
    "keys": True,
    "login": None,
    "version": "0.2.1",
}


class LimitsShape(Shape):
    """Limits that clients can check before they send a message."""

    max_file_bytes: int
    max_message_files: int


class MeShape(Shape):
    """The current user. `login` is the path to sign in. It and `name` are null on a server without accounts."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    user: str
    name: str | None = Field(description="the display name that other people see")
    mode: Literal["alone", "accounts", "host"] = Field(
        description="who signs people in: the server's token, an issuer of accounts, or the program around this one"
    )
    limits: LimitsShape
    addresses: bool = Field(description="whether files can be attached by their address")
    keys: bool = Field(description="whether you may enter keys of providers")
    login: str | None
    version: str


@router.get("", operation_id="get_me", summary="Get the current user and the limits", responses=errors())
async def get_me(request: Request, server: CurrentServer, user: CurrentUser) -> MeShape:
    """Returns the current user and the limits of this server."""
    limits = LimitsShape(max_file_bytes=server.store.max_file_bytes, max_message_files=server.config.max_message_files)
    has_accounts, permissions = server.accounts is not None, await permissions_of(server, user)
    return MeShape(
        user=user.name,
        name=await name_of(server.store.database, user.name) if has_accounts else None,
        mode="accounts" if has_accounts else "host" if server.host_users is not None else "alone",
        limits=limits,
        addresses=server.config.may_attach_addresses,
        keys=permissions.everyone or permissions.own,
        login=public_path(request.scope, "/login") if has_accounts else None,
        version=VERSION,
    )
