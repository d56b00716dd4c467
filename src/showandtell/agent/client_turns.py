"""The next turn of a chat whose history its client holds, ready for `Agent.run`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from showandtell.core.ag_ui.run_input import RunInput, parse_run_input
from showandtell.core.histories.client_history import CallSeals, ClientReading, FindFile, resolve_files
from showandtell.core.histories.from_ag_ui import read_history
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Shown, Text
from showandtell.errors import BadInput
from showandtell.storage.blobs.threads import run_long_job
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.files.file_cache import FileCache


@dataclass(frozen=True, slots=True)
class ClientTurn:
    """What a client says next, and the conversation before it.

    text: the newest message; None if there is none, as with approvals. files: its files.
    approvals: answers to waiting calls, by call id.
    request: the request itself, for `ag_ui_stream`.
    seals: for `ag_ui_stream`; seals the calls of the answer, so that the next request can approve them.
    """

    conversation: MemoryConversation
    text: str | None = None
    files: tuple[File, ...] = ()
    approvals: Mapping[str, bool] = field(default_factory=dict[str, bool])
    request: RunInput | None = None
    seals: CallSeals | None = None


async def from_ag_ui(
    body: object,
    files: FindFile | None = None,
    *,
    secret: str | bytes | None = None,
    file_cache: FileCache | None = None,
) -> ClientTurn:
    """Read an AG-UI request whose `messages` are the whole history, for a program that stores none.

    Only what a client can vouch for enters: the texts of user and model, and files that `files` finds. Instructions,
    reasoning and data for one provider are left out. Tool results reach the model as words with a label that says that
    they are not verified. Addresses of other files and ids of providers are left out, too; files are named.

    >>> import asyncio
    >>> from showandtell import Agent, from_ag_ui
    >>> body = {"threadId": "t", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "hello"}]}
    >>> async def answer():
    ...     turn = await from_ag_ui(body)
    ...     return await Agent("inspector").run(turn.text, conversation=turn.conversation)
    >>> asyncio.run(answer()).status
    'complete'

    Args:
        body (bytes | str | Mapping | RunAgentInput): the request.
        files (Callable[[str], Awaitable[File]] | None): finds a file of the program by the id in its address, for the
            caller. Raises `NotFound` for a file that isn't theirs. Default: no such file enters.
        secret (str | bytes | None): seals the model's calls, at least 16 bytes. A call can be approved only if it has
            the seal. Default: none can, because the client may have written it.
        file_cache (FileCache | None): holds the bytes of the files. Default: one in a temporary folder.

    Raises:
        BadInput: it is no AG-UI request, or none of the calls that it approves is waiting.
        NotFound: `files` has not found a file of the newest message.
        BadFile: a file's base64 is invalid.
    """
    request = parse_run_input(body_bytes(body))
    seals = CallSeals(secret, request.thread_id) if secret is not None else None
    reading = read_history(request, seals)
    return await open_turn(reading, files, request.approvals, file_cache, request=request, seals=seals)


async def open_turn(
    reading: ClientReading,
    files: FindFile | None,
    answers: Mapping[str, tuple[bool, str]],
    file_cache: FileCache | None,
    *,
    request: RunInput | None = None,
    seals: CallSeals | None = None,
) -> ClientTurn:
    """Store a client's history in a conversation in memory. Raises `BadInput`, `NotFound` and `BadFile`."""
    waiting = reading.finish()
    approvals = {call_id: approved for call_id, (approved, _) in answers.items() if call_id in waiting}
    if answers and not approvals and reading.newest is None:
        raise BadInput("none of these calls is waiting for approval: load the conversation again")
    drafts = await resolve_files(reading.history, files, newest=reading.newest)
    newest = drafts.pop() if reading.newest is not None else None
    conversation = MemoryConversation(file_cache or FileCache())
    await run_long_job(ingest, conversation, drafts)
    parts = newest.parts if newest is not None else ()
    text = "\n\n".join(part.text for part in parts if isinstance(part, Text)) or None
    known = {file.id for file in conversation.attachments.values()}
    attached = [part for part in parts if isinstance(part, File)]
    fresh = (replace(file, upload_id=None) if file.upload_id in known else file for file in attached)
    return ClientTurn(conversation, text, tuple(fresh), approvals, request, seals)


def ingest(conversation: MemoryConversation, drafts: Iterable[Draft]) -> None:
    """Store messages, so that a file that comes again is the same file."""
    for draft in drafts:
        numbers = {file.id: file.number for file in conversation.attachments.values()}
        parts = [
            Shown(numbers[part.upload_id], part.upload_id)
            if isinstance(part, File) and part.upload_id in numbers
            else part
            for part in draft.parts
        ]
        conversation.ingest_now([replace(draft, parts=tuple(parts))])


def body_bytes(body: object) -> bytes:
    """A request as JSON: as it came, as plain values, or as a model of the Python SDK."""
    dump: Any = getattr(body, "model_dump_json", None)
    match body:
        case bytes():
            return body
        case str():
            return body.encode("utf-8", "surrogatepass")
        case Mapping():
            return msgspec.json.encode(body)
        case _ if callable(dump):
            return str(dump(by_alias=True)).encode()
        case _:
            raise BadInput(f"a request is bytes, text or a mapping, not {type(body).__name__}")
