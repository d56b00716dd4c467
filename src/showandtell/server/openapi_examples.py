"""The exchange in the OpenAPI examples: the user asks for a chart, a tool draws it, and the model sees it."""

from __future__ import annotations

import json
from typing import Any, Final

from showandtell.server.schemas import INVOICE

#: Ids of a conversation, a question and its answer; `ALIAS` is the client's own name for the conversation.
CONVERSATION: Final[str] = INVOICE["conversation_id"]
ALIAS: Final = "my-chat"
QUESTION: Final = "msg_Xb1oK3sW9uEJrQ5cTz8L2A"
ANSWER: Final = "ans_Xb1oK3sW9uEJrQ5cTz8L2A"
PENDING_MESSAGE: Final = "pending_Qm7vD2xYk9RtW4bN6sLh0Z"
FILE_ADDRESS: Final = "https://example.com/invoice.pdf"
PROMPT: Final = "/chart title=Sales values=[3,1,2]"
USER_PARTS: Final[list[dict[str, Any]]] = [{"type": "text", "text": PROMPT}]
CHAT_REQUEST: Final[dict[str, Any]] = {
    "id": ALIAS,
    "messages": [{"id": "m1", "role": "user", "parts": USER_PARTS}],
    "trigger": "submit-message",
}
CREATED, FINISHED = 1795340042.5, 1795340042.9

_CALL = "toolu_ef12efbd765f9ad3"
_FILE = "att_ghcLVqoGqXLQGKGHZauyvT"
_URL = f"/api/attachments/{_FILE}/content/chart.png"
_INPUT: dict[str, Any] = {"title": "Sales", "values": [3, 1, 2]}
_REFERENCE: dict[str, Any] = {
    "type": "file",
    "number": 1,
    "id": _FILE,
    "name": "chart.png",
    "mediaType": "image/png",
    "url": _URL,
}
_OUTPUT: list[Any] = ["The chart 'Sales':", _REFERENCE, {"bars": 3, "smallest": 1.0, "largest": 3.0}]
_OWN: dict[str, Any] = {
    "showandtell": {"files": [1], "text": 'The chart \'Sales\':\n{"bars":3,"smallest":1.0,"largest":3.0}'}
}
_REPORT = "I received 1 file:\n- image 1: chart.png, from tool chart"
_MODEL = "inspector"


def _usage(input_tokens: int, output_tokens: int) -> dict[str, Any]:
    """Return the usage of an answer or of one step."""
    zeros = {"cached_tokens": 0, "written_tokens": 0, "reasoning_tokens": 0}
    return {"input_tokens": input_tokens, "output_tokens": output_tokens, **zeros, "modalities": {}, "cost": None}


def _step(number: int, input_tokens: int, output_tokens: int, stop: str) -> dict[str, Any]:
    data = {
        "step": number,
        "model": "inspector:anthropic-messages",
        "usage": _usage(input_tokens, output_tokens),
        "stop": stop,
    }
    return {"type": "data-step", "id": f"step {number}", "data": data}


