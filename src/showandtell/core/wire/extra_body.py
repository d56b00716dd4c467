"""Merges a caller's `extra_body` into a request's body: objects by field, lists by appending.

A field that a setting writes can't be changed this way: a request with two temperatures has no right one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from showandtell.checking.checked import checked
from showandtell.core.capabilities.cells import Target
from showandtell.core.wire.options import Options
from showandtell.core.wire.tree import Tree, camel_case
from showandtell.errors import BadInput

#: The module that has the names that `Tree` is made of.
ANNOTATIONS = "showandtell.core.wire.tree"
INSTRUCTIONS, MODEL, MESSAGES = "the argument instructions", "the argument model", "the conversation's messages"
MAX_TOKENS, OUTPUT_TYPE = "the setting max_tokens", "the argument output_type"
EFFORT, TOOL_CHOICE = "the setting reasoning_effort", "the setting tool_choice"
#: What to use instead, by the name of a field in any API. Fields that we write but no setting names, such as `store`,
#: are not listed: `extra_body` replaces them.
INSTEAD = {
    "model": MODEL,
    "modelId": MODEL,
    "messages": MESSAGES,
    "contents": MESSAGES,
    "input": MESSAGES,
    "stream": "the setting stream",
    "instructions": INSTRUCTIONS,
    "system": INSTRUCTIONS,
    "systemInstruction": INSTRUCTIONS,
    "temperature": "the setting temperature",
    "max_tokens": MAX_TOKENS,
    "max_completion_tokens": MAX_TOKENS,
    "max_output_tokens": MAX_TOKENS,
    "maxOutputTokens": MAX_TOKENS,
    "maxTokens": MAX_TOKENS,
    "effort": EFFORT,
    "reasoning_effort": EFFORT,
    "thinkingLevel": EFFORT,
    "thinkingBudget": EFFORT,
    "tool_choice": TOOL_CHOICE,
    "toolChoice": TOOL_CHOICE,
    "functionCallingConfig": TOOL_CHOICE,
    "format": OUTPUT_TYPE,
    "response_format": OUTPUT_TYPE,
    "textFormat": OUTPUT_TYPE,
    "responseMimeType": OUTPUT_TYPE,
    "responseJsonSchema": OUTPUT_TYPE,
}
#: Objects with one key of several, which must not be merged.
UNIONS = frozenset({"toolChoice"})


@checked
def merge_extra_body(
    own: Mapping[str, Tree], extra: Mapping[str, Tree], options: Options, target: Target, messages_key: str
) -> dict[str, Tree]:
    """Return the body with the fields of `extra`.

    Raises `BadInput`, naming the field and what to use instead, if a field of ours has another value or type. The
    messages, and on some hosts the model and `stream`, are ours too, though they are written elsewhere.
    """
    elsewhere: dict[str, Tree] = {"model": target.model, "modelId": target.model, "stream": options.stream}
    elsewhere[messages_key] = ()
    for name in extra.keys() & elsewhere.keys() - own.keys():
        _combine((name,), elsewhere[name], extra[name], options)
    return _merge((), own, {key: extra[key] for key in extra if key in own or key not in elsewhere}, options)


@checked
def read_extra_body(options: Options) -> dict[str, msgspec.Raw]:
    """Return the fields of `extra_body`."""
    return msgspec.json.decode(options.extra or "{}", type=dict[str, msgspec.Raw])


def _merge(
    place: tuple[str, ...], own: Mapping[str, Tree], extra: Mapping[str, Tree], options: Options
) -> dict[str, Tree]:
    merged = dict(own)
    for field, value in extra.items():
        # Google's APIs take both spellings.
        name = camel_case(field) if field not in own and camel_case(field) in own else field
        merged[name] = _combine((*place, name), own[name], value, options) if name in own else value
    return merged


def _combine(place: tuple[str, ...], own: Tree, extra: Tree, options: Options) -> Tree:
    ours, theirs = _plain(own), _plain(extra)
    if ours == theirs:
        return own
    instead = next((INSTEAD[step] for step in reversed(place) if step in INSTEAD), None)
    if instead == TOOL_CHOICE and options.tool_choice == "none":
        return own  # the loop forbids calls in a run's last step, whatever is chosen for the others
    is_default = instead == TOOL_CHOICE and options.tool_choice == "auto"
    if isinstance(own, Mapping) and isinstance(theirs, dict) and place[-1] not in UNIONS:
        return _merge(place, own, msgspec.json.decode(msgspec.json.encode(extra), type=dict[str, msgspec.Raw]), options)
    if instead and not is_default:
        raise BadInput(f"extra_body: {'.'.join(place)} differs from the request's own value: use {instead} instead")
    if isinstance(ours, list) and isinstance(theirs, list) and isinstance(own, Sequence):
        return [*own, *(item for item in cast("list[Tree]", theirs) if item not in ours)]
    if isinstance(ours, dict | list) and not is_default:
        kind = "a list" if isinstance(ours, list) else "a JSON object"
        raise BadInput(f"extra_body: {'.'.join(place)} is not {kind}")
    return extra


def _plain(tree: Tree) -> Any:
    return msgspec.json.decode(msgspec.json.encode(tree))
