"""Routes of the models: which may be asked, and what becomes of files with each."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import ConfigDict, Field
from starlette.responses import Response

from showandtell.config.user_settings import all_overrides
from showandtell.core.capabilities.matrix import matrix, to_json
from showandtell.core.capabilities.resolve import resolve
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.schemas import Shape, answer, errors
from showandtell.server.state import CurrentServer
from showandtell.storage.conversations.preferences import read_preferences

router = APIRouter(prefix="/api", tags=["models"])


class SeesShape(Shape):
    """What becomes of a file that a tool shows: native in its result, relocated behind it, converted, or noted."""

    image: Literal["native", "relocated", "converted", "noted"]
    document: Literal["native", "relocated", "converted", "noted"]
    audio: Literal["native", "relocated", "converted", "noted"]
    video: Literal["native", "relocated", "converted", "noted"]


class TakesShape(Shape):
    """What becomes of a file that a person sends: native as it is, converted, its words alone, or refused."""

    image: Literal["native", "converted", "words", "refused"]
    document: Literal["native", "converted", "words", "refused"]
    audio: Literal["native", "converted", "words", "refused"]
    video: Literal["native", "converted", "words", "refused"]
    text: Literal["native", "converted", "words", "refused"]
    other: Literal["native", "converted", "words", "refused"]


class ModelShape(Shape):
    """A model."""

    id: str = Field(description="what a message names as its `model`")
    provider: str
    name: str
    available: bool
    why: str | None = Field(description="why it can't be asked, and what to do")
    sees: SeesShape
    takes: TakesShape


SEES = {"image": "native", "document": "native", "audio": "converted", "video": "converted"}
TAKES = {**SEES, "audio": "words", "text": "native", "other": "refused"}
INSPECTOR: dict[str, Any] = {
    "id": "inspector:anthropic-messages",
    "provider": "inspector",
    "name": "anthropic-messages",
    "available": True,
    "why": None,
    "sees": SEES,
    "takes": TAKES,
}


class ModelsShape(Shape):
    """All models that the table names; any other `provider:model` may be asked as well."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"default": "inspector", "models": [INSPECTOR]}]})

    default: str = Field(description="who answers where neither a message nor the conversation names a model")
    models: list[ModelShape]


BECOMES = {"image": "native", "document": "native", "audio": "converted", "video": "converted", "text": "words"}
#: A row of the matrix with one of its cells.
CLAUDE: dict[str, Any] = {
    "provider": "anthropic",
    "models": "*claude*",
    "api": "anthropic-messages",
    "example": "claude-sonnet-4-5",
    "tool_result": BECOMES,
    "user": BECOMES,
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
        "call_ids": "anthropic",
        "marks": 4,
    },
    "verified": {},
}


class MatrixShape(Shape):
    """The capability matrix, as `showandtell matrix --json` prints it, with this machine's own eye tests."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"rows": [CLAUDE]}]})

    rows: list[dict[str, Any]]


@router.get("/models", operation_id="list_models", responses={200: {"model": ModelsShape}, **errors(422)})
async def list_models(here: CurrentServer, user: CurrentUser) -> Response:
    """List the models, those that can be asked now first."""
    wanted = await read_preferences(here.store.database, user.name)
    default = resolve(wanted.model or here.config.default_model).name
    return answer({"default": default, "models": await here.menu.choices()})


@router.get("/matrix", operation_id="get_matrix", responses={200: {"model": MatrixShape}, **errors(422)})
async def get_matrix(user: CurrentUser) -> Response:
    """What becomes of each kind of file with each family of models, with evidence."""
    del user
    rows = await asyncio.to_thread(lambda: to_json(matrix(all_overrides())))
    return Response(f'{{"rows":{rows}}}', 200, {"cache-control": "no-store"}, "application/json")
