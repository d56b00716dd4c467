"""A plain HTTP client for each API, independent of the library's own code for these APIs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import TypeAlias

import aiohttp

from showandtell.core.capabilities.cells import Api
from showandtell.core.events.types import StreamEvent
from showandtell.core.wire.parsers import FRAMES, PARSERS
from showandtell.core.wire.stream import StreamParser

from .auth import AWS_BEARER, KEYS
from .server import FakeProvider

Data: TypeAlias = bytes | AsyncIterator[bytes]
CLAUDE_ON_AWS = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
SCHEMA = {"type": "object", "properties": {"where": {"type": "string"}}, "required": ["where"]}


def user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


#: Path, body with a tool `look`, and headers of a plain request to each API.
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


class Received:
    """A response: status, headers, bytes, and the error that ended it."""

    def __init__(self, status: int, headers: Mapping[str, str], data: bytes, error: Exception | None = None) -> None:
        self.status, self.headers, self.data, self.error = status, headers, data, error

    def events(self, api: Api) -> list[StreamEvent]:
        """The events that the library's own parser reads."""
        parser = StreamParser(PARSERS[api].new_reader(), FRAMES[self.headers["content-type"].partition(";")[0]]())
        return [*parser.feed(self.data), *parser.finish()]


async def post(
    fake_provider: FakeProvider, api: Api, *, data: Data | None = None, headers: Mapping[str, str] | None = None
) -> Received:
    """Send the plain request of an API, or other bytes to its path."""
    path, body, key = PLAIN[api]
    received = bytearray()
    async with aiohttp.ClientSession() as client:
        payload = json.dumps(body).encode() if data is None else data
        async with client.post(
            fake_provider.url + path, data=payload, headers=key if headers is None else headers
        ) as answer:
            try:
                async for piece in answer.content.iter_any():
                    received += piece
            except aiohttp.ClientError as error:
                return Received(answer.status, answer.headers, bytes(received), error)
            return Received(answer.status, answer.headers, bytes(received))
