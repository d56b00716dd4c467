"""Types of bedrock-converse responses: events, blocks and token counts. Fields are those of botocore 1.44.5."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from showandtell.core.wire.hosted_blocks import Fields
from showandtell.core.wire.usage import NULL

#: Type of a call that the provider runs itself. Calls for the caller have the type "tool_use", which botocore's types
#: don't know, or none: Claude 4.5 and Nova 2 send it in bodies and streams (recorded), older models don't.
PROVIDER_RUN = "server_tool_use"


class UnionFields(Struct, gc=False, rename="camel"):
    """Base of structs that cover all variants of a union: members that a variant doesn't have stay None."""


class TextFields(UnionFields):
    """A text, arguments, or a message about an error."""

    text: str = ""
    input: str = ""
    message: str = ""


class MediaSource(UnionFields):
    """The bytes of a file, or its place on S3."""

    data: bytes = msgspec.field(default=b"", name="bytes")
    s3_location: dict[str, object] | None = None


class Media(UnionFields):
    """An image or audio, or the error in its place."""

    format: str = ""
    source: MediaSource | None = None
    error: TextFields | None = None


class Call(UnionFields):
    """A call."""

    tool_use_id: str
    name: str
    input: msgspec.Raw = msgspec.Raw(b"{}")
    type: str | None = None


class Reasoning(UnionFields):
    """Reasoning, or a piece of it."""

    text: str = ""
    signature: str | None = None
    redacted_content: bytes = b""
    reasoning_text: Reasoning | None = None


class Citations(UnionFields):
    """A text with its citations."""

    content: list[TextFields] = []
    citations: list[Fields] = []


class Delta(UnionFields):
    """A piece of a block."""

    text: str | None = None
    tool_use: TextFields | None = None
    reasoning_content: Reasoning | None = None
    image: Media | None = None
    citation: Fields | None = None

    @property
    def is_known(self) -> bool:
        """Whether this is a piece of text, a call, reasoning, an image or a citation."""
        return any(getattr(self, name) is not None for name in self.__struct_fields__)


class Block(UnionFields):
    """A block, or its start."""

    text: str | None = None
    tool_use: Call | None = None
    reasoning_content: Reasoning | None = None
    citations_content: Citations | None = None
    image: Media | None = None
    audio: Media | None = None

    @property
    def is_known(self) -> bool:
        """Whether this is a block that the model makes itself. Tools that the provider runs have a type."""
        is_call = self.tool_use is not None and self.tool_use.type != PROVIDER_RUN
        names = (name for name in self.__struct_fields__ if name != "tool_use")
        return is_call or any(getattr(self, name) is not None for name in names)


class TokenCounts(UnionFields):
    """Token counts."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None


class Event(UnionFields):
    """The content of any event."""

    content_block_index: int = 0
    start: Block | None = None
    delta: Delta | None = None
    stop_reason: str = ""
    usage: msgspec.Raw = NULL


class Error(UnionFields):
    """An error of a stream."""

    type: str = "error"
    message: str = ""


class Chunk(UnionFields):
    """One event of a stream."""

    content_block_delta: Event | None = None
    content_block_start: Event | None = None
    content_block_stop: Event | None = None
    message_stop: Event | None = None
    metadata: Event | None = None
    error: Error | None = None


class Message(UnionFields):
    """The message of a complete body."""

    content: list[msgspec.Raw] = []


class Output(UnionFields):
    """The output of a complete body."""

    message: Message | None = None


class Body(UnionFields):
    """A complete body."""

    output: Output | None = None
    stop_reason: str = ""
    usage: msgspec.Raw = NULL
    message: str = ""
