"""Read a body of generateContent as strictly as the Gemini API and Vertex do, with their error messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, cast
from urllib.parse import parse_qs

import msgspec

from showandtell.inspector.answering.words import LABEL, PIECE
from showandtell.inspector.gemini import schema as wire
from showandtell.inspector.gemini import write
from showandtell.inspector.gemini.json import read_json
from showandtell.inspector.gemini.rules import Target, base_type, check_body, pair_results
from showandtell.inspector.request import (
    ApiError,
    Call,
    Host,
    IncomingRequest,
    ModelRequest,
    OfferedTool,
    ReceivedFile,
    Reply,
    RequestTurn,
    Result,
    TextPart,
    merge_turns,
)

MODEL = r"(?P<model>[^/:]+):(?P<verb>generateContent|streamGenerateContent)"
PROJECT = r"(?:projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/)?"
#: Labels without a file after them: it is elsewhere, or missing.
ABSENT_FILE = re.compile(
    r"was not sent|not in view any more$|, kept out of view\b|, for tools only\b|: shown below$"
    r"|^end of |^this call failed$|, as text$"
)
STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def read_body(incoming: IncomingRequest, host: wire.Host) -> ModelRequest:
    """Parse a request. Raises `ApiError` if the API would respond with 400."""
    target = Target(host, incoming.groups["model"])
    body = read_json(incoming.body, host)
    check_body(body, target)
    streamed = incoming.groups["verb"] == "streamGenerateContent"
    sse = parse_qs(incoming.query).get("alt") == ["sse"]
    system = body.system_instruction
    return ModelRequest(
        model=target.model,
        turns=_read_turns(body.contents),
        tools=tuple(_read_tool(declared) for tool in body.tools for declared in tool.function_declarations),
        tool_choice=_read_choice(body.tool_config.function_calling_config),
        system="\n".join(part.text for part in system.parts if part.text) if system else "",
        stream=streamed and sse,
        stream_usage=True,
        array=streamed and not sse,
        max_tokens=body.generation_config.max_output_tokens,
        answer_schema=body.generation_config.response_json_schema,
    )


def serialize(reply: Reply, request: ModelRequest, name: str, host: wire.Host) -> Iterator[bytes]:
    """The response: server-sent events, one JSON object, or an array of chunks."""
    target = Target(host, request.model)
    if request.stream:
        return write.serialize_stream(reply, request, target, name)
    whole = write.serialize_array if request.array else write.serialize_message
    return iter((whole(reply, request, target, name),))


def format_error(error: ApiError) -> bytes:
    """The error form of this api; its parser's complaints come with the field they mean."""
    status = STATUS.get(error.status, "INTERNAL" if error.status >= 500 else "FAILED_PRECONDITION")
    fields: dict[str, Any] = {"code": error.status, "message": error.message, "status": status}
    if error.parameter:
        violations = [{"field": error.parameter, "description": error.message}]
        fields["details"] = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations}]
    return msgspec.json.encode({"error": fields})


def _read_choice(config: wire.FunctionCallingConfig) -> str:
    match config.mode:
        case "ANY":
            names = config.allowed_function_names
            return names[0] if len(names) == 1 else "required"
        case "NONE":
            return "none"
        case _:
            return "auto"


def _read_tool(declared: wire.FunctionDeclaration) -> OfferedTool:
    schema: Any = declared.parameters_json_schema
    if declared.parameters is not None:
        schema = _read_schema(declared.parameters)
    return OfferedTool(declared.name, declared.description, schema or {})


def _read_schema(schema: wire.Schema) -> dict[str, Any]:
    """Convert the API's dialect to JSON schema, as far as the inspector uses it."""
    read: dict[str, Any] = {"type": (schema.type or "object").lower(), "description": schema.description or ""}
    if schema.properties:
        read["properties"] = {name: _read_schema(inner) for name, inner in schema.properties.items()}
    if schema.items:
        read["items"] = _read_schema(schema.items)
    return read | {key: value for key in ("required", "enum", "default") if (value := getattr(schema, key)) is not None}


def _read_turns(contents: Sequence[wire.Content]) -> tuple[RequestTurn, ...]:
    turns: list[RequestTurn] = []
    calls: list[tuple[wire.FunctionCall, Call]] = []
    count = 0
    for at, content in enumerate(contents):
        place = f"contents[{at}].parts"
        if content.role == "model":
            function_calls = [part.function_call for part in content.parts if part.function_call]
            calls = [(call, _read_call(call, count + nth)) for nth, call in enumerate(function_calls, 1)]
            count += len(calls)
            own = list(_read_model(content, place))
            turns.append(RequestTurn("assistant", (*own, *(call for _, call in calls))))
        elif any(part.function_response for part in content.parts):
            turns.append(RequestTurn("user", tuple(_read_results(content, place, calls))))
        else:
            turns.append(RequestTurn("user", tuple(_read_user(content, place))))
    return merge_turns(turns)


