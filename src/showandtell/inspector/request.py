"""API-independent types for a parsed request: turns, calls, results and files; and helpers that all APIs share."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from showandtell.checking.checked import Checked, checked

Place: TypeAlias = Literal["tool_result", "user", "answer"]
ViolationKind: TypeAlias = Literal["unknown", "missing", "type", "value"]


#: A label of a file in the answer before it.
IN_ANSWER = re.compile("⟦[^⟧]*: in your answer above⟧")


class TextPart(Checked, Struct, frozen=True):
    """Text from the body."""

    text: str


class ReceivedFile(Checked, Struct, frozen=True):
    """A file from the body: its bytes, or a `reference` (URL or file id).

    `label` is the text just before it, `piece` counts the files after one label from 1, `position` is the path in the
    body, `name` is its title or filename.
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


class Call(Checked, Struct, frozen=True):
    """A tool call; `arguments` is JSON text."""

    call_id: str
    tool: str
    arguments: str


class Result(Checked, Struct, frozen=True):
    """The result of a tool call."""

    call_id: str
    parts: tuple[TextPart | ReceivedFile, ...]
    is_error: bool = False


class RequestTurn(Checked, Struct, frozen=True):
    """Consecutive content of one role. Tool results belong to the user."""

    role: Literal["user", "assistant"]
    parts: tuple[TextPart | ReceivedFile | Call | Result, ...]


class OfferedTool(Checked, Struct, frozen=True):
    """A tool that the model may call. `schema` is its JSON schema."""

    name: str
    description: str
    schema: dict[str, Any]


class ModelRequest(Checked, Struct, frozen=True):
    """A parsed request.

    tool_choice: "auto", "none", "required", or a tool's name. parallel: whether one step may hold several calls.
    stream_usage: whether a stream reports tokens. array: chunks in one JSON array instead of a stream.
    answer_schema: the JSON schema that the answer has to match, if any. reasons: whether reasoning is asked for.
    has_keys: whether the user could ask a real model.
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
    answer_schema: dict[str, Any] | None = None
    reasons: bool = False
    has_keys: bool = False


class Reply(Checked, Struct, frozen=True):
    """The inspector's answer. `truncated` if max_tokens cut it short."""

    text: str
    calls: tuple[Call, ...] = ()
    input_tokens: int = 0
    truncated: bool = False
    reasoning: str = ""

    @property
    def output_tokens(self) -> int:
        """One per four characters, at least one, with those of the reasoning."""
        written = len(self.text) + sum(len(call.tool + call.arguments) for call in self.calls)
        return max(1, written // 4 + self.reasoning_tokens)

    @property
    def reasoning_tokens(self) -> int:
        """One per four characters."""
        return len(self.reasoning) // 4


class ApiError(Exception):
    """An error response of the API: HTTP status, message, and further fields of the JSON body."""

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


class IncomingRequest(Checked, Struct, frozen=True):
    """A POST request. `path` and `query` come after the host's base; header names are lower-case.

    `groups` are the named groups of `Host.path`, such as the model.
    """

    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    groups: Mapping[str, str] = {}


class Host(Checked, Struct, frozen=True):
    """An API at one host: its path, and how it reads requests and writes responses and errors.

    base: the first segment of the path, such as "openai". path: pattern of the rest. format_error: the JSON body of an
    error. error_headers: headers of an error. too_large: the error for a body over `max_body` bytes.
    unknown_path_kind: `ApiError.kind` for an unknown path.
    """

    base: str
    path: re.Pattern[str]
    read: Callable[[IncomingRequest], ModelRequest]
    serialize: Callable[[Reply, ModelRequest, str], Iterator[bytes]]
    format_error: Callable[[ApiError], bytes]
    stream_type: str = "text/event-stream; charset=utf-8"
    max_body: int = 64 * 1024 * 1024
    too_large: Callable[[], ApiError] = lambda: ApiError("The request is too large.", status=413)
    unknown_path_kind: str = "invalid_request_error"
    error_headers: Callable[[ApiError], Mapping[str, str]] = lambda _: {}


class Violation(Checked, Struct, frozen=True):
    """A schema violation: its path, and the field, type or value that is wrong."""

    kind: ViolationKind
    path: tuple[str | int, ...]
    detail: str
    got: str = ""


VIOLATIONS: tuple[tuple[ViolationKind, re.Pattern[str]], ...] = (
    ("unknown", re.compile(r"Object contains unknown field `(?P<detail>.*?)`")),
    ("missing", re.compile(r"Object missing required field `(?P<detail>.*?)`")),
    ("type", re.compile(r"Expected `(?P<detail>.*?)`(?:, got `(?P<got>.*?)`)?")),
    ("value", re.compile(r"Invalid (?:enum )?value '?(?P<detail>.*?)'?(?= - at |$)")),
)


#: The message of msgspec for a number such as 1e999.
OUT_OF_RANGE = "Number out of range"


@checked
def read_violation(error: Exception) -> Violation:
    """Parse the message of a msgspec ValidationError."""
    text, _, location = str(error).partition(" - at `$")
    path = tuple(int(step) if step.isdigit() else step for step in re.findall(r"\w+", location))
    for kind, pattern in VIOLATIONS:
        if match := pattern.match(text):
            groups = match.groupdict(default="")
            return Violation(kind, path, groups["detail"], groups.get("got", ""))
    return Violation("value", path, text)


MAGIC: dict[str, re.Pattern[bytes]] = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
    "application/pdf": re.compile(rb"%PDF-"),
    "audio/wav": re.compile(rb"RIFF.{4}WAVE", re.DOTALL),
    "audio/mpeg": re.compile(rb"ID3|\xff[\xe2-\xff]"),
}


