"""Read a body of POST /v1/chat/completions as strictly as its api does, and refuse in the api's own words."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from showandtell.inspector import openai_body as wire
from showandtell.inspector.openai_rules import check_body, read_data_url
from showandtell.inspector.seen import (
    OUT_OF_RANGE,
    Asked,
    Call,
    Fault,
    Offer,
    Refusal,
    Result,
    Seen,
    Turn,
    Words,
    decode_base64,
    fault_of,
    merge_turns,
)

KINDS = {"str": "a string", "int": "an integer", "float": "a decimal", "bool": "a boolean", "array": "an array",
         "object": "an object", "null": "null"}  # fmt: skip
ROLES = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'"
TYPES = "'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'"
AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg"}

_decoder = msgspec.json.Decoder(wire.Body)


def read_body(body: bytes) -> Asked:
    """Read a whole request. Raises `Refusal` for what the api would answer with 400."""
    try:
        decoded = _decoder.decode(body)
    except msgspec.ValidationError as error:
        raise _refuse(fault_of(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        words = "We could not parse the JSON body of your request. (HINT: it isn't valid JSON.)"
        raise Refusal(words) from None
    check_body(decoded)
    tools = [] if decoded.tools is UNSET else decoded.tools
    return Asked(
        model=decoded.model,
        turns=merge_turns([turn for at, message in enumerate(decoded.messages) for turn in _read_message(message, at)]),
        tools=tuple(Offer(t.function.name, t.function.description, t.function.parameters or {}) for t in tools),
        tool_choice=_read_choice(decoded.tool_choice),
        system="\n".join(
            _text(m.content) for m in decoded.messages if isinstance(m, wire.Instruction | wire.Developer)
        ),
        parallel=decoded.parallel_tool_calls,
        stream=bool(decoded.stream),
        stream_usage=decoded.stream_options is not None and decoded.stream_options.include_usage,
        max_tokens=decoded.max_completion_tokens or decoded.max_tokens,
    )


def spell_refusal(refusal: Refusal) -> bytes:
    """The error form of this api."""
    error = {
        "message": refusal.message,
        "type": refusal.kind,
        "param": refusal.parameter,
        "code": refusal.code,
    }
    return msgspec.json.encode({"error": error})


def _read_choice(choice: str | wire.OneTool | msgspec.UnsetType) -> str:
    match choice:
        case str():
            return choice
        case wire.OneTool():
            return choice.function.name
        case msgspec.UnsetType():
            return "auto"


def _text(content: str | list[wire.Anything] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.text for part in content if isinstance(part, wire.Text))


def _read_message(message: wire.Message, at: int) -> list[Turn]:
    match message:
        case wire.User():
            return [_read_user(message, f"messages[{at}].content")]
        case wire.ToolMessage():
            words = (Words(_text(message.content)),) if message.content else ()
            return [Turn("user", (Result(message.tool_call_id, words),))]
        case wire.Assistant():
            calls = [] if message.tool_calls is UNSET else message.tool_calls
            text = _text(message.content)
            said = [Words(text)] if text else []
            called = [Call(call.id, call.function.name, call.function.arguments) for call in calls]
            return [Turn("assistant", (*said, *called))]
        case wire.Instruction() | wire.Developer():
            return []


def _read_user(message: wire.User, path: str) -> Turn:
    if isinstance(message.content, str):
        return Turn("user", (Words(message.content),))
    parts: list[Words | Seen] = []
    label, piece = "", 0
    for index, part in enumerate(message.content):
        if isinstance(part, wire.Text):
            label, piece = part.text, 0
            parts.append(Words(label))
        else:
            piece += 1
            seen = _read_file(part, f"{path}[{index}]")
            parts.append(msgspec.structs.replace(seen, label=label, piece=piece))
    return Turn("user", tuple(parts))


def _read_file(part: wire.Anything, position: str) -> Seen:
    match part:
        case wire.Image():
            return _read_url(part.image_url.url, "image/*", position)
        case wire.Audio():
            audio = part.input_audio
            return Seen("user", AUDIO[audio.format], position, decode_base64(audio.data))
        case wire.File(file=file):
            name = file.filename or "" if file.filename is not UNSET else ""
            source = file.file_data if file.file_data is not UNSET else file.file_id
            return _read_url(str(source), "application/pdf", position, name)
        case wire.Text() | wire.Refused():
            raise TypeError(f"{position} is not a file")


def _read_url(url: str, guess: str, position: str, name: str = "") -> Seen:
    found = read_data_url(url)
    if found is None:
        return Seen("user", guess, position, reference=url, name=name)
    media_type, data = found
    return Seen("user", media_type, position, data, name=name)


def _refuse(fault: Fault) -> Refusal:
    """Say a fault as the api's own validator does."""
    place = _place(fault.path)
    match fault.shape:
        case "unknown":
            name = f"{place}.{fault.detail}" if place else fault.detail
            words = f"Unknown parameter: '{name}'." if place else f"Unrecognized request argument supplied: {name}"
            return Refusal(words, parameter=name if place else None, code="unknown_parameter" if place else None)
        case "missing":
            name = f"{place}.{fault.detail}" if place else fault.detail
            return Refusal(f"Missing required parameter: '{name}'.", parameter=name, code="missing_required_parameter")
        case "type":
            wanted = " or ".join(KINDS.get(kind, kind) for kind in fault.detail.split(" | "))
            words = f"expected {_one_of(wanted)}, but got {KINDS.get(fault.got, 'another')} instead."
            return Refusal(f"Invalid type for '{place}': {words}", parameter=place, code="invalid_type")
        case "value" if fault.detail == OUT_OF_RANGE:
            words = f"Invalid value for '{place}': expected a finite number."
            return Refusal(words, parameter=place, code="invalid_value")
        case "value":
            allowed = {"role": ROLES, "type": TYPES}.get(str(fault.path[-1]) if fault.path else "", "")
            words = f"Invalid value: '{fault.detail}'." + (f" Supported values are: {allowed}." if allowed else "")
            return Refusal(words, parameter=place, code="invalid_value")


def _one_of(wanted: str) -> str:
    return f"one of {wanted}" if " or " in wanted else wanted


def _place(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