#: The file that the tool returns.
CHART: Final[dict[str, Any]] = {
    **INVOICE,
    "id": _FILE,
    "name": "chart.png",
    "kind": "image",
    "media_type": "image/png",
    "size": 4701,
    "pixels": [720, 420],
    "pages": None,
    "origin": {"by": "tool", "tool": "chart", "call_id": _CALL},
    "url": _URL,
    "thumbnail": f"/api/attachments/{_FILE}/thumbnail",
}
_ATTACHMENT_CHUNK: dict[str, Any] = {"type": "data-attachment", "id": _FILE, "data": CHART}
_FILE_CHUNK: dict[str, Any] = {"type": "file", "url": _URL, "mediaType": "image/png"}
_RECEIPT: dict[str, Any] = {
    "type": "data-receipt",
    "id": "2.1",
    "data": {
        "step": 2,
        "number": 1,
        "name": "chart.png",
        "kind": "image",
        "media_type": "image/png",
        "origin": f"tool chart ({_CALL})",
        "place": "tool_result",
        "delivery": "native",
        "converted": False,
        "reason": "inspector:anthropic-messages takes image/png in a tool result",
        "cell": "tool_result/image/inline/sees",
        "evidence": "recorded: a PNG in a tool result was described (2026-11-21)",
        "bytes": 4701,
        "variants": [],
    },
}
_STEPS = _step(1, 554, 9, "tool_calls"), _step(2, 1010, 115, "end")
_START_METADATA: dict[str, Any] = {
    "conversation_id": CONVERSATION,
    "run_id": "run_5J59g79HAEr8yPQPYVE3i1",
    "model": _MODEL,
    "created": CREATED,
}
_FINISH_METADATA: dict[str, Any] = {
    "status": "complete",
    "reason": None,
    "usage": _usage(1564, 124),
    "finished": FINISHED,
}
_CHUNKS: list[dict[str, Any]] = [
    {"type": "start", "messageId": ANSWER, "messageMetadata": _START_METADATA},
    {"type": "start-step"},
    {"type": "tool-input-start", "toolCallId": _CALL, "toolName": "chart"},
    {"type": "tool-input-delta", "toolCallId": _CALL, "inputTextDelta": json.dumps(_INPUT)},
    {"type": "tool-input-available", "toolCallId": _CALL, "toolName": "chart", "input": _INPUT},
    _STEPS[0],
    _ATTACHMENT_CHUNK,
    _FILE_CHUNK,
    {"type": "tool-output-available", "toolCallId": _CALL, "output": _OUTPUT, "toolMetadata": _OWN},
    {"type": "finish-step"},
    {"type": "start-step"},
    _RECEIPT,
    {"type": "text-start", "id": "2.t0"},
    {"type": "text-delta", "id": "2.t0", "delta": _REPORT},
    {"type": "text-end", "id": "2.t0"},
    _STEPS[1],
    {"type": "finish-step"},
    {"type": "finish", "finishReason": "stop", "messageMetadata": _FINISH_METADATA},
]
#: The streamed response.
STREAM: Final = "".join(f"data: {chunk}\n\n" for chunk in [*map(json.dumps, _CHUNKS), "[DONE]"])
_TOOL_PART: dict[str, Any] = {
    "type": "tool-chart",
    "toolCallId": _CALL,
    "state": "output-available",
    "input": _INPUT,
    "output": _OUTPUT,
    "toolMetadata": _OWN,
}
_TEXT_PART: dict[str, Any] = {"type": "text", "text": _REPORT, "state": "done"}
_BRANCHES: dict[str, Any] = {"index": 0, "count": 1, "others": []}
_STEP_START: dict[str, Any] = {"type": "step-start"}
_MESSAGES: list[dict[str, Any]] = [
    {"id": QUESTION, "role": "user", "metadata": {"created": CREATED, "branches": _BRANCHES}, "parts": USER_PARTS},
    {
        "id": ANSWER,
        "role": "assistant",
        "metadata": _START_METADATA | _FINISH_METADATA,
        "parts": [
            _STEP_START,
            _TOOL_PART,
            _STEPS[0],
            _ATTACHMENT_CHUNK,
            _FILE_CHUNK,
            _STEP_START,
            _RECEIPT,
            _TEXT_PART,
            _STEPS[1],
        ],
    },
]
#: The conversation as stored afterwards.
STORED_CONVERSATION: Final[dict[str, Any]] = {
    "id": CONVERSATION,
    "alias": ALIAS,
    "title": PROMPT,
    "created": CREATED,
    "changed": FINISHED,
    "model": _MODEL,
    "settings": None,
    "right": "owner",
    "shared_by": None,
    "running": False,
    "waiting": False,
    "pending": 0,
    "earlier": False,
    "messages": _MESSAGES,
    "attachments": [CHART],
}
