"""The pydantic models of the OpenAPI document, and JSON responses."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from showandtell.core.limits import OnFull
from showandtell.core.messages.conversation_settings import (
    MAX_INSTRUCTIONS,
    MAX_MODEL,
    MAX_TEMPERATURE,
    MAX_TOOL_NAME,
    MAX_TOOLS,
)
from showandtell.server.json_compression import JsonResponse


def json_response(value: object, status: int = 200) -> Response:
    """Return a JSON response that is not cached, and compressed if the client accepts that."""
    return JsonResponse(msgspec.json.encode(value), status)


#: OpenAPI media type object of any bytes.
BINARY: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}, "example": "(its bytes)"}


class Shape(BaseModel):
    """Base of all bodies. Unknown fields are errors."""

    model_config = ConfigDict(extra="forbid")


class OriginShape(Shape):
    """Source of a file: the user, a tool (its name and call), the assistant, a URL or an MCP server."""

    by: Literal["user", "tool", "assistant", "provider", "url", "mcp"]
    tool: str = Field(default="", description="omitted unless a tool made the file")
    call_id: str = ""
    shared_by: str = Field(default="", description="who shared the conversation that the user took it from")


INVOICE: dict[str, Any] = {
    "id": "att_4n1Qw9S0eJrZ8xkU2LmVbg",
    "number": 1,
    "name": "invoice.pdf",
    "kind": "document",
    "media_type": "application/pdf",
    "size": 14210,
    "pixels": None,
    "pages": 1,
    "seconds": None,
    "origin": {"by": "user"},
    "date": "2026-11-22",
    "state": "ready",
    "problem": None,
    "corrected": None,
    "audience": "both",
    "description": None,
    "url": "/api/attachments/att_4n1Qw9S0eJrZ8xkU2LmVbg/content/invoice.pdf",
    "thumbnail": "/api/attachments/att_4n1Qw9S0eJrZ8xkU2LmVbg/thumbnail",
    "conversation_id": "conv_9aPz5WqjT3uYcR7oXn2KfA",
}
#: The same file before a message uses it.
PENDING: dict[str, Any] = {**INVOICE, "number": None, "state": "pending", "conversation_id": None}


ToolName = Annotated[str, Field(max_length=MAX_TOOL_NAME)]


class ConversationSettingsShape(Shape):
    """The settings of one conversation. They come after those of the server and the user."""

    model: str | None = Field(max_length=MAX_MODEL, description="provider:model; null for that of the user's settings")
    instructions: str = Field(max_length=MAX_INSTRUCTIONS, description="added to those of the server and the user")
    temperature: float | None = Field(
        ge=0, le=MAX_TEMPERATURE, description="in the range of the model's API; null for the server's"
    )
    tools: list[ToolName] | None = Field(
        max_length=MAX_TOOLS, description="the tools that are on; null for all that the server offers"
    )
    on_full: OnFull | None = Field(
        default=None, description="what answers do once the conversation is too long for the model; null: as the server"
    )


class AttachmentShape(Shape):
    """A file of a conversation, or an upload that no message uses yet."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [INVOICE, PENDING]})

    id: str
    number: int | None = Field(description="its number in the conversation; null until a message uses it")
    name: str
    kind: Literal["image", "document", "audio", "video", "text", "other"]
    media_type: str = Field(description="the type detected from its bytes, else the claimed one")
    size: int | None = Field(description="bytes; null without stored bytes")
    pixels: tuple[int, int] | None = Field(description="width and height")
    pages: int | None
    seconds: float | None
    origin: OriginShape
    date: str
    state: Literal["pending", "ready", "missing", "quarantined", "deleted"]
    problem: str | None = Field(description="why it can't be sent to the model")
    corrected: str | None = Field(description="the claimed type, if its bytes have another one")
    audience: Literal["both", "user", "assistant"] = Field(
        description='"user": kept from the model; "assistant": not among the files that a page shows'
    )
    description: str | None
    url: str
    thumbnail: str | None
    conversation_id: str | None


class ProblemShape(Shape):
    """The kind of an error, and a text that says what went wrong and what to do."""

    kind: str
    text: str


class ErrorShape(Shape):
    """The body of every error response."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"error": {"kind": "NotFound", "text": "there is no conversation 'conv_x': check the id"}},
            ]
        },
    )

    error: ProblemShape


#: Descriptions of error responses by status.
ERROR_DESCRIPTIONS = {
    400: "the body can't be read",
    401: "not signed in: send the cookie or a bearer token",
    403: "the request came from another site",
    404: "it doesn't exist, or it isn't yours",
    409: "the conversation has a live run",
    413: "the body is too large",
    415: "the body is not JSON",
    421: "the request names another host than this server's",
    422: "the body or a value is invalid; the text says why",
    429: "too many requests: wait for the seconds in Retry-After",
    431: "too many headers, or too long ones",
    503: "the database or the file store does not respond",
    507: "no space left; nothing was stored",
}


#: The body of an error in the OpenAPI document. As a `model` it would be built for each response of each route.
ERROR_CONTENT = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorShape"}}}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses for these errors and for those that every route has."""
    return {
        status: {"content": ERROR_CONTENT, "description": ERROR_DESCRIPTIONS[status]}
        for status in sorted({401, 403, 421, 429, 431, 503, *statuses})
    }
