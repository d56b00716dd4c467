"""Imports the history in an AG-UI request, which the client holds: see `client_history` for what of it enters."""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

from showandtell.core.ag_ui.run_input import (
    MAX_MESSAGES,
    MAX_PARTS,
    CallRecord,
    FileSource,
    HistoryMessage,
    RunInput,
    read_content,
)
from showandtell.core.histories.client_history import (
    CallSeals,
    ClientReading,
    claim_bytes,
    claim_file,
    claim_result_file,
    not_included,
    short_name,
)
from showandtell.core.histories.reading import located_errors
from showandtell.core.messages.parts import DraftPart, Text, ToolCall
from showandtell.core.wire.bounded import decode_bounded
from showandtell.errors import BadInput


class OwnMetadata(Struct, frozen=True):
    """Our metadata of a call or a result."""

    seal: str = ""
    is_error: bool = False
    files: list[str] = []


class _Metadata(Struct, frozen=True):
    showandtell: OwnMetadata = OwnMetadata()


_read_messages = msgspec.json.Decoder(list[HistoryMessage]).decode
_read_calls = msgspec.json.Decoder(list[CallRecord] | None).decode
_read_text = msgspec.json.Decoder(str | None).decode


def read_history(request: RunInput, seals: CallSeals | None = None) -> ClientReading:
    """Read the messages of a request. Without `seals` no call can be approved. Raises `BadInput`."""
    reading = ClientReading()
    try:
        messages = decode_bounded(_read_messages, request.messages, MAX_MESSAGES, "request", "messages")
        for index, message in enumerate(messages):
            with located_errors(f"messages[{index}]"):
                _read_message(message, reading, seals)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"the messages are not those of AG-UI ({error}): send RunAgentInput") from None
    return reading


def _read_message(message: HistoryMessage, reading: ClientReading, seals: CallSeals | None) -> None:
    match message.role:
        case "user":
            reading.add_user([user_part(part) for part in read_content(message.content)])
        case "assistant":
            text = _read_text(message.content)
            calls = _read_calls_of(message)
            if seals is not None:
                reading.sealed |= {call.call_id for call, seal in calls if seals.verifies(call, seal)}
            reading.add_assistant([*([Text(text)] if text else []), *(call for call, _ in calls)])
        case "tool":
            parts = [_result_part(part) for part in read_content(message.content)]
            own = _own_metadata(message.metadata)
            # The words of peers of 0.0.x only name the files of a result.
            parts += [claim_result_file(name) for name in own.files[:MAX_PARTS]]
            parts += [Text(message.error)] if message.error else []
            is_error = message.error is not None or own.is_error
            reading.add_result(message.tool_call_id, parts, is_error=is_error)
        case _:  # instructions, reasoning and activities
            pass


def user_part(part: str | FileSource) -> DraftPart:
    """A part of a user's message. Raises `BadFile`."""
    match part:
        case str():
            return Text(part)
        case FileSource("data", data, media_type, name):
            return claim_bytes(data, media_type, name)
        case FileSource("url", address, media_type, name):
            return claim_file(address, media_type, name)
        case FileSource():
            return not_included(short_name(part.name))


def _result_part(part: str | FileSource) -> DraftPart:
    match part:
        case str():
            return Text(part)
        case FileSource("url", address, media_type, name):
            return claim_result_file(address, media_type, name)
        case FileSource():
            return not_included(short_name(part.name))


def _read_calls_of(message: HistoryMessage) -> list[tuple[ToolCall, str]]:
    """The calls of a message, each with what claims to be its seal. An id that is repeated in it is left out."""
    records: list[CallRecord] | None = decode_bounded(
        _read_calls, message.tool_calls, MAX_PARTS, "message", "tool calls"
    )
    calls = {
        record.id: (
            ToolCall(record.id, record.function.name, record.function.arguments),
            _own_metadata(record.metadata).seal,
        )
        for record in reversed(records or ())
    }
    return [*reversed(calls.values())]


def _own_metadata(metadata: Raw) -> OwnMetadata:
    """What we wrote into the metadata of a call or a result. A client may have written anything."""
    try:
        return (msgspec.json.decode(metadata, type=_Metadata | None) or _Metadata()).showandtell
    except msgspec.ValidationError:
        return OwnMetadata()
