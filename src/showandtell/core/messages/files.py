"""What has been proved about files: `Facts` of bytes, `Attachment` of a conversation, and the table `Known`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Literal, Protocol, TypeAlias

from msgspec import Struct

from showandtell.core.messages.content import By
from showandtell.errors import BadInput

#: So many files are named one by one in an error.
MOST_LISTED = 30
Kind: TypeAlias = Literal["image", "document", "audio", "video", "text", "other"]
State: TypeAlias = Literal["ready", "quarantined", "deleted"]

DOCUMENTS = frozenset(
    {
        "application/pdf",
        "application/msword",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
        "application/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    }
)
TEXTS = frozenset({"application/json", "application/xml", "application/yaml", "application/javascript"})


def kind_of(media_type: str) -> Kind:
    """Sort an IANA media type into one of six kinds; SVG is text, for no model takes it as an image."""
    if media_type == "image/svg+xml" or media_type in TEXTS:
        return "text"
    if media_type in DOCUMENTS:
        return "document"
    match media_type.partition("/")[0]:
        case "image" | "audio" | "video" | "text" as kind:
            return kind
        case _:
            return "other"


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
    """A file that only a provider can open: an https, gs or s3 URL, or an id of that provider (`house`) alone."""

    form: Literal["url", "file_id"]
    value: str
    media_type: str
    house: str | None = None

    @property
    def kind(self) -> Kind:
        """The kind of the declared type; nothing here can prove it."""
        return kind_of(self.media_type)

    @property
    def sha256(self) -> str:
        """The hash of the address itself, by which `Known` knows it: its bytes are not ours to hash."""
        return sha256(f"{self.house or self.form}:{self.value}".encode()).hexdigest()


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


class Want(Struct, frozen=True):
    """A variant that the plan could use.

    `at`: the `Target.shelf` of an upload, the `Target.at` of a rejection, None for a conversion or a link.
    """

    sha256: str
    recipe: str
    at: str | None = None


class Variant(Struct, frozen=True):
    """What a conversion gave: files, or text; `scale` is below 1 where pixels were lost, above where it was enlarged.

    `pages` are the pages that it shows, `times` the seconds of its frames, `total` the pages or seconds of the
    original; `cut` says that the end of a text or a sound is missing.

    Of an upload it is `file_id`, of a link `url`: both live until `expires`, in epoch seconds of our own clock, where
    that is known. Whoever plans forgets what has expired before; the plan itself looks at no clock.
    """

    files: tuple[Facts, ...] = ()
    text: str | None = None
    file_id: str | None = None
    scale: float = 1.0
    url: str | None = None
    expires: float | None = None
    pages: tuple[int, ...] = ()
    times: tuple[float, ...] = ()
    total: float | None = None
    cut: bool = False


class Link(Struct, frozen=True):
    """A URL by which a provider may fetch a file of ours; it lives until `expires`, in epoch seconds, if it ends."""

    url: str
    expires: float | None = None


def rejections(file: Facts | Address, at: str) -> tuple[Want, Want]:
    """Under which keys `Known` holds that a provider took a file in no place; `at` is `Target.at`."""
    return (Want(file.sha256, "original/tool_result", at), Want(file.sha256, "original/user", at))


class Failed(Struct, frozen=True):
    """A conversion that didn't work, or a provider's rejection, and how we know. `passing`: a next run may try anew."""

    reason: str
    evidence: str = ""
    passing: bool = False


Known: TypeAlias = Mapping[Want, Variant | Failed]


class Blobs(Protocol):
    """Where proved bytes are read. Reading raises `FileChanged` when they are no longer what `of` says."""

    def chunks(self, of: Facts, size: int) -> Iterator[memoryview]:
        """Give the bytes in pieces of `size` (the last may be shorter), each valid until the next is asked for."""
        ...

    def read(self, of: Facts) -> bytes:
        """Give the bytes at once."""
        ...

    def open(self, of: Facts) -> BinaryIO:
        """Open the bytes for reading."""
        ...

    def local(self, of: Facts) -> AbstractContextManager[Path]:
        """Lend a path with the bytes, for decoders and programs that want one."""
        ...

    def check(self, of: Facts) -> str | None:
        """What is wrong with the stored bytes, in words that follow a name; None where they are what they were."""
        ...
