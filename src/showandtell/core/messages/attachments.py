"""What has been proved about the files of a conversation: `Facts` of bytes, and an `Attachment` with a number."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Literal, TypeAlias

from msgspec import Struct, field

from showandtell.core.media_types.kinds import Kind, kind_of
from showandtell.errors import BadInput

By: TypeAlias = Literal["user", "tool", "assistant", "url", "mcp"]

#: So many files are named one by one in an error.
MOST_LISTED = 30
State: TypeAlias = Literal["ready", "quarantined", "deleted"]


def spoken(kind: str, number: int) -> str:
    """A file as everybody says it: "image 5", "document 3"; "file 7" where the kind is unknown."""
    return f"{'file' if kind == 'other' else kind} {number}"


class Facts(Struct, frozen=True):
    """What is proved about some bytes: sha256 in hex, IANA type, size in bytes; pixels, pages, seconds if any.

    `frames` counts the pictures of a file that has more than one: an animation, or a TIFF of several pages.
    """

    sha256: str
    media_type: str
    size: int
    pixels: tuple[int, int] | None = None
    pages: int | None = None
    seconds: float | None = None
    frames: int | None = None

    @property
    def kind(self) -> Kind:
        """The kind of the proved type."""
        return kind_of(self.media_type)


class Address(Struct, frozen=True):
    """A file that only a provider can open: an https, gs or s3 URL, or a file id of one provider (`vendor`)."""

    form: Literal["url", "file_id"]
    value: str
    media_type: str
    # Stored conversations know the vendor as `house`.
    vendor: str | None = field(default=None, name="house")

    @property
    def kind(self) -> Kind:
        """The kind of the declared type; nothing here can prove it."""
        return kind_of(self.media_type)

    @property
    def sha256(self) -> str:
        """The hash of the address itself, by which `Known` knows it: its bytes are not ours to hash."""
        return sha256(f"{self.vendor or self.form}:{self.value}".encode()).hexdigest()


class Proved(Struct, frozen=True):
    """What became of one claim: exactly one of `facts`, `address` and `problem` is set."""

    name: str
    facts: Facts | None = None
    address: Address | None = None
    problem: str | None = None
    corrected: str | None = None


class Origin(Struct, frozen=True):
    """Who brought a file: the user, a tool (its name and call), the assistant, a URL, an MCP server."""

    by: By
    tool: str | None = None
    call_id: str | None = None

    def __str__(self) -> str:
        if self.tool is None:
            return self.by
        return f"{self.by} {self.tool} ({self.call_id})" if self.call_id else f"{self.by} {self.tool}"


class Attachment(Struct, frozen=True):
    """A file of one conversation. Exactly one of `facts`, `address` and `problem` says what became of it.

    `state`: ready; quarantined, where its bytes were found to be gone or others, until they are again what they were
    (it has facts and a problem); deleted, by a person (it has a problem). Both keep their number and name.

    `corrected` holds what the file claimed to be where its bytes say otherwise. `date` is ISO 8601, a day.
    """

    id: str
    number: int
    name: str
    origin: Origin
    date: str
    facts: Facts | None = None
    address: Address | None = None
    problem: str | None = None
    description: str | None = None
    corrected: str | None = None
    claimed: str | None = None
    state: State = "ready"

    @property
    def media_type(self) -> str:
        """The proved type, else the declared one."""
        proved = self.facts or self.address
        return proved.media_type if proved else self.claimed or "application/octet-stream"

    @property
    def kind(self) -> Kind:
        """The kind that its number is spoken with: "image 5", "document 3"."""
        return kind_of(self.media_type)

    @property
    def label(self) -> str:
        """Kind and number as everybody says them."""
        return spoken(self.kind, self.number)


def find(attachments: Mapping[int, Attachment], number: int) -> Attachment:
    """The file of a number; raises `BadInput` that lists what there is."""
    found = attachments.get(number)
    if found is None:
        labels = [one.label for one in tuple(attachments.values())]
        there = ", ".join(labels if len(labels) <= MOST_LISTED else [*labels[:3], "…", *labels[-3:]]) or "none"
        raise BadInput(f"this conversation has no file {number}; it has: {there}")
    return found
