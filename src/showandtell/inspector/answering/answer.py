"""Decide on the answer: run commands, pick a tool by words, or describe and quote what was received."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from showandtell.inspector.answering.arguments import read_arguments, read_commands
from showandtell.inspector.answering.choose_tool import (
    choose_calls,
    choose_tool,
    find_paths,
    list_tools,
    sample_arguments,
    score,
)
from showandtell.inspector.answering.compare import asks_to_compare
from showandtell.inspector.answering.context import AnswerContext, Examine, build_context
from showandtell.inspector.answering.describe import (
    describe_mentioned,
    describe_received,
    earlier_sources,
    find_answers,
    is_sure,
)
from showandtell.inspector.answering.pages import show_next_page
from showandtell.inspector.answering.quote import format_quotes
from showandtell.inspector.answering.summary import INTRODUCTION, WITH_KEYS, fold, is_introduced
from showandtell.inspector.answering.tables import find_series
from showandtell.inspector.answering.typed_answer import as_typed, asks_for_type, without_answers
from showandtell.inspector.answering.words import asks_question, find_notes, stems
from showandtell.inspector.pixels import read_pixels
from showandtell.inspector.request import (
    Call,
    ModelRequest,
    OfferedTool,
    ReceivedFile,
    Reply,
    Result,
    TextPart,
    calls_of,
)

#: Maximum characters of the user's text in the reasoning.
REASONED = 200
#: Words that ask about files in the request, rather than for files from a tool.
ASKS_ABOUT = re.compile(r"\b(describ\w*|inspect|look at|report|check|verify|analy[sz]e|summari[sz]e)\b", re.IGNORECASE)
TOOL_HELP = "I pick a tool by the words of a message, and obey `/tool_name key=value`. The details list the tools."


def answer(request: ModelRequest, examine: Examine) -> Reply:
    """Answer a request. `examine` opens files, so this blocks."""
    context = build_context(request)
    text, calls = as_typed(context, *_decide(without_answers(context), examine))
    if not request.parallel:
        calls = calls[:1]
    reasoning = _reason(context) if request.reasons else ""
    reply = Reply(text, _number(calls, request), count_tokens(request), reasoning=reasoning)
    if not asks_for_type(context):
        reply = _introduce(reply, request)
    return _truncate(reply, request.max_tokens)


def _introduce(reply: Reply, request: ModelRequest) -> Reply:
    """Begin the first answer with the introduction, unless there is room for the answer alone."""
    if not reply.text or is_introduced(request.turns):
        return reply
    introduced = msgspec.structs.replace(
        reply, text=f"{WITH_KEYS if request.has_keys else INTRODUCTION}\n\n{reply.text}"
    )
    only_alone = _fits(reply, request.max_tokens) and not _fits(introduced, request.max_tokens)
    return reply if only_alone else introduced


def _reason(context: AnswerContext) -> str:
    """What the inspector goes by, in place of a model's thoughts."""
    text = context.text if len(context.text) <= REASONED else f"{context.text[:REASONED]}…"
    new = f"{len(context.results)} results came back, and the user asked" if context.results else "The user says"
    tools = ", ".join(tool.name for tool in context.tools) or "no tools"
    return f"{new}: {text}\nI know {len(context.files)} files, and have {tools}."


def _decide(context: AnswerContext, examine: Examine) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    # In a turn with tool results only a message that starts with a command counts: other text may be a tool's.
    if (
        context.user_spoke_last
        and (not context.results or context.text.startswith("/"))
        and (commanded := _run_commands(context))
    ):
        return commanded
    if context.request.tool_choice not in {"auto", "none"}:
        return "", [_forced_call(context)]
    if page := show_next_page(context, examine):
        return page
    if context.results or not context.user_spoke_last:
        return describe_received(context, examine), []
    series = find_series(context.request.turns, context.text)
    picked = choose_calls(context.labelled_text, context.tools, by_name_only=context.has_files, series=series)
    if context.mentioned.files or context.mentioned.missing:
        return (
            _call_tools(_skip_received(context, picked))
            if _wants_tool(context, picked)
            else (describe_mentioned(context, examine), [])
        )
    quotes = (
        []
        if context.has_files or not asks_question(context.text)
        else find_answers(context, earlier_sources(context, examine))
    )
    if picked and (_names_new_file(context) or not is_sure(quotes, context)):
        return _call_tools(picked)
    if context.has_files or (not quotes and any(map(find_notes, context.current))):
        return describe_received(context, examine), []
    return format_quotes(quotes) if quotes else _explain(context), []


def _call_tools(picked: Sequence[tuple[OfferedTool, dict[str, Any]]]) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    times = f" {len(picked)} times" if len(picked) > 1 else ""
    text = f"By the words of your message I run {picked[0][0].name}{times}."
    return text, [(tool.name, arguments) for tool, arguments in picked]


