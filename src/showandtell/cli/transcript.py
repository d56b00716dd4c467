"""A stored conversation as text for a terminal: its messages, then its files and how each was sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from showandtell.cli.footnotes import Footnotes, hosted_lines
from showandtell.cli.terminal import from_whom
from showandtell.core.display.words import counted, plain, short
from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import (
    Approval,
    Correction,
    HostedBlock,
    Json,
    Opaque,
    Shown,
    Source,
    Summary,
    Text,
    ToolCall,
)
from showandtell.core.planning.labels import format_size, run_by_provider
from showandtell.core.planning.receipt_words import by_ending, delivery_line
from showandtell.storage.conversations.memory_conversation import MemoryConversation

#: Names of the roles.
ROLES = {"user": "you", "assistant": "model"}
#: Stop reasons that are not printed.
NORMAL_STOPS = frozenset({None, "end", "tool_calls", "pause"})


def transcript(conversation: MemoryConversation, elsewhere: int = 0) -> Iterator[str]:
    """A conversation as lines; `elsewhere` is the number of messages on other branches."""
    yield conversation.id
    if elsewhere:
        yield f"({elsewhere} more on other branches)"
    blocks = (part for message in conversation.messages for part in message.parts if isinstance(part, HostedBlock))
    calls = dict(hosted_lines(blocks))
    for message in conversation.messages:
        yield ""
        yield from format_message(message, conversation, calls)
    if conversation.attachments:
        yield ""
        yield "files:"
    for number, file in sorted(conversation.attachments.items()):
        yield f"  {file_line(file)}"
        if number in conversation.receipts:
            yield f"    {delivery_line(conversation.receipts[number].record())}"


def counts_of(conversation: MemoryConversation) -> str:
    """The numbers of messages and files."""
    return f"{counted(len(conversation.messages), 'message')}, {counted(len(conversation.attachments), 'file')}"


def format_message(
    message: Message, conversation: MemoryConversation, calls: Mapping[HostedBlock[Shown], str]
) -> Iterator[str]:
    """One message as lines. `calls` are the lines of tools that the provider ran."""
    lines = [line for part in with_footnotes(message, conversation, calls) for line in lines_of(part, conversation)]
    lines += references(message, conversation.attachments)
    if message.stop not in NORMAL_STOPS:
        lines.append(f"[{message.stop}]")
    failed = " failed" if message.is_error else ""
    role = plain(message.author or ROLES.get(message.role, "")) or f"  ← {plain(message.tool)}{failed}"
    yield f"{role}: {lines[0] if lines else ''}".rstrip()
    yield from (f"  {line}".rstrip() for line in lines[1:])


def with_footnotes(
    message: Message, conversation: MemoryConversation, calls: Mapping[HostedBlock[Shown], str]
) -> Iterator[object]:
    """The parts of a message, with marks in place of sources, lines in place of blocks, and footnotes at the end."""
    footnotes, files = Footnotes(), conversation.attachments
    is_cut = any(source.end is None for source in message.sources)  # an API that cites complete texts cuts paragraphs
    text: Text | None = None
    for part in message.parts:
        if isinstance(part, Source):
            mark = f" [{footnotes.add(part)}]"
            text = Text(mark.strip()) if text is None else Text(text.text.rstrip() + mark, text.audience)
            continue
        if is_cut and isinstance(part, Text) and text is not None:
            text = Text(text.text + part.text, part.audience)
            continue
        if isinstance(part, Opaque):  # the provider's own form of a citation
            continue
        if text is not None:
            yield text
        text = part if isinstance(part, Text) else None
        if isinstance(part, HostedBlock):
            yield from [Text(calls[part])] if part in calls else []
            yield from [file for _, file in part.files]
        elif text is None:
            yield part
    if text is not None:
        yield text
    yield from map(Text, footnotes.lines(lambda number: files[number].label if number in files else f"file {number}"))


def references(message: Message, files: Mapping[int, Attachment]) -> Iterator[str]:
    """What a message's references mean, one per line; all meanings if that isn't clear."""
    for reference in message.references:
        if reference.numbers:
            yield f'"{short(reference.words)}" = {all_named(reference.numbers, files)}'
        if reference.missing:
            yield f'"{short(reference.words)}": no file {" or ".join(map(str, reference.missing))}'
        if reference.readings:
            readings = " or ".join(all_named(reading, files) for reading in reference.readings)
            yield f'"{short(reference.words)}" may mean {readings}'


def all_named(numbers: Iterable[int], files: Mapping[int, Attachment]) -> str:
    """Files by label and name."""
    return ", ".join(f"{files[number].label}: {short(files[number].name)}" for number in numbers if number in files)


def lines_of(part: object, conversation: MemoryConversation) -> Iterable[str]:
    """A part as lines; parts for providers have none."""
    match part:
        case Text():
            return plain(part.text).splitlines() if part.audience != "assistant" else []
        case Json():
            files = cast("Json[Shown]", part).files
            return [short(part.text), *(named(file, conversation) for _, file in files)]
        case Shown():
            return [named(part, conversation)]
        case ToolCall():
            return [f"→ {plain(part.tool)} {short(part.arguments)}"]
        case Correction():
            return [short(part.text)]
        case Summary():
            return [f"(sums up {part.count} earlier messages)", *plain(part.text).splitlines()]
        case Approval():
            return [f"{'yes' if part.approved else 'no'} to {tool_of(part.call_id, conversation)}{because(part)}"]
        case _:
            return []


def because(answer: Approval) -> str:
    """The reason of a decision, if there is one."""
    return f": {short(answer.reason)}" if answer.reason else ""


def tool_of(call_id: str, conversation: MemoryConversation) -> str:
    """The tool of a call."""
    calls = (call for message in conversation.messages for call in message.calls)
    return next((short(call.tool) for call in calls if call.call_id == call_id), short(call_id))


def named(shown: Shown, conversation: MemoryConversation) -> str:
    """A file, or a selection of it, where it was shown."""
    file, view = conversation.attachments[shown.number], shown.view
    pages = f", page {', '.join(map(str, view.pages))}" if view and view.pages else ""
    crop = f", its part {', '.join(map(str, view.crop))}" if view and view.crop else ""
    return f"[{file.label}: {short(file.name)}{pages}{crop}]"


def file_line(file: Attachment) -> str:
    """Label, name, type and size or problem, origin and date."""
    what = file.problem or f"{by_ending(file.media_type)}{f', {format_size(file.facts.size)}' if file.facts else ''}"
    origin = f"tool {file.origin.tool}" if file.origin.tool else str(file.origin)
    if file.origin.by == "provider":
        origin = run_by_provider(file)
    return f"{file.label}: {short(file.name)} ({short(what)}), {from_whom(origin)}, {file.date}"
