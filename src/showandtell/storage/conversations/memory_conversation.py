"""A conversation in memory: messages, attachments and what is known of conversions, its bytes in a temporary folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from msgspec import structs

from showandtell.core.collect.sanitize import clean
from showandtell.core.messages.attachments import Attachment, Facts, Proved, find
from showandtell.core.messages.blobs import Blobs
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.core.messages.file import File, Reader
from showandtell.core.messages.ids import new_id
from showandtell.core.messages.messages import Draft, History, Lead, Message, begins_turn
from showandtell.core.messages.parts import ToolCall, is_approval
from showandtell.core.planning.step import Step
from showandtell.core.planning.values import Receipt, View
from showandtell.errors import BadConversation, BadInput
from showandtell.storage.conversations.turn_lock import TurnLock
from showandtell.storage.files.convert import load_now
from showandtell.storage.files.file_cache import FileCache
from showandtell.storage.files.numbering import AcceptedMessage, Register
from showandtell.storage.files.proofs import prove_all, prove_now
from showandtell.storage.files.sources import StoredSource


class MemoryConversation:
    """The `Conversation` door of the loop, without a database. One run at a time: a second waits for its `turn`.

    A stored conversation keeps the same state, and overrides `write`, `learn`, `forget`, `begin`, `lead`, `settle` and
    `turn` to store each change before it is made here.
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
        self._register = Register(first_number=first_number)
        self._known: dict[DerivationRequest, Derivative | Failed] = {}
        self._begun: set[str] = set()
        self._said: dict[str, Message] = {}

    @property
    def turn(self) -> AbstractAsyncContextManager[None]:
        """Held by a run from its start to its end."""
        return self._turn

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        """The turn for a single change: at once for what belongs to the run that has it; all others wait."""
        if self._turn.is_mine:
            yield
            return
        async with self.turn:
            yield

    @property
    def attachments(self) -> dict[int, Attachment]:
        """The files of this conversation by number."""
        return self._register.attachments

    @property
    def blobs(self) -> Blobs:
        """Where its bytes are read."""
        return self.file_cache.blobs

    def file(self, number: int) -> File:
        """The stored file of a number, to read again; `BadInput` where there is none, or it has no bytes here."""
        found = find(self.attachments, number)
        facts = found.facts
        if facts is None:
            raise BadInput(f"{found.label} ({found.name}) has no bytes here: {found.problem or 'it is an address'}")
        source = Reader(StoredSource(self.file_cache.blobs, facts), facts.size)
        return File(source, found.media_type, found.name, found.description, number)

    def view(self) -> View:
        """What the planner reads."""
        said = (one.id for one in reversed(self.messages) if begins_turn(one))
        return View(tuple(self.messages), self.attachments, next(said, None), frozenset(self._begun))

    def known(self) -> Derivations:
        """Conversions, uploads and rejections so far."""
        return self._known

    async def prove(self, draft: Draft) -> list[Proved]:
        """Store and prove a draft's files, side by side; nothing is numbered yet."""
        return await prove_all(self.file_cache, draft.claims)

    async def record(self, draft: Draft, proved: Sequence[Proved], step: Step | None = None) -> Message:
        """Number a draft's files and store its message; a step's with what the model was given, and what it took."""
        async with self.held():
            if draft.role != "tool" and not is_approval(draft.parts):
                self._check_answered()
            accepted = self._register.accept(draft, proved, self.head, refers=begins_turn(draft))
            if step is not None:
                news = tuple(one for one in step.receipts if self.receipts.get(one.number) != one)
                step = structs.replace(step, receipts=news)
            accepted = await self.write(accepted, step)
            self.keep(accepted, step.receipts if step else ())
        return accepted.message

    def _check_answered(self) -> None:
        """Raise `BadInput` while calls wait for their results: nobody takes a history in which something is between."""
        if waiting := waiting_calls(self.messages):
            named = ", ".join(f"{call.tool} ({call.call_id})" for call in waiting)
            raise BadInput(f"calls wait for their results: {named}; go on with the run first, without words of yours")

    async def write(self, accepted: AcceptedMessage, step: Step | None) -> AcceptedMessage:
        """Store a message before it counts, and what belongs to its step; gives it as it was stored."""
        del step
        self._said[accepted.message.id] = accepted.message
        return accepted

    def keep(self, accepted: AcceptedMessage, receipts: Iterable[Receipt] = ()) -> None:
        """From now on this message is the last one."""
        message = accepted.message
        self._register.keep(accepted)
        self.messages.append(message)
        self.receipts |= {receipt.number: receipt for receipt in receipts}
        if message.call_id is not None:
            self._begun.discard(message.call_id)

    @property
    def head(self) -> str | None:
        """The id of the last message of the branch that is talked on; None where nothing was said."""
        return self.messages[-1].id if self.messages else None

    async def everything(self) -> list[Message]:
        """The messages of all branches, in the order in which they were said."""
        return [*self._said.values()]

    async def lead(self, message_id: str | None) -> None:
        """Go on behind a message of any branch (None: before the first one), which what is said next will follow.

        The numbers of files are those of all branches. Raises `BadInput` for a message that isn't there.
        """
        if self._turn.is_mine:
            self._check_answered()
        async with self.held():
            self.messages = branch(self._said, message_id)

    async def stand_behind(self, lead: Lead) -> None:
        """The same for who has the turn; it counts from the first message that is stored there."""
        self.messages = branch(self._said, lead.message_id)

    def ingest_now(self, drafts: Iterable[Draft]) -> None:
        """Prove, number and store a whole history, without an event loop."""
        parents = drafts.parents if isinstance(drafts, History) else None
        ids: list[str | None] = []
        for index, draft in enumerate(map(clean, drafts)):
            if parents is not None and (before := parents[index]) != index - 1:
                self.messages = branch(self._said, None if before is None else ids[before])
            try:
                proved = [prove_now(self.file_cache, file) for file in draft.claims]
                accepted = self._register.accept(draft, proved, self.head)
            except BadConversation as error:
                raise BadConversation(f"messages[{index}]: {error}") from error
            self._said[accepted.message.id] = accepted.message
            self.keep(accepted)
            ids.append(self.head)
        if isinstance(drafts, History) and drafts.head is not None:
            self.messages = branch(self._said, ids[drafts.head] if drafts.head >= 0 else None)

    async def begin(self, calls: Sequence[ToolCall]) -> None:
        """Note that these calls are about to run."""
        self._begun |= {call.call_id for call in calls}

    async def check(self, files: Collection[Facts]) -> dict[Facts, str]:
        """Those of these stored files that are no longer what they were, each with what is wrong in words.

        They are set aside until they are again what they were, which is looked at each time.
        """
        there = [*self.attachments.values()]
        asked = {*files, *(one.facts for one in there if one.facts is not None and one.state == "quarantined")}
        wrong = await asyncio.to_thread(check_all, self.file_cache.blobs, asked) if asked else {}
        if changed := [*judge(self.attachments.values(), asked, wrong)]:
            await self.settle(changed)
        if wrong:
            hashes = {facts.sha256 for facts in wrong}
            await self.forget([want for want, found in self._known.items() if hashes & hashes_of(want, found)])
        return {facts: problem for facts, problem in wrong.items() if facts in files}

    async def settle(self, files: Sequence[Attachment]) -> None:
        """Keep the state of files that were set aside, or found whole again."""
        self.attachments.update({one.number: one for one in files})

    async def load(self, wants: Iterable[DerivationRequest]) -> Derivations:
        """Convert what the plan wants."""
        return await asyncio.to_thread(load_now, list(wants), self.file_cache)

    async def learn(self, news: Derivations) -> None:
        """Keep what conversions and providers taught."""
        self.remember(news)

    def remember(self, news: Derivations) -> None:
        """The same, for as long as this object lives."""
        self._known |= news

    async def forget(self, wants: Iterable[DerivationRequest]) -> None:
        """Drop what holds no more."""
        for want in wants:
            self._known.pop(want, None)


