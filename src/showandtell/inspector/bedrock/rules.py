"""Rules of Converse across blocks and messages: roles, order, pairing, names, cache marks, limits of model families.

The messages are from recorded errors (docs/providers.md, and users' reports of the service). If none is known for a
rule, the message follows the pattern of the known ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal

from msgspec import UNSET, MsgspecError, Struct, json

from showandtell.inspector.answer_schemas import check_claude_schema
from showandtell.inspector.bedrock import schema as wire
from showandtell.inspector.bedrock.families import CLAUDE, MEDIA, MODEL_ERROR, NOVA, Family, find_family
from showandtell.inspector.bedrock.files import check_file
from showandtell.inspector.request import ApiError

MAX_IMAGES, MAX_DOCUMENTS, MAX_CACHE_MARKS = 20, 5, 4
#: Nova accepts plain text formats in a tool result, and rejects PDF and office files.
NOVA_RESULTS = frozenset({"csv", "txt", "html", "md"})
FEW_IMAGES, MAX_SIDE_OF_MANY, MAX_SIDE = 20, 2000, 8000
PLACES = {
    **dict.fromkeys(("image", "document", "video", "audio", "toolResult"), "user"),
    **dict.fromkeys(("toolUse", "reasoningContent"), "assistant"),
    **dict.fromkeys(("toolAddition", "toolRemoval"), "system"),
}


class LocatedBlock(Struct, frozen=True):
    """A block: its path, and the name and value of its member."""

    path: str
    kind: str
    value: Any


class RoleTurn(Struct, frozen=True):
    """Consecutive messages of one role, from message `at` on. The service merges them."""

    role: Literal["user", "assistant"]
    at: int
    blocks: tuple[LocatedBlock, ...]


def check_body(body: wire.Body, model: str) -> None:
    """Raise `ApiError` for the first rule that a well-typed body breaks."""
    family = find_family(model)
    _check_unions(body)
    _check_tools(body)
    _check_format(body)
    for at, message in enumerate(body.messages):
        _check_message(message, at, family)
    _check_turns(body, family)
    _check_marks(body)
    _check_names(body)
    images = sum(isinstance(value, wire.Image) for _, value in wire.walk(body))
    max_side = MAX_SIDE_OF_MANY if family is CLAUDE and images > FEW_IMAGES else MAX_SIDE
    for path, value in wire.walk(body):
        if isinstance(value, wire.Image | wire.Document | wire.Video | wire.Audio):
            check_file(value, path, max_side, claude=family is CLAUDE)


def group_turns(messages: Sequence[wire.Message]) -> list[RoleTurn]:
    """The conversation by turns, without system messages."""
    turns: list[RoleTurn] = []
    for at, message in enumerate(messages):
        if message.role == "system":
            continue
        blocks = tuple(locate_blocks(message.content, f"messages.{at}.content"))
        if turns and turns[-1].role == message.role:
            turns[-1] = RoleTurn(message.role, turns[-1].at, (*turns[-1].blocks, *blocks))
        else:
            turns.append(RoleTurn(message.role, at, blocks))
    return turns


def locate_blocks(blocks: Sequence[wire.OneOf], path: str) -> Iterator[LocatedBlock]:
    """Each block with its path and its one member."""
    for index, block in enumerate(blocks):
        yield LocatedBlock(f"{path}.{index}", *wire.member_of(block))


def _check_unions(body: wire.Body) -> None:
    for path, value in wire.walk(body):
        if isinstance(value, wire.OneOf) and not wire.member_of(value)[0]:
            raise ApiError(f"Malformed input request: #/{path.replace('.', '/')}: exactly one key must be set, "
                           "please reformat your input and try again.")  # fmt: skip


def answer_schema(body: wire.Body) -> Any:
    """The schema of the answer, if there is one. Raises `ApiError` if it isn't JSON."""
    chosen = body.output_config.text_format if body.output_config is not UNSET else UNSET
    if chosen is UNSET or chosen.structure.json_schema is UNSET:
        return None
    try:
        return json.decode(chosen.structure.json_schema.schema)
    except MsgspecError as error:
        place = "outputConfig.textFormat.structure.jsonSchema.schema"
        raise ApiError(f"The value at {place} is invalid: {error}") from None


