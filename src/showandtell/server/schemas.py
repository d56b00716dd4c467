"""Files as JSON on all routes and streams, and the pydantic models of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

import msgspec
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from showandtell.core.messages.attachments import Attachment, Facts

#: Makes a URL from a path: unchanged for clients with a cookie, signed for bearer clients.
Link: TypeAlias = Callable[[str], str]
#: Names that can't end a URL: browsers would resolve them as relative path segments.
RESERVED_NAMES = frozenset({"", ".", ".."})


def unsigned(path: str) -> str:
    """Return the path unchanged, for clients with a cookie."""
    return path


def json_response(value: object, status: int = 200) -> Response:
    """Return a JSON response that is not cached."""
    return Response(msgspec.json.encode(value), status, {"cache-control": "no-store"}, "application/json")


def attachment_json(file: Attachment, conversation_id: str | None, link: Link = unsigned) -> dict[str, Any]:
    """Return a file as JSON. Without a conversation it is an upload, which has no number until a message uses it.

    `size`, `pixels`, `pages` and `seconds` are null if the bytes don't prove them.
    """
    facts, origin = file.facts, file.origin
    source = {"tool": origin.tool, "call_id": origin.call_id, "shared_by": origin.shared_by or None}
    return {
        "id": file.id,
        "number": None if conversation_id is None else file.number,
        "name": file.name,
        "kind": file.kind,
        "media_type": file.media_type,
        "size": facts.size if facts else None,
        "pixels": list(facts.pixels) if facts and facts.pixels else None,
        "pages": facts.pages if facts else None,
        "seconds": facts.seconds if facts else None,
        "origin": {"by": origin.by, **{name: value for name, value in source.items() if value is not None}},
        "date": file.date,
        "state": "pending" if conversation_id is None else file.state,
        "problem": file.problem,
        "corrected": file.corrected,
        "audience": file.audience,
        "description": file.description,
        "url": link(content_path(file.id, file.name)),
        "thumbnail": link(f"/api/attachments/{file.id}/thumbnail") if has_thumbnail(file) else None,
        "conversation_id": conversation_id,
    }


@dataclass(frozen=True, slots=True)
class FileLinks:
    """Makes the JSON and the URLs for files of a conversation."""

    conversation_id: str
    link: Link = unsigned

    def attachment(self, file: Attachment) -> dict[str, Any]:
        """Return a file as JSON."""
        return attachment_json(file, self.conversation_id, self.link)

    def derivative_url(self, file: Attachment, sha256: str) -> str:
        """Return the URL of a derivative of a file."""
        return self.link(f"/api/attachments/{file.id}/variants/{sha256}")


def content_path(id: str, name: str) -> str:  # noqa: A002 - it is an id
    """Return the path of a file's bytes. It ends in the file name, the default for saving."""
    suffix = "" if name in RESERVED_NAMES else f"/{quote(name, safe='', errors='replace')}"
    return f"/api/attachments/{id}/content{suffix}"


def has_thumbnail(file: Attachment) -> bool:
    """Whether a file can have a thumbnail: images, SVGs, videos and PDFs."""
    return file.state == "ready" and file.problem is None and file.facts is not None and is_visual(file.facts)


def is_visual(facts: Facts) -> bool:
    """Whether bytes can be rendered as an image."""
    return facts.kind in {"image", "video"} or facts.media_type in {"application/pdf", "image/svg+xml"}


#: OpenAPI media type object of any bytes.
BINARY: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}, "example": "(its bytes)"}


class Shape(BaseModel):
    """Base of all bodies. Unknown fields are errors."""

    model_config = ConfigDict(extra="forbid")


class OriginShape(Shape):
    """Source of a file: the user, a tool (its name and call), the assistant, a URL or an MCP server."""

    by: Literal["user", "tool", "assistant", "url", "mcp"]
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
    state: Literal["pending", "ready", "quarantined", "deleted"]
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
    422: "the body or a value is invalid; the text says why",
    429: "too many requests: wait for the seconds in Retry-After",
    503: "the database or the file store does not respond",
    507: "no space left; nothing was stored",
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses for these errors and for those that every route has."""
    return {
        status: {"model": ErrorShape, "description": ERROR_DESCRIPTIONS[status]}
        for status in sorted({401, 403, 429, 503, *statuses})
    }
