"""What every store of conversations must do, as checks that a program runs against its own store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Protocol, TypeAlias

from showandtell.agent.agent import Agent
from showandtell.core.events.types import Usage
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft, Message
from showandtell.core.messages.parts import Approval, Json, Opaque, Text, ToolCall
from showandtell.core.planning.step_record import Step
from showandtell.core.planning.values import Receipt
from showandtell.errors import BadConversation, Busy, NotFound, ShowAndTellError
from showandtell.storage.conversations.protocol import Conversation


class ConversationStore(Protocol):
    """The store that is checked. Ids and owners are passed by position."""

    async def create(self, owner: str, /) -> Conversation:
        """Create a conversation."""
        ...

    async def open(self, id: str, owner: str, /) -> Conversation:  # noqa: A002 - it is one
        """Open a conversation. Raises `NotFound` if it doesn't exist, or is another owner's."""
        ...

    async def delete(self, id: str, owner: str, /) -> object:  # noqa: A002 - it is one
        """Delete a conversation. Raises `NotFound` as `open` does."""
        ...


#: Opens the store. Opened a second time, it is the same store after a restart, or in another process.
OpenStore: TypeAlias = Callable[[], AbstractAsyncContextManager[ConversationStore]]
Check: TypeAlias = Callable[[OpenStore], Awaitable[None]]

CALL = ToolCall("call_1", "draw", '{"what": "a house"}')
#: Loop iterations after which a message is cancelled.
CUTS = (*range(10), 15, 25, 50, 100, 200, 400)


def user(text: str, *files: File) -> Draft:
    """A message of the user."""
    return Draft("user", (Text(text), *files))


def note(text: str, name: str = "note.txt", number: int | None = None) -> File:
    """A text file."""
    return replace(File.from_bytes(text.encode(), name=name), number=number)


RECEIPT = Receipt(1, "a.txt", "text", "text/plain", "user", "user", "native", False, "", None, 5)
RESULT = Draft("tool", (Json('{"chart":null}', (("/chart", note("two")),)), Text("\0 \u2028 🥝")), "call_1", "draw")
HISTORY: tuple[tuple[Draft, Step | None], ...] = (
    (user("hello", note("one", "a.txt")), None),
    (
        Draft("assistant", (Opaque("openai", '{"id":1}'), Text("drawing"), CALL), stop="tool_calls"),
        Step(usage=Usage(7, 3), receipts=(RECEIPT,)),
    ),
    (Draft("user", (Approval("call_1", approved=True),)), None),
    (RESULT, None),
    (Draft("assistant", (Text("there"),), stop="end"), Step(usage=Usage(9, 1))),
)


async def post(conversation: Conversation, draft: Draft, step: Step | None = None) -> Message:
    """Record a draft with its files."""
    return await conversation.record(draft, await conversation.probe(draft), step)


def check(is_right: bool, problem: str) -> None:
    """Raise `AssertionError` with the problem if something is wrong."""
    if not is_right:
        raise AssertionError(problem)


def check_same(found: Conversation, expected: Conversation) -> None:
    """Raise `AssertionError` unless both have the same messages, files, started calls and receipts."""
    one, other = found.view(), expected.view()
    check(one.messages == other.messages, f"messages differ: {one.messages} is not {other.messages}")
    check(
        dict(one.attachments) == dict(other.attachments), f"files differ: {one.attachments} is not {other.attachments}"
    )
    check(one.started == other.started, f"started calls differ: {one.started} is not {other.started}")
    check(dict(found.receipts) == dict(expected.receipts), "receipts differ")
    check(found.head == expected.head, "heads differ")


async def check_missing(work: Awaitable[object], what: str) -> None:
    """Raise `AssertionError` unless something is not found."""
    try:
        await work
    except NotFound:
        return
    raise AssertionError(f"{what} must raise NotFound")


async def messages_come_back_in_order(open_store: OpenStore) -> None:
    """Messages, files and receipts of a conversation are the same after a restart."""
    async with open_store() as store:
        before = await store.create("ann")
        for draft, step in HISTORY:
            await post(before, draft, step)
    async with open_store() as store:
        after = await store.open(before.id, "ann")
        check((after.id, after.owner) == (before.id, "ann"), "id and owner must come back")
        check_same(after, before)
        roles = [message.role for message in await after.everything()]
        check(roles == [draft.role for draft, _ in HISTORY], f"everything() has {roles}")


async def files_keep_their_numbers_and_bytes(open_store: OpenStore) -> None:
    """Files keep number, id and bytes after a restart, and the next one gets the next number."""
    async with open_store() as store:
        before = await store.create("ann")
        await post(before, user("look", note("one", "a.txt"), note("two", "b.txt"), note("one", "c.txt")))
        ids = [file.id for file in before.attachments.values()]
    async with open_store() as store:
        after = await store.open(before.id, "ann")
        await post(after, user("and this", note("four", "d.txt")))
        found = [(number, after.file(number).name, after.file(number).read()) for number in after.attachments]
        expected = [(1, "a.txt", b"one"), (2, "b.txt", b"two"), (3, "c.txt", b"one"), (4, "d.txt", b"four")]
        check(found == expected, f"the files are {found}")
        check([after.attachments[number].id for number in (1, 2, 3)] == ids, "files must keep their ids")


async def a_refused_message_changes_nothing(open_store: OpenStore) -> None:
    """A message that can't be recorded leaves no file and takes no number."""
    async with open_store() as store:
        conversation = await store.create("ann")
        await post(conversation, user("look", note("one")))
        try:
            await post(conversation, user("again", note("two"), note("three", number=1)))
        except BadConversation:
            pass
        else:
            raise AssertionError("a number that is taken must raise BadConversation")
        await post(conversation, user("look", note("four")))
        check([*conversation.attachments] == [1, 2], f"files are numbered {[*conversation.attachments]}")
        check_same(await store.open(conversation.id, "ann"), conversation)


