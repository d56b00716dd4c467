"""Pick a tool by the words of a request, or say how each may be called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from showandtell.inspector.answering.arguments import PATH, PATH_NAME, fill_arguments, kinds_of, properties, required
from showandtell.inspector.answering.words import stems
from showandtell.inspector.request import OfferedTool

#: What a word of the name, and one of the description, is worth; enough is one rare name word.
NAME, DESCRIPTION, ENOUGH = 3.0, 1.0, 2.0
#: What a file's name in the message is worth for a tool that takes one.
PATHS = 2.0
SAMPLES: dict[str, Any] = {"integer": 1, "number": 1.5, "boolean": True, "array": [1, 2, 3], "object": {}}


def choose_tool(
    words: str, offers: Sequence[OfferedTool], *, named: bool = False
) -> tuple[OfferedTool, dict[str, Any]] | None:
    """The one tool that the words clearly mean, with its arguments. With `named`, its whole name must be said."""
    asked = set(stems(words))
    paths = PATH.search(words) is not None
    scores = sorted(
        ((score(offer, asked, offers) + PATHS * (paths and takes_path(offer)), -at) for at, offer in enumerate(offers)),
        reverse=True,
    )
    if not scores or scores[0][0] < ENOUGH or (len(scores) > 1 and scores[0][0] == scores[1][0]):
        return None
    offer = offers[-scores[0][1]]
    if named and not set(stems(offer.name)) <= asked:
        return None
    arguments = fill_arguments(offer, words)
    return None if arguments is None else (offer, arguments)


def choose_calls(
    words: str, offers: Sequence[OfferedTool], *, named: bool = False
) -> list[tuple[OfferedTool, dict[str, Any]]]:
    """The calls that the words mean: one, or one for each file they name where the tool takes one path."""
    picked = choose_tool(words, offers, named=named)
    if picked is None:
        return []
    paths = find_paths(words)
    if len(paths) < 2 or len(path_parameters(picked[0])) != 1:
        return [picked]
    alone = [PATH.sub(lambda match, path=path: match[0] if match[0] == path else " ", words) for path in paths]
    filled = [fill_arguments(picked[0], text) for text in alone]
    return [(picked[0], arguments) for arguments in filled if arguments is not None]


def find_paths(words: str) -> list[str]:
    """The files that words name, each once."""
    return [path for path in dict.fromkeys(match[0] for match in PATH.finditer(words)) if path not in {"e.g", "i.e"}]


def path_parameters(offer: OfferedTool) -> list[str]:
    """The arguments that a call must have and that are a file's name."""
    return [
        name for name in required(offer) if PATH_NAME.search(name) and "string" in kinds_of(properties(offer)[name])
    ]


def takes_path(offer: OfferedTool) -> bool:
    """Whether a tool asks for a file's name, so that naming a file means it."""
    return any(name in {"path", "file", "filename", "file_path"} for name in required(offer))


def score(offer: OfferedTool, asked: set[str], offers: Sequence[OfferedTool]) -> float:
    """How much of a tool's name and description was said; a word that many tools share tells them apart less."""
    names = [set(stems(other.name)) for other in offers]
    described = [set(stems(other.description)) for other in offers]
    own, told = set(stems(offer.name)), set(stems(offer.description))
    by_name = sum(NAME / sum(word in name for name in names) for word in asked & own)
    by_description = sum(DESCRIPTION / sum(word in text for text in described) for word in (asked & told) - own)
    return by_name + by_description


def sample_arguments(offer: OfferedTool) -> dict[str, Any]:
    """A value of the right type for each required argument."""
    return {name: _sample(properties(offer)[name]) for name in required(offer)}


def _sample(schema: dict[str, Any]) -> Any:
    match schema.get("enum"):
        case [first, *_]:
            return first
        case _:
            pass
    kinds = kinds_of(schema)
    return next((SAMPLES[kind] for kind in SAMPLES if kind in kinds), "text")


def spell_call(offer: OfferedTool) -> str:
    """How to call a tool by command: `/plot title="text" values=[1,2,3]`."""
    pairs = [f"{name}={msgspec.json.encode(value).decode()}" for name, value in sample_arguments(offer).items()]
    return " ".join([f"/{offer.name}", *pairs])


def list_tools(offers: Sequence[OfferedTool]) -> str:
    """Every tool, a line each, as it may be called."""
    return "\n".join(f"- `{spell_call(offer)}` {_first_sentence(offer.description)}".rstrip() for offer in offers)


def _first_sentence(text: str) -> str:
    return text.strip().split("\n")[0].split(". ")[0][:120]
