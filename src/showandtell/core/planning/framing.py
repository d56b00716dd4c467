"""The third pass: entries. Every file gets a label; relocated files get a frame after all results of the step.

What an API requires of the order of turns (results first, fillers, separate turns) is in `Order`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias, cast

import msgspec
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Order, Target
from showandtell.core.capabilities.provider_tools import ALL_NAMES
from showandtell.core.messages.json_pointers import replace_at
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import (
    Approval,
    Correction,
    HostedBlock,
    Json,
    Opaque,
    Shown,
    Summary,
    Text,
    ToolCall,
    is_approval,
)
from showandtell.core.planning import labels
from showandtell.core.planning.call_ids import fit_call_id, fit_tool_name
from showandtell.core.planning.host_parts import returned
from showandtell.core.planning.placement import OUT_OF_VIEW, Placement
from showandtell.core.planning.values import (
    ContainerFile,
    Data,
    Entry,
    EntryPart,
    Policy,
    RenderedBlock,
    RenderedFile,
    Result,
    View,
)

Piece: TypeAlias = Text | Data | RenderedFile
UserPiece: TypeAlias = Piece | ContainerFile


DEFAULT_POLICY = Policy()


class Turns:
    """Builds entries: merges neighbours of one role, and holds relocated files until a user turn may contain them.

    `last` is the last entry of a cached plan, if any: the next part may be merged into it.
    """

    def __init__(self, order: Order, policy: Policy, last: Entry | None = None) -> None:
        self.order, self.policy = order, policy
        self.last = last
        self.turns: list[tuple[Literal["user", "assistant"], list[EntryPart]]] = []
        if last is not None:
            self.turns.append((last.role, list(last.parts)))
        self.relocated: list[UserPiece] = []
        self.approved, self.waiting = set[str](), set[str]()

    def add_results(self, parts: Sequence[Result]) -> None:
        """Start a turn with the results of one step."""
        self.turns.append(("user", list(parts)))

    def add_assistant(self, parts: Sequence[EntryPart]) -> None:
        """Add a model's message."""
        if not self.turns:
            self.turns.append(("user", [Text(labels.NO_TEXT)]))
        if self.turns[-1][0] == "assistant":
            self.turns[-1][1].extend(parts)
        else:
            self.turns.append(("assistant", list(parts)))

    def add_approvals(self, approvals: Sequence[Approval]) -> None:
        """Add the answers to the calls that the provider's own tools wait for."""
        if own := [approval for approval in approvals if approval.call_id in self.waiting]:
            self._follow(own)

    def add_user(self, parts: Sequence[UserPiece]) -> None:
        """Add a user's message after the relocated files."""
        self._follow(parts)

    def flush(self) -> None:
        """Add the relocated files after the results."""
        if self.relocated:
            self._follow(self.relocated)
            self.relocated = []

    def entries(self) -> tuple[Entry, ...]:
        """All entries, starting with `last`. If `last` is unchanged, it stays the same object."""
        entries = tuple(Entry(role, tuple(parts)) for role, parts in self.turns)
        return (self.last, *entries[1:]) if self.last is not None and entries[0] == self.last else entries

    def _follow(self, parts: Sequence[UserPiece | Approval]) -> None:
        last = self.turns[-1] if self.turns else None
        if last is None or last[0] == "assistant":
            self.turns.append(("user", list(parts)))
        elif not any(isinstance(part, Result) for part in last[1]) or self._same_turn(parts):
            last[1].extend(parts)
        else:
            if self.order.after_results == "filler":
                self.turns.append(("assistant", [Text(self.order.filler)]))
            self.turns.append(("user", list(parts)))

    def _same_turn(self, parts: Sequence[UserPiece | Approval]) -> bool:
        match self.order.after_results:
            case "same_turn":
                return True
            case "own_turn":
                return False
            case "filler":
                media = any(isinstance(part, RenderedFile) and part.file.kind != "image" for part in parts)
                return self.order.filler_when == "media" and not media


def frame(
    view: View,
    placements: Sequence[Placement],
    target: Target,
    policy: Policy = DEFAULT_POLICY,
    last: Entry | None = None,
) -> tuple[Entry, ...]:
    """Turn messages and their placements (one for each use, in order) into entries, from `last` on."""
    turns = Turns(target.order, policy, last)
    remaining = iter([placement for placement in placements if placement.recalled_by is None])
    recalled = [placement for placement in placements if placement.recalled_by is not None]
    results: list[Result] = []
    turns.approved = {part.call_id for message in view.messages for part in message.parts if isinstance(part, Approval)}
    for message in view.messages:
        if message.role == "tool":
            results.append(_result(message, remaining, target, turns))
            continue
        if is_approval(message.parts):
            turns.add_approvals([part for part in message.parts if isinstance(part, Approval)])
            continue
        if results:
            turns.add_results(_in_call_order(results, turns))
            results = []
        turns.flush()
        if message.role == "user":
            pieces: list[Piece] = [labels.written_by(message.author)] if message.author else []
            pieces += [piece for part in message.parts for piece in _pieces(part, remaining, target, turns)]
            if message.references:
                pieces.append(labels.explain_references(message.references, view.attachments))
                own = [placement for placement in recalled if placement.recalled_by == message.id]
                pieces += [piece for placement in own for piece in _file(placement, target, turns)]
            turns.add_user(pieces or [Text(labels.NO_TEXT)])
        else:
            answer = _assistant_pieces(message, remaining, target, turns)
            # APIs reject a message that only holds reasoning, of a truncated stream.
            if any(not isinstance(piece, Opaque) for piece in answer) or has_blocks(answer, message):
                turns.add_assistant(answer)
    if results:
        turns.add_results(_in_call_order(results, turns))
    turns.flush()
    return turns.entries()


