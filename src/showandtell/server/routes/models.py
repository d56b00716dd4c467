"""Routes of the model catalog and the capability matrix."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import ConfigDict, Field
from starlette.responses import Response

from showandtell.config.user_settings import read_overrides
from showandtell.core.capabilities.matrix import matrix, to_json
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.json_compression import JsonResponse
from showandtell.server.model_choice import default_of
from showandtell.server.schemas import Shape, errors, json_response
from showandtell.server.state import CurrentServer
from showandtell.storage.conversations.preferences import read_preferences

router = APIRouter(prefix="/api", tags=["models"])


class SeesShape(Shape):
    """How the model gets a tool's file: native in its result, relocated after it, converted, or as a note."""

    image: Literal["native", "relocated", "converted", "noted"]
    document: Literal["native", "relocated", "converted", "noted"]
    audio: Literal["native", "relocated", "converted", "noted"]
    video: Literal["native", "relocated", "converted", "noted"]


class TakesShape(Shape):
    """How the model gets a user's file: unchanged (native), converted, as words, as a number for tools, or refused."""

    image: Literal["native", "converted", "words", "refused"]
    document: Literal["native", "converted", "words", "refused"]
    audio: Literal["native", "converted", "words", "refused"]
    video: Literal["native", "converted", "words", "refused"]
    text: Literal["native", "converted", "words", "refused"]
    other: Literal["native", "converted", "words", "refused", "for_tools"]


class ModelShape(Shape):
    """A model of the catalog."""

    id: str = Field(description="the `model` of a chat request")
    provider: str
    name: str
    available: bool
    why: str | None = Field(description="why it is not available, and what to do")
    sees: SeesShape
    takes: TakesShape
    context: int | None = Field(description="its window in tokens, if known")
    released: str | None = Field(description="the day of its release, if known")


SEES = {"image": "native", "document": "native", "audio": "converted", "video": "converted"}
TAKES = {**SEES, "audio": "words", "text": "native", "other": "for_tools"}
INSPECTOR: dict[str, Any] = {
    "id": "inspector:anthropic-messages",
    "provider": "inspector",
    "name": "anthropic-messages",
    "available": True,
    "why": None,
    "sees": SEES,
    "takes": TAKES,
    "context": None,
    "released": None,
}


class ModelsShape(Shape):
    """All known models. Any other `provider:model` works as well."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"default": "inspector", "models": [INSPECTOR]}]})

    default: str = Field(description="your model of new conversations: configured, used last, or with a key")
    models: list[ModelShape]


OUTCOMES = {"image": "native", "document": "native", "audio": "converted", "video": "converted", "text": "words"}
#: A row of the matrix, with one cell.
CLAUDE: dict[str, Any] = {
    "provider": "anthropic",
    "models": "*claude*",
    "api": "anthropic-messages",
    "example": "claude-sonnet-4-5",
    "tool_result": OUTCOMES,
    "user": OUTCOMES,
    "unproven": [],
    "blind": {},
    "known_by": "recorded 2026-11-21",
    "cells": [
        {
            "place": "tool_result",
            "kind": "image",
            "media_types": ["image/png", "image/jpeg", "image/webp", "image/gif"],
            "form": "inline",
            "verdict": "sees",
            "evidence": "recorded: a PNG in a tool result was described",
            "date": "2026-11-21",
            "limits": {"bytes": 3932160, "side": 8000, "pixels": None, "pages": None, "frames": None},
            "url_schemes": ["https"],
        }
    ],
    "window": {"tokens": 200_000, "evidence": "litellm 1.110 table, max_input_tokens", "date": "2026-11-26"},
    "budget": {
        "bytes": 32_000_000,
        "images": 100,
        "documents": None,
        "message_images": None,
        "message_documents": None,
        "few_images": 20,
        "many_side": 2000,
    },
    "order": {
        "after_results": "same_turn",
        "filler": "",
        "filler_when": "user",
        "error_media": False,
        "call_ids": "[a-zA-Z0-9_-]{1,64}",
        "marks": 4,
    },
    "verified": {},
}


class MatrixShape(Shape):
    """The capability matrix, as `showandtell matrix --json` prints it, with this machine's own vision checks."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"rows": [CLAUDE]}]})

    rows: list[dict[str, Any]]


@router.get("/models", operation_id="list_models", responses={200: {"model": ModelsShape}, **errors(422)})
async def list_models(server: CurrentServer, user: CurrentUser) -> Response:
    """List the models, the available ones first."""
    preferences = await read_preferences(server.store.database, user.name)
    default = server.catalog.id_of(await default_of(server, user, None, preferences))
    return json_response({"default": default, "models": await server.catalog.entries(user.name)})


@router.get("/matrix", operation_id="get_matrix", responses={200: {"model": MatrixShape}, **errors(422)})
async def get_matrix(user: CurrentUser) -> Response:
    """Get how each family of models gets each kind of file, with evidence."""
    del user
    rows = await asyncio.to_thread(lambda: to_json(matrix(read_overrides())))
    return JsonResponse(f'{{"rows":{rows}}}'.encode())
