"""Files as JSON, the same on every route and in every stream, and the models that describe them in the OpenAPI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

import msgspec
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from showandtell.core.messages.attachments import Attachment, Facts

#: Makes an address of a path of ours: the same for a cookie, a signed one for a bearer client.
Link: TypeAlias = Callable[[str], str]
#: Names that an address can't end in: a browser would take them for steps in the path.
STEPS = frozenset({"", ".", ".."})


def plain(path: str) -> str:
    """The address for whoever sends a cookie: the path itself."""
    return path


def answer(value: object, status: int = 200) -> Response:
    """Something as JSON; nobody keeps a copy of it."""
    return Response(msgspec.json.encode(value), status, {"cache-control": "no-store"}, "application/json")


def attachment_json(one: Attachment, conversation_id: str | None, link: Link = plain) -> dict[str, Any]:
    """A file as JSON. One of no conversation is an upload that waits for its message: it has no number yet.

    `size`, `pixels`, `pages` and `seconds` are null where nothing proves them.
    """
    facts, origin = one.facts, one.origin
    told = {"tool": origin.tool, "call_id": origin.call_id}
    return {
        "id": one.id,
        "number": None if conversation_id is None else one.number,
        "name": one.name,
        "kind": one.kind,
        "media_type": one.media_type,
        "size": facts.size if facts else None,
        "pixels": list(facts.pixels) if facts and facts.pixels else None,
        "pages": facts.pages if facts else None,
        "seconds": facts.seconds if facts else None,
        "origin": {"by": origin.by, **{name: value for name, value in told.items() if value is not None}},
        "date": one.date,
        "state": "pending" if conversation_id is None else one.state,
        "problem": one.problem,
        "corrected": one.corrected,
        "description": one.description,
        "url": link(content_path(one.id, one.name)),
        "thumbnail": link(f"/api/attachments/{one.id}/thumbnail") if has_thumbnail(one) else None,
        "conversation_id": conversation_id,
    }


@dataclass(frozen=True, slots=True)
class Showing:
    """How the files of a conversation are shown."""

    conversation_id: str
    link: Link = plain

    def attachment(self, file: Attachment) -> dict[str, Any]:
        """A file as JSON."""
        return attachment_json(file, self.conversation_id, self.link)

    def variant(self, file: Attachment, sha256: str) -> str:
        """Where what was made of a file is."""
        return self.link(f"/api/attachments/{file.id}/variants/{sha256}")


def content_path(id: str, name: str) -> str:  # noqa: A002 - it is one
    """Where the bytes of a file are; its name stands at the end, for whoever saves it."""
    below = "" if name in STEPS else f"/{quote(name, safe='', errors='replace')}"
    return f"/api/attachments/{id}/content{below}"


def has_thumbnail(one: Attachment) -> bool:
    """Whether a small picture can be made of a file: of an image, an SVG, a film, the first page of a PDF."""
    return one.state == "ready" and one.problem is None and one.facts is not None and is_pictured(one.facts)


def is_pictured(facts: Facts) -> bool:
    """Whether some bytes have anything to see."""
    return facts.kind in {"image", "video"} or facts.media_type in {"application/pdf", "image/svg+xml"}


#: How bytes are described, whatever they are.
BYTES: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}, "example": "(its bytes)"}


class Shape(BaseModel):
    """What all bodies have in common: an unknown field is an error that names it, not a surprise."""

    model_config = ConfigDict(extra="forbid")


class OriginShape(Shape):
    """Who brought a file: the user, a tool (its name and call), the assistant, a URL, an MCP server."""

    by: Literal["user", "tool", "assistant", "url", "mcp"]
    tool: str = Field(default="", description="left out where no tool brought it")
    call_id: str = ""


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
    "description": None,
    "url": "/api/attachments/att_4n1Qw9S0eJrZ8xkU2LmVbg/content/invoice.pdf",
    "thumbnail": "/api/attachments/att_4n1Qw9S0eJrZ8xkU2LmVbg/thumbnail",
    "conversation_id": "conv_9aPz5WqjT3uYcR7oXn2KfA",
}
#: The same before a message brings it.
PENDING: dict[str, Any] = {**INVOICE, "number": None, "state": "pending", "conversation_id": None}


class AttachmentShape(Shape):
    """A file of a conversation, or an upload that waits for its message."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [INVOICE, PENDING]})

    id: str
    number: int | None = Field(description="its place in the conversation; null where it was not sent yet")
    name: str
    kind: Literal["image", "document", "audio", "video", "text", "other"]
    media_type: str = Field(description="the type that its bytes prove; else what it claimed")
    size: int | None = Field(description="bytes; null where there are none")
    pixels: tuple[int, int] | None = Field(description="width and height")
    pages: int | None
    seconds: float | None
    origin: OriginShape
    date: str
    state: Literal["pending", "ready", "quarantined", "deleted"]
    problem: str | None = Field(description="why the model can't be given it")
    corrected: str | None = Field(description="what it claimed to be, where its bytes say otherwise")
    description: str | None
    url: str
    thumbnail: str | None
    conversation_id: str | None


class ProblemShape(Shape):
    """What went wrong, and what to do."""

    kind: str
    text: str


class ErrorShape(Shape):
    """Every error looks so."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"error": {"kind": "NotFound", "text": "there is no conversation 'conv_x': check the id"}},
            ]
        },
    )

    error: ProblemShape


#: What the errors of a route mean, by status.
MEANINGS = {
    400: "the body can't be read",
    401: "nobody is logged in: send the cookie, or a bearer token",
    403: "another site asks",
    404: "there is no such thing, or it isn't yours",
    409: "a run goes on in this conversation",
    413: "the body is too large",
    415: "the body is no JSON",
    422: "the body or a value can't be used; the text says why",
    429: "too many requests: wait as long as Retry-After says",
    503: "the database or the store of files does not answer",
    507: "there is no space left: nothing was stored",
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How the errors of a route are described; those that any route may have are among them."""
    return {
        status: {"model": ErrorShape, "description": MEANINGS[status]}
        for status in sorted({401, 403, 429, 503, *statuses})
    }
