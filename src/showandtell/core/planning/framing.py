"""The third pass: entries. Every file gets its label, relocated ones their frame after all results of the step.

What a wire demands of neighbours (results first, fillers, turns of their own) is `Order`; this file only obeys it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias, cast

import msgspec

from showandtell.core.capabilities.cells import Order, Target
from showandtell.core.messages.messages import Message
from showandtell.core.messages.parts import Json, Opaque, Shown, Text, ToolCall, is_approval
from showandtell.core.planning import labels
from showandtell.core.planning.call_ids import spell, spell_name
from showandtell.core.planning.placement import OUT_OF_VIEW, Placement
from showandtell.core.planning.values import Data, Entry, Policy, RenderedFile, Result, View

Piece: TypeAlias = Text | Data | RenderedFile
EntryPart: TypeAlias = Text | Data | RenderedFile | Result | ToolCall | Opaque


DEFAULT = Policy()


class Turns:
    """Entries in the making: merges neighbours of one role, keeps relocated files until a user turn may hold them.

    `last` is the entry that was made before, if any: it may be merged with.
    """

    def __init__(self, order: Order, policy: Policy, last: Entry | None = None) -> None:
        self.order, self.policy = order, policy
        self.last = last
        self.turns: list[tuple[Literal["user", "assistant"], list[EntryPart]]] = []
        if last is not None:
            self.turns.append((last.role, list(last.parts)))
        self.relocated: list[Piece] = []

    def results(self, parts: Sequence[Result]) -> None:
        """Results of one step; they open a turn of their own."""
        self.turns.append(("user", list(parts)))

    def assistant(self, parts: Sequence[EntryPart]) -> None:
        """What the model said; nothing where it only thought, as a cut stream leaves it: a lone thought is refused."""
        if all(isinstance(part, Opaque) for part in parts):
            return
        if not self.turns:
            self.turns.append(("user", [Text(labels.NO_WORDS)]))
        if self.turns[-1][0] == "assistant":
            self.turns[-1][1].extend(parts)
        else:
            self.turns.append(("assistant", list(parts)))

    def user(self, parts: Sequence[Piece]) -> None:
        """What a person said, behind what was relocated."""
        self._follow(parts)

    def flush(self) -> None:
        """Give the relocated files their place after the results."""
        if self.relocated:
            self._follow(self.relocated)
            self.relocated = []

    def entries(self) -> tuple[Entry, ...]:
        """Everything as values, the last entry of before among them; unchanged, it is the same object."""
        made = tuple(Entry(role, tuple(parts)) for role, parts in self.turns)
        return (self.last, *made[1:]) if self.last is not None and made[0] == self.last else made

    def _follow(self, parts: Sequence[Piece]) -> None:
        last = self.turns[-1] if self.turns else None
        if last is None or last[0] == "assistant":
            self.turns.append(("user", list(parts)))
        elif not isinstance(last[1][-1], Result) or self._same_turn(parts):
            last[1].extend(parts)
        else:
            if self.order.after_results == "filler":
                self.turns.append(("assistant", [Text(self.order.filler)]))
            self.turns.append(("user", list(parts)))

    def _same_turn(self, parts: Sequence[Piece]) -> bool:
        match self.order.after_results:
            case "same_turn":
                return True
            case "own_turn":
                return False
            case "filler":
                media = any(isinstance(part, RenderedFile) and part.file.kind != "image" for part in parts)
                return self.order.filler_when == "media" and not media


def frame(
    view: View, placements: Sequence[Placement], target: Target, policy: Policy = DEFAULT, last: Entry | None = None
) -> tuple[Entry, ...]:
    """Turn messages and their placements (one for each showing, in order) into entries, from `last` on."""
    turns, rest = Turns(target.order, policy, last), iter([one for one in placements if one.again is None])
    again = [one for one in placements if one.again is not None]
    results: list[Result] = []
    for message in view.messages:
        if message.role == "tool":
            results.append(_result(message, rest, target, turns))
            continue
        if is_approval(message.parts):
            continue
        if results:
            turns.results(_in_call_order(results, turns))
            results = []
        turns.flush()
        if message.role == "user":
            pieces = [piece for part in message.parts for piece in _pieces(part, rest, target, turns)]
            if message.references:
                pieces.append(labels.meant(message.references, view.attachments))
                shown = [one for one in again if one.again == message.id]
                pieces += [piece for one in shown for piece in _file(one, target, turns)]
            turns.user(pieces or [Text(labels.NO_WORDS)])
        else:
            turns.assistant([piece for part in message.parts for piece in _said(part, rest, target, turns)])
    if results:
        turns.results(_in_call_order(results, turns))
    turns.flush()
    return turns.entries()


def _in_call_order(results: list[Result], turns: Turns) -> list[Result]:
    """Results in the order of their calls, which xAI and Gemini expect; history may hold them as they finished."""
    calls = turns.turns[-1][1] if turns.turns else []
    order = {call.call_id: index for index, call in enumerate(calls) if isinstance(call, ToolCall)}
    return sorted(results, key=lambda result: order.get(result.call_id, len(order)))


def _result(message: Message, rest: Iterator[Placement], target: Target, turns: Turns) -> Result:
    pieces = [labels.failed()] if message.is_error and not target.flags_errors else list[Piece]()
    pieces += [piece for part in message.parts for piece in _pieces(part, rest, target, turns)]
    call_id = spell(message.call_id or "", target.order.call_ids)
    return Result(
        call_id, spell_name(message.tool or "tool"), tuple(pieces) or (Text(labels.NO_OUTPUT),), message.is_error
    )


def _said(part: object, rest: Iterator[Placement], target: Target, turns: Turns) -> list[EntryPart]:
    """The parts of a model's message: what belongs to another provider is left out, files follow in a user turn."""
    match part:
        case ToolCall():
            return [_call(part, target)]
        case Opaque():
            return [part] if part.provider == target.signer else []
        case _:
            return list(_pieces(part, rest, target, turns))


