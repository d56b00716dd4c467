"""Routes of a user's settings: the model, instructions for it, and the theme."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import ConfigDict, Field
from starlette.responses import Response

from showandtell.config.user_settings import find_target
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.schemas import Shape, errors, json_response
from showandtell.server.state import CurrentServer
from showandtell.storage.conversations.preferences import Preferences, Theme, change_preferences, read_preferences

router = APIRouter(prefix="/api/settings", tags=["settings"])

#: Maximum length of instructions.
MAX_INSTRUCTIONS = 20_000
EXAMPLE: dict[str, Any] = {"model": "inspector", "instructions": "Answer briefly.", "theme": "system"}


class SettingsShape(Shape):
    """A user's settings. Responses have all fields; fields that a change leaves out keep their values."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    model: str | None = Field(None, max_length=500, description="provider:model; null for the server's default")
    instructions: str = Field("", max_length=MAX_INSTRUCTIONS, description="added to the instructions of every model")
    theme: Theme = "system"


@router.get("", operation_id="get_settings", responses={200: {"model": SettingsShape}, **errors()})
async def get_settings(server: CurrentServer, user: CurrentUser) -> Response:
    """Get your settings."""
    return settings_response(await read_preferences(server.store.database, user.name))


@router.patch("", operation_id="set_settings", responses={200: {"model": SettingsShape}, **errors(415, 422)})
async def set_settings(server: CurrentServer, user: CurrentUser, body: SettingsShape) -> Response:
    """Change the given settings. The model must be known, but its key need not be set."""
    if body.model is not None:
        find_target(body.model)
    return settings_response(
        await change_preferences(server.store.database, user.name, **body.model_dump(exclude_unset=True))
    )


def settings_response(preferences: Preferences) -> Response:
    """Respond with all settings."""
    return json_response(
        {"model": preferences.model, "instructions": preferences.instructions, "theme": preferences.theme}
    )
