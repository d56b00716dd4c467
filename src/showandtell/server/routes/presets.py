"""Routes of a user's presets: named settings for conversations."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from msgspec import UNSET, Meta, Struct, UnsetType
from pydantic import ConfigDict, Field
from starlette.responses import Response

from showandtell.core.messages.conversation_settings import ConversationSettings
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.conversation_choices import check_settings
from showandtell.server.conversation_json import settings_json
from showandtell.server.json_body import describe_body, json_body
from showandtell.server.schemas import ConversationSettingsShape, Shape, errors, json_response
from showandtell.server.state import CurrentServer
from showandtell.storage.conversations import presets
from showandtell.storage.conversations.preferences import read_preferences
from showandtell.storage.conversations.presets import Preset

router = APIRouter(prefix="/api/presets", tags=["settings"])

SETTINGS: dict[str, Any] = {
    "model": None,
    "instructions": "Answer in rhymes.",
    "temperature": 1,
    "tools": None,
}
PRESET: dict[str, Any] = {
    "id": "preset_5kT2mQx0bZr8nVw4yLsAhd",
    "name": "Poet",
    "revision": 1,
    "settings": SETTINGS,
}


class PresetShape(Shape):
    """Named settings for conversations."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [PRESET]})

    id: str
    name: str
    revision: int = Field(description="counts the changes")
    settings: ConversationSettingsShape


class PresetsShape(Shape):
    """All presets of a user, by name."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"presets": [PRESET]}]})

    presets: list[PresetShape]


#: The bound is generous, since spaces are removed before the length is checked.
Name = Annotated[str, Meta(min_length=1, max_length=200)]


class NewPreset(Struct, forbid_unknown_fields=True):
    """A new preset."""

    name: Name
    settings: ConversationSettings


class PresetChange(Struct, forbid_unknown_fields=True):
    """What to change, and the revision that the edit began with. What is left out stays."""

    revision: int
    name: Name | UnsetType = UNSET
    settings: ConversationSettings | UnsetType = UNSET


@router.get("", operation_id="list_presets", responses={200: {"model": PresetsShape}, **errors()})
async def list_presets(server: CurrentServer, user: CurrentUser) -> Response:
    """List your presets."""
    found = await presets.list_presets(server.store.database, user.name)
    return json_response({"presets": [preset_json(preset) for preset in found]})


@router.post(
    "",
    operation_id="add_preset",
    responses={200: {"model": PresetShape}, **errors(413, 415, 422)},
    openapi_extra=describe_body(NewPreset, {"name": "Poet", "settings": SETTINGS}),
)
async def add_preset(
    server: CurrentServer, user: CurrentUser, body: Annotated[NewPreset, Depends(json_body(NewPreset))]
) -> Response:
    """Store settings under a new name. You can have 50 presets."""
    database = server.store.database
    await check_settings(server, user, body.settings, await read_preferences(database, user.name))
    return json_response(preset_json(await presets.add_preset(database, user.name, body.name, body.settings)))


@router.patch(
    "/{id}",
    operation_id="change_preset",
    responses={200: {"model": PresetShape}, **errors(404, 409, 413, 415, 422)},
    openapi_extra=describe_body(PresetChange, {"revision": 1, "name": "Rhymes"}),
)
async def change_preset(
    server: CurrentServer,
    user: CurrentUser,
    id: str,  # noqa: A002 - it is one
    body: Annotated[PresetChange, Depends(json_body(PresetChange))],
) -> Response:
    """Change the name or the settings of a preset. An edit of another revision is a 409."""
    database = server.store.database
    if body.settings is not UNSET:
        await check_settings(server, user, body.settings, await read_preferences(database, user.name))
    changed = await presets.change_preset(
        database, user.name, id, body.revision, name=body.name, settings=body.settings
    )
    return json_response(preset_json(changed))


@router.delete("/{id}", operation_id="delete_preset", status_code=204, responses=errors(404))
async def delete_preset(server: CurrentServer, user: CurrentUser, id: str) -> Response:  # noqa: A002 - it is one
    """Delete a preset. Conversations keep the settings that they got from it."""
    await presets.delete_preset(server.store.database, user.name, id)
    return Response(status_code=204)


def preset_json(preset: Preset) -> dict[str, Any]:
    """A preset as JSON."""
    settings = settings_json(preset.settings)
    return {"id": preset.id, "name": preset.name, "revision": preset.revision, "settings": settings}