def _in_call_order(results: list[Result], turns: Turns) -> list[Result]:
    """Sort results in the order of their calls, as xAI and Gemini expect. A history may hold them as they finished."""
    parts = turns.turns[-1][1] if turns.turns else []
    calls = [part for part in parts if isinstance(part, ToolCall)]
    order = {call.call_id: index for index, call in enumerate(calls)}
    fields = {call.call_id: call.opaque for call in calls if call.opaque and call.opaque.text.startswith("{")}
    own = [replace(result, opaque=fields.get(result.call_id)) for result in results] if fields else results
    return sorted(own, key=lambda result: order.get(result.call_id, len(order)))


def _result(message: Message, remaining: Iterator[Placement], target: Target, turns: Turns) -> Result:
    pieces = [labels.failed()] if message.is_error and not target.dialect.flags_errors else list[Piece]()
    pieces += [piece for part in message.parts for piece in _pieces(part, remaining, target, turns)]
    call_id = fit_call_id(message.call_id or "", target.order.call_ids)
    return Result(
        call_id, fit_tool_name(message.tool or ""), tuple(pieces) or (Text(labels.NO_OUTPUT),), message.is_error
    )


def _assistant_pieces(
    message: Message, remaining: Iterator[Placement], target: Target, turns: Turns
) -> list[EntryPart]:
    return [piece for part in message.parts for piece in _assistant_parts(part, message, remaining, target, turns)]


def _assistant_parts(
    part: object, message: Message, remaining: Iterator[Placement], target: Target, turns: Turns
) -> list[EntryPart]:
    """A part of a model's message. Opaque parts of other providers are left out; files follow in a user turn."""
    match part:
        case ToolCall():
            return [fit_call(part, target)]
        case Opaque():
            own = returned(part, target)
            return [] if own is None else [own]
        case HostedBlock():
            return _hosted_parts(cast("HostedBlock[Shown]", part), message, remaining, target, turns)
        case _:
            return list(_pieces(part, remaining, target, turns))


def has_blocks(pieces: Sequence[EntryPart], message: Message) -> bool:
    """Whether a message has blocks of hosted tools that go back to their provider."""
    return bool(pieces) and any(isinstance(part, HostedBlock) for part in message.parts)


def hosted_part(block: HostedBlock[Shown], target: Target, message: Message, turns: Turns) -> Opaque | Text | None:
    """A block for its own provider, else words. None if it has nothing to go back.

    A call without a result is rejected, unless the provider continues it or it waits for a call of our tools; so is one
    that nobody has approved or denied.
    """
    is_open = block.state == "running" and message.stop not in ("pause", "tool_calls")
    is_undecided = block.state == "waiting" and block.call_id not in turns.approved
    is_own = target.wrote(block)
    if is_own and not block.block:
        return None
    # Converse takes blocks of its tools only from models that run them, and only while they are declared.
    is_undeclared = target.dialect.resend_tools and block.tool in ALL_NAMES - turns.policy.hosted
    if not is_own or is_undecided or is_undeclared:
        return labels.hosted(block)
    if is_open and not has_result(block, message):
        return labels.hosted(block)
    if block.state == "waiting":
        turns.waiting.add(block.call_id)
    return Opaque(block.provider, block.block, block.base_url)


def _hosted_parts(
    block: HostedBlock[Shown], message: Message, remaining: Iterator[Placement], target: Target, turns: Turns
) -> list[EntryPart]:
    """A block, with a label for each of its files after it; or words, and its files like any others."""
    placements = [next(remaining) for _ in block.files]
    own = hosted_part(block, target, message, turns)
    if isinstance(own, Opaque) and placements and all(placement.place == "answer" for placement in placements):
        turns.relocated += [labels.in_answer(placement.attachment) for placement in placements]
        files = [_rendered_files(placement)[0] for placement in placements]
        pointers = [pointer for pointer, _ in block.files]
        return [RenderedBlock(own, tuple(zip(pointers, cast("list[RenderedFile]", files), strict=True)))]
    words: list[EntryPart] = [] if own is None or not block.tool else [labels.hosted(block) if block.files else own]
    return [*words, *(piece for placement in placements for piece in _file(placement, target, turns))]


def has_result(block: HostedBlock[Shown], message: Message) -> bool:
    """Whether the result of a hosted call is in the same message."""
    others = (part for part in message.parts if isinstance(part, HostedBlock) and part is not block)
    return any(other.call_id == block.call_id for other in others)


