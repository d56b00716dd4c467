"""Renders messages as one provider's request, for programs with their own SDK and loop.

Works with and without an event loop, since nothing here waits for the network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from msgspec import Struct, structs

from showandtell.agent.settings import FilePolicy
from showandtell.agent.tools import Tool, by_name
from showandtell.agent.toolsets import split_by_runner
from showandtell.checking.checked import checked, settings_of
from showandtell.checking.shown import OWN_CHECK, Wanted
from showandtell.config.user_settings import find_target
from showandtell.core.capabilities.cells import Target
from showandtell.core.collect.tool_result import ToolResult, result_draft
from showandtell.core.limits import AtLeast1
from showandtell.core.messages.derivations import Derivations
from showandtell.core.messages.message import Draft, History
from showandtell.core.messages.parts import ToolCall
from showandtell.core.messages.tool_pairs import check_tool_pairs
from showandtell.core.messages.validation import as_drafts
from showandtell.core.planning.left_out import without_summarized
from showandtell.core.planning.plan import plan, raise_refused
from showandtell.core.planning.values import Entry, Plan, Policy, Receipt, Result, by_kind
from showandtell.core.wire.hosted_tools import HostedTool, host_name
from showandtell.core.wire.options import Effort, Options, build_options
from showandtell.core.wire.request import Request, compose, head_size
from showandtell.errors import BadInput
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.files.convert import convert_all
from showandtell.storage.files.file_cache import FileCache
from showandtell.storage.files.held_bytes import HeldReader

#: What can be rendered: drafts, a `History`, or the conversation of earlier runs.
Messages: TypeAlias = Annotated[Sequence[Draft] | MemoryConversation, OWN_CHECK]
#: The newest results by call: in an error, each is a pair.
Results: TypeAlias = (
    Mapping[str, object]
    | Sequence[Annotated[tuple[ToolCall | str, object], Wanted("pairs of a call and what it returned")]]
)
Pair: TypeAlias = tuple[ToolCall, ToolResult]
DEFAULT_FILES = FilePolicy()


@checked
def render(
    messages: Messages,
    *,
    model: str,
    tools: Iterable[Callable[..., Any] | Tool | HostedTool] = (),
    instructions: str | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    tool_choice: str = "auto",
    reasoning_effort: Effort | None = None,
    output_type: Mapping[str, Any] | None = None,
    extra_body: Mapping[str, Any] | None = None,
    stream: bool = False,
    file_policy: FilePolicy | Mapping[str, Any] | None = None,
    cache: FileCache | None = None,
) -> Request:
    """Render messages as a request: `kwargs()` for the SDK, `json()` for REST, `receipts` for each file's fate.

    >>> from showandtell import from_openai, render
    >>> history = from_openai([{"role": "user", "content": "Plot 1 2 3"}])
    >>> request = render(history, model="anthropic:claude-sonnet-5", max_tokens=100)
    >>> arguments = request.kwargs()  # client.messages.create(**arguments)
    >>> arguments["model"], arguments["max_tokens"], len(arguments["messages"])
    ('claude-sonnet-5', 100, 1)

    Args:
        messages (Sequence[Draft] | History | MemoryConversation): a `History` brings its own instructions.
        model (str): `provider:model`.
        tools (Iterable[Callable | Tool | HostedTool]): functions, tools made with `@tool`, hosted tools. Default: none.
        instructions (str | None): the system prompt. Default: that of a `History`, else none.
        temperature (float | None): as in `ModelSettings`, and so are the next four. Default: the provider's own.
        max_tokens (int | None): maximum length of the answer in tokens. Default: the model's maximum.
        tool_choice (str): "auto", "none", "required", or the name of a tool.
        reasoning_effort (str | None): "none", "minimal", "low", "medium" or "high". Default: the provider's own.
        output_type (Mapping | None): a JSON schema that the answer has to follow. Default: free text.
        extra_body (Mapping | None): the provider's own fields, merged into the body. Default: none.
        stream (bool): ask for a streamed response. Default: False.
        file_policy (FilePolicy | None): as for `Agent`. What needs the network or your functions (`uploads`,
            `url_signer`, `transcribe`, `describe`, `fetch`) is ignored, and a `cache` has its own `max_file_bytes`.
        cache (FileCache | None): pass the same cache again to avoid reading files twice. Default: a new one.

    Raises:
        UnsupportedFile: a file of the newest user message can't be shown; with "error", any file.
        UnknownModel: no such provider or model.
        BadConversation: calls and results don't match.
    """
    files = settings_of(FilePolicy, file_policy)
    target = find_target(model, files.overrides)
    listed, hosted = split_by_runner(tools)
    own = by_name(listed)
    options = build_options(
        instructions=_instructions(messages, instructions),
        tools=[tool.spec for tool in own.values()],
        hosted=hosted,
        tool_choice=tool_choice,
        temperature=temperature,
        max_tokens=max_tokens,
        reasoning_effort=reasoning_effort,
        schema=output_type,
        extra_body=extra_body,
        stream=stream,
    )
    conversation = ingest(messages, cache, files)
    can_read = any(tool.name == "get_document" for tool in options.tools)
    policy = _policy(files, head_size(target, options), can_read=can_read)
    policy = structs.replace(
        policy,
        hosted=frozenset(host_name(tool, target) for tool in hosted),
        takes_files=any(tool.takes_files for tool in own.values()),
    )
    planned = plan_now(conversation, target, policy)
    raise_refused(planned, target)
    return compose(planned, target, options, HeldReader(conversation.file_cache.held, conversation.blobs))


@checked
def explain(
    messages: Messages,
    *,
    model: str,
    file_policy: FilePolicy | Mapping[str, Any] | None = None,
    cache: FileCache | None = None,
) -> tuple[Receipt, ...]:
    """How each file would be given to a model, and why. Unlike `render`, it never raises `UnsupportedFile`.

    >>> from showandtell import Draft, File, explain
    >>> from showandtell.samples import folder
    >>> draft = Draft("user", (File.from_path(folder() / "kiwi.jpg"),))
    >>> (receipt,) = explain([draft], model="anthropic:claude-sonnet-5")
    >>> receipt.number, receipt.delivery, receipt.place
    (1, 'native', 'user')

    Args:
        messages (Sequence[Draft] | History | MemoryConversation): the messages with the files.
        model (str): `provider:model`.
        file_policy (FilePolicy | None): as for `Agent`. What needs the network or your functions (`uploads`,
            `url_signer`, `transcribe`, `describe`, `fetch`) is ignored, and a `cache` has its own `max_file_bytes`.
        cache (FileCache | None): pass the same cache again to avoid reading files twice. Default: a new one.

    Raises:
        UnknownModel: no such provider or model.
        BadConversation: calls and results don't match.
    """
    files = settings_of(FilePolicy, file_policy)
    target = find_target(model, files.overrides)
    return plan_now(ingest(messages, cache, files), target, _policy(files)).receipts


def _policy(files: FilePolicy, head_bytes: int = 0, *, can_read: bool = False) -> Policy:
    """The planning policy of a single request, without what needs the network."""
    return Policy(
        on_unsupported=by_kind(files.on_unsupported),
        max_in_context=files.max_in_context,
        context_share=files.context_share,
        expected_steps=files.expected_steps,
        can_read=can_read,
        head_bytes=head_bytes,
    )


def ingest(messages: Messages, cache: FileCache | None = None, files: FilePolicy = DEFAULT_FILES) -> MemoryConversation:
    """Check messages, probe and number their files, and resolve references. A conversation is returned as it is."""
    if isinstance(messages, MemoryConversation):
        return messages
    check_tool_pairs(as_drafts(messages))
    conversation = MemoryConversation(cache or FileCache(max_file_bytes=files.max_file_bytes))
    conversation.ingest_now(messages)
    return conversation


def plan_now(conversation: MemoryConversation, target: Target, policy: Policy) -> Plan:
    """Plan and convert until the plan requests nothing more, without an event loop."""
    known: Derivations = conversation.known()
    view = without_summarized(conversation.view())
    while (planned := plan(view, target, known, policy)).wants:
        known = {**known, **convert_all(planned.wants, conversation.file_cache)}
        conversation.remember(known)
    return planned


def _instructions(messages: Messages, override: str | None) -> str:
    if override is not None:
        return override
    return messages.instructions if isinstance(messages, History) else ""


class RenderedResults(Struct, frozen=True):
    """The newest results in the form of the provider's SDK.

    `messages` are to be appended to your messages (input, contents): `results`, which answer the calls, then
    `follow_up`, which carries relocated files. `receipts` tell what becomes of each file.
    """

    messages: tuple[Any, ...]
    results: tuple[Any, ...]
    follow_up: tuple[Any, ...]
    receipts: tuple[Receipt, ...]


@checked
def render_results(
    results: Results,
    *,
    model: str,
    file_policy: FilePolicy | Mapping[str, Any] | None = None,
    cache: FileCache | None = None,
    first_number: AtLeast1 = 1,
) -> RenderedResults:
    """Render the newest tool results, to be appended to messages of your own.

    >>> from showandtell import File, render_results
    >>> from showandtell.samples import folder
    >>> photo = File.from_path(folder() / "kiwi.jpg")
    >>> rendered = render_results({"call_1": ["Here it is:", photo]}, model="openai-chat:gpt-5.2")
    >>> [message["role"] for message in rendered.messages]  # the image follows in a user message
    ['tool', 'user']

    Args:
        results (Mapping | Sequence): call ids or `ToolCall` values, each with the tool's return value, in call order.
            Gemini needs the tool's name, and so a `ToolCall`.
        model (str): `provider:model`.
        file_policy (FilePolicy | None): as for `Agent`. What needs the network or your functions (`uploads`,
            `url_signer`, `transcribe`, `describe`, `fetch`) is ignored, and a `cache` has its own `max_file_bytes`.
        cache (FileCache | None): pass the same cache again to avoid reading files twice. Default: a new one.
        first_number (int): the number of the first file, to continue the count of a conversation. Default: 1.

    Raises:
        UnsupportedFile: a file can't be shown, with `FilePolicy(on_unsupported="error")`.
        UnknownModel: no such provider or model.
        BadValue: a value can't be shown.
        BadInput: `results` has another shape, or a call lacks the tool's name.
    """
    files = settings_of(FilePolicy, file_policy)
    target = find_target(model, files.overrides)
    pairs = _pairs(results)
    if target.dialect.named_results and not all(call.tool for call, _ in pairs):
        raise BadInput(f"{target.name} wants the tool's name: give ToolCall(call_id, tool, arguments)")
    if not pairs:
        raise BadInput("results is empty: give each call with what it returned")
    drafts = [Draft("assistant", tuple(call for call, _ in pairs)), *(result_draft(*pair) for pair in pairs)]
    check_tool_pairs(drafts)
    file_cache = cache or FileCache(max_file_bytes=files.max_file_bytes)
    conversation = MemoryConversation(file_cache, first_number=first_number)
    conversation.ingest_now(drafts)
    planned = plan_now(conversation, target, _policy(files))
    raise_refused(planned, target)
    return _newest(planned, target, conversation)


def _pairs(results: Results) -> list[Pair]:
    """Calls and their results. Raises `BadInput` for any other shape."""
    items: Iterable[Any] = results.items() if isinstance(results, Mapping) else results
    pairs: list[Pair] = []
    for item in items:
        match item:
            case (ToolCall() | str() as call, value):
                call_with_id = call if isinstance(call, ToolCall) else ToolCall(call, "", "{}")
                pairs.append((call_with_id, value if isinstance(value, ToolResult) else ToolResult(value)))
            case _:
                raise BadInput(f"results are pairs of a call and what it returned, not {type(item).__name__}")
    return pairs


def _newest(planned: Plan, target: Target, conversation: MemoryConversation) -> RenderedResults:
    start = next(index for index, entry in enumerate(planned.entries) if entry.role == "assistant") + 1
    entries = planned.entries[start:]
    parts = [part for entry in entries for part in entry.parts]
    answers = tuple(part for part in parts if isinstance(part, Result))
    others = tuple(
        part for entry in entries if entry.role == "user" for part in entry.parts if not isinstance(part, Result)
    )

    def serialize(entries: Sequence[Entry]) -> tuple[Any, ...]:
        request = compose(Plan(tuple(entries), ()), target, Options(), conversation.blobs)
        return tuple(request.kwargs()[request.api.MESSAGES_KEY])

    follow_up = serialize([Entry("user", others)]) if others else ()
    return RenderedResults(serialize(entries), serialize([Entry("user", answers)]), follow_up, planned.receipts)
