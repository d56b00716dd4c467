"""Files as JSON on all routes and streams, and the addresses of their bytes below the chat server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from msgspec import Struct

from showandtell.core.media_types.converters import shown_as
from showandtell.core.media_types.kinds import kind_of
from showandtell.core.messages.attachments import Attachment, Facts

#: Makes a URL from a path: unchanged for clients with a cookie, signed for bearer clients.
Link: TypeAlias = Callable[[str], str]
#: Names that can't end a URL: browsers would resolve them as relative path segments.
RESERVED_NAMES = frozenset({"", ".", ".."})


class FileSource(Struct, frozen=True):
    """A file in a user's message: by its address, as base64, or by the id that a provider gave it."""

    form: Literal["url", "data", "file"]
    value: str
    media_type: str | None = None
    name: str | None = None


def unsigned(path: str) -> str:
    """Return the path unchanged, for clients with a cookie."""
    return path


def attachment_json(file: Attachment, conversation_id: str | None, link: Link | None = unsigned) -> dict[str, Any]:
    """Return a file as JSON. Without a conversation it is an upload, which has no number until a message uses it.

    `size`, `pixels`, `pages` and `seconds` are null if the bytes don't prove them. Without a link, so are the URLs.
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
        "url": link(content_path(file.id, file.name)) if link else None,
        "thumbnail": link(f"/api/attachments/{file.id}/thumbnail") if link and has_thumbnail(file) else None,
        "conversation_id": conversation_id,
        **({"lifted": True} if file.lifted is True else {}),
    }


def file_reference(file: Attachment, link: Link | None = unsigned) -> dict[str, Any]:
    """Return what stands in place of a file in a tool's JSON. It has a `url` if people can fetch its bytes.

    Clients give a tool's JSON to models, so that of a file for the user alone has neither name nor `url`.
    """
    reference: dict[str, Any] = {"type": "file", "number": file.number, "id": file.id, "mediaType": file.media_type}
    if file.audience != "user":
        reference["name"] = file.name
    if link and is_for_all(file):
        reference["url"] = link(content_path(file.id, file.name))
    return reference


@dataclass(frozen=True, slots=True)
class FileLinks:
    """Makes the JSON and the URLs for files of a conversation. Without a link there are no URLs."""

    conversation_id: str
    link: Link | None = unsigned

    def attachment(self, file: Attachment) -> dict[str, Any]:
        """Return a file as JSON."""
        return attachment_json(file, self.conversation_id, self.link)

    def reference(self, file: Attachment) -> dict[str, Any]:
        """Return what stands in place of a file in a tool's JSON."""
        return file_reference(file, self.link)

    def derivative_url(self, file: Attachment, sha256: str) -> str | None:
        """Return the URL of a derivative of a file."""
        return self.link and self.link(f"/api/attachments/{file.id}/variants/{sha256}")


def content_path(id: str, name: str) -> str:  # noqa: A002 - it is an id
    """Return the path of a file's bytes. It ends in the file name, the default for saving."""
    suffix = "" if name in RESERVED_NAMES else f"/{quote(name, safe='', errors='replace')}"
    return f"/api/attachments/{id}/content{suffix}"


def has_bytes(file: Attachment) -> bool:
    """Whether a file's bytes can be fetched from the server."""
    return file.state == "ready" and file.facts is not None and file.problem is None


def is_for_all(file: Attachment) -> bool:
    """Whether a file's bytes can be fetched, and both people and models may have them."""
    return has_bytes(file) and file.audience == "both"


def has_thumbnail(file: Attachment) -> bool:
    """Whether a file can have a thumbnail: images, SVGs, videos and PDFs."""
    return file.state == "ready" and file.problem is None and file.facts is not None and is_visual(file.facts)


def is_visual(facts: Facts) -> bool:
    """Whether bytes can be rendered as an image."""
    shown = shown_as(facts.media_type)
    return kind_of(shown) in {"image", "video"} or shown in {"application/pdf", "image/svg+xml"}
