"""What a plain HTTP client sends to each api, and what it gets: a witness that knows nothing of our own wire."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import TypeAlias

import aiohttp

from showandtell.core.capabilities.cells import Api
from showandtell.core.events.types import StreamEvent
from showandtell.core.wire.parsers import ANSWERS, FRAMES
from showandtell.core.wire.stream import StreamParser

from .auth import AWS_BEARER, KEYS
from .server import Standin

Data: TypeAlias = bytes | AsyncIterator[bytes]
CLAUDE_ON_AWS = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
SCHEMA = {"type": "object", "properties": {"where": {"type": "string"}}, "required": ["where"]}


def user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


#: A path, a body that offers the tool `look`, and the header with its key, of each api: what a plain client sends.
PLAIN = {
    "anthropic-messages": (
        "/anthropic/v1/messages",
        {"max_tokens": 900, "model": "claude-sonnet-4-5", "stream": True, "messages": user("hi"),
         "tools": [{"name": "look", "description": "Looks.", "input_schema": SCHEMA}]},
        {"x-api-key": KEYS["anthropic"][1], "anthropic-version": "2023-06-01"},
    ),
    "openai-chat": (
        "/openai/v1/chat/completions",
        {"model": "gpt-5-mini", "stream": True, "messages": user("hi"),
         "tools": [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": SCHEMA}}]},
        {"authorization": f"Bearer {KEYS['openai'][1]}"},
    ),
    "openai-responses": (
        "/openai/v1/responses",
        {"model": "gpt-5-mini", "stream": True, "input": user("hi"),
         "tools": [{"type": "function", "name": "look", "description": "Looks.", "parameters": SCHEMA}]},
        {"authorization": f"Bearer {KEYS['openai'][1]}"},
    ),
    "gemini": (
        "/google/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse",
        {"contents": [{"role": "user", "parts": [{"text": "hi"}]}],
         "tools": [{"functionDeclarations": [{"name": "look", "description": "Looks.", "parametersJsonSchema": SCHEMA}]}]},
        {"x-goog-api-key": KEYS["google"][1]},
    ),
    "bedrock-converse": (
        f"/bedrock/model/{CLAUDE_ON_AWS.replace(':', '%3A')}/converse-stream",
        {"messages": [{"role": "user", "content": [{"text": "hi"}]}],
         "toolConfig": {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": SCHEMA}}}]}},
        {"authorization": f"Bearer {AWS_BEARER}"},
    ),
}  # fmt: skip


class Got:
    """What a plain client got: status, headers, bytes, and the error that broke them off."""

    def __init__(self, status: int, headers: Mapping[str, str], data: bytes, error: Exception | None = None) -> None:
        self.status, self.headers, self.data, self.error = status, headers, data, error

    def events(self, api: Api) -> list[StreamEvent]:
        """The answer as our own parser reads it."""
        parser = StreamParser(ANSWERS[api].reading(), FRAMES[self.headers["content-type"].partition(";")[0]]())
        return [*parser.feed(self.data), *parser.finish()]


async def post(
    standin: Standin, api: Api, *, data: Data | None = None, headers: Mapping[str, str] | None = None
) -> Got:
    """Send the plain request of an api, or other bytes to the same address."""
    path, body, key = PLAIN[api]
    read = bytearray()
    async with aiohttp.ClientSession() as client:
        sent = json.dumps(body).encode() if data is None else data
        async with client.post(standin.url + path, data=sent, headers=key if headers is None else headers) as answer:
            try:
                async for piece in answer.content.iter_any():
                    read += piece
            except aiohttp.ClientError as error:
                return Got(answer.status, answer.headers, bytes(read), error)
            return Got(answer.status, answer.headers, bytes(read))
