"""The only way from drafts to messages: files get their numbers in order, and attachments are recorded."""

from __future__ import annotations

import itertools
from collections import ChainMap
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from showandtell.core.media_types.claims import name_ending, respell
from showandtell.core.messages.attachments import Attachment, Origin, Proved
from showandtell.core.messages.file import File
from showandtell.core.messages.ids import new_id
from showandtell.core.messages.messages import Draft, History, Message, begins_turn
from showandtell.core.messages.parts import Claimed, Json, Part, Shown, Text
from showandtell.core.references import resolve
from showandtell.errors import BadConversation
from showandtell.storage.files.file_cache import describe

#: The highest number that a file may have, the same that a conversation file may name.
MOST_NUMBER = 1_000_000_000


class AcceptedMessage(Struct, frozen=True):
    """What a draft became: its message, and the attachments that came with it."""

    message: Message
    attachments: tuple[Attachment, ...]


class Register:
    """The attachments of one conversation by number, and who gets the next number."""

    def __init__(self, attachments: Iterable[Attachment] = (), first_number: int = 1) -> None:
        self.attachments: dict[int, Attachment] = {one.number: one for one in attachments}
        self._next = max([first_number, *(number + 1 for number in self.attachments)])

    def accept(
        self, draft: Draft, proved: Sequence[Proved], parent_id: str | None = None, *, refers: bool = False
    ) -> AcceptedMessage:
        """Number the files of a draft and make it a message; `proved` answers its claims in order.

        Nothing is kept until `keep` is called. `refers`: what its words point at is read, too.
        """
        numbering = Numbering(self.attachments, self._next, iter(proved), _origin(draft))
        parts = tuple(map(numbering.part, draft.parts))
        references = resolve(words_of(draft), numbering.all) if refers else ()
        message = Message(
            new_id("msg"),
            draft.role,
            parts,
            draft.call_id,
            draft.tool,
            draft.is_error,
            draft.stop,
            parent_id,
            references,
        )
        return AcceptedMessage(message, tuple(numbering.fresh.values()))

    def accept_all(
        self,
        history: Sequence[Draft],
        proved: Iterable[Sequence[Proved]],
        *,
        refers: bool = False,
    ) -> Iterator[AcceptedMessage]:
        """Accept and keep a whole history, each message behind its parent; `proved` answers each draft's claims.

        Raises `BadConversation` with the place of the message that contradicts those before it.
        """
        parents = history.parents if isinstance(history, History) else None
        ids: list[str] = []
        for index, (draft, answers) in enumerate(zip(history, proved, strict=True)):
            parent = index - 1 if parents is None else parents[index]
            before = ids[parent] if parent is not None and parent >= 0 else None
            said = refers and begins_turn(draft)
            try:
                accepted = self.accept(draft, answers, before, refers=said)
            except BadConversation as error:
                raise BadConversation(f"messages[{index}]: {error}") from error
            self.keep(accepted)
            ids.append(accepted.message.id)
            yield accepted

    def keep(self, accepted: AcceptedMessage) -> None:
        """From now on its attachments have their numbers."""
        for one in accepted.attachments:
            self.attachments[one.number] = one
            self._next = max(self._next, one.number + 1)


def words_of(draft: Draft) -> str:
    """What a person has written in a draft."""
    return "\n".join(part.text for part in draft.parts if isinstance(part, Text))


class Numbering:
    """The files of one draft as they get their numbers, behind those that are there."""

    def __init__(self, there: dict[int, Attachment], first: int, proved: Iterator[Proved], origin: Origin) -> None:
        self.fresh: dict[int, Attachment] = {}
        self.all = ChainMap(self.fresh, there)
        self._next, self._proved, self._origin = first, proved, origin

    def part(self, part: Claimed) -> Part:
        """A part as it is stored."""
        match part:
            case File() | Shown():
                return self._shown(part)
            case Json():
                return Json[Shown](part.text, tuple((pointer, self._shown(file)) for pointer, file in part.files))
            case _:
                return part

    def _shown(self, file: File | Shown) -> Shown:
        if isinstance(file, Shown):
            if file.number not in self.all:
                raise BadConversation(f"file {file.number} is shown, but no file has that number yet")
            return Shown(file.number, self.all[file.number].id, file.view)
        attachment = self._attach(file, next(self._proved))
        return Shown(attachment.number, attachment.id)

    def _free(self) -> int:
        """The next number; where somebody gave the highest one, the lowest that is free."""
        return (
            self._next if self._next <= MOST_NUMBER else next(one for one in itertools.count(1) if one not in self.all)
        )

    def _attach(self, file: File, proved: Proved) -> Attachment:
        number = file.number if file.number is not None else self._free()
        if number > MOST_NUMBER:
            raise BadConversation(f"number {number} is too high: give a file one up to {MOST_NUMBER}")
        if number in self.all:
            taken = self.all[number].name
            raise BadConversation(
                f"number {number} of {proved.name or 'a file'} is taken by {taken}: give each its own"
            )
        proof = proved.facts or proved.address
        attachment = Attachment(
            id=file.id or new_id("att"),
            number=number,
            name=proved.name or _named(number, proof.media_type if proof else file.media_type),
            origin=self._origin,
            date=file.date or datetime.now(UTC).date().isoformat(),
            facts=proved.facts,
            address=proved.address,
            problem=proved.problem,
            description=describe(file.description),
            corrected=proved.corrected,
            claimed=respell(file.media_type),
        )
        self.fresh[number] = attachment
        self._next = max(self._next, number + 1)
        return attachment


def _origin(draft: Draft) -> Origin:
    match draft.role:
        case "tool":
            return Origin("tool", draft.tool, draft.call_id)
        case "user" | "assistant":
            return Origin(draft.role)


def _named(number: int, media_type: str | None) -> str:
    return f"file-{number}{name_ending(media_type)}"
