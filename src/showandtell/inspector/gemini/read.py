"""Read a body of generateContent as strictly as the Gemini API and Vertex do, and refuse in their words."""

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
from showandtell.inspector.gemini.rules import Target, bare_type, check_body, pair_results
from showandtell.inspector.request import (
    Call,
    Host,
    IncomingRequest,
    ModelRequest,
    OfferedTool,
    ReceivedFile,
    Refusal,
    Reply,
    RequestTurn,
    Result,
    Words,
    merge_turns,
)

MODEL = r"(?P<model>[^/:]+):(?P<verb>generateContent|streamGenerateContent)"
PROJECT = r"(?:projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/)?"
#: Labels that introduce no file: it stands elsewhere, or nowhere.
ABSENT_FILE = re.compile(r"was not sent|not in view any more$|: shown below$|^end of |^this call failed$|, as text$")
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
    """Read a whole request. Raises `Refusal` for what the api would answer with 400."""
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
    )


def spell(reply: Reply, asked: ModelRequest, name: str, host: wire.Host) -> Iterator[bytes]:
    """The answer, streamed or whole."""
    target = Target(host, asked.model)
    if asked.stream:
        return write.spell_stream(reply, asked, target, name)
    whole = write.spell_array if asked.array else write.spell_answer
    return iter((whole(reply, asked, target, name),))


def spell_refusal(refusal: Refusal) -> bytes:
    """The error form of this api; its parser's complaints come with the field they mean."""
    status = STATUS.get(refusal.status, "INTERNAL" if refusal.status >= 500 else "FAILED_PRECONDITION")
    error: dict[str, Any] = {"code": refusal.status, "message": refusal.message, "status": status}
    if refusal.parameter:
        violations = [{"field": refusal.parameter, "description": refusal.message}]
        error["details"] = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations}]
    return msgspec.json.encode({"error": error})


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
    """The api's dialect as JSON schema: what the mind reads of one."""
    read: dict[str, Any] = {"type": (schema.type or "object").lower(), "description": schema.description or ""}
    if schema.properties:
        read["properties"] = {name: _read_schema(one) for name, one in schema.properties.items()}
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
            made = [part.function_call for part in content.parts if part.function_call]
            calls = [(call, _read_call(call, count + nth)) for nth, call in enumerate(made, 1)]
            count += len(calls)
            # Pictures that a model made before are its own: they came from nobody, so they are no files to report.
            said = [Words(part.text) for part in content.parts if part.text and not part.thought]
            turns.append(RequestTurn("assistant", (*said, *(call for _, call in calls))))
        elif any(part.function_response for part in content.parts):
            turns.append(RequestTurn("user", tuple(_read_results(content, place, calls))))
        else:
            turns.append(RequestTurn("user", tuple(_read_user(content, place))))
    return merge_turns(turns)


def _read_call(call: wire.FunctionCall, nth: int) -> Call:
    """A call; one without an id is named by its place among all calls."""
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
        yield Result(call_id, (*map(Words, words), *files), "error" in (result.response or {}))


def _read_response(response: wire.Object) -> Iterator[str]:
    """The words of a response: what stands under its one conventional key, else all of it as JSON."""
    said: Any = response
    if len(response) == 1 and (key := next(iter(response))) in {"output", "error", "result"}:
        said = response[key]
    # A list with words in it is the parts of a result; one without is a value.
    items = cast("list[Any]", said) if isinstance(said, list) else []
    parts: list[Any] = items if any(isinstance(item, str) for item in items) else [said]
    spelled = (part if isinstance(part, str) else msgspec.json.encode(part).decode() for part in parts)
    yield from (words for words in spelled if words not in {"", "{}"})


def _read_files(
    result: wire.FunctionResponse, place: str, call_id: str, words: Sequence[str]
) -> Iterator[ReceivedFile]:
    labels = _share_labels(words, len(result.parts))
    for at, (part, (label, piece)) in enumerate(zip(result.parts, labels, strict=True)):
        seen = ReceivedFile("tool_result", "", f"{place}.parts[{at}]", call_id=call_id, label=label, piece=piece)
        yield _fill(seen, part.inline_data, part.file_data)


def _share_labels(words: Sequence[str], count: int) -> list[tuple[str, int]]:
    """The label of each of `count` files behind a response's words, and which piece of it each is.

    Words stand before all files, so the labels are dealt out in order; where their number doesn't fit, none is told.
    """
    labels = [found for found in LABEL.finditer("\n".join(words)) if not ABSENT_FILE.search(found[1])]
    following = [*(label[1] for label in labels[1:]), ""][: len(labels)]
    titles = [label for label, after in zip(labels, following, strict=True) if not _is_heading(label[1], after)]
    if len(titles) == count:
        return [(title[0], 1) for title in titles]
    label = titles[0][0] if len(titles) == 1 else "" if titles else "".join(words[-1:])
    return [(label, at) for at in range(1, count + 1)]


def _read_user(content: wire.Content, place: str) -> Iterator[Words | ReceivedFile]:
    label, piece = "", 0
    for at, part in enumerate(content.parts):
        if part.text:
            label, piece = part.text, 0
            yield Words(label)
        elif part.inline_data or part.file_data:
            piece += 1
            seen = ReceivedFile("user", "", f"{place}[{at}]", label=label, piece=piece)
            yield _fill(seen, part.inline_data, part.file_data)


def _fill(seen: ReceivedFile, blob: wire.Blob | None, file: wire.FileData | None) -> ReceivedFile:
    """Fill in what the part says; a reference stays one: on the Gemini API the model doesn't see it in a result."""
    replace = msgspec.structs.replace
    if blob is not None:
        return replace(seen, media_type=bare_type(blob.mime_type), data=blob.data, name=blob.display_name)
    if file is not None:
        return replace(seen, media_type=file.mime_type, reference=file.file_uri, name=file.display_name)
    return seen


def _refuse_size(limit: int) -> Refusal:
    return Refusal(f"Request payload size exceeds the limit: {limit} bytes.")


def _house(host: wire.Host, path: str, largest: int) -> Host:
    return Host(
        base=host,
        path=re.compile(path),
        read=partial(read_body, host=host),
        spell=partial(spell, host=host),
        refuse=spell_refusal,
        stream_type="text/event-stream",
        largest=largest,
        too_large=partial(_refuse_size, largest),
        unknown="NOT_FOUND",
    )


# 100 MB: Google's announcement of the new file limits, January 2026. 20 MB: the only figure stated for Vertex.
HOUSES = (
    _house("google", rf"/v1(?:beta|alpha)?/models/{MODEL}", 100_000_000),
    _house("vertex", rf"/v1(?:beta1)?/{PROJECT}publishers/google/models/{MODEL}", 20_000_000),
)


def _is_heading(label: str, after: str) -> bool:
    """Whether pieces of its own follow a label, each with the file that it stands for."""
    piece = PIECE.fullmatch(after)
    return piece is not None and label.startswith(f"{piece['file']}: ")
