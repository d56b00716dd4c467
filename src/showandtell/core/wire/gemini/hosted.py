"""Parts of tools that Google runs, parts of unknown types, and the sources of a text.

Shapes are those of google-genai 3.4 (`Part`, `GroundingMetadata`) and of recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from showandtell.core.events.types import SourceEvent
from showandtell.core.messages.parts import HostedBlock, Source
from showandtell.core.wire.hosted_blocks import Fields, hosted_block

CODE = "code_execution"
#: Fields of a part that say nothing of what it is.
ADDED = frozenset(
    {
        "thoughtSignature",
        "thought",
        "partMetadata",
        "mediaResolution",
        "videoMetadata",
        "mediaProcessing",
        "speechMetadata",
        "documentMetadata",
        "spreadsheetMetadata",
        "audioMetadata",
    }
)
#: Maximum number of sources of a text.
MAX_SOURCES = 200


def describe_part(part: Fields, number: int, last_code: str) -> HostedBlock:
    """Describe a part. One without an id is named by its number; a result of code belongs to the last code."""
    kind = next((key for key in part if key not in ADDED), "part")
    value: Any = part.get(kind)
    fields = cast("Fields", value) if isinstance(value, dict) else dict[str, Any]()
    match kind:
        case "executableCode":
            given = {key: value for key, value in fields.items() if key != "id"}
            return hosted_block(part, _id(fields, f"{CODE}_{number}"), CODE, given=given, state="running")
        case "codeExecutionResult":
            state = "done" if fields.get("outcome") == "OUTCOME_OK" else "error"
            return hosted_block(part, _id(fields, last_code or f"{CODE}_{number}"), CODE, output=fields, state=state)
        case "toolCall":
            tool = str(fields.get("toolType") or "tool").lower()
            return hosted_block(part, _id(fields, f"{tool}_{number}"), tool, given=fields.get("args"), state="running")
        case "toolResponse":
            tool = str(fields.get("toolType") or "tool").lower()
            return hosted_block(part, _id(fields, f"{tool}_{number}"), tool, output=fields.get("response"))
        case _:
            return hosted_block(part, f"{kind}_{number}", kind, output=cast("object", value))


def describe_picture(part: Fields, code: tuple[str, str] | None) -> HostedBlock:
    """A file in a part, made by code or by the model itself. It goes back in its part, with its signature."""
    return hosted_block(part, "", "", made_by=code)


def describe_draft(media_type: str | None, number: int) -> HostedBlock:
    """A picture that the model made only to think. It is no file of the answer, and doesn't go back."""
    return hosted_block({}, f"draft_{number}", "image_draft", output={"media_type": media_type})


def describe_searches(grounding: Fields, urls: Fields) -> Iterator[HostedBlock]:
    """Searches and pages that an answer rests on, of hosts that send no parts for them. Nothing of them goes back."""
    if queries := grounding.get("webSearchQueries") or grounding.get("imageSearchQueries"):
        yield hosted_block({}, "google_search", "google_search", given={"queries": queries})
    if pages := urls.get("urlMetadata"):
        yield hosted_block({}, "url_context", "url_context", output=pages)


def read_grounding(text_id: str, text: str, grounding: Fields, citations: Fields) -> Iterator[SourceEvent]:
    """The sources of a text: for each segment of it those that support it, then the others."""
    sources = [_source(chunk) for chunk in _dicts(grounding.get("groundingChunks"))]
    used, count = set[int](), 0
    for support in _dicts(grounding.get("groundingSupports")):
        segment = support.get("segment")
        start, end = _place(text, cast("Fields", segment) if isinstance(segment, dict) else {})
        for index in support.get("groundingChunkIndices") or ():
            if isinstance(index, int) and 0 <= index < len(sources) and count < MAX_SOURCES:
                used.add(index)
                count += 1
                title, url, quote, name = sources[index]
                yield SourceEvent(text_id, Source(title, url, quote=quote, start=start, end=end, name=name))
    for index, (title, url, quote, name) in enumerate(sources[:MAX_SOURCES]):
        if index not in used:
            yield SourceEvent(text_id, Source(title, url, quote=quote, name=name))
    for citation in _dicts(citations.get("citationSources") or citations.get("citations"))[:MAX_SOURCES]:
        start, end = _place(text, citation)
        uri = str(citation.get("uri") or "")
        yield SourceEvent(text_id, Source(str(citation.get("title") or ""), _web(uri), start=start, end=end))


def _id(fields: Fields, otherwise: str) -> str:
    name = fields.get("id")
    return name if isinstance(name, str) and name else otherwise


def _dicts(value: Any) -> list[Fields]:
    return [cast("Fields", item) for item in cast("list[object]", value or []) if isinstance(item, dict)]


def _source(chunk: Fields) -> tuple[str, str, str, str]:
    """Title, address, words and name of a grounding chunk."""
    kind = next((key for key in ("web", "retrievedContext", "maps", "image") if isinstance(chunk.get(key), dict)), "")
    fields: Fields = chunk[kind] if kind else {}
    uri = str(fields.get("uri") or fields.get("sourceUri") or "")
    name = "" if _web(uri) else str(fields.get("documentName") or fields.get("fileSearchStore") or uri)
    return str(fields.get("title") or ""), _web(uri), str(fields.get("text") or ""), name


def _web(uri: str) -> str:
    return uri if uri.startswith(("https:", "http:")) else ""


def _place(text: str, segment: Fields) -> tuple[int | None, int | None]:
    """The characters of a segment, whose indexes count bytes."""
    start, end = segment.get("startIndex") or 0, segment.get("endIndex")
    data = text.encode()
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(data):
        return None, None
    first = len(data[:start].decode(errors="ignore"))
    return first, first + len(data[start:end].decode(errors="ignore"))
