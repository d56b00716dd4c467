"""What tools, clients and other libraries hand in as content: values of any shape, a chat request's body, a history."""

import json

import msgspec
import pybase64
from atheris import FuzzedDataProvider
from given import choose, read_rest, seed

from showandtell import ToolResult, from_anthropic, from_gemini, from_openai
from showandtell.core.collect.entry import collect
from showandtell.core.collect.nodes import Collected
from showandtell.core.messages.file import File
from showandtell.core.messages.message import History
from showandtell.core.messages.parts import Json, Shown, Text, ToolCall
from showandtell.errors import BadInput
from showandtell.server.chat_request import MAX_CHARACTERS, MAX_PARTS, parse_chat_request
from support.fixtures import pdf, png

DATA = pybase64.b64encode(png()).decode()
URL = f"data:image/png;base64,{DATA}"
# fmt: off
#: Words that blocks are made of; a value of another kind may stand wherever one of them does.
WORDS = (
    *("type", "text", "input_text", "output_text", "text-plain", "image", "image_url", "input_image", "audio", "video"),
    *("input_audio", "file", "input_file", "document", "resource", "resource_link", "source", "base64", "media_type"),
    *("data", "mimeType", "mime_type", "blob", "uri", "url", "name", "filename", "file_data", "file_id", "title"),
    *("content", "structuredContent", "isError", "_meta", "annotations", "audience", "user", "assistant", "result"),
    *("role", "tool_use", "tool_result", "tool_use_id", "id", "input", "tool", "tool_call_id", "tool_calls", "function"),
    *("arguments", "parts", "inlineData", "functionCall", "functionResponse", "response", "model", "thought", "args"),
    *("", "\ud83d", "\ude00", "a/b~c", "image/png", "é", "metadata", "extras", "format", "wav", DATA, URL, f"see {URL}."),
)
# fmt: on
DEEPEST = 8


def build(given: FuzzedDataProvider, depth: int = 0) -> object:
    """Any value: JSON's own, Python's, and files."""
    match choose(given, 16 if depth < DEEPEST else 8):
        case 0:
            return None
        case 1:
            return given.ConsumeBool()
        case 2:
            return given.ConsumeInt(9) ** (choose(given, 256) if choose(given, 256) == 1 else 1)
        case 3:
            return given.ConsumeFloat()
        case 4:
            return given.ConsumeUnicode(choose(given, 64))
        case 5:
            return given.ConsumeBytes(choose(given, 256))
        case 6 | 7:
            return WORDS[choose(given, len(WORDS))]
        case 8 | 9:
            return [build(given, depth + 1) for _ in range(choose(given, 5))]
        case 10:
            return tuple(build(given, depth + 1) for _ in range(choose(given, 5)))
        case 11:
            return File.from_bytes(given.ConsumeBytes(9), *(given.ConsumeUnicode(choose(given, 99)) for _ in range(2)))
        case 12:
            return build_part(given, depth)
        case _:
            return {build_key(given, depth): build(given, depth + 1) for _ in range(choose(given, 6))}


def build_key(given: FuzzedDataProvider, depth: int) -> object:
    """A key: nearly always a word of blocks."""
    at = choose(given, len(WORDS) + 8)
    found = WORDS[at] if at < len(WORDS) else build(given, max(depth, DEEPEST))
    return found if isinstance(found, str | int | float | None) else "key"


def build_part(given: FuzzedDataProvider, depth: int) -> object:
    """One of our own parts, whose fields nobody checks."""
    words = given.ConsumeUnicode(choose(given, 64))
    match choose(given, 4):
        case 0:
            return Text(words, ("both", "model", "user")[choose(given, 3)])
        case 1:
            return Json(words)
        case 2:
            return {build_key(given, depth), *(words.split())}
        case _:
            return bytearray(words.encode(errors="replace"))


#: Python's own gives NaN and lone surrogates, too.
READERS = (msgspec.json.decode, json.loads)


def try_blocks(data: bytes) -> None:
    """Whatever is handed in becomes parts that can be stored, in which every file has its place; or it is refused."""
    given = FuzzedDataProvider(data)
    match choose(given, 4):
        case 0:
            value = build(given)
            check_value(value)
            check_histories(value)
        case 1:
            check_asked(read_rest(given))
        case reader:
            payload = read_rest(given)
            check_value(payload)
            try:
                value = READERS[reader - 2](payload)
            except (ValueError, RecursionError):
                return
            check_value(value)
            check_histories(value)


