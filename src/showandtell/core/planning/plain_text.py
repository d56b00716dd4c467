"""Messages as plain text, for a model that sums them up. Files are named by their labels, and long texts are cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import Approval, Correction, Json, Part, Shown, Summary, Text, ToolCall
from showandtell.core.planning import labels

#: Maximum characters of one part: its start and its end are kept.
MAX_PART = 4_000


def as_plain_text(message: Message, attachments: Mapping[int, Attachment]) -> str:
    """A message below a line that says whose it is. What is for the user alone is left out."""
    lines = [line for part in message.parts for line in part_lines(part, attachments)]
    return "\n".join([f"{writer_of(message)}:", *lines]) if lines else ""


def writer_of(message: Message) -> str:
    """Whose message it is: a person's, the model's, or a tool's."""
    match message.role:
        case "user":
            return labels.escape_line(message.author or "User")
        case "assistant":
            return "Assistant"
        case "tool":
            return f"{'Error' if message.is_error else 'Result'} of {labels.escape_line(message.tool or 'a tool')}"


def part_lines(part: Part, attachments: Mapping[int, Attachment]) -> Iterator[str]:
    """The lines of one part."""
    match part:
        case Text():
            yield from [shorten(part.text)] if part.audience != "user" and part.text.strip() else []
        case Json():
            yield shorten(part.text)
            yield from name_files((shown for _, shown in part.files), attachments)
        case Shown():
            yield from name_files([part], attachments)
        case ToolCall():
            yield f"calls {labels.escape_line(part.tool)} with {shorten(part.arguments)}"
        case Approval():
            yield "allowed the call" if part.approved else f"didn't allow the call {shorten(part.reason)}".rstrip()
        case Correction() | Summary():
            yield from [shorten(part.text)] if part.text else []
        case _:
            pass


def name_files(files: Iterable[Shown], attachments: Mapping[int, Attachment]) -> Iterator[str]:
    """Files by their labels and names."""
    for shown in files:
        file = attachments[shown.number]
        name = "for the user alone" if file.audience == "user" else labels.escape_line(file.name)
        yield f"[{file.label}: {name}]"


def shorten(text: str) -> str:
    """A text without our brackets, and without its middle if it is long."""
    if len(text) <= MAX_PART:
        return labels.escape(text)
    half = MAX_PART // 2
    return labels.escape(f"{text[:half]} … ({len(text) - MAX_PART:,} characters) … {text[-half:]}")