def _check_format(body: wire.Body) -> None:
    schema = answer_schema(body)
    if schema is None:
        return
    check_claude_schema(schema, f"{MODEL_ERROR}outputConfig.textFormat.structure.jsonSchema.schema")
    if any(isinstance(value, wire.Citations) and value.enabled for _, value in wire.walk(body)):
        raise ApiError(f"{MODEL_ERROR}Citations cannot be used with structured outputs.")  # ours


def _check_tools(body: wire.Body) -> None:
    config = body.tool_config
    if config is UNSET:
        used = any(isinstance(value, wire.ToolUse | wire.ToolResult) for _, value in wire.walk(body.messages))
        if used:
            raise ApiError("The toolConfig field must be defined when using toolUse and toolResult content blocks.")
        return
    names: list[str] = []
    for at, tool in enumerate(config.tools):
        kind, spec = wire.member_of(tool)
        names += [spec.name] if kind != "cachePoint" else []
        if kind == "toolSpec":
            _check_schema(spec.input_schema.json, f"toolConfig.tools.{at}.toolSpec.inputSchema.json")
    if len(set(names)) < len(names):
        raise ApiError(f"{MODEL_ERROR}tools: Tool names must be unique.")
    choice = UNSET if config.tool_choice is UNSET else config.tool_choice.tool
    if choice is not UNSET and choice.name not in names:
        raise ApiError(f"{MODEL_ERROR}tool_choice: Tool '{choice.name}' not found in provided tools")


def _check_schema(schema: Any, path: str) -> None:
    _check_object(schema, path)
    if schema.get("type") != "object":
        raise ApiError(f"The value at {path}.type must be one of the following: object.")


def _check_object(value: Any, path: str) -> None:
    if not isinstance(value, dict):
        raise ApiError(
            f"The format of the value at {path} is invalid. Provide a json object for the field and try again."
        )


def _check_message(message: wire.Message, at: int, family: Family) -> None:
    path = f"messages.{at}"
    blocks = list(locate_blocks(message.content, f"{path}.content"))
    if not blocks:
        raise ApiError(f"The content field in the Message object at {path} is empty. Add a ContentBlock object to the "
                       "content field and try again.")  # fmt: skip
    for block in blocks:
        _check_block(block, message.role, family)
    kinds = Counter(
        inner.kind
        for block in blocks
        for inner in (block, *(locate_blocks(block.value.content, "") if block.kind == "toolResult" else ()))
    )
    for kind, limit in (("image", MAX_IMAGES), ("document", MAX_DOCUMENTS)):
        if kinds[kind] > limit:
            raise ApiError(f"You can't include more than {limit} {kind}s in a request. Reduce the number of {kind}s "
                           "and retry your request.")  # fmt: skip
    own_kinds = {block.kind for block in blocks}
    if "document" in own_kinds and "text" not in own_kinds:
        raise ApiError("A text block must be included when using documents. Add a text block and retry your request.")


def _check_block(block: LocatedBlock, role: str, family: Family) -> None:
    if PLACES.get(block.kind, role) != role and not (is_hosted(block) and role == "assistant"):
        raise ApiError(f"{block.path}: {block.kind} content blocks can only be in messages of the {PLACES[block.kind]}"
                       " role. Remove the block and try again.")  # fmt: skip
    match block:
        case LocatedBlock(kind="text", value=str() as text) if not text.strip():
            raise ApiError(f"The text field in the ContentBlock object at {block.path} is blank. Add text to the text "
                           "field, and try again.")  # fmt: skip
        case LocatedBlock(kind="toolUse"):
            _check_object(block.value.input, f"{block.path}.toolUse.input")
        case LocatedBlock(kind="toolResult"):
            _check_result(block.value, f"{block.path}.toolResult", family)
        case LocatedBlock(kind="image" | "document" | "video" | "audio"):
            _check_media(block, family, family.media)
        case _:
            return


