"""Types of gemini responses: chunks, candidates, parts and token counts. Fields are those of google-genai 3.4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from msgspec import Struct

from showandtell.core.wire.hosted_blocks import Fields
from showandtell.core.wire.partial_arguments import Partial
from showandtell.core.wire.usage import NULL

UNKNOWN_MODALITY = "MODALITY_UNSPECIFIED"
_any = msgspec.json.Decoder()


class Function(Struct, gc=False, rename="camel"):
    """A call, or a piece of one."""

    id: str | None = None
    name: str | None = None
    args: msgspec.Raw = msgspec.Raw(b"")
    partial_args: list[Partial] | None = None
    will_continue: bool | None = None


class Blob(Struct, gc=False, rename="camel"):
    """A file: its base64, or no data if it is only linked."""

    mime_type: str | None = None
    data: str | None = None


class Part(Struct, gc=False, rename="camel"):
    """A part of an answer. Fields of tools that Google runs are read elsewhere."""

    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: Function | None = None
    inline_data: Blob | None = None
    file_data: Blob | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the part may go back as it is: it is no text, no call and no link."""
        return self.text is None and self.function_call is None and self.file_data is None


class Content(Struct, gc=False):
    """The parts of an answer."""

    parts: list[Part] | None = None


class Candidate(Struct, gc=False, rename="camel"):
    """One answer. Only the first one is read."""

    index: int | None = None
    content: Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None
    grounding_metadata: msgspec.Raw = NULL
    url_context_metadata: msgspec.Raw = NULL
    citation_metadata: msgspec.Raw = NULL

    @property
    def is_without_sources(self) -> bool:
        """Whether it has none of the fields about its sources."""
        return self.grounding_metadata is self.url_context_metadata is self.citation_metadata is NULL


class Feedback(Struct, gc=False, rename="camel"):
    """Why a prompt was blocked."""

    block_reason: str | None = None
    block_reason_message: str | None = None


class Count(Struct, gc=False, rename="camel"):
    """Tokens of one modality."""

    modality: str = UNKNOWN_MODALITY
    token_count: int | None = None


class TokenCounts(Struct, gc=False, rename="camel"):
    """Token counts, as running totals."""

    prompt_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None
    prompt_tokens_details: list[Count] | None = None


class Error(Struct, gc=False):
    """An error of a response."""

    code: int | str | None = None
    message: str | None = None
    status: str | None = None


class Chunk(Struct, gc=False, rename="camel"):
    """One event of a stream, or a complete body."""

    candidates: list[Candidate] | None = None
    prompt_feedback: Feedback | None = None
    usage_metadata: msgspec.Raw = NULL
    error: Error | str | None = None


@dataclass(slots=True)
class WholeParts:
    """The parts of a candidate with all of their fields, decoded when the first one is asked for."""

    raw: bytes | msgspec.Raw
    candidate: int
    parts: Sequence[Fields] | None = None

    def part(self, at: int) -> Fields:
        """The part at an index."""
        parts = self.parts
        if parts is None:
            parts = self.parts = _any.decode(self.raw)["candidates"][self.candidate]["content"]["parts"]
        return parts[at]
