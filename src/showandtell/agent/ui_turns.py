"""The next turn of a chat of npm's `ai` whose history its client holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from showandtell.agent.client_turns import ClientTurn, open_turn, split_message, take_approvals
from showandtell.checking.checked import checked
from showandtell.core.histories.client_history import CallSeals, FindFile, resolve_files
from showandtell.core.histories.ui_messages import read_ui_history
from showandtell.errors import BadInput
from showandtell.storage.conversations.memory_conversation import waiting_calls
from showandtell.storage.conversations.protocol import Conversation
from showandtell.storage.files.file_cache import FileCache


@checked
async def from_ui_messages(
    messages: object,
    files: FindFile | None = None,
    *,
    secret: str | bytes | None = None,
    file_cache: FileCache | None = None,
    conversation: Conversation | None = None,
) -> ClientTurn:
    """Read the messages of `useChat` of npm's `ai`, for a program that stores no history.

    With the `conversation` of a program that stores it, only the newest message and its approvals are read.

    Only what a client can vouch for enters: the texts of user and model, files that `files` finds, and the `data:` URLs
    of user messages, up to 21 MB of files in all. System messages, reasoning and data for one provider are left out.
    Tool results reach the model with a label that says that they are not verified. Other files are named.

    >>> import asyncio
    >>> from showandtell import Agent, from_ui_messages
    >>> messages = [{"id": "m", "role": "user", "parts": [{"type": "text", "text": "hello"}]}]
    >>> async def answer():
    ...     turn = await from_ui_messages(messages)
    ...     return await Agent("inspector").run(turn.text, conversation=turn.conversation)
    >>> asyncio.run(answer()).status
    'complete'

    Args:
        messages (list | Mapping): the messages, or the whole body of the request: `{id, messages}` or `{id, message}`.
        files (Callable[[str], Awaitable[File]] | None): finds a file of the program by the id in its address, for the
            caller. Raises `NotFound` for a file that isn't theirs. Default: no such file enters.
        secret (str | bytes | None): seals the model's calls, at least 16 bytes. A call can be approved only if it has
            the seal, which `ui_stream(run, turn=turn)` sets. Default: none can, because the client may have written it.
        file_cache (FileCache | None): holds the bytes of the files. Default: one in a temporary folder.
        conversation (Conversation | None): the program's own, if it stores it. Its waiting calls can be approved.

    Raises:
        BadInput: these are no UI messages, or none of the calls that they approve is waiting.
        NotFound: `files` has not found a file of the newest message.
        BadFile: a file's base64 is invalid.
    """
    listed, chat_id = unpack(messages)
    if conversation is not None:
        history = read_ui_history(listed[-1:])
        waiting = {call.call_id for call in waiting_calls(conversation.messages)}
        approvals = take_approvals(history.answers, waiting, alone=history.reading.newest is None)
        resolved = await resolve_files((), files, newest=history.reading.newest)
        text, attached = split_message(resolved[0] if resolved else None, conversation)
        return ClientTurn(conversation, text, attached, approvals, message_id=history.message_id)
    seals = CallSeals(secret, chat_id) if secret is not None else None
    history = read_ui_history(listed, seals)
    waiting = history.reading.finish()
    approvals = take_approvals(history.answers, waiting, alone=history.reading.newest is None)
    turn = await open_turn(history.reading, files, approvals, file_cache)
    return replace(turn, seals=seals, message_id=history.message_id)


def unpack(messages: object) -> tuple[list[object], str]:
    """The messages of a request, and the id of its chat; empty if it has none. Raises `BadInput`."""
    chat_id: object = ""
    if isinstance(messages, Mapping):
        body = cast("Mapping[str, object]", messages)
        chat_id = body.get("id", "")
        messages = body["messages"] if "messages" in body else [body.get("message")]
    if not isinstance(messages, list | tuple) or not isinstance(chat_id, str):
        raise BadInput("these are no UI messages: hand in the list of messages, or the body {id, messages}")
    return list(cast("list[object]", messages)), chat_id