def check_value(value: object) -> None:
    """What a tool returned."""
    try:
        parts = collect(value)
        result = ToolResult(value)
    except BadInput as error:
        str(error).encode()
        return
    assert result.parts == parts
    for part in parts:
        check_part(part)
    result.text.encode()
    assert not result.without_files.files
    assert collect(result) == parts, "what was collected is not collected as itself"


def check_part(part: Collected) -> None:
    """A part can be stored, and a file in JSON has its place there."""
    match part:
        case Text(text, audience):
            text.encode()
            assert text
            assert audience in {"both", "model", "user"}
        case Json(text, files):
            whole = msgspec.json.decode(text.encode())
            for pointer, file in files:
                assert find(whole, pointer) is None
                assert isinstance(file, File | Shown)
        case File() | Shown():
            pass


def find(value: object, pointer: str) -> object:
    """What a JSON pointer leads to."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def check_asked(body: bytes) -> None:
    """A client's request."""
    try:
        asked = parse_chat_request(body)
    except BadInput as error:
        str(error).encode()
        return
    assert len(asked.content) <= MAX_PARTS
    assert sum(len(item) for item in asked.content if isinstance(item, str)) <= MAX_CHARACTERS
    msgspec.json.encode(asked)


def check_histories(value: object) -> None:
    """Somebody else's history, in each of the three spellings."""
    for adopt in (from_anthropic, from_openai, from_gemini):
        try:
            history = adopt(value)
        except BadInput:
            continue
        check_history(history)


def check_history(history: History) -> None:
    """Every result follows its call."""
    calls: set[str] = set()
    for draft in history:
        assert draft.role != "tool" or draft.call_id in calls
        calls |= {part.call_id for part in draft.parts if isinstance(part, ToolCall)}


def say(*parts: object) -> dict[str, object]:
    """A client's body."""
    message = {"id": "m1", "role": "user", "parts": parts}
    return {"id": "c1", "messages": [{}, message], "trigger": "submit-message", "messageId": None, "model": "inspector"}


# fmt: off
PART = "/api/attachments/att_0123456789abcdefghijkl/content/a.png"
APPROVED = {"type": "tool-draw", "state": "approval-responded", "approval": {"id": "c1", "approved": True, "reason": "x"}}
ASKED = [
    say({"type": "text", "text": "hello"}, {"type": "file", "url": PART}, {"type": "file", "url": f"http://h{PART}?a=b"}),
    say({"type": "data-attachment", "data": {"id": "att_1"}}, {"type": "other", "data": [1]}),
    {**say(), "messages": [{"id": "a", "role": "assistant", "parts": [APPROVED]}], "trigger": "regenerate-message"},
]
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}
VALUES = [
    {"a": [1, 2.5, None, True, "x"], "b": {"c": URL}},
    [{"type": "text", "text": "Here:"}, {"type": "image", "data": DATA, "mimeType": "image/png"}],
    {"content": [{"type": "text", "text": "{}"}, {"type": "resource", "resource": {"uri": "a://b/c", "blob": DATA}}]},
    {"content": [{"type": "text", "text": '{"a":1}'}], "structuredContent": {"a": 1}, "isError": False, "_meta": {}},
    {"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
    [{"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}}, "words"],
    [{"type": "file", "file": {"file_data": URL, "filename": "a.pdf"}}, {"type": "file", "base64": DATA, "extras": {}}],
    [{"type": "text", "text": "x", "annotations": {"audience": ["user"]}}, {"type": "resource_link", "uri": "a", "name": "b"}],
    [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": [{"type": "text", "text": "look"}, IMAGE, {"type": "image_url", "image_url": {"url": URL}}]},
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}], "content": None},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
    ],
    [
        {"role": "user", "content": [IMAGE, {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [IMAGE], "is_error": True}]},
    ],
    [
        {"role": "user", "parts": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": DATA}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}, {"thought": True, "text": "x"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"result": "x"}}}]},
    ],
    [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_image", "image_url": URL}]},
    ],
]
# fmt: on
SEEDS = [
    *(seed(msgspec.json.encode(item), 1) for item in ASKED),
    *(seed(msgspec.json.encode(item), 2) for item in VALUES),
    *(seed(data, 2) for data in (png(), pdf("x"), DATA.encode(), URL.encode(), b"words", b"\xff\xfe")),
    *(seed(b"words", 0, 13, 3, *(at + step for step in range(24))) for at in range(0, 80, 4)),
]
RUN = try_blocks
