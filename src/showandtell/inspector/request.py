"""What a reader found in a body, told in words that belong to no api: turns, calls, results, and every file seen."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

Place: TypeAlias = Literal["tool_result", "user"]
Shape: TypeAlias = Literal["unknown", "missing", "type", "value"]


class Words(Struct, frozen=True):
    """A text as it stood in the body."""

    text: str


class ReceivedFile(Struct, frozen=True):
    """A file as it stood in the body: its bytes, or the `reference` (URL or file id) that stood in their place.

    `label` is the text just before it, `piece` counts the files behind one label from 1, `position` is the path in the
    body, `name` the title or filename it came with.
    """

    place: Place
    media_type: str
    position: str
    data: bytes | None = None
    reference: str = ""
    call_id: str | None = None
    label: str = ""
    piece: int = 1
    name: str = ""


class Call(Struct, frozen=True):
    """A tool call; `arguments` is JSON text."""

    call_id: str
    tool: str
    arguments: str


class Result(Struct, frozen=True):
    """What came back for a call."""

    call_id: str
    parts: tuple[Words | ReceivedFile, ...]
    is_error: bool = False


class RequestTurn(Struct, frozen=True):
    """Everything that one side said in a row; results of tools belong to the user's side."""

    role: Literal["user", "assistant"]
    parts: tuple[Words | ReceivedFile | Call | Result, ...]


class OfferedTool(Struct, frozen=True):
    """A tool that may be called; `schema` is its JSON schema."""

    name: str
    description: str
    schema: dict[str, Any]


class ModelRequest(Struct, frozen=True):
    """A whole request. tool_choice: "auto", "none", "required", or a tool's name; `parallel`: several calls at once.

    stream_usage: whether a stream tells its tokens. array: chunks in one JSON array, which is no stream to its server.
    """

    model: str
    turns: tuple[RequestTurn, ...]
    tools: tuple[OfferedTool, ...] = ()
    tool_choice: str = "auto"
    system: str = ""
    parallel: bool = True
    stream: bool = False
    stream_usage: bool = False
    array: bool = False
    max_tokens: int | None = None


class Reply(Struct, frozen=True):
    """What the inspector answers; `cut` where max_tokens ended it."""

    text: str
    calls: tuple[Call, ...] = ()
    input_tokens: int = 0
    cut: bool = False

    @property
    def output_tokens(self) -> int:
        """Four characters a token, at least one."""
        return max(1, (len(self.text) + sum(len(call.tool + call.arguments) for call in self.calls)) // 4)


class Refusal(Exception):
    """A request that the api would refuse: HTTP status, the words, and what its JSON error form carries besides."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
        parameter: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message, self.status, self.kind = message, status, kind
        self.parameter, self.code = parameter, code


class IncomingRequest(Struct, frozen=True):
    """A POST as it arrived: `path` and `query` behind the house's own base, lower-case headers, the body's bytes.

    `groups` are what the house's pattern found in the path, such as the model.
    """

    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    groups: Mapping[str, str] = {}


class Host(Struct, frozen=True):
    """One host's door to one api: where it listens below its base, how it reads, answers and refuses.

    base: the first step of the path, such as "openai". path: what must match the rest of it. refuse: the error form.
    error_headers: what a refusal says in headers. too_large: the refusal of a body of more than `largest` bytes;
    unknown: that of a path that nobody serves.
    """

    base: str
    path: re.Pattern[str]
    read: Callable[[IncomingRequest], ModelRequest]
    spell: Callable[[Reply, ModelRequest, str], Iterator[bytes]]
    refuse: Callable[[Refusal], bytes]
    stream_type: str = "text/event-stream; charset=utf-8"
    largest: int = 64 * 1024 * 1024
    too_large: Callable[[], Refusal] = lambda: Refusal("The request is too large.", status=413)
    unknown: str = "invalid_request_error"
    error_headers: Callable[[Refusal], Mapping[str, str]] = lambda _: {}


class Fault(Struct, frozen=True):
    """Where a body leaves its schema: the path, and the field, type or value that is wrong there."""

    shape: Shape
    path: tuple[str | int, ...]
    detail: str
    got: str = ""


FAULTS: tuple[tuple[Shape, re.Pattern[str]], ...] = (
    ("unknown", re.compile(r"Object contains unknown field `(?P<detail>.*?)`")),
    ("missing", re.compile(r"Object missing required field `(?P<detail>.*?)`")),
    ("type", re.compile(r"Expected `(?P<detail>.*?)`(?:, got `(?P<got>.*?)`)?")),
    ("value", re.compile(r"Invalid (?:enum )?value '?(?P<detail>.*?)'?(?= - at |$)")),
)


#: What msgspec says of a number such as 1e999.
OUT_OF_RANGE = "Number out of range"


def fault_of(error: Exception) -> Fault:
    """Read msgspec's words for a body that doesn't fit its schema."""
    words, _, place = str(error).partition(" - at `$")
    path = tuple(int(step) if step.isdigit() else step for step in re.findall(r"\w+", place))
    for shape, pattern in FAULTS:
        if found := pattern.match(words):
            groups = found.groupdict(default="")
            return Fault(shape, path, groups["detail"], groups.get("got", ""))
    return Fault("value", path, words)


MAGIC: dict[str, re.Pattern[bytes]] = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
    "application/pdf": re.compile(rb"%PDF-"),
    "audio/wav": re.compile(rb"RIFF.{4}WAVE", re.DOTALL),
    "audio/mpeg": re.compile(rb"ID3|\xff[\xe2-\xff]"),
}


def is_really(data: bytes, media_type: str) -> bool:
    """Whether bytes begin as their declared type does."""
    magic = MAGIC.get(media_type)
    return magic is not None and magic.match(data) is not None


def decode_base64(text: str) -> bytes | None:
    """Decode the standard alphabet with its padding; None for anything else."""
    try:
        return binascii.a2b_base64(text, strict_mode=True) or None
    except (binascii.Error, ValueError):
        return None


def merge_turns(turns: list[RequestTurn]) -> tuple[RequestTurn, ...]:
    """Join neighbours of one side, as the apis themselves do."""
    merged: list[RequestTurn] = []
    for turn in turns:
        if merged and merged[-1].role == turn.role:
            merged[-1] = RequestTurn(turn.role, merged[-1].parts + turn.parts)
        else:
            merged.append(turn)
    return tuple(merged)


def files_of(turn: RequestTurn) -> Iterator[ReceivedFile]:
    """Every file of a turn in the order of the body, those in results included."""
    for part in turn.parts:
        if isinstance(part, ReceivedFile):
            yield part
        elif isinstance(part, Result):
            yield from (inner for inner in part.parts if isinstance(inner, ReceivedFile))


def results_of(turn: RequestTurn) -> list[Result]:
    """The tool results of a turn."""
    return [part for part in turn.parts if isinstance(part, Result)]


def calls_of(turns: tuple[RequestTurn, ...]) -> dict[str, Call]:
    """Every call of a conversation by its id."""
    return {part.call_id: part for turn in turns for part in turn.parts if isinstance(part, Call)}