def _read_model(content: wire.Content, place: str) -> Iterator[TextPart | ReceivedFile]:
    """The texts and files of the model's own."""
    for at, part in enumerate(content.parts):
        if part.inline_data is not None:
            yield _fill(ReceivedFile("answer", "", f"{place}[{at}]"), part.inline_data, None)
        elif part.text and not part.thought:
            yield TextPart(part.text)


def _read_call(call: wire.FunctionCall, nth: int) -> Call:
    """A call. One without an id is named by its position among all calls."""
    return Call(call.id or f"{call.name}-{nth}", call.name, msgspec.json.encode(call.args or {}).decode())


def _read_results(
    content: wire.Content, place: str, calls: Sequence[tuple[wire.FunctionCall, Call]]
) -> Iterator[Result]:
    results = [part.function_response for part in content.parts if part.function_response]
    pairs = pair_results([call for call, _ in calls], results) or []
    for at, (result, answered) in enumerate(zip(results, pairs, strict=True)):
        call_id = calls[answered][1].call_id
        words = list(_read_response(result.response or {}))
        files = _read_files(result, f"{place}[{at}].function_response", call_id, words)
        yield Result(call_id, (*map(TextPart, words), *files), "error" in (result.response or {}))


def _read_response(response: wire.Object) -> Iterator[str]:
    """The texts of a response: the value of its one conventional key, else all of it as JSON."""
    value: Any = response
    if len(response) == 1 and (key := next(iter(response))) in {"output", "error", "result"}:
        value = response[key]
    # A list with strings is the parts of a result. Any other list is a value.
    items = cast("list[Any]", value) if isinstance(value, list) else []
    parts: list[Any] = items if any(isinstance(item, str) for item in items) else [value]
    texts = (part if isinstance(part, str) else msgspec.json.encode(part).decode() for part in parts)
    yield from (text for text in texts if text not in {"", "{}"})


def _read_files(
    result: wire.FunctionResponse, place: str, call_id: str, texts: Sequence[str]
) -> Iterator[ReceivedFile]:
    labels = _share_labels(texts, len(result.parts))
    for at, (part, (label, piece)) in enumerate(zip(result.parts, labels, strict=True)):
        file = ReceivedFile("tool_result", "", f"{place}.parts[{at}]", call_id=call_id, label=label, piece=piece)
        yield _fill(file, part.inline_data, part.file_data)


def _share_labels(texts: Sequence[str], count: int) -> list[tuple[str, int]]:
    """The label and piece number for each of `count` files in a response.

    All text comes before the files, so labels are matched to files in order, if there is one for each.
    """
    labels = [match for match in LABEL.finditer("\n".join(texts)) if not ABSENT_FILE.search(match[1])]
    following = [*(label[1] for label in labels[1:]), ""][: len(labels)]
    titles = [label for label, after in zip(labels, following, strict=True) if not _is_heading(label[1], after)]
    if len(titles) == count:
        return [(title[0], 1) for title in titles]
    label = titles[0][0] if len(titles) == 1 else "" if titles else "".join(texts[-1:])
    return [(label, at) for at in range(1, count + 1)]


def _read_user(content: wire.Content, place: str) -> Iterator[TextPart | ReceivedFile]:
    label, piece = "", 0
    for at, part in enumerate(content.parts):
        if part.text:
            label, piece = part.text, 0
            yield TextPart(label)
        elif part.inline_data or part.file_data:
            piece += 1
            file = ReceivedFile("user", "", f"{place}[{at}]", label=label, piece=piece)
            yield _fill(file, part.inline_data, part.file_data)


def _fill(file: ReceivedFile, blob: wire.Blob | None, link: wire.FileData | None) -> ReceivedFile:
    """Add the content of the part to `file`. On the Gemini API the model doesn't see references in results."""
    replace = msgspec.structs.replace
    if blob is not None:
        return replace(file, media_type=base_type(blob.mime_type), data=blob.data, name=blob.display_name)
    if link is not None:
        return replace(file, media_type=link.mime_type, reference=link.file_uri, name=link.display_name)
    return file


def _refuse_size(limit: int) -> ApiError:
    return ApiError(f"Request payload size exceeds the limit: {limit} bytes.")


def _make_host(host: wire.Host, path: str, largest: int) -> Host:
    return Host(
        base=host,
        path=re.compile(path),
        read=partial(read_body, host=host),
        serialize=partial(serialize, host=host),
        format_error=format_error,
        stream_type="text/event-stream",
        max_body=largest,
        too_large=partial(_refuse_size, largest),
        unknown_path_kind="NOT_FOUND",
    )


# 100 MB: Google's announcement of the new file limits, January 2026. 20 MB: the only figure stated for Vertex.
HOSTS = (
    _make_host("google", rf"/v1(?:beta|alpha)?/models/{MODEL}", 100_000_000),
    _make_host("vertex", rf"/v1(?:beta1)?/{PROJECT}publishers/google/models/{MODEL}", 20_000_000),
)


def _is_heading(label: str, after: str) -> bool:
    """Whether labels of its pieces follow a file's label."""
    piece = PIECE.fullmatch(after)
    return piece is not None and label.startswith(f"{piece['file']}: ")