async def a_cancelled_message_is_stored_completely_or_not_at_all(open_store: OpenStore) -> None:
    """Wherever `record` is cancelled, a message is stored with all of its files, or not."""
    async with open_store() as store:
        for cut in CUTS:
            conversation = await store.create("ann")
            await post(conversation, user("first"))
            draft = user("look", note(f"one {cut}"), note(f"two {cut}"))
            task = asyncio.ensure_future(conversation.record(draft, await conversation.probe(draft)))
            for _ in range(cut):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task})
            again = await store.open(conversation.id, "ann")
            found = len(again.messages), [*again.attachments]
            check(found in ((1, []), (2, [1, 2])), f"a part of a message is stored: {found}")
            check(task.cancelled() or found[0] == 2, "record returned, but the message is not stored")
            await post(again, user("next"))
            check_same(await store.open(conversation.id, "ann"), again)


async def started_calls_are_known_until_their_result_is_stored(open_store: OpenStore) -> None:
    """After a crash the calls are known that may have run."""
    async with open_store() as store:
        conversation = await store.create("ann")
        for draft, step in HISTORY[:2]:
            await post(conversation, draft, step)
        await conversation.start_calls([CALL])
        await conversation.start_calls([CALL])
    async with open_store() as store:
        again = await store.open(conversation.id, "ann")
        check(again.view().started == frozenset({CALL.call_id}), "a call that was started must be known after a crash")
        await post(again, RESULT)
        check(not again.view().started, "a call with a result must not count as started")
        check_same(await store.open(conversation.id, "ann"), again)


async def an_interrupted_tool_does_not_run_again(open_store: OpenStore) -> None:
    """A run that continues after a crash doesn't repeat a call that was started."""
    runs: list[str] = []

    def draw(what: str) -> str:
        """Draw a picture."""
        runs.append(what)
        return "drawn"

    async with open_store() as store:
        conversation = await store.create("ann")
        for draft, step in HISTORY[:2]:
            await post(conversation, draft, step)
        await conversation.start_calls([CALL])
    async with open_store() as store:
        again = await store.open(conversation.id, "ann")
        run = await Agent("inspector", tools=[draw]).run(conversation=again)
        check((run.status, runs) == ("complete", []), f"the run is {run.status}, and the tool ran {len(runs)} times")


async def a_run_continues_with_files_of_an_earlier_one(open_store: OpenStore) -> None:
    """A run after a restart sees the files of the run before it."""
    async with open_store() as store:
        conversation = await store.create("ann")
        first = await Agent("inspector").run("look", files=[note("one", "a.txt")], conversation=conversation)
        check(first.status == "complete", f"the run is {first.status} ({first.error!r})")
    async with open_store() as store:
        again = await store.open(conversation.id, "ann")
        second = await Agent("inspector").run("What is in document 1?", conversation=again)
        check(second.status == "complete", f"the run is {second.status} ({second.error!r})")
        check([receipt.name for receipt in second.receipts] == ["a.txt"], "the model must see the file again")
        check([message.role for message in again.messages] == ["user", "assistant"] * 2, "each run adds two messages")


