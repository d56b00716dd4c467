"""The next turn of a chat whose history its client holds, ready for `Agent.run`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import msgspec

from showandtell.checking.checked import checked
from showandtell.core.ag_ui.run_input import RunInput, parse_run_input
from showandtell.core.histories.client_history import CallSeals, ClientReading, FindFile, resolve_files
from showandtell.core.histories.from_ag_ui import read_history, user_part
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Shown, Text
from showandtell.errors import BadInput
from showandtell.storage.blobs.threads import run_long_job
from showandtell.storage.conversations.memory_conversation import MemoryConversation, waiting_calls
from showandtell.storage.conversations.protocol import Conversation
from showandtell.storage.files.file_cache import FileCache


@dataclass(frozen=True, slots=True)
class ClientTurn:
    """What a client says next, and the conversation before it.

    text: the newest message; None if there is none, as with approvals. files: its files.
    approvals: answers to waiting calls, by call id.
    message_id: the id of the answer that `ui_stream` continues; None for a new one.
    request: the request itself, for `ag_ui_stream`.
    seals: for `ag_ui_stream` and `ui_stream`; seals the calls of the answer, so that the next request can approve them.
    """

    conversation: Conversation
    text: str | None = None
    files: tuple[File, ...] = ()
    approvals: Mapping[str, bool] = field(default_factory=dict[str, bool])
    request: RunInput | None = None
    message_id: str | None = None
    seals: CallSeals | None = None


@checked
async def from_ag_ui(
    body: object,
    files: FindFile | None = None,
    *,
    secret: str | bytes | None = None,
    file_cache: FileCache | None = None,
    conversation: Conversation | None = None,
) -> ClientTurn:
    """Read an AG-UI request whose `messages` are the whole history, for a program that stores none.

    With the `conversation` of a program that stores it, only the newest message and the answers to interrupts are read.

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
        conversation (Conversation | None): the program's own, if it stores it. Its waiting calls can be approved.

    Raises:
        BadInput: it is no AG-UI request, or none of the calls that it approves is waiting.
        NotFound: `files` has not found a file of the newest message.
        BadFile: a file's base64 is invalid.
    """
    request = parse_run_input(body_bytes(body))
    if conversation is not None:
        waiting = [call.call_id for call in waiting_calls(conversation.messages)]
        approvals = take_approvals(request.approvals, waiting, alone=request.content is None)
        newest = Draft("user", tuple(map(user_part, request.content))) if request.content else None
        resolved = await resolve_files((), files, newest=newest)
        text, attached = split_message(resolved[0] if resolved else None, conversation)
        return ClientTurn(conversation, text, attached, approvals, request)
    seals = CallSeals(secret, request.thread_id) if secret is not None else None
    reading = read_history(request, seals)
    approvals = take_approvals(request.approvals, reading.finish(), alone=reading.newest is None)
    turn = await open_turn(reading, files, approvals, file_cache)
    return replace(turn, request=request, seals=seals)


def take_approvals(
    answers: Mapping[str, tuple[bool, str]], waiting: Collection[str], *, alone: bool
) -> dict[str, bool]:
    """The answers to calls that wait. Raises `BadInput` if there is no such call, and nothing else in the request."""
    approvals = {call_id: approved for call_id, (approved, _) in answers.items() if call_id in waiting}
    if answers and not approvals and alone:
        raise BadInput("none of these calls is waiting for approval: load the conversation again")
    return approvals


async def open_turn(
    reading: ClientReading, files: FindFile | None, approvals: Mapping[str, bool], file_cache: FileCache | None
) -> ClientTurn:
    """Store a client's history in a conversation in memory. Raises `NotFound` and `BadFile`."""
    find = named_by_id(files) if files is not None else None
    drafts = await resolve_files(reading.history, find, newest=reading.newest)
    newest = drafts.pop() if reading.newest is not None else None
    conversation = MemoryConversation(file_cache or FileCache())
    await run_long_job(ingest, conversation, drafts)
    known = {file.id for file in conversation.attachments.values()}
    text, attached = split_message(newest, conversation)
    fresh = (replace(file, upload_id=None) if file.upload_id in known else file for file in attached)
    return ClientTurn(conversation, text, tuple(fresh), approvals)


def named_by_id(find: FindFile) -> FindFile:
    """Find files that keep their ids, so that a client's next request has the same ones."""

    async def find_named(identifier: str) -> File | Shown:
        found = await find(identifier)
        return replace(found, upload_id=identifier) if isinstance(found, File) else found

    return find_named


def split_message(message: Draft | None, conversation: Conversation) -> tuple[str | None, tuple[File, ...]]:
    """The text and the files of a message, for `Agent.run`."""
    parts = message.parts if message is not None else ()
    text = "\n\n".join(part.text for part in parts if isinstance(part, Text)) or None
    files = (conversation.file(part.number) if isinstance(part, Shown) else part for part in parts)
    return text, tuple(file for file in files if isinstance(file, File))


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
            return encode_mapping(cast("object", body))
        case _ if callable(dump):
            return str(dump(by_alias=True)).encode()
        case _:
            raise BadInput(f"a request is bytes, text or a mapping, not {type(body).__name__}")


def encode_mapping(body: object) -> bytes:
    """Encode plain values. Raises `BadInput` if they are no JSON, or have text that isn't Unicode."""
    try:
        return msgspec.json.encode(body)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"the request is not JSON: {error}") from None
