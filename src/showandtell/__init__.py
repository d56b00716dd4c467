"""Show & Tell: any tool returns files beside text and JSON, and every model really sees them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from showandtell.adopt.anthropic import from_anthropic
    from showandtell.adopt.gemini import from_gemini
    from showandtell.adopt.openai import from_openai
    from showandtell.agent.agent import Agent, Run
    from showandtell.agent.context import Context
    from showandtell.agent.tools import Tool, tool
    from showandtell.capabilities.resolve import resolve
    from showandtell.collect import ToolResult
    from showandtell.content import Draft, File, History, Json, Message, Opaque, Shown, Text, ToolCall
    from showandtell.delivery.values import Receipt
    from showandtell.errors import (
        BadConversation,
        BadFile,
        BadInput,
        BadValue,
        Busy,
        FileChanged,
        NotFound,
        ProviderError,
        ShowAndTellError,
        StorageFailed,
        ToolError,
        UnknownModel,
        UnsupportedFile,
    )
    from showandtell.history.store import Store
    from showandtell.records import load
    from showandtell.rendering import explain, render, render_results

#: Where each public name lives. Nothing is imported before it is asked for.
HOMES = {
    "adopt.anthropic": "from_anthropic",
    "adopt.gemini": "from_gemini",
    "adopt.openai": "from_openai",
    "agent.agent": "Agent Run",
    "agent.context": "Context",
    "agent.tools": "Tool tool",
    "capabilities.resolve": "resolve",
    "collect": "ToolResult",
    "content": "Draft File History Json Message Opaque Shown Text ToolCall",
    "delivery.values": "Receipt",
    "errors": "BadConversation BadFile BadInput BadValue Busy FileChanged NotFound ProviderError ShowAndTellError "
    "StorageFailed ToolError UnknownModel UnsupportedFile",
    "history.store": "Store",
    "records": "load",
    "rendering": "explain render render_results",
}
HOME_OF = {name: home for home, names in HOMES.items() for name in names.split()}

__all__ = [
    "Agent",
    "BadConversation",
    "BadFile",
    "BadInput",
    "BadValue",
    "Busy",
    "Context",
    "Draft",
    "File",
    "FileChanged",
    "History",
    "Json",
    "Message",
    "NotFound",
    "Opaque",
    "ProviderError",
    "Receipt",
    "Run",
    "ShowAndTellError",
    "Shown",
    "StorageFailed",
    "Store",
    "Text",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolResult",
    "UnknownModel",
    "UnsupportedFile",
    "explain",
    "from_anthropic",
    "from_gemini",
    "from_openai",
    "load",
    "render",
    "render_results",
    "resolve",
    "tool",
]


def __getattr__(name: str) -> Any:
    home = HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
