"""What a user may set: the model that answers, instructions for it, light or dark."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import ConfigDict, Field
from starlette.responses import Response

from showandtell.config.user_settings import find_target
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.schemas import Shape, answer, errors
from showandtell.server.state import CurrentServer
from showandtell.storage.conversations.preferences import Preferences, Theme, change_preferences, read_preferences

router = APIRouter(prefix="/api/settings", tags=["settings"])

#: The most letters of instructions.
MOST_WORDS = 20_000
EXAMPLE: dict[str, Any] = {"model": "inspector", "instructions": "Answer briefly.", "theme": "system"}


class SettingsShape(Shape):
    """A user's settings. An answer has all of them; what a change leaves out stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    model: str | None = Field(None, max_length=500, description="as provider:model; null: the server's own choice")
    instructions: str = Field("", max_length=MOST_WORDS, description="what every model is told besides")
    theme: Theme = "system"


@router.get("", operation_id="get_settings", responses={200: {"model": SettingsShape}, **errors()})
async def get_settings(here: CurrentServer, user: CurrentUser) -> Response:
    """What you have set."""
    return told(await read_preferences(here.store.database, user.name))


@router.patch("", operation_id="set_settings", responses={200: {"model": SettingsShape}, **errors(415, 422)})
async def set_settings(here: CurrentServer, user: CurrentUser, body: SettingsShape) -> Response:
    """Set what is named, and leave the rest. A model must be one that could be asked with the right key."""
    if body.model is not None:
        find_target(body.model)
    return told(await change_preferences(here.store.database, user.name, **body.model_dump(exclude_unset=True)))


def told(wanted: Preferences) -> Response:
    """Settings as JSON, with all of their fields."""
    return answer({"model": wanted.model, "instructions": wanted.instructions, "theme": wanted.theme})
