"""Helpers for testing your own tools, providers and stores without a network."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    if name not in MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"showandtell.{MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
