"""Pick a tool by the words of a message, and format how to call tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from showandtell.inspector.answering.arguments import (
    PATH,
    PATH_NAME,
    Series,
    fill_arguments,
    json_types,
    properties,
    required,
)
from showandtell.inspector.answering.words import stems
from showandtell.inspector.request import OfferedTool

#: Scores of a word in the name and in the description. One rare word of the name is enough to pick a tool.
NAME_WEIGHT, DESCRIPTION_WEIGHT, MIN_SCORE = 3.0, 1.0, 2.0
#: Score of a file name in the message for a tool that takes one.
PATH_WEIGHT = 2.0
SAMPLES: dict[str, Any] = {"integer": 1, "number": 1.5, "boolean": True, "array": [1, 2, 3], "object": {}}


def choose_tool(
    text: str, tools: Sequence[OfferedTool], *, by_name_only: bool = False, series: Series | None = None
) -> tuple[OfferedTool, dict[str, Any]] | None:
    """The tool that the text clearly means, with arguments. With `by_name_only` the text must contain its full name.

    `series` is what a table of the request has for a list of numbers.
    """
    query = set(stems(text))
    paths = PATH.search(text) is not None
    scores = sorted(
        (
            (score(tool, query, tools) + PATH_WEIGHT * (paths and takes_path(tool)), -at)
            for at, tool in enumerate(tools)
        ),
        reverse=True,
    )
    if not scores or scores[0][0] < MIN_SCORE or (len(scores) > 1 and scores[0][0] == scores[1][0]):
        return None
    tool = tools[-scores[0][1]]
    if by_name_only and not set(stems(tool.name)) <= query:
        return None
    arguments = fill_arguments(tool, text, series)
    return None if arguments is None else (tool, arguments)


def choose_calls(
    text: str, tools: Sequence[OfferedTool], *, by_name_only: bool = False, series: Series | None = None
) -> list[tuple[OfferedTool, dict[str, Any]]]:
    """The calls that the text means: one, or one per named file if the tool takes one path."""
    picked = choose_tool(text, tools, by_name_only=by_name_only, series=series)
    if picked is None:
        return []
    paths = find_paths(text)
    if len(paths) < 2 or len(path_parameters(picked[0])) != 1:
        return [picked]
    per_file = [PATH.sub(lambda match, path=path: match[0] if match[0] == path else " ", text) for path in paths]
    filled = [fill_arguments(picked[0], single) for single in per_file]
    return [(picked[0], arguments) for arguments in filled if arguments is not None]


def find_paths(text: str) -> list[str]:
    """The file names in a text, without duplicates."""
    return [path for path in dict.fromkeys(match[0] for match in PATH.finditer(text)) if path not in {"e.g", "i.e"}]


def path_parameters(tool: OfferedTool) -> list[str]:
    """The required arguments that are file names."""
    return [
        name for name in required(tool) if PATH_NAME.search(name) and "string" in json_types(properties(tool)[name])
    ]


def takes_path(tool: OfferedTool) -> bool:
    """Whether a tool requires a file name."""
    return any(name in {"path", "file", "filename", "file_path"} for name in required(tool))


def score(tool: OfferedTool, query: set[str], tools: Sequence[OfferedTool]) -> float:
    """Score a tool by the words of its name and description. A word that many tools share counts less."""
    names = [set(stems(other.name)) for other in tools]
    described = [set(stems(other.description)) for other in tools]
    name_stems, description_stems = set(stems(tool.name)), set(stems(tool.description))
    by_name = sum(NAME_WEIGHT / sum(word in name for name in names) for word in query & name_stems)
    by_description = sum(
        DESCRIPTION_WEIGHT / sum(word in text for text in described)
        for word in (query & description_stems) - name_stems
    )
    return by_name + by_description


def sample_arguments(tool: OfferedTool) -> dict[str, Any]:
    """A value of the right type for each required argument."""
    return {name: _sample(properties(tool)[name]) for name in required(tool)}


def _sample(schema: dict[str, Any]) -> Any:
    match schema.get("enum"):
        case [first, *_]:
            return first
        case _:
            pass
    types = json_types(schema)
    return next((SAMPLES[name] for name in SAMPLES if name in types), "text")


def format_call(tool: OfferedTool) -> str:
    """How to call a tool by command: `/plot title="text" values=[1,2,3]`."""
    pairs = [f"{name}={msgspec.json.encode(value).decode()}" for name, value in sample_arguments(tool).items()]
    return " ".join([f"/{tool.name}", *pairs])


def list_tools(tools: Sequence[OfferedTool]) -> str:
    """How to call each tool, one per line."""
    return "\n".join(f"- `{format_call(tool)}` {_first_sentence(tool.description)}".rstrip() for tool in tools)


def _first_sentence(text: str) -> str:
    return text.strip().split("\n")[0].split(". ")[0][:120]
