"""Tools that a Chat Completions host runs, its annotations, audio, and parts of unknown types.

Shapes are those of openai 3.54, groq 1.7 (`executed_tools`), mistralai 3.7 (`ContentChunk`), OpenRouter's annotations,
and recorded answers. Groq takes no executed tools back, and OpenAI's ids of audio expire within an hour, so both stay
here: the next request holds the words, and the sound like any other file.
"""

from __future__ import annotations

import io
import wave
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from showandtell.core.events.types import FileMade, HostedCall, SourceEvent, StreamEvent
from showandtell.core.messages.parts import HostedBlock, Source
from showandtell.core.wire.hosted_blocks import Fields, hosted_block, parsed
from showandtell.core.wire.response_files import read_base64

#: Types of a content list's items that are text or reasoning.
TEXT_ITEMS = frozenset({"", "text", "thinking"})
#: Fields of an executed tool besides what it was given.
OUTPUTS = ("output", "search_results", "code_results", "browser_results")
#: Media type of audio whose format only the request says; the bytes decide.
AUDIO = "audio/wav"
#: How sound in a container starts: WAV, MP3 with and without tags, FLAC, Ogg, AAC.
HEADERS = (b"RIFF", b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2", b"fLaC", b"OggS", b"\xff\xf1", b"\xff\xf9")


@dataclass(slots=True)
class Audio:
    """An answer in sound, in pieces of base64, and its words."""

    data: list[str] = field(default_factory=list[str])

    def add(self, audio: Fields) -> str:
        """Add a piece, and return its words."""
        if isinstance(piece := audio.get("data"), str):
            self.data.append(piece)
        words = audio.get("transcript")
        return words if isinstance(words, str) else ""

    def end(self, events: list[StreamEvent]) -> None:
        """Append the file, if there is any sound. Each piece may be padded; streams hold samples without a header."""
        if any(self.data):
            made = [read_base64(piece, AUDIO, lenient=True) for piece in self.data if piece]
            problem = next((piece.problem for piece in made if piece.problem), None)
            data = b"".join(piece.data for piece in made)
            events.append(FileMade(AUDIO, _with_header(data) if problem is None else b"", problem=problem))


@dataclass(slots=True)
class ExecutedTools:
    """The tools that Groq ran, by index. A stream sends each with its arguments, then with its output."""

    tools: dict[int, Fields] = field(default_factory=dict[int, Fields])

    def add(self, tools: Sequence[Fields], events: list[StreamEvent]) -> None:
        """Add tools or pieces of them, and append an event for each new one."""
        for tool in tools:
            index = tool.get("index")
            known = self.tools.setdefault(index if isinstance(index, int) else len(self.tools), {})
            if not known:
                started = _describe_tool(tool, list(self.tools.values()).index(known))
                events.append(HostedCall(started.call_id, started.tool, state="running"))
            known |= {name: value for name, value in tool.items() if value is not None}

    def blocks(self) -> list[HostedBlock]:
        """The tools with their output. Nothing of them goes back."""
        return [_describe_tool(tool, number) for number, tool in enumerate(self.tools.values())]


def describe_item(item: Fields, number: int) -> HostedBlock:
    """Describe an item of a content list, such as Mistral's references. It goes back as it is."""
    kind = str(item.get("type"))
    output = {name: value for name, value in item.items() if name != "type"}
    return hosted_block(item, f"{kind}_{number}", kind, output=output)


def describe_annotation(annotation: Fields, number: int) -> HostedBlock:
    """Describe an annotation that is no source of a text, such as OpenRouter's text of a PDF."""
    kind = str(annotation.get("type"))
    return hosted_block({}, f"{kind}_{number}", f"{kind}_annotation", output=annotation.get(kind) or annotation)


def read_citation(text_id: str, annotation: Fields) -> SourceEvent | None:
    """The source that an annotation names; None if it is no citation of an address."""
    value: Any = annotation.get("url_citation")
    fields = cast("Fields", value) if isinstance(value, dict) else annotation
    url, start, end = str(fields.get("url") or ""), fields.get("start_index"), fields.get("end_index")
    if annotation.get("type") != "url_citation" or not url.startswith(("https:", "http:")):
        return None
    is_placed = isinstance(start, int) and isinstance(end, int) and end > start  # OpenRouter sends 0 and 0 for none
    source = Source(
        title=str(fields.get("title") or ""),
        url=url,
        quote=str(fields.get("content") or "")[:1000],
        start=start if is_placed else None,
        end=end if is_placed else None,
    )
    return SourceEvent(text_id, source)


def _with_header(data: bytes) -> bytes:
    """Sound as it is, or raw samples as a WAV: one channel of 16 bits at 24 kHz (OpenAI's format "pcm16")."""
    if data.startswith(HEADERS):
        return data
    sound = io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(24_000)
        file.writeframes(data)
    return sound.getvalue()


def _describe_tool(tool: Fields, number: int) -> HostedBlock:
    name, given = str(tool.get("type") or "tool"), tool.get("arguments")
    found = {key: tool[key] for key in OUTPUTS if tool.get(key)}
    given = parsed(given) if isinstance(given, str) else given
    return hosted_block({}, f"{name}_{number}", name, given=given, output=found.get("output") or found)
