"""Routes of the settings of one conversation, and of what they may be."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import ConfigDict, Field
from starlette.responses import Response

from showandtell.core.messages.conversation_settings import MAX_MODEL, ConversationSettings
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.conversation_choices import check_settings, read_choices
from showandtell.server.conversation_json import settings_json
from showandtell.server.json_body import describe_body, json_body
from showandtell.server.routes.conversations import check_conversation_id
from showandtell.server.schemas import ConversationSettingsShape, Shape, errors, json_response
from showandtell.server.state import CurrentServer
from showandtell.storage.conversations.conversation_settings import SettingsRecord, change_settings, read_settings
from showandtell.storage.conversations.preferences import read_preferences

router = APIRouter(prefix="/api/conversations", tags=["conversations"])
choices_router = APIRouter(prefix="/api/settings", tags=["settings"])

SETTINGS: dict[str, Any] = {
    "model": "inspector",
    "instructions": "Answer in German.",
    "temperature": 0.2,
    "tools": ["chart", "view_file"],
}
CHART: dict[str, Any] = {
    "name": "chart",
    "description": "Draw a bar chart of some numbers and show it as a picture.",
    "approval": False,
    "hosted": False,
}


class RevisedSettingsShape(ConversationSettingsShape):
    """The settings of one conversation as they are stored."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{**SETTINGS, "revision": 2}]})

    revision: int = Field(description="counts the changes; 0 if nothing was set yet")


class SettingsEdit(ConversationSettings, frozen=True, forbid_unknown_fields=True):
    """The new settings. Fields that are left out get their defaults. An edit of another `revision` is a 409."""

    revision: int | None = None


class ToolShape(Shape):
    """A tool of the server."""

    name: str
    description: str
    approval: bool = Field(description="whether a person approves each call")
    hosted: bool = Field(description="whether the provider runs it")


class ChoicesShape(Shape):
    """What the settings of a conversation may be with a model."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"model": "inspector", "tools": [CHART], "max_temperature": 1.0}]},
    )

    model: str
    tools: list[ToolShape]
    max_temperature: float


@router.get(
    "/{id}/settings",
    operation_id="get_conversation_settings",
    responses={200: {"model": RevisedSettingsShape}, **errors(404)},
)
async def get_conversation_settings(server: CurrentServer, user: CurrentUser, id: str) -> Response:  # noqa: A002 - it is one
    """Get the settings of a conversation. Only its owner may."""
    return settings_response(await read_settings(server.store.database, check_conversation_id(id), user.name))


@router.put(
    "/{id}/settings",
    operation_id="set_conversation_settings",
    responses={200: {"model": RevisedSettingsShape}, **errors(404, 409, 413, 415, 422)},
    openapi_extra=describe_body(SettingsEdit, {**SETTINGS, "revision": 1}),
)
async def set_conversation_settings(
    server: CurrentServer,
    user: CurrentUser,
    id: str,  # noqa: A002 - it is one
    body: Annotated[SettingsEdit, Depends(json_body(SettingsEdit))],
) -> Response:
    """Replace the settings of a conversation, for all messages from now on. Only its owner may."""
    database = server.store.database
    await read_settings(database, check_conversation_id(id), user.name)  # before anything that others may not learn
    settings = ConversationSettings(body.model, body.instructions, body.temperature, body.tools, body.on_full)
    await check_settings(server, user, settings, await read_preferences(database, user.name))
    return settings_response(await change_settings(database, id, user.name, settings, body.revision))


@choices_router.get("/choices", operation_id="get_choices", responses={200: {"model": ChoicesShape}, **errors(422)})
async def get_choices(
    server: CurrentServer,
    user: CurrentUser,
    model: Annotated[str | None, Query(max_length=MAX_MODEL, description="provider:model; yours by default")] = None,
) -> Response:
    """Get the tools that a conversation with a model can have, and its highest temperature."""
    preferences = await read_preferences(server.store.database, user.name)
    return json_response(await read_choices(server, user, model, preferences))


def settings_response(record: SettingsRecord) -> Response:
    """Respond with all settings."""
    return json_response({**settings_json(record.settings), "revision": record.revision})
