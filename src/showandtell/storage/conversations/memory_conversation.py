"""A conversation in memory, with its files in a temporary folder."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import cast

from msgspec import structs

from showandtell.checking.checked import checked
from showandtell.core.collect.sanitize import clean
from showandtell.core.display.displayed import Displayed
from showandtell.core.display.layout import Block
from showandtell.core.display.words import counted, one_line
from showandtell.core.messages.attachments import Attachment, Facts, ProbedFile, find_attachment
from showandtell.core.messages.blobs import Blobs
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.core.messages.file import File, Reader
from showandtell.core.messages.ids import new_id
from showandtell.core.messages.message import BranchPoint, Draft, History, Message, starts_turn
from showandtell.core.messages.parts import ToolCall, is_approval
from showandtell.core.planning.step_record import Step
from showandtell.core.planning.values import Receipt, View
from showandtell.errors import BadConversation, BadInput
from showandtell.storage.blobs.base import MISSING
from showandtell.storage.blobs.threads import run_in_thread
from showandtell.storage.conversations.turn_lock import TurnLock
from showandtell.storage.files.convert import convert_in_turn
from showandtell.storage.files.display import conversation_blocks
from showandtell.storage.files.file_cache import FileCache
from showandtell.storage.files.numbering import AcceptedMessage, Register
from showandtell.storage.files.proofs import probe_all, probe_now
from showandtell.storage.files.sources import StoredSource

#: Above this number of files, references in a text are resolved in a thread.
MANY_FILES = 200
#: States of a file whose stored bytes can't be used, until they can be again.
UNUSABLE = ("missing", "quarantined")


@checked
class MemoryConversation(Displayed):
    """A `Conversation` in memory. Only one run at a time: a second waits for its `turn`.

    A stored conversation overrides `write` and `start_calls` to store each change before it is applied here, and calls
    `restore` when it is opened. It may override `lead`, `update_attachments`, `learn`, `forget` and `turn`, too.
    """

    def __init__(
        self,
        file_cache: FileCache | None = None,
        owner: str = "local",
        first_number: int = 1,
        id: str | None = None,  # noqa: A002 - it is one
    ) -> None:
        self.id = id or new_id("conv")
        self.owner = owner
        self.file_cache = file_cache or FileCache()
        self.messages: list[Message] = []
        self.receipts: dict[int, Receipt] = {}
        self._turn = TurnLock()
        self._first_number = first_number
        self._register = Register(first_number=first_number)
        self._derivations: dict[DerivationRequest, Derivative | Failed] = {}
        self._started_calls: set[str] = set()
        self._all_messages: dict[str, Message] = {}
        #: The list of messages in which the newest question was last looked for, how many it had, the question's id.
        self._read = self.messages, 0, cast("str | None", None)

    @property
    def turn(self) -> AbstractAsyncContextManager[None]:
        """Held by a run from start to end."""
        return self._turn

    @asynccontextmanager
    async def holding_turn(self) -> AsyncGenerator[None]:
        """Hold the turn for a single change. Tasks of the run that holds it don't wait."""
        if self._turn.is_held_here:
            yield
            return
        async with self.turn:
            yield

    @property
    def attachments(self) -> dict[int, Attachment]:
        """The files by number."""
        return self._register.attachments

    @property
    def blobs(self) -> Blobs:
        """The blob store to read the files from."""
        return self.file_cache.blobs

    def __repr__(self) -> str:
        """The id and what it holds, in numbers."""
        counts = f"{counted(len(self.messages), 'message')}, {counted(len(self.attachments), 'file')}"
        return f"<{type(self).__name__} {self.id} of {one_line(self.owner, 60)}: {counts}>"

    def _blocks(self) -> Iterable[Block]:
        return conversation_blocks(self.messages, self, self.receipts.values())

    def file(self, number: int) -> File:
        """The stored file of a number. Raises `BadInput` if there is none, or if it has no bytes here."""
        found = find_attachment(self.attachments, number)
        facts = found.facts
        if facts is None:
            raise BadInput(f"{found.label} ({found.name}) has no bytes here: {found.problem or 'it is an address'}")
        source = Reader(StoredSource(self.file_cache.blobs, facts), facts.size, is_stored=True)
        return replace(found.as_file(source), media_type=found.media_type, number=number)

    def view(self) -> View:
        """The input of the planner."""
        return View(tuple(self.messages), self.attachments, self._find_question(), frozenset(self._started_calls))

    def _find_question(self) -> str | None:
        """The id of the newest message that starts a turn. Only messages that are new since the last time are read."""
        messages, count, found = self._read
        if messages is not self.messages or count > len(messages):
            count, found = 0, None
        newer = (self.messages[at] for at in range(len(self.messages) - 1, count - 1, -1))
        found = next((message.id for message in newer if starts_turn(message)), found)
        self._read = self.messages, len(self.messages), found
        return found

    def known(self) -> Derivations:
        """Conversions, uploads and rejections so far."""
        return self._derivations

    async def probe(self, draft: Draft) -> list[ProbedFile]:
        """Store and probe a draft's files concurrently. They get no numbers yet."""
        return await probe_all(self.file_cache, draft.claims)

    async def record(self, draft: Draft, proved: Sequence[ProbedFile], step: Step | None = None) -> Message:
        """Number a draft's files and store its message. `step` has the receipts and usage of a model's message."""
        async with self.holding_turn():
            if draft.role != "tool" and not is_approval(draft.parts):
                self._check_answered()
            accept = partial(self._register.accept, draft, proved, self.head, refers=starts_turn(draft))
            is_long = starts_turn(draft) and len(self.attachments) > MANY_FILES  # its text may refer to any of them
            accepted = await run_in_thread(accept) if is_long else accept()
            if step is not None:
                changed = tuple(receipt for receipt in step.receipts if self.receipts.get(receipt.number) != receipt)
                step = structs.replace(step, receipts=changed)
            accepted = await self.write(accepted, step)
            self.commit(accepted, step.receipts if step else ())
        return accepted.message

    def _check_answered(self) -> None:
        """Raise `BadInput` while tool calls have no result: providers reject a message in between."""
        if waiting := waiting_calls(self.messages):
            named = ", ".join(f"{call.tool} ({call.call_id})" for call in waiting)
            raise BadInput(f"tool calls have no results yet: {named}; continue the run before adding a message")

    async def write(self, accepted: AcceptedMessage, step: Step | None) -> AcceptedMessage:
        """Store a message before it is applied in memory, with its step. Returns it as stored."""
        del step
        self._all_messages[accepted.message.id] = accepted.message
        return accepted

    def commit(self, accepted: AcceptedMessage, receipts: Iterable[Receipt] = ()) -> None:
        """Append a stored message."""
        message = accepted.message
        self._register.commit(accepted)
        self.messages.append(message)
        self.receipts |= {receipt.number: receipt for receipt in receipts}
        if message.call_id is not None:
            self._started_calls.discard(message.call_id)

    def restore(self, stored: Iterable[tuple[AcceptedMessage, Step | None]], started_calls: Iterable[str] = ()) -> None:
        """Replace what is in memory by what was stored: what `write` got, in its order, and calls without a result.

        The current branch is that of the last message.
        """
        self.messages, self.receipts, self._all_messages = [], {}, {}
        self._register = Register(first_number=self._first_number)
        for accepted, step in stored:
            if accepted.message.parent_id != self.head:
                self.messages = branch(self._all_messages, accepted.message.parent_id)
            self._all_messages[accepted.message.id] = accepted.message
            self.commit(accepted, step.receipts if step else ())
        self._started_calls = set(started_calls)
        self.file_cache.facts |= {
            file.facts.sha256: file.facts for file in self.attachments.values() if file.facts is not None
        }

    @property
    def head(self) -> str | None:
        """The id of the current branch's last message, or None if there are no messages."""
        return self.messages[-1].id if self.messages else None

    async def everything(self) -> list[Message]:
        """The messages of all branches, in the order in which they were stored."""
        return [*self._all_messages.values()]

    async def lead(self, message_id: str | None) -> None:
        """Continue after a message of any branch (None: before the first one). The next message will follow it.

        All branches share the file numbers. Raises `BadInput` if the message doesn't exist.
        """
        if self._turn.is_held_here:
            self._check_answered()
        async with self.holding_turn():
            self.messages = branch(self._all_messages, message_id)

    async def branch_from(self, lead: BranchPoint) -> None:
        """Like `lead`, for the holder of the turn. Takes effect with the first message stored there."""
        self.messages = branch(self._all_messages, lead.message_id)

    def ingest_now(self, drafts: Iterable[Draft]) -> None:
        """Probe, number and store a complete history without an event loop."""
        parents = drafts.parents if isinstance(drafts, History) else None
        ids: list[str | None] = []
        for index, draft in enumerate(map(clean, drafts)):
            if parents is not None and (before := parents[index]) != index - 1:
                self.messages = branch(self._all_messages, None if before is None else ids[before])
            try:
                proved = [probe_now(self.file_cache, file) for file in draft.claims]
                accepted = self._register.accept(draft, proved, self.head, refers=starts_turn(draft))
            except BadConversation as error:
                raise BadConversation(f"messages[{index}]: {error}") from error
            self._all_messages[accepted.message.id] = accepted.message
            self.commit(accepted)
            ids.append(self.head)
        if isinstance(drafts, History) and drafts.head is not None:
            self.messages = branch(self._all_messages, ids[drafts.head] if drafts.head >= 0 else None)

    async def start_calls(self, calls: Sequence[ToolCall]) -> None:
        """Record that these calls are about to run."""
        self._started_calls |= {call.call_id for call in calls}

    async def check(self, files: Collection[Facts]) -> dict[Facts, str]:
        """The problems of those of these stored files that are missing or damaged.

        Such files are marked until their bytes are intact again, which is checked each time.
        """
        unusable = [file.facts for file in self.attachments.values() if file.state in UNUSABLE]
        to_check = {*files, *(facts for facts in unusable if facts is not None)}
        problems = await run_in_thread(self.file_cache.blobs.check_all, to_check) if to_check else {}
        existing = self.attachments.values() if problems or unusable else ()
        if changed := [*changed_states(existing, to_check, problems)]:
            await self.update_attachments(changed)
        if problems:
            hashes = {facts.sha256 for facts in problems}
            await self.forget(
                [request for request, result in self._derivations.items() if hashes & hashes_of(request, result)]
            )
        return {facts: problem for facts, problem in problems.items() if facts in files}

    async def update_attachments(self, files: Sequence[Attachment]) -> None:
        """Apply a new state of files that were marked or found intact again."""
        self.attachments.update({file.number: file for file in files})

    async def load(self, requests: Iterable[DerivationRequest]) -> Derivations:
        """Run the conversions that a plan requests."""
        return await convert_in_turn(requests, self.file_cache)

    async def recall(self, request: DerivationRequest) -> Derivative | Failed | None:
        """A stored result."""
        return self._derivations.get(request)

    async def learn(self, results: Derivations) -> None:
        """Store results of conversions and providers."""
        self.remember(results)

    def remember(self, results: Derivations) -> None:
        """Like `learn`, but only for the lifetime of this object."""
        self._derivations |= results

    async def forget(self, requests: Iterable[DerivationRequest]) -> None:
        """Drop outdated results."""
        for request in requests:
            self._derivations.pop(request, None)


