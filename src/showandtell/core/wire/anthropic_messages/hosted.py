"""Blocks of tools that Anthropic runs, and blocks of unknown types.

Shapes are those of anthropic 2.12 (`BetaContentBlock`) and of recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from showandtell.core.events.types import FileMade, RemoteFile, SourceEvent
from showandtell.core.messages.parts import HostedBlock, Source
from showandtell.core.wire.hosted_blocks import Fields, hosted_block
from showandtell.core.wire.response_files import UNKNOWN_TYPE

#: Types of blocks that call a tool, and the ends of the types of results.
CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
RESULT, ERROR = "_tool_result", "_error"


def describe_block(block: Fields, number: int) -> HostedBlock:
    """Describe a block. One without an id is named by its type and its number in the message."""
    kind = str(block.get("type"))
    match block:
        case {"type": str() as kind, "id": str() as call_id, "name": str() as name} if kind in CALLS:
            server = block.get("server_name")
            tool = f"{server}.{name}" if server else name
            return hosted_block(block, call_id, tool, given=block.get("input"), state="running")
        case {"type": str() as kind, "tool_use_id": str() as call_id, "content": content} if kind.endswith(RESULT):
            state = "error" if block.get("is_error") or _is_error(content) else "done"
            return hosted_block(block, call_id, kind.removesuffix(RESULT), output=content, state=state)
        case _:
            call_id = block.get("id")
            name = call_id if isinstance(call_id, str) and call_id else f"{kind}_{number}"
            shown = block.get("content") or {key: value for key, value in block.items() if key not in ("type", "id")}
            return hosted_block(block, name, kind, output=shown)


def is_result(block: Fields) -> bool:
    """Whether a block is the result of a call in another block."""
    return str(block.get("type")).endswith(RESULT) and isinstance(block.get("tool_use_id"), str)


def made_files(block: Fields, tool: str) -> Iterator[FileMade]:
    """The files that code made, in the results of all code tools (`…_output` with a `file_id`), or in the container."""
    content = block.get("content")
    outputs = _dict(content).get("content") if str(block.get("type")).endswith(RESULT) else [block]
    for output in cast("list[object]", outputs) if isinstance(outputs, list) else []:
        file_id = _dict(output).get("file_id")
        if isinstance(file_id, str) and file_id:
            made_by = (tool, str(block.get("tool_use_id") or ""))
            yield FileMade(UNKNOWN_TYPE, b"", remote=RemoteFile(file_id), made_by=made_by)


def _dict(value: object) -> Fields:
    return cast("Fields", value) if isinstance(value, dict) else {}


def extend_block(block: Fields, delta: Fields) -> None:
    """Add a delta to a block: text to the text of its field, a citation to the list, anything else in its place."""
    for name, value in delta.items():
        if name == "type":
            continue
        if name == "citation":
            block["citations"] = [*(block.get("citations") or ()), value]
        elif isinstance(value, str) and isinstance(before := block.get(name), str):
            block[name] = before + value
        elif value is not None:
            block[name] = value


def read_citation(text_id: str, citation: Fields) -> SourceEvent:
    """The source of a citation: a page of the web, a search result of a tool, or a document of the request."""
    url = citation.get("url") or citation.get("source") or ""
    title = citation.get("title") or citation.get("document_title") or ""
    page, document = citation.get("start_page_number"), citation.get("document_index")
    source = Source(
        title=str(title),
        url=str(url) if str(url).startswith(("https:", "http:")) else "",
        quote=str(citation.get("cited_text") or ""),
        page=page if isinstance(page, int) else None,
        name="" if str(url).startswith(("https:", "http:")) else str(url),
    )
    return SourceEvent(text_id, source, document if isinstance(document, int) else None)


def _is_error(content: object) -> bool:
    return isinstance(content, dict) and str(content.get("type")).endswith(ERROR)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] - any JSON