def waiting_calls(messages: Sequence[Message]) -> list[ToolCall]:
    """The calls of the newest step that have no result."""
    answered: set[str | None] = set()
    for message in reversed(messages):
        if message.role == "assistant":
            return [call for call in message.calls if call.call_id not in answered]
        if begins_turn(message):
            break
        answered.add(message.call_id)
    return []


def check_all(blobs: Blobs, files: Iterable[Facts]) -> dict[Facts, str]:
    """What is wrong with stored files, if anything is."""
    return {facts: wrong for facts in files if (wrong := blobs.check(facts)) is not None}


def judge(files: Iterable[Attachment], asked: Collection[Facts], wrong: Mapping[Facts, str]) -> Iterator[Attachment]:
    """Of the files that were asked about, those whose state changes: set aside, or whole again."""
    for one in files:
        if one.facts is None or one.facts not in asked:
            continue
        told = wrong.get(one.facts)
        if told is not None and one.state == "ready":
            problem = f"its stored bytes can't be used, the blob {told}: add the file again"
            yield structs.replace(one, state="quarantined", problem=problem)
        elif told is None and one.state == "quarantined":
            yield structs.replace(one, state="ready", problem=None)


def hashes_of(want: DerivationRequest, found: Derivative | Failed) -> set[str]:
    """The bytes that a conversion was made of, and those that it gave; none for uploads, which lie elsewhere."""
    if isinstance(found, Failed) or found.file_id is not None or found.url is not None:
        return set()
    return {want.sha256, *(one.sha256 for one in found.files)}


def branch(messages: Mapping[str, Message], last: str | None) -> list[Message]:
    """The messages that lead to one, from the first. Raises `BadInput` where that isn't there."""
    found: list[Message] = []
    while last is not None:
        if last not in messages:
            raise BadInput(f"this conversation has no message {last[:40]!r}")
        found.append(messages[last])
        last = messages[last].parent_id
    return found[::-1]
