"""Mistral's dialect of chat completions: the order of messages that it takes, and the words in which it refuses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import UNSET

from showandtell.inspector.openai_chat import schema as wire
from showandtell.inspector.openai_chat.rules import (
    Rules,
    names,
    tag_of,
)
from showandtell.inspector.request import Fault, Refusal

PYDANTIC = {
    "str": ("string_type", "Input should be a valid string"),
    "int": ("int_type", "Input should be a valid integer"),
    "float": ("float_type", "Input should be a valid number"),
    "bool": ("bool_type", "Input should be a valid boolean"),
    "array": ("list_type", "Input should be a valid list"),
    "object": ("dict_type", "Input should be a valid dictionary"),
}
NINE = re.compile("[a-zA-Z0-9]{9}")
AFTER = {
    "system": names("system user assistant"),
    "user": names("system user assistant"),
    "assistant": names("user assistant tool"),
    "tool": names("assistant tool"),
}


def say_mistral(fault: Fault) -> Refusal:
    """A fault of the schema is 422; the place is a list, without the union's tags that the real one has in it."""
    path = fault.path
    match fault.shape:
        case "unknown":
            path, kind, words = (*path, fault.detail), "extra_forbidden", "Extra inputs are not permitted"
        case "missing":
            path, kind, words = (*path, fault.detail), "missing", "Field required"
        case "type":
            kind, words = PYDANTIC.get(fault.detail.split(" | ")[0], PYDANTIC["object"])
        case "value" if path[-1:] in {("type",), ("role",)}:
            kind, words = "union_tag_invalid", f"Input tag '{fault.detail}' does not match any of the expected tags"
        case "value":
            kind, words = "value_error", f"Value error, {fault.detail}"
    place = "".join(f".{step}" for step in path).removeprefix(".")
    return Refusal(words, status=422, kind=kind, parameter=place)


def check_mistral(messages: Sequence[wire.Message]) -> None:
    """Roles may not follow each other freely, calls have ids of nine letters or digits, and all are answered."""
    for message in messages:
        _check_nine(message)
        if isinstance(message, wire.Assistant) and not (message.content or _calls(message)):
            words = "Assistant message must have either content or tool_calls, but not none."
            raise Refusal(words, kind="invalid_request_assistant_message", code="3240")
    check_order(messages)
    last = messages[-1]
    if not isinstance(last, wire.User | wire.ToolMessage) and getattr(last, "prefix", False) is not True:
        words = f"but got {tag_of(last)}"
        raise _disorder(f"Expected last role User or Tool (or Assistant with prefix True) for serving {words}")


def check_order(messages: Sequence[wire.Message]) -> None:
    """Mistral's order of roles, which other hosts of its models demand, too."""
    waiting: list[str] = []
    for before, message in zip([None, *messages], messages, strict=False):
        if before is not None and tag_of(message) not in AFTER.get(tag_of(before), AFTER["system"]):
            raise _disorder(f"Unexpected role '{tag_of(message)}' after role '{tag_of(before)}'")
        if isinstance(message, wire.ToolMessage):
            if message.tool_call_id not in waiting:
                raise _disorder("Not the same number of function calls and responses")
            waiting.remove(message.tool_call_id)
            continue
        if waiting:
            raise _disorder("Not the same number of function calls and responses")
        waiting = [call.id for call in _calls(message)]
    if waiting:
        raise _disorder("Not the same number of function calls and responses")


def _disorder(words: str) -> Refusal:
    return Refusal(words, kind="invalid_request_message_order", code="3230")


def _calls(message: wire.Message) -> Sequence[wire.ToolCall]:
    return message.tool_calls if isinstance(message, wire.Assistant) and message.tool_calls is not UNSET else ()


def _check_nine(message: wire.Message) -> None:
    ids = [call.id for call in _calls(message)]
    if isinstance(message, wire.ToolMessage):
        ids.append(message.tool_call_id)
    for call_id in ids:
        if not NINE.fullmatch(call_id):
            words = f"Tool call id was {call_id} but must be a-z, A-Z, 0-9, with a length of 9."
            raise Refusal(words, kind="invalid_function_call", code="3280")


CHUNKS = frozenset({"text", "image_url", "document_url", "file", "input_audio", "thinking"})
MISTRAL = Rules(
    fields=names(
        """
        model messages temperature top_p max_tokens stream stream_options stop random_seed metadata response_format
        tools tool_choice presence_penalty frequency_penalty min_tokens repetition_penalty top_k logprobs top_logprobs
        prompt_logprobs top_prompt_logprobs n prediction parallel_tool_calls reasoning_effort prompt_mode guardrails
        prompt_cache_key service_tier safe_prompt
        """
    ),
    options=names(
        """
        assistant.prefix tool.name tool_calls.index file.file_id document_url.document_name thinking.signature
        thinking.closed
        """
    ),
    say=say_mistral,
    bare=names("image_url input_audio arguments"),
    roles=names("system user assistant tool"),
    user_parts=CHUNKS,
    assistant_parts=CHUNKS,
    result_parts=CHUNKS,
    choices=names("none auto any required"),
    hears=re.compile("voxtral"),
    empty=True,
    order=check_mistral,
)
