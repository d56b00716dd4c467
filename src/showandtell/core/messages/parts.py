"""Parts: typed pieces of content, of which messages are made.

Parts are values: equal by content, hashable, and without bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Literal, TypeAlias

from msgspec import Struct
from typing_extensions import TypeVar

from showandtell.core.messages.file import File

Audience: TypeAlias = Literal["both", "model", "user"]


class Selection(Struct, frozen=True):
    """A part of a file: `pages` from 1, `crop` as left, top, right, bottom in pixels of the original."""

    pages: tuple[int, ...] | None = None
    crop: tuple[int, int, int, int] | None = None


class Shown(Struct, frozen=True, tag="file"):
    """A stored file at one place in the conversation."""

    number: int
    attachment_id: str
    view: Selection | None = None


class Text(Struct, frozen=True, tag="text"):
    """Words, and who they are for."""

    text: str
    audience: Audience = "both"


#: What lies at a place of a JSON value: a stored file, and before ingest perhaps still a claim.
Held = TypeVar("Held", default=File | Shown)


class Json(Struct, Generic[Held], frozen=True, tag="json"):
    """A JSON value as text; where files lay in it, it holds null, and `files` names the place by JSON pointer.

    In a stored message every file is a `Shown`; a `File` is there only before ingest.
    """

    text: str
    files: tuple[tuple[str, Held], ...] = ()


class Opaque(Struct, frozen=True, tag="opaque", forbid_unknown_fields=True):
    """What a provider needs back from us, unread: signatures, reasoning items. Left out for every other provider."""

    provider: str
    text: str


class ToolCall(Struct, frozen=True, tag="tool_call"):
    """A model's wish to run a tool. `arguments` is the model's own text, which need not be valid JSON."""

    call_id: str
    tool: str
    arguments: str
    opaque: Opaque | None = None


class Approval(Struct, frozen=True, tag="approval", forbid_unknown_fields=True):
    """A person's yes or no to a call that waits for one."""

    call_id: str
    approved: bool
    reason: str = ""


#: What a stored message is made of.
Part: TypeAlias = Text | Json[Shown] | Shown | ToolCall | Opaque | Approval
#: What a draft is made of: its files may be claims.
Claimed: TypeAlias = Part | Json | File


def is_approval(parts: Sequence[Claimed]) -> bool:
    """Whether a message of these parts only says yes or no to calls that wait, and so is no turn of its own."""
    return bool(parts) and all(isinstance(part, Approval) for part in parts)
