"""How many bytes of a request's body text, calls and labels take.

Upper bounds for all APIs: text is measured exactly as JSON, and what surrounds it is at most a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgspec

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Address, Attachment
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import Correction, HostedBlock, Json, Opaque, Part, Shown, Summary, Text, ToolCall
from showandtell.core.planning import labels
from showandtell.core.planning.conversions import base64_length
from showandtell.core.planning.framing import escape_json, fit_call, unescape_json
from showandtell.core.planning.values import Data, RenderedFile

#: The most that an API writes around a message, a call or a result; a text; a file.
MESSAGE_FRAME, TEXT_FRAME, FILE_FRAME = 200, 64, 160


def json_length(text: str, *, nested: bool = False) -> int:
    """The bytes of a text as a JSON string; `nested` if it is part of JSON in a string, and so escaped twice."""
    encoded = msgspec.json.encode(text)
    return len(msgspec.json.encode(encoded.decode())) if nested else len(encoded)


def text_size(text: str, *, nested: bool = False) -> int:
    """The bytes of a text block."""
    return TEXT_FRAME + json_length(text, nested=nested)


def piece_size(piece: Text | Data | RenderedFile, *, nested: bool = False) -> int:
    """The bytes of a text or a file."""
    if not isinstance(piece, RenderedFile):
        return text_size(piece.text, nested=nested)
    source = piece.file
    content = json_length(source.value) if isinstance(source, Address) else base64_length(source.size)
    return FILE_FRAME + content + json_length(piece.name) + 2 * json_length(source.media_type)


def is_nested(message: Message) -> bool:
    """Whether an API may write the message's text as JSON in a string, as openai-responses does with errors."""
    return message.role == "tool" and message.is_error


def message_size(message: Message, attachments: Mapping[int, Attachment], target: Target) -> int:
    """The bytes of a message whose files are all out of view."""
    nested = is_nested(message)
    size = MESSAGE_FRAME + len(target.order.filler)
    if message.role == "tool":
        size += json_length(message.call_id or "") + json_length(message.tool or "") + MESSAGE_FRAME
    if message.author:
        size += text_size(labels.written_by(message.author).text)
    if message.references:
        size += text_size(labels.explain_references(message.references, attachments).text)
    return size + sum(part_size(part, attachments, target, nested=nested) for part in message.parts)


def part_size(part: Part, attachments: Mapping[int, Attachment], target: Target, *, nested: bool) -> int:
    """The bytes of one part whose files are out of view."""
    match part:
        case Text(text=text, audience=audience):
            return text_size(text, nested=nested) if audience != "user" else 0
        case Json(text=text, files=files):
            own = text_size(labels.escape(unescape_json(text)) if files else escape_json(text), nested=nested)
            return own + sum(listed_size(attachments[shown.number], nested=nested, twice=True) for _, shown in files)
        case Shown(number=number):
            return listed_size(attachments[number], nested=nested)
        case ToolCall():
            return call_size(part, target)
        case Opaque():
            return opaque_size(part) if target.wrote(part) else 0
        case HostedBlock(block=block):
            own = len(block.encode()) if target.wrote(part) else 0
            return TEXT_FRAME + max(own, text_size(labels.hosted(part).text))
        case Summary():
            return sum(text_size(label.text) for label in labels.left_out(part))
        case Correction(text=text):
            return text_size(labels.not_accepted(text).text)
        case _:
            return 0


@lru_cache(maxsize=10_000)
def listed_size(file: Attachment, *, nested: bool = False, twice: bool = False) -> int:
    """The most bytes of the label of a file that is out of view; `twice` if a JSON value also names the file."""
    kinds = (True,) if file.in_context else (True, False)  # the label of others says what reads them
    size = max(text_size(labels.listed(file, can_read=can_read).text, nested=nested) for can_read in kinds)
    if twice:
        size += json_length(msgspec.json.encode(labels.json_placeholder(file)).decode(), nested=nested)
    return size


def call_size(call: ToolCall, target: Target) -> int:
    """The bytes of a call. Arguments that are no JSON object are put into one, and some APIs want that as a string."""
    call = fit_call(call, target)
    try:
        msgspec.json.decode(call.arguments, type=dict[str, object])
        is_object = True
    except (msgspec.DecodeError, RecursionError):
        is_object = False
    opaque = opaque_size(call.opaque) if call.opaque is not None else 0
    names = json_length(call.call_id) + json_length(call.tool)
    return MESSAGE_FRAME + names + json_length(call.arguments, nested=not is_object) + opaque


def opaque_size(opaque: Opaque) -> int:
    """The bytes of an opaque part: JSON is sent as it is, anything else as a string."""
    is_json = opaque.text.lstrip().startswith("{")
    return TEXT_FRAME + (len(opaque.text.encode()) if is_json else json_length(opaque.text))
