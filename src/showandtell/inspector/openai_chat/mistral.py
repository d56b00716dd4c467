"""Mistral's dialect of chat completions: its message order and its error messages."""

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
from showandtell.inspector.request import ApiError, Violation

PYDANTIC_TYPES = {
    "str": ("string_type", "Input should be a valid string"),
    "int": ("int_type", "Input should be a valid integer"),
    "float": ("float_type", "Input should be a valid number"),
    "bool": ("bool_type", "Input should be a valid boolean"),
    "array": ("list_type", "Input should be a valid list"),
    "object": ("dict_type", "Input should be a valid dictionary"),
}
CALL_ID = re.compile("[a-zA-Z0-9]{9}")
AFTER = {
    "system": names("system user assistant"),
    "user": names("system user assistant"),
    "assistant": names("user assistant tool"),
    "tool": names("assistant tool"),
}


def mistral_error(violation: Violation) -> ApiError:
    """Schema violations are 422. The path is a list, without the union tags that Mistral includes."""
    path = violation.path
    match violation.kind:
        case "unknown":
            path, kind, message = (*path, violation.detail), "extra_forbidden", "Extra inputs are not permitted"
        case "missing":
            path, kind, message = (*path, violation.detail), "missing", "Field required"
        case "type":
            kind, message = PYDANTIC_TYPES.get(violation.detail.split(" | ")[0], PYDANTIC_TYPES["object"])
        case "value" if path[-1:] in {("type",), ("role",)}:
            kind, message = (
                "union_tag_invalid",
                f"Input tag '{violation.detail}' does not match any of the expected tags",
            )
        case "value":
            kind, message = "value_error", f"Value error, {violation.detail}"
    place = "".join(f".{step}" for step in path).removeprefix(".")
    return ApiError(message, status=422, kind=kind, parameter=place)


def check_mistral(messages: Sequence[wire.Message]) -> None:
    """Check the order of roles, call ids of nine letters or digits, and that every call has a result."""
    for message in messages:
        _check_call_ids(message)
        if isinstance(message, wire.AssistantMessage) and not (message.content or _calls(message)):
            problem = "Assistant message must have either content or tool_calls, but not none."
            raise ApiError(problem, kind="invalid_request_assistant_message", code="3240")
    check_order(messages)
    last = messages[-1]
    if not isinstance(last, wire.UserMessage | wire.ToolMessage) and getattr(last, "prefix", False) is not True:
        problem = f"but got {tag_of(last)}"
        raise _order_error(f"Expected last role User or Tool (or Assistant with prefix True) for serving {problem}")


def check_order(messages: Sequence[wire.Message]) -> None:
    """Check Mistral's order of roles, which other hosts of its models also require."""
    waiting: list[str] = []
    for previous, message in zip([None, *messages], messages, strict=False):
        if previous is not None and tag_of(message) not in AFTER.get(tag_of(previous), AFTER["system"]):
            raise _order_error(f"Unexpected role '{tag_of(message)}' after role '{tag_of(previous)}'")
        if isinstance(message, wire.ToolMessage):
            if message.tool_call_id not in waiting:
                raise _order_error("Not the same number of function calls and responses")
            waiting.remove(message.tool_call_id)
            continue
        if waiting:
            raise _order_error("Not the same number of function calls and responses")
        waiting = [call.id for call in _calls(message)]
    if waiting:
        raise _order_error("Not the same number of function calls and responses")


def _order_error(message: str) -> ApiError:
    return ApiError(message, kind="invalid_request_message_order", code="3230")


def _calls(message: wire.Message) -> Sequence[wire.ToolCall]:
    return message.tool_calls if isinstance(message, wire.AssistantMessage) and message.tool_calls is not UNSET else ()


def _check_call_ids(message: wire.Message) -> None:
    ids = [call.id for call in _calls(message)]
    if isinstance(message, wire.ToolMessage):
        ids.append(message.tool_call_id)
    for call_id in ids:
        if not CALL_ID.fullmatch(call_id):
            problem = f"Tool call id was {call_id} but must be a-z, A-Z, 0-9, with a length of 9."
            raise ApiError(problem, kind="invalid_function_call", code="3280")


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
    violation_error=mistral_error,
    alternate_forms=names("image_url input_audio arguments"),
    roles=names("system user assistant tool"),
    user_parts=CHUNKS,
    assistant_parts=CHUNKS,
    result_parts=CHUNKS,
    tool_choices=names("none auto any required"),
    audio_models=re.compile("voxtral"),
    allows_empty=True,
    check_order=check_mistral,
)