def _check_result(result: wire.ToolResult, path: str, family: Family) -> None:
    if result.status is not UNSET and not family.result_status:
        raise ApiError("This model doesn't support the status field. Remove status and try again.")
    if not result.content and result.status == "error":
        raise ApiError(f"The content field at {path} cannot be empty when status value is error.")
    if not result.content and family is NOVA:
        raise ApiError(f"Malformed input request: #/{path.replace('.', '/')}/content: expected minimum item count: 1, "
                       "found: 0, please reformat your input and try again.")  # fmt: skip
    for block in locate_blocks(result.content, f"{path}.content"):
        if block.kind == "json":
            _check_object(block.value, f"{block.path}.json")
        elif block.kind in MEDIA:
            _check_in_result(block, path.removesuffix(".toolResult"), family)


def _check_in_result(block: LocatedBlock, result_path: str, family: Family) -> None:
    if family is not NOVA:
        _check_media(block, family, family.in_results)
        return
    s3 = wire.member_of(block.value.source)[0] == "s3Location"
    plain = block.kind == "document" and block.value.format in NOVA_RESULTS and not s3
    if block.kind != "image" and not plain:
        raise ApiError(f"Malformed input request: #/{result_path.replace('.', '/')}: extraneous key [toolResult] is "
                       "not permitted, please reformat your input and try again.")  # fmt: skip


def _check_media(block: LocatedBlock, family: Family, allowed: frozenset[str]) -> None:
    if block.kind not in allowed:
        raise ApiError(f"This model doesn't support the {block.kind} content block that you provided. Remove the "
                       f"{block.kind} content block and try again.")  # fmt: skip
    if family.s3 or wire.member_of(block.value.source)[0] != "s3Location":
        return
    if family is CLAUDE and block.kind == "document":
        raise ApiError(f"{MODEL_ERROR}{block.path}.document.source.type: Field required")
    raise ApiError("This model doesn't support the s3Uri field. Remove s3Uri and try again.")


def is_hosted(block: LocatedBlock) -> bool:
    """Whether a block is of a tool that the model's provider runs: both blocks of it have a type (recorded)."""
    return block.kind in {"toolUse", "toolResult"} and block.value.type is not UNSET


def _own_ids(blocks: Sequence[LocatedBlock], kind: str) -> list[str]:
    """The ids of the client's own calls or results."""
    return [block.value.tool_use_id for block in blocks if block.kind == kind and not is_hosted(block)]


def _check_hosted(turn: RoleTurn) -> None:
    """Check that each hosted call of an assistant turn has its result in it."""
    hosted = [block for block in turn.blocks if is_hosted(block)]
    answered = {block.value.tool_use_id for block in hosted if block.kind == "toolResult"}
    called = [block.value.tool_use_id for block in hosted if block.kind == "toolUse"]
    if missing := [call_id for call_id in called if call_id not in answered]:
        raise ApiError(f"Expected toolResult blocks at messages.{turn.at}.content for the following Ids: "
                       f"{', '.join(missing)}")  # fmt: skip


def _check_turns(body: wire.Body, family: Family) -> None:
    turns = group_turns(body.messages)
    if not turns or (turns[0].role != "user" and not family.assistant_first):
        raise ApiError("A conversation must start with a user message. Try again with a conversation that starts with a"
                       " user message.")  # fmt: skip
    if turns[-1].role != "user":
        raise ApiError("A conversation must end with a user message. Try again with a conversation that ends with a "
                       "user message.")  # fmt: skip
    _check_unique_ids([block.value.tool_use_id for turn in turns for block in turn.blocks if block.kind == "toolUse"])
    for previous, turn in pairwise((RoleTurn("assistant", 0, ()), *turns)):
        if turn.role == "assistant":
            _check_hosted(turn)
        if turn.role == "user":
            call_ids = _own_ids(previous.blocks, "toolUse")
            _check_answers(call_ids, turn)
            _check_shared_turn(turn, family)