async def concurrent_writers_keep_one_order(open_store: OpenStore) -> None:
    """Each message is stored once, after those that its writer has seen, or its writer gets `Busy`."""
    async with open_store() as one, open_store() as two:
        conversation = await one.create("ann")
        writers = [conversation, await two.open(conversation.id, "ann"), await one.open(conversation.id, "ann")]

        async def write(index: int) -> str | None:
            draft = user(f"message {index}", note(f"file {index}"))
            try:
                return (await post(writers[index % len(writers)], draft)).id
            except Busy:
                return None

        stored = {found for found in await asyncio.gather(*map(write, range(12))) if found is not None}
        again = await two.open(conversation.id, "ann")
        ids = [message.id for message in again.messages]
        check(bool(stored), "no writer could write")
        check(len(ids) == len(stored) and {*ids} == stored, f"{len(stored)} messages were stored, {len(ids)} are there")
        parents = [message.parent_id for message in again.messages]
        check(parents == [None, *ids[:-1]], "each message must follow the one before it")
        check([*again.attachments] == [*range(1, len(ids) + 1)], f"files are numbered {[*again.attachments]}")
        text = {again.messages[number - 1].text: again.file(number).read() for number in again.attachments}
        check(all(data.decode().split()[1] == name.split()[1] for name, data in text.items()), "files are mixed up")


async def runs_of_one_conversation_wait_for_each_other(open_store: OpenStore) -> None:
    """Runs of one conversation are one after the other."""
    async with open_store() as store:
        conversation = await store.create("ann")
        texts = [f"message {index}" for index in range(4)]
        await asyncio.gather(*(Agent("inspector").run(text, conversation=conversation) for text in texts))
        roles = [message.role for message in (await store.open(conversation.id, "ann")).messages]
        check(roles == ["user", "assistant"] * 4, f"runs are mixed up: {roles}")


async def a_branch_continues_after_its_message(open_store: OpenStore) -> None:
    """A message after `lead` begins a branch, and the newest branch comes back."""
    async with open_store() as store:
        conversation = await store.create("ann")
        first = await post(conversation, user("one", note("one")))
        second = await post(conversation, user("two", note("two")))
        await conversation.lead(first.id)
        third = await post(conversation, user("three", note("three")))
    async with open_store() as store:
        again = await store.open(conversation.id, "ann")
        check([message.id for message in again.messages] == [first.id, third.id], "the newest branch must come back")
        check(third.parent_id == second.parent_id == first.id, "both branches follow the same message")
        check([*again.attachments] == [1, 2, 3], "branches share the numbers of files")
        everything = [message.id for message in await again.everything()]
        check(everything == [first.id, second.id, third.id], "everything() must have all branches")
        await again.lead(second.id)
        check([message.id for message in again.messages] == [first.id, second.id], "lead() goes to another branch")
        await again.lead(None)
        check(list(again.messages) == [], "lead(None) is before the first message")


async def a_deleted_conversation_is_gone(open_store: OpenStore) -> None:
    """Nobody opens or continues a deleted conversation; bytes that others need stay."""
    async with open_store() as store:
        deleted, other = await store.create("ann"), await store.create("ann")
        for conversation in (deleted, other):
            await post(conversation, user("look", note("shared")))
        await store.delete(deleted.id, "ann")
        await check_missing(store.open(deleted.id, "ann"), "opening a deleted conversation")
        await check_missing(store.delete(deleted.id, "ann"), "deleting it again")
        try:
            await post(deleted, user("into nothing", note("more")))
        except ShowAndTellError:
            pass
        else:
            raise AssertionError("a message in a deleted conversation must raise an error")
    async with open_store() as store:
        await check_missing(store.open(deleted.id, "ann"), "opening a deleted conversation after a restart")
        again = await store.open(other.id, "ann")
        check(again.file(1).read() == b"shared", "bytes that another conversation needs must stay")


async def owners_find_their_own_conversations_alone(open_store: OpenStore) -> None:
    """Conversations of others look like missing ones."""
    async with open_store() as store:
        conversation = await store.create("ann")
        await post(conversation, user("look", note("one")))
        await check_missing(store.open(conversation.id, "bob"), "opening another owner's conversation")
        await check_missing(store.delete(conversation.id, "bob"), "deleting another owner's conversation")
        await check_missing(store.open("conv_" + "a" * 22, "ann"), "opening an unknown id")
        check_same(await store.open(conversation.id, "ann"), conversation)


#: The checks, as functions that take `OpenStore` and raise `AssertionError`.
CONVERSATION_CHECKS: tuple[Check, ...] = (
    messages_come_back_in_order,
    files_keep_their_numbers_and_bytes,
    a_refused_message_changes_nothing,
    a_cancelled_message_is_stored_completely_or_not_at_all,
    started_calls_are_known_until_their_result_is_stored,
    an_interrupted_tool_does_not_run_again,
    a_run_continues_with_files_of_an_earlier_one,
    concurrent_writers_keep_one_order,
    runs_of_one_conversation_wait_for_each_other,
    a_branch_continues_after_its_message,
    a_deleted_conversation_is_gone,
    owners_find_their_own_conversations_alone,
)
