"""Helpers for testing your own tools, providers and stores without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from showandtell.lazy import lazy_names

if TYPE_CHECKING:
    from showandtell.core.wire.http import HttpRequest, HttpResponse
    from showandtell.testing.fake_connection import FakeConnection
    from showandtell.testing.stores import CONVERSATION_CHECKS, ConversationStore

#: The public names by module. Modules are imported on first use of a name.
MODULE_OF = {
    "CONVERSATION_CHECKS": "testing.stores",
    "ConversationStore": "testing.stores",
    "FakeConnection": "testing.fake_connection",
    "HttpRequest": "core.wire.http",
    "HttpResponse": "core.wire.http",
}

__all__ = ["CONVERSATION_CHECKS", "ConversationStore", "FakeConnection", "HttpRequest", "HttpResponse"]

__getattr__, __dir__ = lazy_names(__name__, MODULE_OF)