def fit_call(call: ToolCall, target: Target) -> ToolCall:
    """A call in the form of the API: its id, its tool's name, and arguments that can't forge a label."""
    own = call.opaque and returned(call.opaque, target)
    call_id, tool = fit_call_id(call.call_id, target.order.call_ids), fit_tool_name(call.tool)
    arguments = escape_json(call.arguments)
    if (call_id, tool, own) == (call.call_id, call.tool, call.opaque) and arguments is call.arguments:
        return call
    return ToolCall(call_id, tool, arguments, own)


def escape_json(text: str) -> str:
    """JSON without our brackets, including brackets that JSON writes as escapes."""
    return labels.escape(unescape_json(text)) if r"\u27e" in text.lower() else labels.escape(text)


def unescape_json(text: str) -> str:
    """Rewrite JSON without unnecessary escapes. Text that isn't JSON is returned unchanged."""
    try:
        return msgspec.json.encode(msgspec.json.decode(text)).decode()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return text


def _pieces(part: object, remaining: Iterator[Placement], target: Target, turns: Turns) -> list[Piece]:
    match part:
        case Text():
            return [labels.escape_part(part)] if part.audience != "user" and part.text.strip() else []
        case Json():
            return _json(cast("Json[Shown]", part), remaining, target, turns)
        case Shown():
            return _file(next(remaining), target, turns)
        case Summary():
            return [*labels.left_out(part)]
        case Correction():
            return [labels.not_accepted(part.text)]
        case _:
            return []


def _json(part: Json[Shown], remaining: Iterator[Placement], target: Target, turns: Turns) -> list[Piece]:
    if not part.files:
        return [Data(escape_json(part.text))]
    value: Any = msgspec.json.decode(part.text)
    files: list[Piece] = []
    for pointer, _ in part.files:
        placement = next(remaining)
        label = labels.json_placeholder(placement.attachment)
        value = replace_at(value, pointer, lambda _, label=label: label)
        files += _file(placement, target, turns)
    return [Data(labels.escape(msgspec.json.encode(value).decode())), *files]


def file_pieces(placement: Placement, target: Target, policy: Policy) -> list[Piece]:
    """All pieces of one placement, a relocated file included."""
    turns = Turns(target.order, policy)
    pieces = [*_file(placement, target, turns), *turns.relocated]
    return [piece for piece in pieces if not isinstance(piece, ContainerFile)]


def _file(placement: Placement, target: Target, turns: Turns) -> list[Piece]:
    """The pieces in place of a file. A relocated file itself follows after the results, and so does one for code."""
    file = placement.attachment
    if placement.container_id is not None and file.facts is not None:
        turns.relocated += [labels.in_container(file, file.facts), ContainerFile(placement.container_id)]
    match placement.delivery:
        case "withheld":
            return [labels.withheld(file)]
        case "listed":
            return [labels.listed(file, can_read=turns.policy.can_read)]
        case "refused" if placement.reason.startswith(OUT_OF_VIEW):
            # If the file is used again in view, it isn't refused; and from the next step on this use is listed.
            return [labels.listed(file, can_read=turns.policy.can_read)]
        case "for_tools":
            call_id, policy = _call_id(placement, target), turns.policy
            return [labels.for_tools(file, call_id, takes_files=policy.takes_files, by_code=policy.container)]
        case "noted" | "refused":
            return [labels.not_sent(file, placement.reason)]
        case "relocated":
            call_id = _call_id(placement, target)
            start = labels.frame_start(file, call_id, _conversion_note(placement, turns.policy))
            turns.relocated += [start, *_rendered_files(placement), labels.frame_end(file)]
            return [labels.shown_below(file)]
        case "native":
            label = labels.file_label(file, _call_id(placement, target), _conversion_note(placement, turns.policy))
            if placement.derivative is not None and placement.derivative.text is not None:
                return [label, Text(labels.escape(placement.derivative.text)), labels.frame_end(file)]
            return [label, *_rendered_files(placement)]


def _rendered_files(placement: Placement) -> list[Piece]:
    """The files of a placement. If there are several, each has a label with its page or time."""
    file, derivative, place = placement.attachment, placement.derivative, placement.place or "user"
    name, pieces = labels.escape_line(file.name), list[Piece]()
    for index, source in enumerate(placement.files):
        if derivative is not None and (label := labels.piece_label(file, derivative, index)) is not None:
            pieces.append(label)
        pieces.append(RenderedFile(file.number, placement.nth, name, source, place))
    return pieces


def _call_id(placement: Placement, target: Target) -> str | None:
    call_id = placement.attachment.origin.call_id
    return fit_call_id(call_id, target.order.call_ids) if call_id else None


def _conversion_note(placement: Placement, policy: Policy) -> str:
    """How a converted file differs from its original; empty if it isn't converted."""
    if placement.derivative is None:
        return ""
    crop = placement.view.crop if placement.view is not None else None
    return labels.describe_conversion(placement.attachment, placement.derivative, crop, can_view=policy.can_view)