def _names_new_file(context: AnswerContext) -> bool:
    """Whether the user names a file that is not in the request."""
    return any(True for _ in context.missing_names(find_paths(context.text)))


def _wants_tool(context: AnswerContext, picked: Sequence[tuple[OfferedTool, dict[str, Any]]]) -> bool:
    """Whether a message that names files still means a tool: files are missing, or are to be shown again."""
    present = [file for file in context.mentioned.files if file.is_present]
    if not present or _names_new_file(context):
        return bool(picked)
    return not _asks_about_files(context.text) and len(picked) >= len(present)


def _asks_about_files(text: str) -> bool:
    return asks_question(text) or asks_to_compare(text) or ASKS_ABOUT.search(text) is not None


def _skip_received(
    context: AnswerContext, picked: Sequence[tuple[OfferedTool, dict[str, Any]]]
) -> Sequence[tuple[OfferedTool, dict[str, Any]]]:
    """If the message asks about files, only the calls for missing ones."""
    missing = set(context.missing_names(find_paths(context.text)))
    new = [(tool, arguments) for tool, arguments in picked if missing & set(map(str, arguments.values()))]
    return new if new and _asks_about_files(context.text) else picked


def _run_commands(context: AnswerContext) -> tuple[str, list[tuple[str, dict[str, Any]]]] | None:
    """The commands of a message as calls, and a text about those that can't run. None without commands."""
    known = {tool.name: tool for tool in context.tools}
    commands = read_commands(context.text, frozenset(known))
    if not commands:
        return None
    calls = [(c.name, read_arguments(c, known[c.name])) for c in commands if c.name in known]
    unknown = [f"/{command.name}" for command in commands if command.name not in known]
    if not unknown:
        return "", calls
    if not known:
        return f"I can't run {', '.join(unknown)}: no tool may be called in this step.", []
    tools = fold(f"The tools are:\n{list_tools(context.tools)}")
    return f"There is no tool {', '.join(unknown)}. The details list those that there are.\n\n{tools}", calls


def _forced_call(context: AnswerContext) -> tuple[str, dict[str, Any]]:
    """The call that `tool_choice` requires: the named tool or the best match, with sample arguments if none fit."""
    tools = [tool for tool in context.tools if context.request.tool_choice in {"required", tool.name}]
    query = set(stems(context.text))
    best = max(tools, key=lambda tool: score(tool, query, tools))
    picked = choose_tool(context.text, [best])
    return (best.name, picked[1] if picked else sample_arguments(best))


def _explain(context: AnswerContext) -> str:
    if not context.request.tools:
        return "I found nothing to show for this message, and no tools came with it: send me a file."
    if not context.tools:
        return "I found nothing to show for this message, and no tool may be called in this step."
    return f"{TOOL_HELP}\n\n{fold(list_tools(context.tools))}"


def _number(calls: Sequence[tuple[str, dict[str, Any]]], request: ModelRequest) -> tuple[Call, ...]:
    """Derive call ids from the ids already in the conversation, so that equal requests give equal ids."""
    known = ",".join(calls_of(request.turns))
    return tuple(
        Call(hashlib.sha256(f"{known}|{at}".encode()).hexdigest()[:16], tool, msgspec.json.encode(arguments).decode())
        for at, (tool, arguments) in enumerate(calls)
    )


def _fits(reply: Reply, max_tokens: int | None) -> bool:
    return max_tokens is None or reply.output_tokens <= max_tokens


def _truncate(reply: Reply, max_tokens: int | None) -> Reply:
    """Truncate a reply over the token limit."""
    if max_tokens is None or _fits(reply, max_tokens):
        return reply
    return msgspec.structs.replace(reply, text=reply.text[: max_tokens * 4], calls=(), truncated=True)


def count_tokens(request: ModelRequest) -> int:
    """A plausible number of input tokens: text by length, images by area, other files by size."""
    texts = len(request.system) + sum(len(tool.description) + len(repr(tool.schema)) for tool in request.tools)
    return texts // 4 + sum(_estimate_tokens(part) for turn in request.turns for part in turn.parts) + 8


def _estimate_tokens(part: TextPart | ReceivedFile | Call | Result) -> int:
    match part:
        case TextPart():
            return len(part.text) // 4 + 1
        case Call():
            return len(part.tool + part.arguments) // 4 + 4
        case Result():
            return 4 + sum(_estimate_tokens(inner) for inner in part.parts)
        case ReceivedFile():
            data = part.data or bytes(100_000)
            width, height = read_pixels(data) or (0, 0)
            return width * height // 750 + 1 if width else len(data) // 100 + 1
