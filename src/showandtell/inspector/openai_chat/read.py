"""Read a body of POST /v1/chat/completions as strictly as its api does, and refuse in the api's own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec
from msgspec import UNSET

from showandtell.inspector.openai_chat import schema as wire
from showandtell.inspector.openai_chat import write
from showandtell.inspector.openai_chat.rules import (
    Path,
    Rules,
    check_body,
    list_values,
    parts_of,
    read_data_url,
    sound_type,
    spell_path,
)
from showandtell.inspector.openai_chat.write import PLAIN, Manner
from showandtell.inspector.request import (
    OUT_OF_RANGE,
    Call,
    Fault,
    Host,
    IncomingRequest,
    ModelRequest,
    OfferedTool,
    Place,
    ReceivedFile,
    Refusal,
    Reply,
    RequestTurn,
    Result,
    Words,
    decode_base64,
    fault_of,
    merge_turns,
)

KINDS = {"str": "a string", "int": "an integer", "float": "a decimal", "bool": "a boolean", "array": "an array",
         "object": "an object", "null": "null"}  # fmt: skip
ROLES = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'"
TYPES = "'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'"

#: The form of what some hosts take in another one, too.
FORMS = {"image_url": "object", "input_audio": "object", "arguments": "str"}
#: The fields of a body whose types are checked.
TYPED = frozenset(wire.Body.__struct_fields__)

_decoder = msgspec.json.Decoder(wire.Body)
_outline = msgspec.json.Decoder(dict[str, msgspec.Raw])


def say(fault: Fault, types: str = TYPES) -> Refusal:
    """Say a fault as OpenAI's validator does; `types` are the parts that it lists where it doesn't know one."""
    place = spell_path(fault.path)
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
            allowed = {"role": ROLES, "type": types}.get(str(fault.path[-1]) if fault.path else "", "")
            words = f"Invalid value: '{fault.detail}'." + (f" Supported values are: {allowed}." if allowed else "")
            return Refusal(words, parameter=place, code="invalid_value")


def say_with(*types: str) -> Callable[[Fault], Refusal]:
    """OpenAI's words with the parts that another host takes."""
    return partial(say, types=list_values(types))


MARKED = frozenset(f"{kind}.prompt_cache_breakpoint" for kind in ("text", "image_url", "input_audio", "file"))
OPENAI = Rules(
    fields=TYPED,
    options=MARKED
    | {f"{role}.name" for role in ("system", "developer", "user", "assistant")}
    | {"assistant.refusal", "assistant.audio", "stream_options.include_usage", "stream_options.include_obfuscation"},
    say=say,
)


def read_body(body: bytes, rules: Rules = OPENAI) -> ModelRequest:
    """Read a whole request. Raises `Refusal` for what the host would answer with 4xx."""
    decoded = _decode(body, rules)
    check_body(decoded, rules)
    tools = [] if decoded.tools is UNSET else decoded.tools
    return ModelRequest(
        model=decoded.model,
        turns=_read_turns(decoded, rules),
        tools=tuple(OfferedTool(t.function.name, t.function.description, t.function.parameters or {}) for t in tools),
        tool_choice=_read_choice(decoded.tool_choice),
        system="\n".join(
            _text(m.content) for m in decoded.messages if isinstance(m, wire.Instruction | wire.Developer)
        ),
        parallel=decoded.parallel_tool_calls,
        stream=bool(decoded.stream),
        stream_usage=decoded.stream_options is not None and decoded.stream_options.include_usage is True,
        max_tokens=decoded.max_completion_tokens or decoded.max_tokens,
    )


