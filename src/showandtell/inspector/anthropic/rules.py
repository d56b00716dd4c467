"""Rules of POST /v1/messages across blocks and messages: roles, order, pairing, sizes; with the API's messages.

The limit on image size is on the base64, as recorded errors of the API show (docs/providers.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, get_args

from msgspec import UNSET

from showandtell.inspector.answer_schemas import check_claude_schema
from showandtell.inspector.anthropic import hosted_schema as hosted
from showandtell.inspector.anthropic import schema as wire
from showandtell.inspector.anthropic.hosted_schema import TOOL_TYPE
from showandtell.inspector.pixels import read_pixels
from showandtell.inspector.request import ApiError, decode_base64, matches_type
from showandtell.inspector.signatures import is_valid

IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
MAX_IMAGE_BASE64 = 5 * 1024 * 1024
MAX_MEDIA = 100
MAX_CACHE_MARKS = 4
MANY_IMAGES, MAX_SIDE, MAX_SIDE_OF_MANY = 20, 8000, 2000
CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
HOSTED_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
NO_PREFILL = re.compile(r"claude-[a-z]+-(4-[6-9]|[5-9])")
#: "adaptive" lets the model decide.
THINKS = frozenset({"enabled", "adaptive"})
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
PLACES = {
    "tool_result": "user",
    "image": "user",
    "document": "user",
    "tool_use": "assistant",
    "thinking": "assistant",
    **{
        str(kind.__struct_config__.tag): "assistant"
        for kind in get_args(hosted.Hosted)
        if kind is not hosted.ContainerUpload
    },
}


def check_body(body: wire.Body) -> None:
    """Raise `ApiError` for the first rule that a well-typed body breaks."""
    if body.max_tokens < 1:
        raise ApiError("max_tokens: Input should be greater than or equal to 1")
    if body.temperature is not None and not 0 <= body.temperature <= 1:
        raise ApiError("temperature: range: 0..1")
    _check_tools(body)
    if (answer := answer_schema(body)) is not None:
        check_claude_schema(answer, "output_config.format.schema")
    _check_marks(body)
    _check_messages(body.messages)
    if body.messages[-1].role == "assistant":
        _check_continued(body)
    _check_pairs(body.messages)
    _check_hosted_pairs(body.messages)
    _check_thinking(body)
    _check_files(body.messages)


def answer_schema(body: wire.Body) -> Any:
    """The schema of the answer, if there is one. Raises `ApiError` for another format."""
    chosen = body.output_config.format if body.output_config else None
    if chosen is None:
        return None
    if chosen.get("type") != "json_schema":
        raise ApiError("output_config.format.type: Input should be 'json_schema'")
    return chosen.get("schema", {})


def is_thinking(body: wire.Body) -> bool:
    """Whether the model reasons before it answers."""
    return body.thinking is not None and body.thinking.get("type") in THINKS


def blocks_of(message: wire.Message) -> list[Any]:
    """The blocks of a message. A string is one text block."""
    return [wire.Text(message.content)] if isinstance(message.content, str) else list(message.content)


def _check_tools(body: wire.Body) -> None:
    names = [tool.name for tool in body.tools]
    for at, tool in enumerate(body.tools):
        if not TOOL_NAME.fullmatch(tool.name):
            raise ApiError(f"tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if tool.type not in (None, "custom"):
            _check_hosted_tool(tool, f"tools.{at}")
            continue
        if tool.input_schema is None:
            raise ApiError(f"tools.{at}.custom.input_schema: Field required")
        if tool.input_schema.get("type") != "object":
            missing = "type" not in tool.input_schema
            problem = "Field required" if missing else "Input should be 'object'"
            raise ApiError(f"tools.{at}.custom.input_schema.type: {problem}")
    if len(set(names)) < len(names):
        raise ApiError("tools: Tool names must be unique.")
    if body.tool_choice is not None and not names:
        raise ApiError("tool_choice: tool_choice may only be specified while providing tools.")
    if isinstance(body.tool_choice, wire.NamedToolChoice) and body.tool_choice.name not in names:
        raise ApiError(f"tool_choice: Tool '{body.tool_choice.name}' not found in provided tools")


def _check_hosted_tool(tool: wire.Tool, path: str) -> None:
    if re.fullmatch(TOOL_TYPE, tool.type or "") is None:
        raise ApiError(f"{path}: Input tag '{tool.type}' found using 'type' does not match any of the expected tags")
    if tool.input_schema is not None:
        raise ApiError(f"{path}.{tool.type}.input_schema: Extra inputs are not permitted")
    if tool.allowed_domains and tool.blocked_domains:
        raise ApiError(f"{path}.{tool.type}: Cannot specify both allowed_domains and blocked_domains")


def _check_marks(body: wire.Body) -> None:
    system = [] if isinstance(body.system, str) else body.system
    blocks = [block for message in body.messages for _, block in _walk(blocks_of(message), "")]
    marks = sum(holder.cache_control is not None for holder in (*body.tools, *system, body))
    marks += sum(getattr(block, "cache_control", None) is not None for block in blocks)
    if marks > MAX_CACHE_MARKS:
        raise ApiError(f"A maximum of {MAX_CACHE_MARKS} blocks with cache_control may be provided. Found {marks}.")


def _check_messages(messages: Sequence[wire.Message]) -> None:
    if not messages:
        raise ApiError("messages: at least one message is required")
    if messages[0].role != "user":
        raise ApiError('messages: first message must use the "user" role')
    for at, message in enumerate(messages):
        blocks = blocks_of(message)
        if not blocks or message.content == "":
            raise ApiError(f"messages.{at}: all messages must have non-empty content except for the optional final"
                           " assistant message")  # fmt: skip
        if message.role == "system":
            _check_system(messages, at)
        _check_places(blocks, message.role, f"messages.{at}")


def _check_continued(body: wire.Body) -> None:
    """Check an assistant message at the end, which the model continues. After `pause_turn` that is how to go on.

    Since Claude 4.6 only a message that ends in a step of the provider can be continued (docs, "prefill removal").
    """
    ends = blocks_of(body.messages[-1])[-1]
    if NO_PREFILL.search(body.model) and not isinstance(ends, hosted.HostedBlock):
        raise ApiError(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    last = blocks_of(body.messages[-1])[-1]
    if isinstance(last, wire.Text) and last.text != last.text.rstrip():
        raise ApiError("messages: final assistant content cannot end with trailing whitespace")


def _check_system(messages: Sequence[wire.Message], at: int) -> None:
    following = messages[at + 1].role if at + 1 < len(messages) else "assistant"
    if following != "assistant":
        raise ApiError(f"messages.{at}: a `system` message may only stand before an assistant message or at the end")


def _check_places(blocks: Sequence[Any], role: str, path: str) -> None:
    for block in blocks:
        kind = str(block.__struct_config__.tag)
        if PLACES.get(kind, role) != role:
            raise ApiError(f"{path}: `{kind}` blocks can only be in `{PLACES[kind]}` messages")
    for place, block in _walk(blocks, f"{path}.content"):
        if isinstance(block, wire.Text):
            _check_text(block, path)
        elif isinstance(block, wire.ToolResult):
            _check_result(block, place)


def _check_text(block: wire.Text, path: str) -> None:
    if not block.text:
        raise ApiError(f"{path}: text content blocks must be non-empty")
    if not block.text.strip():
        raise ApiError(f"{path}: text content blocks must contain non-whitespace text")


def _check_result(block: wire.ToolResult, path: str) -> None:
    if block.content is UNSET or isinstance(block.content, str):
        return
    if not block.content:
        raise ApiError(f"{path}.tool_result.content: List should have at least 1 item after validation, not 0")
    if block.is_error and not all(isinstance(inner, wire.Text) for inner in block.content):
        raise ApiError(f"{path}.tool_result: all content must be type `text` if `is_error` is true")


def _walk(blocks: Sequence[Any], path: str) -> Iterator[tuple[str, Any]]:
    """Each block with its path, including those inside tool results and documents."""
    for index, block in enumerate(blocks):
        place = f"{path}.{index}"
        yield place, block
        if isinstance(block, wire.ToolResult) and isinstance(block.content, list):
            yield from _walk(block.content, f"{place}.tool_result.content")
        if isinstance(block, wire.Document) and isinstance(block.source, wire.Content):
            inner = block.source.content
            yield from _walk([] if isinstance(inner, str) else inner, f"{place}.document.source.content")


def _check_pairs(messages: Sequence[wire.Message]) -> None:
    all_ids: set[str] = set()
    call_ids: list[str] = []
    for at, message in enumerate(messages):
        blocks = blocks_of(message)
        _check_all_answered(call_ids, blocks, at)
        call_ids = []
        for index, block in enumerate(blocks):
            if not isinstance(block, wire.ToolUse):
                continue
            if not CALL_ID.fullmatch(block.id):
                path = f"messages.{at}.content.{index}.tool_use.id"
                raise ApiError(f"{path}: String should match pattern '^[a-zA-Z0-9_-]+$'")
            if block.id in all_ids:
                raise ApiError("messages: `tool_use` ids must be unique")
            all_ids.add(block.id)
            call_ids.append(block.id)
    if call_ids:
        _check_all_answered(call_ids, [], len(messages))


def _check_hosted_pairs(messages: Sequence[wire.Message]) -> None:
    """Check that each hosted call has a result, unless the turn is unfinished, and each result a call before it.

    The last answer is unfinished if nothing follows it, or only results of the client's own tools. Calls of MCP servers
    are accepted without a result (recorded).
    """
    calls: dict[str, tuple[int, str]] = {}
    results = set[str]()
    for at, message in enumerate(messages):
        for index, block in enumerate(blocks_of(message)):
            if isinstance(block, hosted.ServerToolUse):
                if not HOSTED_ID.fullmatch(block.id):
                    path = f"messages.{at}.content.{index}.server_tool_use.id"
                    raise ApiError(f"{path}: String should match pattern '^{HOSTED_ID.pattern}$'")
                calls[block.id] = (at, block.name)
            elif isinstance(block, hosted.HostedResult):
                kind = str(block.__struct_config__.tag)
                _, name = calls.get(block.tool_use_id, (at, ""))
                if not f"{name}_tool_result".startswith(kind.removesuffix("result")):
                    raise ApiError(f"messages.{at}.content.{index}: unexpected `tool_use_id` found in `{kind}` blocks: "
                                   f"{block.tool_use_id}. Each `{kind}` block must have a corresponding "
                                   "`server_tool_use` block before it.")  # fmt: skip
                results.add(block.tool_use_id)
    last = max((at for at, message in enumerate(messages) if message.role == "assistant"), default=-1)
    after = [block for message in messages[last + 1 :] for block in blocks_of(message)]
    is_unfinished = all(isinstance(block, wire.ToolResult) for block in after)
    for call_id, (at, name) in calls.items():
        if call_id not in results and not (at == last and is_unfinished):
            raise ApiError(f"messages.{at}: `{name}` tool use with id `{call_id}` was found without a corresponding "
                           f"`{name}_tool_result` block")  # fmt: skip


def _check_thinking(body: wire.Body) -> None:
    """Check the options of thinking, signatures, and that calls whose results are new come with their thinking."""
    for at, message in enumerate(body.messages):
        for index, block in enumerate(blocks_of(message)):
            if isinstance(block, wire.Thinking) and not is_valid(block.signature, "anthropic", block.thinking):
                raise ApiError(f"messages.{at}.content.{index}: Invalid `signature` in `thinking` block")
    thinking = body.thinking or {}
    if thinking.get("type") != "enabled":
        return
    if isinstance(body.tool_choice, wire.AnyToolChoice | wire.NamedToolChoice):
        raise ApiError("Thinking may not be enabled when tool_choice forces tool use.")
    if body.max_tokens <= thinking.get("budget_tokens", 0):
        raise ApiError("`max_tokens` must be greater than `thinking.budget_tokens`.")
    last = max((at for at, message in enumerate(body.messages) if message.role == "assistant"), default=None)
    if last is None:
        return
    first, *_ = blocks = blocks_of(body.messages[last])
    has_calls = any(isinstance(block, wire.ToolUse) for block in blocks)
    if has_calls and not isinstance(first, wire.Thinking | wire.RedactedThinking):
        raise ApiError(f"messages.{last}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
                       f"`{first.__struct_config__.tag}`. When `thinking` is enabled, a final `assistant` message must "
                       "start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` "
                       "blocks).")  # fmt: skip


def _check_all_answered(call_ids: Sequence[str], blocks: Sequence[Any], at: int) -> None:
    """Check that each call has one result, before other blocks. `blocks` are those of the message after the calls."""
    answered: list[str] = []
    for index, block in enumerate(blocks):
        if not isinstance(block, wire.ToolResult):
            continue
        call_id = block.tool_use_id
        if call_id not in call_ids:
            raise ApiError(f"messages.{at}.content.{index}: unexpected `tool_use_id` found in `tool_result` blocks: "
                           f"{call_id}. Each `tool_result` block must have a corresponding `tool_use` block in the "
                           "previous message.")  # fmt: skip
        if call_id in answered:
            raise ApiError(f"messages.{at}.content.{index}: each tool_use must have a single result. Found multiple "
                           f"`tool_result` blocks with id: {call_id}")  # fmt: skip
        if index == len(answered):
            answered.append(call_id)
    missing = [call_id for call_id in call_ids if call_id not in answered]
    if missing:
        raise ApiError(f"messages.{at - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                       f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in "
                       "the next message.")  # fmt: skip


def _check_files(messages: Sequence[wire.Message]) -> None:
    files = [
        (place, block)
        for at, message in enumerate(messages)
        for place, block in _walk(blocks_of(message), f"messages.{at}.content")
        if isinstance(block, wire.Image | wire.Document)
    ]
    images = sum(isinstance(block, wire.Image) for _, block in files)
    documents = len(files) - images
    if images + documents > MAX_MEDIA:
        raise ApiError(f"too many images and documents: {images} + {documents} > {MAX_MEDIA}")
    for place, block in files:
        if isinstance(block, wire.Image):
            _check_image(block, f"{place}.image.source", many=images > MANY_IMAGES)
        else:
            _check_document(block, f"{place}.document.source")


def _check_image(block: wire.Image, path: str, *, many: bool) -> None:
    source = block.source
    if isinstance(source, wire.Url) and not source.url.startswith("https://"):
        raise ApiError(f"{path}.url.url: Only HTTPS URLs are supported.")
    if not isinstance(source, wire.Base64):
        return
    if source.media_type not in IMAGE_TYPES:
        allowed = "'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
        raise ApiError(f"{path}.base64.media_type: Input should be {allowed}")
    if len(source.data) > MAX_IMAGE_BASE64:
        size = f"{len(source.data)} bytes > {MAX_IMAGE_BASE64} bytes"
        raise ApiError(f"{path}.base64: image exceeds 5 MB maximum: {size}")
    data = decode_base64(source.data)
    if data is None:
        raise ApiError(f"{path}.base64.data: Invalid base64 data")
    if not matches_type(data, source.media_type):
        raise ApiError(f"{path}.base64.data: Image does not match the provided media type {source.media_type}")
    side, words = (
        (MAX_SIDE_OF_MANY, "max allowed size for many-image requests") if many else (MAX_SIDE, "max allowed size")
    )
    if max(read_pixels(data) or (0, 0)) > side:
        raise ApiError(f"{path}.base64.data: At least one of the image dimensions exceed {words}: {side} pixels")


def _check_document(block: wire.Document, path: str) -> None:
    match block.source:
        case wire.Base64(media_type=media_type) if media_type != "application/pdf":
            raise ApiError(f"{path}.base64.media_type: Input should be 'application/pdf'")
        case wire.Base64(data=text):
            data = decode_base64(text)
            if data is None:
                raise ApiError(f"{path}.base64.data: Invalid base64 data")
            if not matches_type(data, "application/pdf"):
                raise ApiError(f"{path}.base64.data: The PDF specified was not valid.")
        case wire.PlainText(media_type=media_type) if media_type != "text/plain":
            raise ApiError(f"{path}.text.media_type: Input should be 'text/plain'")
        case _:
            return
