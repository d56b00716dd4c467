"""Helpers for testing your own tools, providers, APIs and stores without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from showandtell.lazy import lazy_names

if TYPE_CHECKING:
    from showandtell.core.wire.http import HttpRequest, HttpResponse
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
        Violation,
        decode_base64,
        matches_type,
        merge_turns,
        read_violation,
    )
    from showandtell.testing.fake_connection import FakeConnection
    from showandtell.testing.stores import CONVERSATION_CHECKS, ConversationStore

#: The public names by module. Modules are imported on first use of a name.
MODULES = {
    "core.wire.http": "HttpRequest HttpResponse",
    "inspector.request": "ApiError Call Host IncomingRequest ModelRequest OfferedTool ReceivedFile Reply RequestTurn "
    "Result TextPart Violation decode_base64 matches_type merge_turns read_violation",
    "testing.fake_connection": "FakeConnection",
    "testing.stores": "CONVERSATION_CHECKS ConversationStore",
}
MODULE_OF = {name: module for module, names in MODULES.items() for name in names.split()}

__all__ = [
    "CONVERSATION_CHECKS",
    "ApiError",
    "Call",
    "ConversationStore",
    "FakeConnection",
    "Host",
    "HttpRequest",
    "HttpResponse",
    "IncomingRequest",
    "ModelRequest",
    "OfferedTool",
    "ReceivedFile",
    "Reply",
    "RequestTurn",
    "Result",
    "TextPart",
    "Violation",
    "decode_base64",
    "matches_type",
    "merge_turns",
    "read_violation",
]

__getattr__, __dir__ = lazy_names(__name__, MODULE_OF)