def _check_unique_ids(call_ids: Sequence[str]) -> None:
    if len(set(call_ids)) < len(call_ids):
        raise ApiError(f"{MODEL_ERROR}messages: `tool_use` ids must be unique")


def _check_answers(call_ids: Sequence[str], turn: RoleTurn) -> None:
    place = f"messages.{turn.at}.content"
    answered = _own_ids(turn.blocks, "toolResult")
    if duplicates := [call_id for call_id, times in Counter(answered).items() if times > 1]:
        raise ApiError(f"The toolResult blocks at {place} contain duplicate Ids: {', '.join(duplicates)}")
    if len(answered) > len(call_ids):
        raise ApiError(f"The number of toolResult blocks at {place} exceeds the number of toolUse blocks of previous "
                       "turn.")  # fmt: skip
    if missing := [call_id for call_id in call_ids if call_id not in answered]:
        raise ApiError(f"Expected toolResult blocks at {place} for the following Ids: {', '.join(missing)}")


def _check_shared_turn(turn: RoleTurn, family: Family) -> None:
    """Check what shares a turn with tool results. For Claude the results come first, as in its own API."""
    kinds = [block.kind for block in turn.blocks if block.kind != "cachePoint"]
    if "toolResult" not in kinds:
        return
    if family.not_with_results & set(kinds):
        raise ApiError(f"messages.{turn.at}.content: Conversation blocks and tool result blocks cannot be provided in "
                       "the same turn.")  # fmt: skip
    count = kinds.count("toolResult")
    if family is CLAUDE and kinds[:count] != ["toolResult"] * count:
        late = [block.value.tool_use_id for block in turn.blocks if block.kind == "toolResult"]
        raise ApiError(f"{MODEL_ERROR}messages.{turn.at - 1}: `tool_use` ids were found without `tool_result` blocks "
                       f"immediately after: {', '.join(late)}.")  # fmt: skip


def _check_marks(body: wire.Body) -> None:
    marks = sum(isinstance(value, wire.CachePoint) for _, value in wire.walk(body))
    if marks > MAX_CACHE_MARKS:
        raise ApiError(f"{MODEL_ERROR}A maximum of {MAX_CACHE_MARKS} blocks with cache_control may be provided. Found "
                       f"{marks}.")  # fmt: skip
    for at, message in enumerate(body.messages):
        blocks = list(locate_blocks(message.content, f"messages.{at}.content"))
        for previous, block in pairwise((LocatedBlock("", "nothing", None), *blocks)):
            if block.kind == "cachePoint":
                _check_mark(previous, block)


def _check_mark(previous: LocatedBlock, mark: LocatedBlock) -> None:
    match previous.kind:
        case "nothing":
            raise ApiError("There is nothing available to cache.")
        case "reasoningContent":
            raise ApiError("Cache point cannot be inserted after reasoning block. Please remove the invalid cache point"
                           " and try again.")  # fmt: skip
        case "document" if previous.value.format != "pdf":
            raise ApiError(f"{MODEL_ERROR}{mark.path}.type: Field required")
        case "video":
            raise ApiError(f"{MODEL_ERROR}{mark.path}.type: Field required")
        case _:
            return


def _check_names(body: wire.Body) -> None:
    names = [document.name for _, document in wire.walk(body) if isinstance(document, wire.Document)]
    for name in names:
        # "_" is accepted, although the message denies it.
        if not re.fullmatch(r"[a-zA-Z0-9_ ()\[\]-]+", name) or "  " in name:
            raise ApiError("The document file name can only contain alphanumeric characters, whitespace characters, "
                           "hyphens, parentheses, and square brackets. The name can't contain more than one "
                           "consecutive whitespace character. Check that the file name conforms to these restrictions "
                           "and retry your request.")  # fmt: skip
    if len(set(names)) < len(names):
        raise ApiError("Messages can't contain duplicate document names.")
