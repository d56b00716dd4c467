"""Turns drafts into messages: numbers their files in order and records them as attachments."""

from __future__ import annotations

import itertools
from collections import ChainMap
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import cast

from msgspec import UNSET, Struct, structs

from showandtell.checking.checked import Checked
from showandtell.core.media_types.claims import normalize_claim, suffix_of
from showandtell.core.messages.attachments import Attachment, Origin, ProbedFile
from showandtell.core.messages.file import File
from showandtell.core.messages.ids import new_id
from showandtell.core.messages.message import Draft, History, Message, starts_turn
from showandtell.core.messages.metadata import dump_metadata
from showandtell.core.messages.parts import DraftPart, HostedBlock, Json, Part, Shown, Text
from showandtell.core.references import resolve
from showandtell.errors import BadConversation
from showandtell.storage.files.file_cache import clean_description, clean_name

#: The highest file number, also in conversation files.
MAX_NUMBER = 1_000_000_000


class AcceptedMessage(Checked, Struct, frozen=True):
    """The message made from a draft, and its new attachments."""

    message: Message
    attachments: tuple[Attachment, ...]


class Register:
    """The attachments of one conversation by number, and the next free number."""

    def __init__(self, attachments: Iterable[Attachment] = (), first_number: int = 1) -> None:
        self.attachments: dict[int, Attachment] = {file.number: file for file in attachments}
        self._next = max([first_number, *(number + 1 for number in self.attachments)])

    def accept(
        self, draft: Draft, proved: Sequence[ProbedFile], parent_id: str | None = None, *, refers: bool = False
    ) -> AcceptedMessage:
        """Number the files of a draft and make it a message. `proved` has one result for each of its files, in order.

        Nothing changes until `commit`. With `refers`, references in the draft's text are resolved.
        """
        numbering = Numbering(self.attachments, self._next, iter(proved), _origin(draft))
        parts = tuple(map(numbering.part, draft.parts))
        references = resolve(text_of(draft), self.attachments | numbering.fresh) if refers else ()
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
            draft.author or UNSET,
            UNSET if draft.metadata is None else dump_metadata(draft.metadata),
        )
        return AcceptedMessage(message, tuple(numbering.fresh.values()))

    def accept_all(
        self,
        history: Sequence[Draft],
        proved: Iterable[Sequence[ProbedFile]],
        *,
        refers: bool = False,
    ) -> Iterator[AcceptedMessage]:
        """Accept and commit a whole history. `proved` has the results for each draft's files.

        Raises `BadConversation`, with the index of the message, if a message contradicts those before it.
        """
        parents = history.parents if isinstance(history, History) else None
        ids: list[str] = []
        for index, (draft, results) in enumerate(zip(history, proved, strict=True)):
            parent = index - 1 if parents is None else parents[index]
            parent_id = ids[parent] if parent is not None and parent >= 0 else None
            resolve_references = refers and starts_turn(draft)
            try:
                accepted = self.accept(draft, results, parent_id, refers=resolve_references)
            except BadConversation as error:
                raise BadConversation(f"messages[{index}]: {error}") from error
            self.commit(accepted)
            ids.append(accepted.message.id)
            yield accepted

    def commit(self, accepted: AcceptedMessage) -> None:
        """Record the attachments of an accepted message."""
        for file in accepted.attachments:
            self.attachments[file.number] = file
            self._next = max(self._next, file.number + 1)


def text_of(draft: Draft) -> str:
    """The text of a draft that a model reads."""
    return "\n".join(part.text for part in draft.parts if isinstance(part, Text) and part.audience != "user")


class Numbering:
    """Numbers the files of one draft, after the existing attachments."""

    def __init__(
        self, existing: dict[int, Attachment], first: int, proved: Iterator[ProbedFile], origin: Origin
    ) -> None:
        self.fresh: dict[int, Attachment] = {}
        self.all = ChainMap(self.fresh, existing)
        self._next, self._proved, self._origin = first, proved, origin

    def part(self, part: DraftPart) -> Part:
        """The part as it is stored."""
        match part:
            case File() | Shown():
                return self._show(part)
            case Json():
                return Json[Shown](part.text, self._show_all(part.files))
            case HostedBlock():
                return cast("HostedBlock[Shown]", structs.replace(part, files=self._show_all(part.files)))
            case _:
                return part

    def _show_all(self, files: tuple[tuple[str, File | Shown], ...]) -> tuple[tuple[str, Shown], ...]:
        return tuple((pointer, self._show(file)) for pointer, file in files)

    def _show(self, file: File | Shown) -> Shown:
        if isinstance(file, Shown):
            if file.number not in self.all:
                raise BadConversation(f"file {file.number} is shown, but no file has that number yet")
            return Shown(file.number, self.all[file.number].id, file.view)
        attachment = self._attach(file, next(self._proved))
        return Shown(attachment.number, attachment.id)

    def _origin_of(self, file: File) -> Origin:
        if file.made_by is not None:
            return Origin("provider", *file.made_by)
        return structs.replace(self._origin, shared_by=file.shared_by) if file.shared_by else self._origin

    def _next_free(self) -> int:
        """The next number, or the lowest free one if the highest number is taken."""
        return (
            self._next
            if self._next <= MAX_NUMBER
            else next(free for free in itertools.count(1) if free not in self.all)
        )

    def _default_name(self, number: int, media_type: str | None) -> str:
        """The name of a file without one: its tool's, if no other file has that, or else its number."""
        tool, suffix = self._origin.tool, suffix_of(media_type)
        if self._origin.by != "tool" or not (tool := clean_name(tool or "")):
            return f"file-{number}{suffix}"
        is_taken = any(other.name == tool + suffix for other in self.all.values())
        return f"{tool}-{number}{suffix}" if is_taken else tool + suffix

    def _attach(self, file: File, proved: ProbedFile) -> Attachment:
        number = file.number if file.number is not None else self._next_free()
        if number > MAX_NUMBER:
            raise BadConversation(f"number {number} is too high: give a file one up to {MAX_NUMBER}")
        if number in self.all:
            taken = self.all[number].name
            raise BadConversation(
                f"number {number} of {proved.name or 'a file'} is taken by {taken}: give each its own"
            )
        proof = proved.facts or proved.address
        attachment = Attachment(
            id=file.upload_id or new_id("att"),
            number=number,
            name=proved.name or self._default_name(number, proof.media_type if proof else file.media_type),
            origin=self._origin_of(file),
            date=file.date or datetime.now(UTC).date().isoformat(),
            facts=proved.facts,
            address=proved.address,
            problem=proved.problem,
            state="ready" if proof is not None else "missing",
            description=clean_description(file.description),
            corrected=proved.corrected,
            claimed=normalize_claim(file.media_type),
            audience=file.audience,
            in_context=file.in_context,
            convert=file.convert,
            external_id=file.id or UNSET,
            lifted=file.lifted or UNSET,
            metadata_json=UNSET if file.metadata is None else dump_metadata(file.metadata),
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
