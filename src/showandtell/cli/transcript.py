"""A stored conversation as people read it in a terminal: what was said, then its files and what became of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from showandtell.cli.terminal import by_ending, counted, delivery_line, from_whom, plain, short
from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.messages import Message
from showandtell.core.messages.parts import Approval, Json, Shown, Text, ToolCall
from showandtell.core.planning.labels import size_of
from showandtell.storage.conversations.memory_conversation import MemoryConversation

#: Who said a message, as it is printed.
WHO = {"user": "you", "assistant": "model"}
#: Why a model ended that need not be said.
USUAL = frozenset({None, "end", "tool_calls"})


def transcript(conversation: MemoryConversation, elsewhere: int = 0) -> Iterator[str]:
    """A conversation as lines; `elsewhere` is how many messages other branches have."""
    yield conversation.id
    if elsewhere:
        yield f"({elsewhere} more on other branches)"
    for message in conversation.messages:
        yield ""
        yield from said(message, conversation)
    if conversation.attachments:
        yield ""
        yield "files:"
    for number, file in sorted(conversation.attachments.items()):
        yield f"  {file_line(file)}"
        if number in conversation.receipts:
            yield f"    {delivery_line(conversation.receipts[number].record())}"


def counts_of(conversation: MemoryConversation) -> str:
    """How much is in a conversation."""
    return f"{counted(len(conversation.messages), 'message')}, {counted(len(conversation.attachments), 'file')}"


def said(message: Message, conversation: MemoryConversation) -> Iterator[str]:
    """One message as lines."""
    words = [line for part in message.parts for line in lines_of(part, conversation)]
    words += pointed(message, conversation.attachments)
    if message.stop not in USUAL:
        words.append(f"[{message.stop}]")
    failed = " failed" if message.is_error else ""
    who = WHO.get(message.role) or f"  ← {plain(message.tool)}{failed}"
    yield f"{who}: {words[0] if words else ''}".rstrip()
    yield from (f"  {line}".rstrip() for line in words[1:])


def pointed(message: Message, files: Mapping[int, Attachment]) -> Iterator[str]:
    """What a message's words point at, a line for each; where that isn't clear, everything that they may mean."""
    for one in message.references:
        if one.numbers:
            yield f'"{short(one.words)}" = {all_named(one.numbers, files)}'
        else:
            yield f'"{short(one.words)}" may mean {" or ".join(all_named(some, files) for some in one.readings)}'


def all_named(numbers: Iterable[int], files: Mapping[int, Attachment]) -> str:
    """Files by label and name."""
    return ", ".join(f"{files[number].label}: {short(files[number].name)}" for number in numbers if number in files)


def lines_of(part: object, conversation: MemoryConversation) -> Iterable[str]:
    """A part as lines; what only providers read has none."""
    match part:
        case Text():
            return plain(part.text).splitlines()
        case Json():
            files = cast("Json[Shown]", part).files
            return [short(part.text), *(named(file, conversation) for _, file in files)]
        case Shown():
            return [named(part, conversation)]
        case ToolCall():
            return [f"→ {plain(part.tool)} {short(part.arguments)}"]
        case Approval():
            return [f"{'yes' if part.approved else 'no'} to {tool_of(part.call_id, conversation)}{because(part)}"]
        case _:
            return []


def because(answer: Approval) -> str:
    """The reason of a yes or no, if there is one."""
    return f": {short(answer.reason)}" if answer.reason else ""


def tool_of(call_id: str, conversation: MemoryConversation) -> str:
    """The tool that a call is of."""
    calls = (call for message in conversation.messages for call in message.calls)
    return next((short(call.tool) for call in calls if call.call_id == call_id), short(call_id))


def named(shown: Shown, conversation: MemoryConversation) -> str:
    """A file where it was shown, or which part of it."""
    file, view = conversation.attachments[shown.number], shown.view
    pages = f", page {', '.join(map(str, view.pages))}" if view and view.pages else ""
    crop = f", its part {', '.join(map(str, view.crop))}" if view and view.crop else ""
    return f"[{file.label}: {short(file.name)}{pages}{crop}]"


def file_line(file: Attachment) -> str:
    """A file in one line."""
    what = file.problem or f"{by_ending(file.media_type)}{f', {size_of(file.facts.size)}' if file.facts else ''}"
    origin = f"tool {file.origin.tool}" if file.origin.tool else file.origin.by
    return f"{file.label}: {short(file.name)} ({short(what)}), {from_whom(origin)}, {file.date}"
