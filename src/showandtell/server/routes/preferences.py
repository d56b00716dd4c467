"""Routes of a user's settings: the model, instructions for it, titles by it, favourites, the theme and the language."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins
from pydantic import ConfigDict, Field
from starlette.responses import Response

from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.json_body import describe_body, json_body
from showandtell.server.schemas import Shape, errors, json_response
from showandtell.server.state import CurrentServer
from showandtell.storage.conversations.preferences import Preferences, Theme, change_preferences, read_preferences

router = APIRouter(prefix="/api/settings", tags=["settings"])

#: Maximum length of instructions.
MAX_INSTRUCTIONS = 20_000
EXAMPLE: dict[str, Any] = {
    "model": "inspector",
    "instructions": "Answer briefly.",
    "theme": "system",
    "language": "de",
    "titles": True,
}
STORED: dict[str, Any] = {**EXAMPLE, "favourites": ["anthropic:claude-sonnet-5"]}
CHANGE: dict[str, Any] = {**EXAMPLE, "star": "anthropic:claude-sonnet-5"}
#: A code such as "de"; the page decides which ones it has.
LANGUAGE = "^[a-z]{2,3}$"
#: The same for Python, in whose patterns `$` lets a line break follow.
WHOLE_LANGUAGE = LANGUAGE.replace("$", r"\Z")


class SettingsShape(Shape):
    """A user's settings."""

    model_config = ConfigDict(json_schema_extra={"examples": [STORED]})

    model: str | None = Field(None, max_length=500, description="provider:model; null for the server's default")
    instructions: str = Field("", max_length=MAX_INSTRUCTIONS, description="added to the instructions of every model")
    theme: Theme = "system"
    language: str | None = Field(None, pattern=LANGUAGE, description="the page's language; null for the browser's")
    titles: bool = Field(default=False, description="the model gives new conversations their titles")
    favourites: list[str] = Field(default=[], description="ids of models, in the order in which they were starred")


class SettingsChange(Struct, forbid_unknown_fields=True):
    """The settings to change. Fields that are left out keep their values.

    `star` adds a model to the favourites, and `unstar` removes one.
    """

    model: Annotated[str, Meta(max_length=500)] | UnsetType | None = UNSET
    instructions: Annotated[str, Meta(max_length=MAX_INSTRUCTIONS)] | UnsetType = UNSET
    theme: Theme | UnsetType = UNSET
    language: Annotated[str, Meta(pattern=WHOLE_LANGUAGE)] | UnsetType | None = UNSET
    titles: bool | UnsetType = UNSET
    star: Annotated[str, Meta(max_length=500)] | UnsetType = UNSET
    unstar: Annotated[str, Meta(max_length=500)] | UnsetType = UNSET


@router.get("", operation_id="get_settings", responses={200: {"model": SettingsShape}, **errors()})
async def get_settings(server: CurrentServer, user: CurrentUser) -> Response:
    """Get your settings."""
    return settings_response(await read_preferences(server.store.database, user.name))


@router.patch(
    "",
    operation_id="set_settings",
    responses={200: {"model": SettingsShape}, **errors(413, 415, 422)},
    openapi_extra=describe_body(SettingsChange, CHANGE),
)
async def set_settings(
    server: CurrentServer, user: CurrentUser, body: Annotated[SettingsChange, Depends(json_body(SettingsChange))]
) -> Response:
    """Change the given settings. The model must be known, but its key need not be set."""
    for model in (body.model, body.star):
        if isinstance(model, str):
            server.catalog.check(model)
    return settings_response(await change_preferences(server.store.database, user.name, **to_builtins(body)))


def settings_response(preferences: Preferences) -> Response:
    """Respond with all settings."""
    return json_response(
        {
            "model": preferences.model,
            "instructions": preferences.instructions,
            "theme": preferences.theme,
            "language": preferences.language,
            "titles": preferences.titles,
            "favourites": preferences.favourites,
        }
    )
