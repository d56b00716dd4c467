"""Blocks and tools that Anthropic runs, as a request may hold them (anthropic 2.12, `BetaContentBlockParam`)."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct


class HostedBlock(Struct, forbid_unknown_fields=True):
    """A block that only the assistant writes."""

    cache_control: dict[str, Any] | None = None


class ServerToolUse(HostedBlock, tag="server_tool_use", kw_only=True):
    """A call of a tool that Anthropic runs."""

    id: str
    name: Literal[
        "advisor",
        "web_search",
        "web_fetch",
        "code_execution",
        "bash_code_execution",
        "text_editor_code_execution",
        "tool_search_tool_regex",
        "tool_search_tool_bm25",
    ]
    input: dict[str, Any]
    caller: dict[str, Any] | None = None


class McpToolUse(HostedBlock, tag="mcp_tool_use", kw_only=True):
    """A call of a tool of an MCP server."""

    id: str
    name: str
    server_name: str
    input: dict[str, Any]


class HostedResult(HostedBlock, kw_only=True):
    """The result of a call in an earlier block."""

    tool_use_id: str
    content: Any
    caller: dict[str, Any] | None = None


class WebSearchResult(HostedResult, tag="web_search_tool_result"):
    """Results of a search, or its error."""


class WebFetchResult(HostedResult, tag="web_fetch_tool_result"):
    """A fetched page, or its error."""


class AdvisorResult(HostedResult, tag="advisor_tool_result"):
    """What another model said."""


class CodeResult(HostedResult, tag="code_execution_tool_result"):
    """What code wrote, and the files that it made."""


class BashResult(HostedResult, tag="bash_code_execution_tool_result"):
    """What a command wrote, and the files that it made."""


class EditorResult(HostedResult, tag="text_editor_code_execution_tool_result"):
    """What happened to a file of the container."""


class ToolSearchResult(HostedResult, tag="tool_search_tool_result"):
    """The tools that were found."""


class McpResult(HostedBlock, tag="mcp_tool_result", kw_only=True):
    """The result of a tool of an MCP server."""

    tool_use_id: str
    content: Any = None
    is_error: bool = False


class Compaction(HostedBlock, tag="compaction", kw_only=True):
    """A summary of the conversation before it."""

    content: str | None = None
    encrypted_content: str | None = None
    signature: str | None = None
    tool_changes: list[Any] | None = None


class ContainerUpload(HostedBlock, tag="container_upload", kw_only=True):
    """A file that code in the container may read."""

    file_id: str


Hosted: TypeAlias = (
    ServerToolUse
    | McpToolUse
    | WebSearchResult
    | WebFetchResult
    | AdvisorResult
    | CodeResult
    | BashResult
    | EditorResult
    | ToolSearchResult
    | McpResult
    | Compaction
    | ContainerUpload
)
#: The types of tools that Anthropic runs end with a date; those that a client runs have the same form.
TOOL_TYPE = r"(web_search|web_fetch|code_execution|tool_search_tool_(?:regex|bm25))_\d{8}"