@checked
def matches_type(data: bytes, media_type: str) -> bool:
    """Whether the first bytes fit the media type. False for types without a known signature."""
    magic = MAGIC.get(media_type)
    return magic is not None and magic.match(data) is not None


@checked
def decode_base64(text: str) -> bytes | None:
    """Decode standard base64 with padding. None if it is invalid or empty."""
    try:
        return binascii.a2b_base64(text, strict_mode=True) or None
    except (binascii.Error, ValueError):
        return None


@checked
def merge_turns(turns: list[RequestTurn]) -> tuple[RequestTurn, ...]:
    """Join consecutive turns of one role, as the APIs do."""
    merged: list[RequestTurn] = []
    for turn in turns:
        if merged and merged[-1].role == turn.role:
            merged[-1] = RequestTurn(turn.role, merged[-1].parts + turn.parts)
        else:
            merged.append(turn)
    return tuple(_label_answers(merged))


def _label_answers(turns: Sequence[RequestTurn]) -> Iterator[RequestTurn]:
    """Give files in answers their labels, which come after the answer."""
    for at, turn in enumerate(turns):
        later = turns[at + 1].parts if turn.role == "assistant" and turns[at + 1 :] else ()
        labels = [label for part in later if isinstance(part, TextPart) for label in IN_ANSWER.findall(part.text)]
        texts = iter(labels)
        parts = (
            replace(part, label=next(texts, "")) if isinstance(part, ReceivedFile) and labels else part
            for part in turn.parts
        )
        yield RequestTurn(turn.role, tuple(parts)) if labels else turn


def files_of(turn: RequestTurn) -> Iterator[ReceivedFile]:
    """The files of a turn and its results, in the order of the body."""
    for part in turn.parts:
        if isinstance(part, ReceivedFile):
            yield part
        elif isinstance(part, Result):
            yield from (inner for inner in part.parts if isinstance(inner, ReceivedFile))


def results_of(turn: RequestTurn) -> list[Result]:
    """The tool results of a turn."""
    return [part for part in turn.parts if isinstance(part, Result)]


def calls_of(turns: tuple[RequestTurn, ...]) -> dict[str, Call]:
    """All calls by id."""
    return {part.call_id: part for turn in turns for part in turn.parts if isinstance(part, Call)}
