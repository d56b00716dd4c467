"""Blocks of tools that Bedrock or the model's provider runs, blocks of unknown types, and citations.

Shapes are those of botocore 1.44.5 (`ContentBlock` of bedrock-runtime) and of recorded answers.
"""

from __future__ import annotations

from typing import Any, cast

from showandtell.core.events.types import SourceEvent
from showandtell.core.messages.parts import HostedBlock, Source
from showandtell.core.wire.hosted_blocks import Fields, hosted_block, read_arguments


def describe_block(block: Fields, number: int, result_tools: dict[str, str]) -> HostedBlock:
    """Describe a block, a union with one member. `result_tools` has the tool of each call so far."""
    kind = next(iter(block), "block")
    value: Any = block.get(kind)
    fields = _dict(value)
    call_id = str(fields.get("toolUseId") or f"{kind}_{number}")
    match kind:
        case "toolUse":
            tool = result_tools[call_id] = str(fields.get("name") or "tool")
            return hosted_block(block, call_id, tool, given=fields.get("input"), state="running")
        case "toolResult":
            state = "error" if fields.get("status") == "error" else "done"
            tool = result_tools.get(call_id) or str(fields.get("type") or "tool")
            return hosted_block(block, call_id, tool, output=fields.get("content"), state=state)
        case _:
            return hosted_block(block, call_id, kind, output=cast("object", value))


def extend_block(block: Fields, delta: Fields) -> None:
    """Add a delta to a block: arguments as text, content of a result as a list, text to the text of its field."""
    for kind, more in delta.items():
        if kind == "toolResult" and isinstance(more, list):
            fields = block.setdefault(kind, {})
            fields["content"] = [*fields.get("content", ()), *cast("list[object]", more)]
        elif isinstance(more, dict) and isinstance(block.setdefault(kind, {}), dict):
            for name, piece in cast("Fields", more).items():
                before = block[kind].get(name)
                block[kind][name] = before + piece if isinstance(before, str) and isinstance(piece, str) else piece
        else:
            block[kind] = more


def close_arguments(block: Fields) -> None:
    """Replace the text of a call's arguments by its value."""
    if isinstance(call := block.get("toolUse"), dict):
        fields = cast("Fields", call)
        fields["input"] = read_arguments(given) if isinstance(given := fields.get("input"), str) else given or {}


def read_citation(text_id: str, citation: Fields) -> SourceEvent:
    """The source of a citation: an address, or a document of the request."""
    location = _dict(citation.get("location"))
    kind = next(iter(location), "")
    place = _dict(location.get(kind))
    quotes = [_dict(item).get("text") for item in citation.get("sourceContent") or ()]
    url, page, document = place.get("url"), place.get("start"), place.get("documentIndex")
    source = Source(
        title=str(citation.get("title") or ""),
        url=str(url) if str(url).startswith(("https:", "http:")) else "",
        quote=" ".join(str(quote) for quote in quotes if quote),
        page=page if kind == "documentPage" and isinstance(page, int) else None,
        name=str(citation.get("source") or ""),
    )
    return SourceEvent(text_id, source, document if isinstance(document, int) else None)


def _dict(value: Any) -> Fields:
    return cast("Fields", value) if isinstance(value, dict) else {}
