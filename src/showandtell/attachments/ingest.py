"""The only way from drafts to messages: files get their numbers in order, and attachments are recorded."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from showandtell.attachments.shelf import describe
from showandtell.collect import collect
from showandtell.content import Draft, File, Json, Message, Part, Shown, Text, new_id
from showandtell.errors import BadConversation
from showandtell.files import Attachment, Origin, Proved
from showandtell.media.claims import name_ending, respell


def clean(draft: Draft) -> Draft:
    """A draft that didn't come from `collect`, its words read as that reads them: no base64, no lone surrogate."""
    if draft.role == "assistant":
        return draft
    parts: list[Part | File] = []
    for part in draft.parts:
        parts += collect(part) if isinstance(part, Text) else (part,)
    return dataclasses.replace(draft, parts=tuple(parts))


def claims(draft: Draft) -> tuple[File, ...]:
    """The files of a draft that are still claims, in order, those inside JSON included."""
    found: list[File] = []
    for part in draft.parts:
        if isinstance(part, File):
            found.append(part)
        elif isinstance(part, Json):
            found += [file for _, file in part.files if isinstance(file, File)]
    return tuple(found)


class Register:
    """The attachments of one conversation by number, and who gets the next number."""

    def __init__(self, attachments: Iterable[Attachment] = (), first_number: int = 1) -> None:
        self.attachments: dict[int, Attachment] = {one.number: one for one in attachments}
        self._next = max([first_number, *(number + 1 for number in self.attachments)])

    def accept(self, draft: Draft, proved: Sequence[Proved]) -> Message:
        """Number the files of a draft and make it a message; `proved` answers its claims in order."""
        origin = _origin(draft)
        answers = iter(proved)
        parts = tuple(self._part(part, answers, origin) for part in draft.parts)
        return Message(new_id("msg"), draft.role, parts, draft.call_id, draft.tool, draft.is_error, draft.stop)

    def _part(self, part: Part | File, answers: Iterable[Proved], origin: Origin) -> Part:
        match part:
            case File() | Shown():
                return self._shown(part, answers, origin)
            case Json() if part.files:
                files = tuple((pointer, self._shown(file, answers, origin)) for pointer, file in part.files)
                return Json(part.text, files)
            case _:
                return part

    def _shown(self, file: File | Shown, answers: Iterable[Proved], origin: Origin) -> Shown:
        if isinstance(file, Shown):
            if file.number not in self.attachments:
                raise BadConversation(f"file {file.number} is shown, but no file has that number yet")
            return Shown(file.number, self.attachments[file.number].id, file.view)
        attachment = self._attach(file, next(iter(answers)), origin)
        return Shown(attachment.number, attachment.id)

    def _attach(self, file: File, proved: Proved, origin: Origin) -> Attachment:
        number = file.number if file.number is not None else self._next
        if number in self.attachments:
            taken = self.attachments[number].name
            raise BadConversation(
                f"number {number} of {proved.name or 'a file'} is taken by {taken}: give each its own"
            )
        proof = proved.facts or proved.address
        attachment = Attachment(
            id=new_id("att"),
            number=number,
            name=proved.name or _named(number, proof.media_type if proof else file.media_type),
            origin=origin,
            date=datetime.now(UTC).date().isoformat(),
            facts=proved.facts,
            address=proved.address,
            problem=proved.problem,
            description=describe(file.description),
            corrected=proved.corrected,
            claimed=respell(file.media_type),
        )
        self.attachments[number] = attachment
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