def _decode(body: bytes, rules: Rules) -> wire.Body:
    try:
        return _decoder.decode(_select(body, rules))
    except msgspec.ValidationError as error:
        raise rules.say(_narrow(fault_of(error), rules)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        words = "We could not parse the JSON body of your request. (HINT: it isn't valid JSON.)"
        raise Refusal(words) from None


def _select(body: bytes, rules: Rules) -> bytes:
    """The body with those fields that the host reads and that are checked here; what it doesn't know is refused."""
    given = _outline.decode(body)
    for name in given:
        if name not in rules.fields and not rules.ignores:
            raise rules.say(Fault("unknown", (), name))
    kept = given.keys() & rules.fields & TYPED
    return body if kept == given.keys() else msgspec.json.encode({n: v for n, v in given.items() if n in kept})


def _narrow(fault: Fault, rules: Rules) -> Fault:
    """A wrong type beside the only one that this host takes, where the schema lists another host's, too."""
    field = str(fault.path[-1]) if fault.path else ""
    if fault.shape != "type" or field not in FORMS or field in rules.bare:
        return fault
    return msgspec.structs.replace(fault, detail=FORMS[field])


def spell(reply: Reply, asked: ModelRequest, name: str, manner: Manner = PLAIN) -> Iterator[bytes]:
    """The answer, streamed or whole, as the host writes it."""
    if asked.stream:
        return write.spell_stream(reply, asked.model, name, usage=asked.stream_usage, manner=manner)
    return iter((write.spell_completion(reply, asked.model, name, manner),))


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
        case "any":
            return "required"
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


def _read_turns(body: wire.Body, rules: Rules) -> tuple[RequestTurn, ...]:
    """The turns; files that the host moves out of tool results follow all results of their step."""
    turns: list[RequestTurn] = []
    moved: tuple[Words | ReceivedFile, ...] = ()
    for at, message in enumerate(body.messages):
        if not isinstance(message, wire.ToolMessage) and moved:
            turns.append(RequestTurn("user", moved))
            moved = ()
        turn = _read_message(message, ("messages", at, "content"))
        if isinstance(message, wire.ToolMessage) and rules.native.match(body.model) is None:
            turn, files = _move_files(turn)
            moved += files
        turns += [turn] if turn else []
    return merge_turns([*turns, RequestTurn("user", moved)] if moved else turns)


def _move_files(turn: RequestTurn | None) -> tuple[RequestTurn | None, tuple[Words | ReceivedFile, ...]]:
    """A turn of one result without its files, and these as a user's."""
    if turn is None or not isinstance(result := turn.parts[0], Result):
        return turn, ()
    words = tuple(part for part in result.parts if isinstance(part, Words))
    files = [part for part in result.parts if isinstance(part, ReceivedFile)]
    moved = tuple(msgspec.structs.replace(file, place="user", call_id=None) for file in files)
    return RequestTurn("user", (msgspec.structs.replace(result, parts=words),)), moved


def _read_message(message: wire.Message, path: Path) -> RequestTurn | None:
    match message:
        case wire.User(content=str(text)):
            return RequestTurn("user", (Words(text),))
        case wire.User():
            return RequestTurn("user", _read_parts(parts_of(message), path, "user", None))
        case wire.ToolMessage():
            return RequestTurn("user", (Result(message.tool_call_id, _read_result(message, path)),))
        case wire.Assistant():
            calls = [] if message.tool_calls is UNSET else message.tool_calls
            text = _text(message.content)
            return RequestTurn("assistant", (*([Words(text)] if text else []), *map(_read_call, calls)))
        case wire.Instruction() | wire.Developer():
            return None


def _read_call(call: wire.ToolCall) -> Call:
    given = call.function.arguments
    return Call(call.id, call.function.name, given if isinstance(given, str) else msgspec.json.encode(given).decode())


def _read_result(message: wire.ToolMessage, path: Path) -> tuple[Words | ReceivedFile, ...]:
    parts = _read_parts(parts_of(message), path, "tool_result", message.tool_call_id)
    if any(isinstance(part, ReceivedFile) for part in parts):
        return parts
    text = _text(message.content)
    return (Words(text),) if text else ()


def _read_parts(
    parts: Sequence[wire.Anything], path: Path, place: Place, call_id: str | None
) -> tuple[Words | ReceivedFile, ...]:
    read: list[Words | ReceivedFile] = []
    label, piece = "", 0
    for index, part in enumerate(parts):
        match part:
            case wire.Text():
                label, piece = part.text, 0
                read.append(Words(label))
            case wire.JsonDocument():
                read.append(Words(msgspec.json.encode(part.document).decode()))
            case wire.Refused() | wire.Thinking():
                continue
            case _:
                piece += 1
                seen = _read_file(part, ReceivedFile(place, "", spell_path((*path, index)), call_id=call_id))
                read.append(msgspec.structs.replace(seen, label=label, piece=piece))
    return tuple(read)


def _read_file(
    part: wire.Image | wire.Audio | wire.File | wire.DocumentUrl | wire.Video, seen: ReceivedFile
) -> ReceivedFile:
    """Fill in what the part says; `seen` already knows its place."""
    match part:
        case wire.Image(image_url=image):
            return fill(seen, image if isinstance(image, str) else image.url, "image/*")
        case wire.Video():
            return fill(seen, part.video_url.url, "video/*")
        case wire.DocumentUrl():
            return fill(seen, part.document_url, "application/pdf", part.document_name or "")
        case wire.Audio(input_audio=str(text)):
            return _fill_sound(seen, text)
        case wire.Audio(input_audio=wire.AudioData() as audio):
            return _fill_sound(seen, audio.data, audio.format)
        case wire.File(file=wire.FileData() as file):
            name = file.filename if file.filename is not UNSET else ""
            source = file.file_data if file.file_data is not UNSET else file.file_id
            return fill(seen, str(source), "application/pdf", name)
        case wire.File():
            return fill(seen, str(part.file_id), "application/pdf")
        case _:
            raise TypeError(f"{seen.position} is not a file")


def _fill_sound(seen: ReceivedFile, text: str, form: str = "audio") -> ReceivedFile:
    media_type = sound_type(text, form)
    if media_type is None:
        return msgspec.structs.replace(seen, media_type="audio/*", reference=text)
    return msgspec.structs.replace(seen, media_type=media_type, data=decode_base64(text))


def fill(seen: ReceivedFile, url: str, guess: str, name: str | msgspec.UnsetType = "") -> ReceivedFile:
    """Give a file its bytes, or the reference that came in their place; it already knows its place and label."""
    named = msgspec.structs.replace(seen, name=name or "")
    found = read_data_url(url)
    if found is None:
        return msgspec.structs.replace(named, media_type=guess, reference=url)
    return msgspec.structs.replace(named, media_type=found[0], data=found[1])


def _one_of(wanted: str) -> str:
    return f"one of {wanted}" if " or " in wanted else wanted


def _read(incoming: IncomingRequest) -> ModelRequest:
    return read_body(incoming.body)


def too_large() -> Refusal:
    """What OpenAI says of a body that is too large."""
    return Refusal("The data you are trying to upload is too large.", status=413)


HOUSES = (
    Host(
        base="openai",
        path=re.compile("/v1/chat/completions"),
        read=_read,
        spell=spell,
        refuse=spell_refusal,
        too_large=too_large,
    ),
)
