"""Who is here, and what they may send: what the page asks first."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import ConfigDict

from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.schemas import Shape, errors
from showandtell.server.state import CurrentServer

router = APIRouter(prefix="/api/me", tags=["me"])
ALONE: dict[str, Any] = {
    "user": "local",
    "mode": "alone",
    "limits": {"max_file_bytes": 20_000_000, "max_message_files": 50},
    "login": None,
    "version": "0.1.0",
}


class LimitsShape(Shape):
    """What is refused before it is sent."""

    max_file_bytes: int
    max_message_files: int


class MeShape(Shape):
    """Who asks. `login` is where one signs out and in, where there are accounts."""

    model_config = ConfigDict(json_schema_extra={"examples": [ALONE]})

    user: str
    mode: Literal["alone", "accounts"]
    limits: LimitsShape
    login: str | None
    version: str


@router.get("", operation_id="get_me", summary="Who asks, and what they may send", responses=errors())
async def get_me(here: CurrentServer, user: CurrentUser) -> MeShape:
    """The user, and the limits of this server."""
    limits = LimitsShape(
        max_file_bytes=here.config.place.max_file_bytes, max_message_files=here.config.max_message_files
    )
    has_accounts = here.accounts is not None
    return MeShape(
        user=user.name,
        mode="accounts" if has_accounts else "alone",
        limits=limits,
        login="/login" if has_accounts else None,
        version=version("showandtell"),
    )
