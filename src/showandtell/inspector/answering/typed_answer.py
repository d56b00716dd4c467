"""Answers to requests for JSON: what `/answer` lines say, one for each attempt, or else a sample of the schema."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import structs

from showandtell.inspector.answering.context import AnswerContext
from showandtell.inspector.request import Call, OfferedTool

COMMAND = "answer"
LINE = re.compile(rf"^/{COMMAND}[ \t]+(.+)$", re.MULTILINE)
#: The tool that gives an answer in APIs without a field for a schema.
TOOL = re.compile(r"final_answer(_\d+)?")
SAMPLES: dict[str, Any] = {"integer": 1, "number": 1.5, "boolean": True, "string": "text", "null": None}
#: Depth at which arrays of a recursive schema are empty.
MAX_DEPTH = 8

Calls = Sequence[tuple[str, dict[str, Any]]]


def answer_tool(context: AnswerContext) -> OfferedTool | None:
    """The tool that gives the answer, if the request has one and no field for a schema."""
    tools = [tool for tool in context.tools if TOOL.fullmatch(tool.name)]
    return tools[0] if tools and context.request.answer_schema is None else None


def asks_for_type(context: AnswerContext) -> bool:
    """Whether the request asks for JSON of a schema, by a field or by a tool."""
    return context.request.answer_schema is not None or answer_tool(context) is not None


def without_answers(context: AnswerContext) -> AnswerContext:
    """The context without `/answer` lines, unless they call a tool of the user or have no meaning."""
    if not asks_for_type(context) or any(tool.name == COMMAND for tool in context.request.tools):
        return context
    return structs.replace(context, text=LINE.sub("", context.text).strip())


def as_typed(original: AnswerContext, text: str, calls: Calls) -> tuple[str, Calls]:
    """A reply as JSON of the requested schema, if it is an answer rather than a step with calls."""
    tool, schema = answer_tool(original), original.request.answer_schema
    if any(not TOOL.fullmatch(name) for name, _ in calls) or (tool is None and (schema is None or calls)):
        return text, calls
    given = LINE.findall(original.text)
    if given:
        answer = given[min(count_attempts(original), len(given) - 1)].strip()
    elif calls:
        return text, calls
    else:
        shape = tool.schema if tool else schema or {}
        answer = msgspec.json.encode(sample(shape, cast("dict[str, Any]", shape.get("$defs", {})))).decode()
    arguments = read_object(answer) if tool else None
    return (answer, []) if tool is None or arguments is None else ("", [(tool.name, arguments)])


def count_attempts(context: AnswerContext) -> int:
    """The number of answers since the user's text: messages without calls, or with calls of the answer's tool."""
    turns = [turn for turn in context.current if turn.role == "assistant"]
    calls = [[part.tool for part in turn.parts if isinstance(part, Call)] for turn in turns]
    return sum(all(TOOL.fullmatch(name) for name in names) for names in calls)


def read_object(text: str) -> dict[str, Any] | None:
    """A JSON object; None for any other text."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError):
        return None


def sample(schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int = 0) -> Any:
    """A value that fits a schema: its first option, one item an array, all fields of an object."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return sample(cast("Mapping[str, Any]", definitions.get(name, {})), definitions, depth + 1)
    if "const" in schema:
        return schema["const"]
    for key in ("enum", "anyOf", "oneOf", "allOf"):
        match schema.get(key):
            case [first, *_]:
                return first if key == "enum" else sample(cast("Mapping[str, Any]", first), definitions, depth)
            case _:
                pass
    match schema.get("type"):
        case "array":
            items = cast("Mapping[str, Any]", schema.get("items", {}))
            return [] if depth > MAX_DEPTH else [sample(items, definitions, depth + 1)]
        case "object":
            fields = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties", {}))
            return {name: sample(inner, definitions, depth + 1) for name, inner in fields.items()}
        case kind:
            return SAMPLES.get(str(kind), "text")
