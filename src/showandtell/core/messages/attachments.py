"""The files of a conversation: `Facts` about bytes, and an `Attachment` with a number."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType, field

from showandtell.checking.checked import Checked, checked
from showandtell.core.media_types.kinds import Kind, kind_of
from showandtell.core.messages.file import Audience, File, Reader
from showandtell.core.messages.metadata import load_metadata
from showandtell.errors import BadInput

By: TypeAlias = Literal["user", "tool", "assistant", "provider", "url", "mcp"]

#: Maximum number of files that an error lists one by one.
MAX_LISTED = 30
State: TypeAlias = Literal["ready", "missing", "quarantined", "deleted"]


def format_label(kind: str, number: int) -> str:
    """Format kind and number: "image 5", "document 3"; "file 7" if the kind is unknown."""
    return f"{'file' if kind == 'other' else kind} {number}"


class Facts(Checked, Struct, frozen=True, gc=False):
    """Verified facts about bytes: sha256 in hex, IANA type, size in bytes; pixels, pages, seconds if any.

    `frames` is set for a file with several images: an animation, or a TIFF of several pages. `encoding` is that of text
    in another one than UTF-8, such as "windows-1252": what reads the file as text decodes it.

    >>> from showandtell import Agent, builtin_tools
    >>> from showandtell.samples import folder
    >>> run = Agent("inspector", builtin_tools(folder())).run_sync("/read_file path=kiwi.jpg")
    >>> facts = run.conversation.attachments[1].facts
    >>> facts.media_type, facts.size, facts.pixels
    ('image/jpeg', 20175, (480, 360))
    """

    sha256: str
    media_type: str
    size: int
    pixels: tuple[int, int] | None = None
    pages: int | None = None
    seconds: float | None = None
    frames: int | None = None
    encoding: str | UnsetType = UNSET

    @property
    def kind(self) -> Kind:
        """The kind of the verified type."""
        return kind_of(self.media_type)


class Address(Struct, frozen=True, gc=False):
    """A file that only a provider can open: an https, http, gs or s3 URL, or a file id of one `vendor`."""

    form: Literal["url", "file_id"]
    value: str
    media_type: str
    # Stored conversations know the vendor as `house`.
    vendor: str | None = field(default=None, name="house")

    @property
    def kind(self) -> Kind:
        """The kind of the declared type, which is not verified."""
        return kind_of(self.media_type)

    @property
    def sha256(self) -> str:
        """The hash of the address itself, as the key in `Derivations`: its bytes are unknown."""
        return sha256(f"{self.vendor or self.form}:{self.value}".encode()).hexdigest()


class ProbedFile(Checked, Struct, frozen=True):
    """The result of probing one claimed file: exactly one of `facts`, `address` and `problem` is set.

    Args:
        over_quota: the problem is a quota, so the file itself may be usable.
        retry_after: the decoders are busy; seconds to wait before another attempt.
    """

    name: str
    facts: Facts | None = None
    address: Address | None = None
    problem: str | None = None
    corrected: str | None = None
    over_quota: bool = False
    retry_after: int = 0


class Origin(Struct, frozen=True, gc=False):
    """Where a file comes from: the user, a tool, the assistant, a tool that the provider ran, a URL, an MCP server.

    tool, call_id: the name and the call of a tool.
    shared_by: the display name of the person from whose shared conversation the user took it. Omitted otherwise.
    """

    by: By
    tool: str | None = None
    call_id: str | None = None
    shared_by: str | UnsetType = UNSET

    def __str__(self) -> str:
        if self.shared_by:
            return f'a conversation shared by "{self.shared_by}"'
        if self.tool is None:
            return self.by
        return f"{self.by} {self.tool} ({self.call_id})" if self.call_id else f"{self.by} {self.tool}"


@checked
class Attachment(Checked, Struct, frozen=True, gc=False):
    """A file of one conversation. A ready file has exactly one of `facts` and `address`.

    Args:
        state: "ready"; "missing" if its bytes never came, or as long as they are gone from the store (then it has
            facts); "quarantined" as long as its stored bytes are damaged; "deleted" by the user. Files that are not
            ready have a problem, and keep their number and name.
        corrected: the claimed type, if the bytes are of another type.
        date: a day in ISO 8601.
        audience: who may see it. A file for the user alone is never given to a model, in any form.
        in_context: whether requests may hold its content. If not, the model gets its name, and reads it with a tool.
        convert: whether a model may get it in another form.
        external_id: the program's own id, `File.id`.
        lifted: it is for the user alone, but its owner shows it to the model with the message that brings it.
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
    audience: Audience = "both"
    in_context: bool = True
    convert: bool = True
    external_id: str | UnsetType = UNSET
    metadata_json: str | UnsetType = field(default=UNSET, name="metadata")
    lifted: bool | UnsetType = UNSET

    @property
    def is_private(self) -> bool:
        """Whether the owner of the conversation is the only person who may see it."""
        return self.audience == "user"

    @property
    def metadata(self) -> dict[str, Any] | None:
        """The program's own data about it, `File.metadata`."""
        return load_metadata(self.metadata_json)

    def as_file(self, source: bytes | Reader) -> File:
        """A claim of this file with all of its details, but without its number: whatever takes it over starts here.

        A lifted file was lifted for one message, and isn't any more.
        """
        return File(
            source,
            self.claimed,
            self.name,
            self.description,
            id=self.external_id or None,
            audience=self.audience,
            shared_by=self.origin.shared_by or None,
            in_context=self.in_context,
            metadata=self.metadata,
            convert=self.convert,
        )

    @property
    def name_for_model(self) -> str:
        """The name; empty for a file that is for the user alone."""
        return "" if self.audience == "user" else self.name

    @property
    def media_type(self) -> str:
        """The verified type, else the declared one."""
        source = self.facts or self.address
        return source.media_type if source else self.claimed or "application/octet-stream"

    @property
    def kind(self) -> Kind:
        """The kind in its label, such as "image" in "image 5"."""
        return kind_of(self.media_type)

    @property
    def label(self) -> str:
        """Kind and number, such as "image 5"."""
        return format_label(self.kind, self.number)


def find_attachment(attachments: Mapping[int, Attachment], number: int) -> Attachment:
    """The file with a number. Raises `BadInput` that lists the files of the conversation."""
    file = attachments.get(number)
    if file is None:
        labels = [file.label for file in tuple(attachments.values())]
        listed = ", ".join(labels if len(labels) <= MAX_LISTED else [*labels[:3], "…", *labels[-3:]]) or "none"
        raise BadInput(f"this conversation has no file {number}; it has: {listed}")
    return file
