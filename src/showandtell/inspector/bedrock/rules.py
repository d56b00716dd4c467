"""What Converse demands across blocks and messages: places, order, pairing, names, marks, and what a family takes.

Words are those of recorded refusals (docs/providers.md, and users' reports of the service). Where none was read for a
rule, they follow the pattern of those that were.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal

from msgspec import UNSET, Struct

from showandtell.inspector.bedrock import schema as wire
from showandtell.inspector.bedrock.families import CLAUDE, MEDIA, MODEL_SAYS, NOVA, Family, find_family
from showandtell.inspector.bedrock.files import check_file
from showandtell.inspector.request import Refusal

MOST_IMAGES, MOST_DOCUMENTS, MOST_MARKS = 20, 5, 4
#: Nova reads plain formats in a tool result, and refuses PDF and office.
NOVA_RESULTS = frozenset({"csv", "txt", "html", "md"})
FEW_IMAGES, MANY_SIDE, SIDE = 20, 2000, 8000
PLACES = {
    **dict.fromkeys(("image", "document", "video", "audio", "toolResult"), "user"),
    **dict.fromkeys(("toolUse", "reasoningContent"), "assistant"),
    **dict.fromkeys(("toolAddition", "toolRemoval"), "system"),
}


class Piece(Struct, frozen=True):
    """One block: its path, the name of its member, and what that holds."""

    path: str
    kind: str
    value: Any


class Side(Struct, frozen=True):
    """What one role says in a row, from message `at` on: neighbours of one role are merged by the service."""

    role: Literal["user", "assistant"]
    at: int
    pieces: tuple[Piece, ...]


def check_body(body: wire.Body, model: str) -> None:
    """Raise `Refusal` for the first rule that a well-typed body breaks."""
    family = find_family(model)
    _check_unions(body)
    _check_tools(body)
    for at, message in enumerate(body.messages):
        _check_message(message, at, family)
    _check_sides(body, family)
    _check_marks(body)
    _check_names(body)
    images = sum(isinstance(found, wire.Image) for _, found in wire.walk(body))
    side = MANY_SIDE if family is CLAUDE and images > FEW_IMAGES else SIDE
    for path, found in wire.walk(body):
        if isinstance(found, wire.Image | wire.Document | wire.Video | wire.Audio):
            check_file(found, path, side, claude=family is CLAUDE)


def sides_of(messages: Sequence[wire.Message]) -> list[Side]:
    """The conversation by turns; what the system says in between is no turn."""
    sides: list[Side] = []
    for at, message in enumerate(messages):
        if message.role == "system":
            continue
        pieces = tuple(pieces_of(message.content, f"messages.{at}.content"))
        if sides and sides[-1].role == message.role:
            sides[-1] = Side(message.role, sides[-1].at, (*sides[-1].pieces, *pieces))
        else:
            sides.append(Side(message.role, at, pieces))
    return sides


def pieces_of(blocks: Sequence[wire.OneOf], path: str) -> Iterator[Piece]:
    """Blocks with their paths and the one member that each has."""
    for index, block in enumerate(blocks):
        yield Piece(f"{path}.{index}", *wire.member_of(block))


def _check_unions(body: wire.Body) -> None:
    for path, found in wire.walk(body):
        if isinstance(found, wire.OneOf) and not wire.member_of(found)[0]:
            raise Refusal(f"Malformed input request: #/{path.replace('.', '/')}: exactly one key must be set, "
                          "please reformat your input and try again.")  # fmt: skip


def _check_tools(body: wire.Body) -> None:
    config = body.tool_config
    if config is UNSET:
        used = any(isinstance(found, wire.ToolUse | wire.ToolResult) for _, found in wire.walk(body.messages))
        if used:
            raise Refusal("The toolConfig field must be defined when using toolUse and toolResult content blocks.")
        return
    names: list[str] = []
    for at, tool in enumerate(config.tools):
        kind, spec = wire.member_of(tool)
        names += [spec.name] if kind != "cachePoint" else []
        if kind == "toolSpec":
            _check_schema(spec.input_schema.json, f"toolConfig.tools.{at}.toolSpec.inputSchema.json")
    if len(set(names)) < len(names):
        raise Refusal(f"{MODEL_SAYS}tools: Tool names must be unique.")
    choice = UNSET if config.tool_choice is UNSET else config.tool_choice.tool
    if choice is not UNSET and choice.name not in names:
        raise Refusal(f"{MODEL_SAYS}tool_choice: Tool '{choice.name}' not found in provided tools")


def _check_schema(schema: Any, path: str) -> None:
    _check_object(schema, path)
    if schema.get("type") != "object":
        raise Refusal(f"The value at {path}.type must be one of the following: object.")


def _check_object(value: Any, path: str) -> None:
    if not isinstance(value, dict):
        raise Refusal(
            f"The format of the value at {path} is invalid. Provide a json object for the field and try again."
        )


def _check_message(message: wire.Message, at: int, family: Family) -> None:
    path = f"messages.{at}"
    pieces = list(pieces_of(message.content, f"{path}.content"))
    if not pieces:
        raise Refusal(f"The content field in the Message object at {path} is empty. Add a ContentBlock object to the "
                      "content field and try again.")  # fmt: skip
    for piece in pieces:
        _check_piece(piece, message.role, family)
    kinds = Counter(
        inner.kind
        for piece in pieces
        for inner in (piece, *(pieces_of(piece.value.content, "") if piece.kind == "toolResult" else ()))
    )
    for kind, most in (("image", MOST_IMAGES), ("document", MOST_DOCUMENTS)):
        if kinds[kind] > most:
            raise Refusal(f"You can't include more than {most} {kind}s in a request. Reduce the number of {kind}s and "
                          "retry your request.")  # fmt: skip
    own = {piece.kind for piece in pieces}
    if "document" in own and "text" not in own:
        raise Refusal("A text block must be included when using documents. Add a text block and retry your request.")


def _check_piece(piece: Piece, role: str, family: Family) -> None:
    if PLACES.get(piece.kind, role) != role:
        raise Refusal(f"{piece.path}: {piece.kind} content blocks can only be in messages of the {PLACES[piece.kind]}"
                      " role. Remove the block and try again.")  # fmt: skip
    match piece:
        case Piece(kind="text", value=str() as text) if not text.strip():
            raise Refusal(f"The text field in the ContentBlock object at {piece.path} is blank. Add text to the text "
                          "field, and try again.")  # fmt: skip
        case Piece(kind="toolUse"):
            _check_object(piece.value.input, f"{piece.path}.toolUse.input")
        case Piece(kind="toolResult"):
            _check_result(piece.value, f"{piece.path}.toolResult", family)
        case Piece(kind="image" | "document" | "video" | "audio"):
            _check_media(piece, family, family.media)
        case _:
            return


def _check_result(result: wire.ToolResult, path: str, family: Family) -> None:
    if result.status is not UNSET and not family.status:
        raise Refusal("This model doesn't support the status field. Remove status and try again.")
    if not result.content and result.status == "error":
        raise Refusal(f"The content field at {path} cannot be empty when status value is error.")
    if not result.content and family is NOVA:
        raise Refusal(f"Malformed input request: #/{path.replace('.', '/')}/content: expected minimum item count: 1, "
                      "found: 0, please reformat your input and try again.")  # fmt: skip
    for piece in pieces_of(result.content, f"{path}.content"):
        if piece.kind == "json":
            _check_object(piece.value, f"{piece.path}.json")
        elif piece.kind in MEDIA:
            _check_in_result(piece, path.removesuffix(".toolResult"), family)


def _check_in_result(piece: Piece, block: str, family: Family) -> None:
    if family is not NOVA:
        _check_media(piece, family, family.in_results)
        return
    s3 = wire.member_of(piece.value.source)[0] == "s3Location"
    plain = piece.kind == "document" and piece.value.format in NOVA_RESULTS and not s3
    if piece.kind != "image" and not plain:
        raise Refusal(f"Malformed input request: #/{block.replace('.', '/')}: extraneous key [toolResult] is not "
                      "permitted, please reformat your input and try again.")  # fmt: skip


def _check_media(piece: Piece, family: Family, taken: frozenset[str]) -> None:
    if piece.kind not in taken:
        raise Refusal(f"This model doesn't support the {piece.kind} content block that you provided. Remove the "
                      f"{piece.kind} content block and try again.")  # fmt: skip
    if family.s3 or wire.member_of(piece.value.source)[0] != "s3Location":
        return
    if family is CLAUDE and piece.kind == "document":
        raise Refusal(f"{MODEL_SAYS}{piece.path}.document.source.type: Field required")
    raise Refusal("This model doesn't support the s3Uri field. Remove s3Uri and try again.")


def _check_sides(body: wire.Body, family: Family) -> None:
    sides = sides_of(body.messages)
    if not sides or (sides[0].role != "user" and not family.opens):
        raise Refusal("A conversation must start with a user message. Try again with a conversation that starts with a"
                      " user message.")  # fmt: skip
    if sides[-1].role != "user":
        raise Refusal("A conversation must end with a user message. Try again with a conversation that ends with a "
                      "user message.")  # fmt: skip
    _check_fresh([piece.value.tool_use_id for side in sides for piece in side.pieces if piece.kind == "toolUse"])
    for before, side in pairwise((Side("assistant", 0, ()), *sides)):
        if side.role == "user":
            asked = [piece.value.tool_use_id for piece in before.pieces if piece.kind == "toolUse"]
            _check_answers(asked, side)
            _check_beside(side, family)


def _check_fresh(call_ids: Sequence[str]) -> None:
    if len(set(call_ids)) < len(call_ids):
        raise Refusal(f"{MODEL_SAYS}messages: `tool_use` ids must be unique")


def _check_answers(asked: Sequence[str], side: Side) -> None:
    place = f"messages.{side.at}.content"
    answered = [piece.value.tool_use_id for piece in side.pieces if piece.kind == "toolResult"]
    if twice := [call_id for call_id, times in Counter(answered).items() if times > 1]:
        raise Refusal(f"The toolResult blocks at {place} contain duplicate Ids: {', '.join(twice)}")
    if len(answered) > len(asked):
        raise Refusal(f"The number of toolResult blocks at {place} exceeds the number of toolUse blocks of previous "
                      "turn.")  # fmt: skip
    if missing := [call_id for call_id in asked if call_id not in answered]:
        raise Refusal(f"Expected toolResult blocks at {place} for the following Ids: {', '.join(missing)}")


def _check_beside(side: Side, family: Family) -> None:
    """What shares a turn with tool results; for Claude the results come first, as in its own api."""
    kinds = [piece.kind for piece in side.pieces if piece.kind != "cachePoint"]
    if "toolResult" not in kinds:
        return
    if family.not_beside & set(kinds):
        raise Refusal(f"messages.{side.at}.content: Conversation blocks and tool result blocks cannot be provided in "
                      "the same turn.")  # fmt: skip
    count = kinds.count("toolResult")
    if family is CLAUDE and kinds[:count] != ["toolResult"] * count:
        late = [piece.value.tool_use_id for piece in side.pieces if piece.kind == "toolResult"]
        raise Refusal(f"{MODEL_SAYS}messages.{side.at - 1}: `tool_use` ids were found without `tool_result` blocks "
                      f"immediately after: {', '.join(late)}.")  # fmt: skip


def _check_marks(body: wire.Body) -> None:
    marks = sum(isinstance(found, wire.CachePoint) for _, found in wire.walk(body))
    if marks > MOST_MARKS:
        raise Refusal(f"{MODEL_SAYS}A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found "
                      f"{marks}.")  # fmt: skip
    for at, message in enumerate(body.messages):
        pieces = list(pieces_of(message.content, f"messages.{at}.content"))
        for before, piece in pairwise((Piece("", "nothing", None), *pieces)):
            if piece.kind == "cachePoint":
                _check_mark(before, piece)


def _check_mark(before: Piece, mark: Piece) -> None:
    match before.kind:
        case "nothing":
            raise Refusal("There is nothing available to cache.")
        case "reasoningContent":
            raise Refusal("Cache point cannot be inserted after reasoning block. Please remove the invalid cache point"
                          " and try again.")  # fmt: skip
        case "document" if before.value.format != "pdf":
            raise Refusal(f"{MODEL_SAYS}{mark.path}.type: Field required")
        case "video":
            raise Refusal(f"{MODEL_SAYS}{mark.path}.type: Field required")
        case _:
            return


def _check_names(body: wire.Body) -> None:
    names = [found.name for _, found in wire.walk(body) if isinstance(found, wire.Document)]
    for name in names:
        if not re.fullmatch(r"[a-zA-Z0-9_ ()\[\]-]+", name) or "  " in name:  # "_" is taken, against the words
            raise Refusal("The document file name can only contain alphanumeric characters, whitespace characters, "
                          "hyphens, parentheses, and square brackets. The name can't contain more than one consecutive "
                          "whitespace character. Check that the file name conforms to these restrictions and retry "
                          "your request.")  # fmt: skip
    if len(set(names)) < len(names):
        raise Refusal("Messages can't contain duplicate document names.")
