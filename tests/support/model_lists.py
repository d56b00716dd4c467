"""The lists of models of the fake provider, in the forms of their hosts' documentation (read 2026-11)."""

import json

from fake_provider.auth import KEYS, check_header
from showandtell.core.wire.http import HttpResponse

OPENAI = {
    "object": "list",
    "data": [
        {"id": "gpt-5", "object": "model", "created": 1754425777, "owned_by": "system"},
        {"id": "text-embedding-3-large", "object": "model", "created": 1705953180, "owned_by": "system"},
        {"id": "gpt-4o-transcribe", "object": "model", "created": 1742068596, "owned_by": "system"},
    ],
}
ANTHROPIC = {
    "data": [
        {
            "type": "model",
            "id": "claude-opus-4-8",
            "display_name": "Claude Opus 4.8",
            "created_at": "2026-05-14T00:00:00Z",
            "max_input_tokens": 1000000,
            "max_tokens": 128000,
            "capabilities": {"image_input": {"supported": True}, "pdf_input": {"supported": True}},
        },
        {"type": "model", "id": "claude-old", "display_name": "Claude Old", "created_at": "1970-01-01T00:00:00Z"},
    ],
    "has_more": False,
    "first_id": "claude-opus-4-8",
    "last_id": "claude-old",
}
GEMINI = {
    "models": [
        {
            "name": "models/gemini-3-pro",
            "displayName": "Gemini 3 Pro",
            "inputTokenLimit": 1048576,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        },
        {"name": "models/embedding-001", "displayName": "Embedding", "supportedGenerationMethods": ["embedContent"]},
    ]
}
OPENROUTER = {
    "data": [
        {
            "id": "openai/gpt-5",
            "name": "OpenAI: GPT-5",
            "created": 1754587413,
            "context_length": 400000,
            "architecture": {"input_modalities": ["text", "image", "file"], "output_modalities": ["text"]},
        },
        {
            "id": "deepseek/deepseek-v3.2",
            "name": "DeepSeek: V3.2",
            "created": 1764594642,
            "context_length": 163840,
            "architecture": {"input_modalities": ["text"], "output_modalities": ["text"]},
        },
        {
            "id": "openai/gpt-image-1",
            "name": "OpenAI: GPT Image",
            "architecture": {"input_modalities": ["text"], "output_modalities": ["image"]},
        },
    ]
}
MISTRAL = {
    "object": "list",
    "data": [
        {"id": "mistral-large-latest", "capabilities": {"completion_chat": True}, "max_context_length": 131072},
        {"id": "mistral-embed", "capabilities": {"completion_chat": False}, "max_context_length": 8192},
    ],
}
COHERE = {"models": [{"name": "command-a-03-2025", "endpoints": ["chat"], "context_length": 288000}]}
#: Lists by host and path.
LISTS = {
    ("openai", "/openai/v1/models"): OPENAI,
    ("anthropic", "/anthropic/v1/models"): ANTHROPIC,
    ("google", "/google/v1beta/models"): GEMINI,
    ("openrouter", "/openrouter/v1/models"): OPENROUTER,
    ("mistral", "/mistral/v1/models"): MISTRAL,
    ("cohere", "/cohere/v1/models"): COHERE,
}


def serve_lists(method, incoming):
    """A handler of the fake provider. OpenRouter's list is public, and `/key` checks a key."""
    if method != "GET":
        return None
    if incoming.path == "/openrouter/v1/key":
        check_header("openrouter", incoming)
        return reply({"data": {"label": "sk-or-v1-abc...123", "usage": 0}})
    for (host, path), body in LISTS.items():
        if incoming.path == path:
            if host != "openrouter":
                check_header(host, incoming)
            return reply(body)
    return None


def reply(body):
    async def chunks():
        yield json.dumps(body).encode()

    return HttpResponse(200, {"content-type": "application/json"}, chunks())


def key_of(host):
    """The key that the fake provider accepts."""
    return KEYS[host][1]