def waiting_calls(messages: Sequence[Message]) -> list[ToolCall]:
    """The calls of the newest step without a result."""
    answered: set[str | None] = set()
    for message in reversed(messages):
        if message.role == "assistant":
            return [call for call in message.calls if call.call_id not in answered]
        if starts_turn(message):
            break
        answered.add(message.call_id)
    return []


def changed_states(
    files: Iterable[Attachment], checked: Collection[Facts], problems: Mapping[Facts, str]
) -> Iterator[Attachment]:
    """The checked files whose state changes: newly marked, missing instead of damaged, or intact again."""
    for file in files:
        if file.facts is None or file.facts not in checked:
            continue
        damage = problems.get(file.facts)
        state = "ready" if damage is None else "missing" if damage == MISSING else "quarantined"
        if damage is not None and file.state not in {state, "deleted"}:
            problem = f"its stored bytes can't be used, the blob {damage}: add the file again"
            yield structs.replace(file, state=state, problem=problem)
        elif damage is None and file.state in UNUSABLE:
            yield structs.replace(file, state="ready", problem=None)


def hashes_of(request: DerivationRequest, result: Derivative | Failed) -> set[str]:
    """The source and output hashes of a conversion; empty for uploads, whose bytes are at the provider."""
    if isinstance(result, Failed) or result.file_id is not None or result.url is not None:
        return set()
    return {request.sha256, *(facts.sha256 for facts in result.files)}


def branch(messages: Mapping[str, Message], last: str | None) -> list[Message]:
    """The messages up to `last`, oldest first. Raises `BadInput` if it doesn't exist."""
    path: list[Message] = []
    while last is not None:
        if last not in messages:
            raise BadInput(f"this conversation has no message {last[:40]!r}")
        path.append(messages[last])
        last = messages[last].parent_id
    return path[::-1]
