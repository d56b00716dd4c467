"""`render`: for people who keep their SDK and loop. From messages to one provider's request, with receipts.

Works without an event loop and inside one: nothing here waits for the network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from showandtell.agent.tools import Tool, by_name
from showandtell.config.user_settings import find_target
from showandtell.core.capabilities.cells import Capability, Target
from showandtell.core.collect.values import ToolResult, result_draft
from showandtell.core.media_types.kinds import Kind
from showandtell.core.messages.derivations import Derivations
from showandtell.core.messages.messages import Draft, History
from showandtell.core.messages.parts import ToolCall
from showandtell.core.messages.tool_pairs import check
from showandtell.core.messages.validation import as_drafts
from showandtell.core.planning.plan import plan, refuse
from showandtell.core.planning.values import Entry, OnUnsupported, Plan, Policy, Receipt, Result, by_kind
from showandtell.core.wire.options import Effort, Options, choose
from showandtell.core.wire.request import Request, compose
from showandtell.errors import BadInput
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.files.convert import load_now
from showandtell.storage.files.file_cache import FileCache

#: What is rendered: drafts, a `History`, or the conversation of earlier runs.
Messages: TypeAlias = Sequence[Draft] | MemoryConversation
Pair: TypeAlias = tuple[ToolCall, ToolResult]


def render(
    messages: Messages,
    *,
    model: str,
    tools: Iterable[Callable[..., Any] | Tool] = (),
    instructions: str | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    tool_choice: str = "auto",
    reasoning_effort: Effort | None = None,
    output_type: Mapping[str, Any] | None = None,
    extra_body: Mapping[str, Any] | None = None,
    stream: bool = False,
    on_unsupported: OnUnsupported | Mapping[Kind, OnUnsupported] = "convert",
    overrides: Sequence[Capability] | None = None,
    cache: FileCache | None = None,
) -> Request:
    """The request that shows these messages to this model: `.kwargs()` for its SDK, `.json()` for REST, `.receipts`.

    `messages` are drafts, a `History` (which brings its own instructions), or the conversation of earlier runs.

    Raises `UnsupportedFile` if a file of the newest user message can't be shown (with `on_unsupported="error"`, any
    file), `UnknownModel`, `BadConversation`. Give the same `cache` again and files are not read twice.
    """
    target = find_target(model, overrides)
    options = choose(
        instructions=_instructions(messages, instructions),
        tools=[tool.spec for tool in by_name(tools).values()],
        tool_choice=tool_choice,
        temperature=temperature,
        max_tokens=max_tokens,
        reasoning_effort=reasoning_effort,
        schema=output_type,
        extra_body=extra_body,
        stream=stream,
    )
    conversation = ingest(messages, cache)
    planned = plan_now(conversation, target, Policy(on_unsupported=by_kind(on_unsupported)))
    refuse(planned, target)
    return compose(planned, target, options, {}, conversation.blobs)


def explain(
    messages: Messages,
    *,
    model: str,
    on_unsupported: OnUnsupported | Mapping[Kind, OnUnsupported] = "convert",
    overrides: Sequence[Capability] | None = None,
    cache: FileCache | None = None,
) -> tuple[Receipt, ...]:
    """What the model would be given of each file, and why; refused files are told, not raised."""
    target = find_target(model, overrides)
    return plan_now(ingest(messages, cache), target, Policy(on_unsupported=by_kind(on_unsupported))).receipts


def ingest(messages: Messages, cache: FileCache | None = None) -> MemoryConversation:
    """Check a history and take it in: files proved and numbered. A conversation is already."""
    if isinstance(messages, MemoryConversation):
        return messages
    check(as_drafts(messages))
    conversation = MemoryConversation(cache)
    conversation.ingest_now(messages)
    return conversation


def plan_now(conversation: MemoryConversation, target: Target, policy: Policy) -> Plan:
    """Plan and load until nothing is wanted, without an event loop."""
    known: Derivations = conversation.known()
    while (now := plan(conversation.view(), target, known, policy)).wants:
        known = {**known, **load_now(now.wants, conversation.file_cache)}
        conversation.remember(known)
    return now


def _instructions(messages: Messages, given: str | None) -> str:
    if given is not None:
        return given
    return messages.instructions if isinstance(messages, History) else ""


class RenderedResults(Struct, frozen=True):
    """The newest results alone, in the form that the provider's SDK takes.

    messages: what to append to your messages (input, contents): results first, then what was relocated.
    results: only those that answer calls. follow_up: only those that carry relocated files.
    """

    messages: tuple[Any, ...]
    results: tuple[Any, ...]
    follow_up: tuple[Any, ...]
    receipts: tuple[Receipt, ...]


def render_results(
    results: Mapping[str, object] | Sequence[tuple[ToolCall | str, object]],
    *,
    model: str,
    on_unsupported: OnUnsupported | Mapping[Kind, OnUnsupported] = "convert",
    overrides: Sequence[Capability] | None = None,
    cache: FileCache | None = None,
    first_number: int = 1,
) -> RenderedResults:
    """Show the newest tool results to a model: pairs of a call and what the tool returned, in call order.

    A call is a `ToolCall`, or its id alone where the api doesn't ask for the tool's name (Gemini does). A mapping from
    ids to what was returned will do, too.
    `first_number` is the number of their first file, for programs that count files over a whole conversation.
    Raises `UnsupportedFile` with `on_unsupported="error"`, and `BadValue` for a value that can't be shown.
    """
    target = find_target(model, overrides)
    pairs = _pairs(results)
    if target.api == "gemini" and not all(call.tool for call, _ in pairs):
        raise BadInput(f"{target.name} wants the tool's name: give ToolCall(call_id, tool, arguments)")
    drafts = [Draft("assistant", tuple(call for call, _ in pairs)), *(result_draft(*pair) for pair in pairs)]
    check(drafts)
    conversation = MemoryConversation(cache, first_number=first_number)
    conversation.ingest_now(drafts)
    planned = plan_now(conversation, target, Policy(on_unsupported=by_kind(on_unsupported)))
    refuse(planned, target)
    return _newest(planned, target, conversation)


def _pairs(results: Mapping[str, object] | Sequence[tuple[ToolCall | str, object]]) -> list[Pair]:
    """Calls and their results; raises `BadInput` for another shape."""
    given: Iterable[Any] = results.items() if isinstance(results, Mapping) else results
    pairs: list[Pair] = []
    for one in given:
        match one:
            case (ToolCall() | str() as call, value):
                named = call if isinstance(call, ToolCall) else ToolCall(call, "", "{}")
                pairs.append((named, value if isinstance(value, ToolResult) else ToolResult(value)))
            case _:
                raise BadInput(f"results are pairs of a call and what it returned, not {type(one).__name__}")
    return pairs


def _newest(planned: Plan, target: Target, conversation: MemoryConversation) -> RenderedResults:
    start = next(index for index, entry in enumerate(planned.entries) if entry.role == "assistant") + 1
    entries = planned.entries[start:]
    parts = [part for entry in entries for part in entry.parts]
    answers = tuple(part for part in parts if isinstance(part, Result))
    others = tuple(
        part for entry in entries if entry.role == "user" for part in entry.parts if not isinstance(part, Result)
    )

    def spell(entries: Sequence[Entry]) -> tuple[Any, ...]:
        request = compose(Plan(tuple(entries), ()), target, Options(), {}, conversation.blobs)
        return tuple(request.kwargs()[request.api.LIST])

    follow_up = spell([Entry("user", others)]) if others else ()
    return RenderedResults(spell(entries), spell([Entry("user", answers)]), follow_up, planned.receipts)