def _call(call: ToolCall, target: Target) -> ToolCall:
    own = call.opaque if call.opaque and call.opaque.provider == target.signer else None
    call_id, tool = spell(call.call_id, target.order.call_ids), spell_name(call.tool)
    arguments = _arguments(call.arguments)
    if (call_id, tool, own) == (call.call_id, call.tool, call.opaque) and arguments is call.arguments:
        return call
    return ToolCall(call_id, tool, arguments, own)


def _arguments(text: str) -> str:
    """A call's arguments without our brackets, those that JSON spells as escapes included."""
    return labels.escape(plain_json(text)) if r"\u27e" in text.lower() else labels.escape(text)


def plain_json(text: str) -> str:
    """JSON text in which no letter is spelled as an escape that need not be; text that is no JSON stays as it is."""
    try:
        return msgspec.json.encode(msgspec.json.decode(text)).decode()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return text


def _pieces(part: object, rest: Iterator[Placement], target: Target, turns: Turns) -> list[Piece]:
    match part:
        case Text():
            return [labels.said(part)] if part.audience != "user" and part.text.strip() else []
        case Json():
            return _json(cast("Json[Shown]", part), rest, target, turns)
        case Shown():
            return _file(next(rest), target, turns)
        case _:
            return []


def _json(part: Json[Shown], rest: Iterator[Placement], target: Target, turns: Turns) -> list[Piece]:
    if not part.files:
        return [Data(_arguments(part.text))]
    value: Any = msgspec.json.decode(part.text)
    files: list[Piece] = []
    for pointer, _ in part.files:
        placement = next(rest)
        value = _put(value, pointer, labels.in_json(placement.attachment))
        files += _file(placement, target, turns)
    return [Data(labels.escape(msgspec.json.encode(value).decode())), *files]


def _put(value: Any, pointer: str, words: str) -> Any:
    """Write words where a file lay in a JSON value (RFC 6901)."""
    keys = [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]
    if not keys:
        return words
    holder: Any = value
    for key in keys[:-1]:
        holder = holder[_step(holder, key)]
    holder[_step(holder, keys[-1])] = words
    return value


def _step(holder: Any, key: str) -> int | str:
    return int(key) if isinstance(holder, list) else key


def _file(placement: Placement, target: Target, turns: Turns) -> list[Piece]:
    """What stands where a file was shown; the file itself may be put off until after the results."""
    file = placement.attachment
    match placement.delivery:
        case "listed":
            return [labels.listed(file)]
        case "refused" if placement.reason == OUT_OF_VIEW:
            # Shown again in view, the file is not refused after all; and from the next step on this showing is listed.
            return [labels.listed(file)]
        case "noted" | "refused":
            return [labels.not_sent(file, placement.reason)]
        case "relocated":
            call_id = _call_id(placement, target)
            start = labels.frame_start(file, call_id, _note(placement, turns.policy))
            turns.relocated += [start, *_placed(placement), labels.frame_end(file)]
            return [labels.shown_below(file)]
        case "native":
            beside = labels.beside(file, _call_id(placement, target), _note(placement, turns.policy))
            if placement.variant is not None and placement.variant.text is not None:
                return [beside, Text(labels.escape(placement.variant.text)), labels.frame_end(file)]
            return [beside, *_placed(placement)]


def _placed(placement: Placement) -> list[Piece]:
    """The files of a placement; of several, each behind a line that says which page or moment it is."""
    file, variant, place = placement.attachment, placement.variant, placement.place or "user"
    name, pieces = labels.line(file.name), list[Piece]()
    for index, sent in enumerate(placement.files):
        if variant is not None and (which := labels.piece(file, variant, index)) is not None:
            pieces.append(which)
        pieces.append(RenderedFile(file.number, placement.nth, name, sent, place))
    return pieces


def _call_id(placement: Placement, target: Target) -> str | None:
    call_id = placement.attachment.origin.call_id
    return spell(call_id, target.order.call_ids) if call_id else None


def _note(placement: Placement, policy: Policy) -> str:
    """What a converted file is not: whole, or in its own size."""
    if placement.variant is None:
        return ""
    crop = placement.view.crop if placement.view is not None else None
    return labels.converted(placement.attachment, placement.variant, crop, can_view=policy.can_view)
