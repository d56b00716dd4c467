"""Show & Tell: tools return files along with text and JSON, and every model sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from showandtell.lazy import lazy_names

if TYPE_CHECKING:
    from showandtell.agent.agent import Agent, Run
    from showandtell.agent.builtin_tools import builtin_tools
    from showandtell.agent.client_turns import from_ag_ui
    from showandtell.agent.context import RunContext
    from showandtell.agent.dependencies import Depends
    from showandtell.agent.file_tools import get_document, list_files, view_file
    from showandtell.agent.render import explain, render, render_results
    from showandtell.agent.settings import Connection, FilePolicy, ModelSettings, RunLimits
    from showandtell.agent.tools import Tool, tool
    from showandtell.agent.toolsets import Toolset
    from showandtell.agent.ui_turns import from_ui_messages
    from showandtell.core.capabilities.resolve import resolve
    from showandtell.core.collect.tool_result import ToolResult
    from showandtell.core.events.types import Usage
    from showandtell.core.histories.from_anthropic import from_anthropic
    from showandtell.core.histories.from_gemini import from_gemini
    from showandtell.core.histories.from_openai import from_openai
    from showandtell.core.messages.attachments import Facts
    from showandtell.core.messages.file import File
    from showandtell.core.messages.message import Draft, History, Message
    from showandtell.core.messages.parts import Json, Opaque, Shown, Text, ToolCall
    from showandtell.core.planning.values import Receipt
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
    from showandtell.network.fetch import FetchPolicy
    from showandtell.network.timeouts import Timeouts
    from showandtell.network.transport import Transport
    from showandtell.providers.retry import RetryPolicy
    from showandtell.storage.conversations.store import Store
    from showandtell.storage.conversations.transfer import export_conversation, import_conversation
    from showandtell.storage.database.quotas import Quotas
    from showandtell.storage.files.conversation_file import load
    from showandtell.storage.files.file_cache import FileCache

#: The public names by module. Modules are imported on first use of a name.
MODULES = {
    "agent.agent": "Agent Run",
    "agent.builtin_tools": "builtin_tools",
    "agent.client_turns": "from_ag_ui",
    "agent.file_tools": "get_document list_files view_file",
    "storage.conversations.transfer": "export_conversation import_conversation",
    "storage.database.quotas": "Quotas",
    "agent.context": "RunContext",
    "agent.dependencies": "Depends",
    "agent.render": "explain render render_results",
    "agent.settings": "Connection FilePolicy ModelSettings RunLimits",
    "agent.tools": "Tool tool",
    "agent.toolsets": "Toolset",
    "agent.ui_turns": "from_ui_messages",
    "core.capabilities.resolve": "resolve",
    "core.collect.tool_result": "ToolResult",
    "core.events.types": "Usage",
    "core.histories.from_anthropic": "from_anthropic",
    "core.histories.from_gemini": "from_gemini",
    "core.histories.from_openai": "from_openai",
    "core.messages.attachments": "Facts",
    "core.messages.file": "File",
    "core.messages.message": "Draft History Message",
    "core.messages.parts": "Json Opaque Shown Text ToolCall",
    "core.planning.values": "Receipt",
    "errors": "BadConversation BadFile BadInput BadValue Busy FileChanged "
    "NotFound ProviderError ShowAndTellError StorageFailed ToolError UnknownModel UnsupportedFile",
    "network.fetch": "FetchPolicy",
    "network.timeouts": "Timeouts",
    "network.transport": "Transport",
    "providers.retry": "RetryPolicy",
    "storage.conversations.store": "Store",
    "storage.files.conversation_file": "load",
    "storage.files.file_cache": "FileCache",
}
MODULE_OF = {name: module for module, names in MODULES.items() for name in names.split()}

__all__ = [
    "Agent",
    "BadConversation",
    "BadFile",
    "BadInput",
    "BadValue",
    "Busy",
    "Connection",
    "Depends",
    "Draft",
    "Facts",
    "FetchPolicy",
    "File",
    "FileCache",
    "FileChanged",
    "FilePolicy",
    "History",
    "Json",
    "Message",
    "ModelSettings",
    "NotFound",
    "Opaque",
    "ProviderError",
    "Quotas",
    "Receipt",
    "RetryPolicy",
    "Run",
    "RunContext",
    "RunLimits",
    "ShowAndTellError",
    "Shown",
    "StorageFailed",
    "Store",
    "Text",
    "Timeouts",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolResult",
    "Toolset",
    "Transport",
    "UnknownModel",
    "UnsupportedFile",
    "Usage",
    "builtin_tools",
    "explain",
    "export_conversation",
    "from_ag_ui",
    "from_anthropic",
    "from_gemini",
    "from_openai",
    "from_ui_messages",
    "get_document",
    "import_conversation",
    "list_files",
    "load",
    "render",
    "render_results",
    "resolve",
    "tool",
    "view_file",
]

__getattr__, __dir__ = lazy_names(__name__, MODULE_OF)
