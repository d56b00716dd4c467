"""Make the new messages of a request. Their files are uploads, files of conversations, or come with the request."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager, suppress

from msgspec import structs

from showandtell.core.histories.client_history import claim_bytes, claim_file
from showandtell.core.messages.file import File
from showandtell.core.messages.file_json import FileSource
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Approval, Text
from showandtell.errors import BadInput, ShowAndTellError
from showandtell.server.auth.authenticate import User
from showandtell.server.chat_request import ChatRequest, Content, FileId
from showandtell.server.files.file_addresses import UPLOAD_FIRST, ReadAddress
from showandtell.server.state import Server
from showandtell.storage.conversations.memory_conversation import waiting_calls
from showandtell.storage.conversations.sharing import author_of
from showandtell.storage.conversations.stored_conversation import StoredConversation
from showandtell.storage.files.sources import stored_facts


def with_file_ids(request: ChatRequest, read_address: ReadAddress) -> ChatRequest:
    """A request with the ids of its files in place of their addresses. A file that is named repeatedly counts once.

    Files as bytes stay as they are. Raises `BadInput` and `NotFound` for other addresses.
    """

    def read(part: Content) -> Content:
        match part:
            case FileSource("url", address) if not address.startswith("data:"):
                return FileId(read_address(address))
            case FileSource("file"):
                raise BadInput(f"a provider's file id can't be read here: {UPLOAD_FIRST}")
            case _:
                return part

    content: list[Content] = []
    for part in map(read, request.content):
        if not isinstance(part, FileId) or part not in content:
            content.append(part)
    return structs.replace(request, content=tuple(content))


@asynccontextmanager
async def new_drafts(
    server: Server, user: User, request: ChatRequest, conversation: StoredConversation
) -> AsyncGenerator[list[Draft]]:
    """Yield the new messages of a request. Files that it holds as bytes are uploaded, and deleted again on any error.

    Raises `BadInput` if it is empty, `BadFile`, and `NotFound` for a file that isn't the user's.
    """
    async with uploaded(server, user, request) as content:
        yield await make_drafts(server, user, request, content, conversation)


@asynccontextmanager
async def uploaded(server: Server, user: User, request: ChatRequest) -> AsyncGenerator[list[str | FileId]]:
    """Yield the content of a request, whose files are uploaded. They are deleted again on any error."""
    uploads, added = server.store.uploads(user.name), list[FileId]()

    async def store(part: Content) -> str | FileId:
        if not isinstance(part, FileSource):
            return part
        added.append(FileId((await uploads.add(file_of(part))).id))
        return added[-1]

    try:
        check_number_of_files(server, request)
        yield [await store(part) for part in request.content]
    except BaseException:
        for file in added:
            with suppress(ShowAndTellError):
                await uploads.delete(file.id)
        raise


def file_of(source: FileSource) -> File:
    """The file in a message, which holds its bytes. Raises `BadFile`."""
    if source.form == "data":
        return claim_bytes(source.value, source.media_type, source.name)
    file = claim_file(source.value, source.media_type, source.name)
    if not isinstance(file, File):
        raise BadInput(UPLOAD_FIRST)
    return file


def check_number_of_files(server: Server, request: ChatRequest) -> None:
    """Raise `BadInput` if a message has too many files."""
    max_files = server.config.max_message_files
    files = [part for part in request.content if not isinstance(part, str)]
    if len(files) > max_files:
        raise BadInput(f"{len(files)} files are too many for one message: send up to {max_files}")


def check_lift(server: Server, lift: Collection[str], files: Collection[str]) -> None:
    """Raise `BadInput` if these files of a message can't be shown to the model: they are for the user alone."""
    if lift and not server.config.lift_audience:
        raise BadInput("this server keeps files for the user alone from models: send the message without `lift`")
    if other := [name for name in lift if name not in files]:
        raise BadInput(f"`lift` names {other[0]!r:.40}, which is no file of the message: attach it, too")


async def make_drafts(
    server: Server, user: User, request: ChatRequest, content: Sequence[str | FileId], conversation: StoredConversation
) -> list[Draft]:
    """The new messages of a request, whose files are uploaded."""
    if request.is_regeneration:
        return []
    waiting = {call.call_id for call in waiting_calls(conversation.messages)}
    if request.approvals:
        decisions = {call_id: answer for call_id, answer in request.approvals.items() if call_id in waiting}
        if not decisions:
            raise BadInput("none of these calls is waiting for approval: load the conversation again")
        return [Draft("user", tuple(Approval(call_id, *answer) for call_id, answer in decisions.items()))]
    if request.client_id is None:
        if conversation.messages:
            return []  # continue the conversation
        raise BadInput("there is no message: send text or a file")
    if not content:
        raise BadInput("the message is empty: send text or a file")
    check_lift(server, request.lift, [part.id for part in content if isinstance(part, FileId)])
    uploads = server.store.uploads(user.name)
    parts = [
        Text(part)
        if isinstance(part, str)
        else await uploads.claim(part.id, conversation.id, lift=part.id in request.lift)
        for part in content
    ]
    await conversation.check_quotas(stored_facts(parts))
    author = await author_of(server.store, conversation, user.name) if server.accounts is not None else None
    return [Draft("user", tuple(parts), author=author)]
