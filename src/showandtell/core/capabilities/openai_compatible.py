"""Hosts with their own dialect of an OpenAI API: xAI, Groq, OpenRouter, Mistral, Cohere."""

from __future__ import annotations

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Budget, Dialect, FileLimits, Order
from showandtell.core.capabilities.family import (
    EVERY_FORM,
    INLINE_URL,
    PDF,
    PNG_JPEG,
    TOOL,
    USER,
    WAV_MP3,
    WEB_IMAGES,
    Family,
    as_default,
    make_cells,
)

ORDER = Order(after_results="own_turn")
CHAT_DIALECT = Dialect(flags_errors=False)
# Mistral rejects a user message right after tool messages (code 3230), also behind other hosts.
MISTRAL_ORDER = Order(after_results="filler", filler="OK", filler_when="user", call_ids="mistral")
CLAUDE_ORDER = replace(ORDER, call_ids="anthropic")

XAI_LIVE = "live: the raw API told the secret in the image (vercel/ai PR #17432)"
XAI_USER = "recorded: [*-image-xai], by id [direct-uploaded_file-image-xai]; by URL fetched at each request, 5 s"
XAI_SEARCH = "recorded: read by the server-side attachment search, not by vision (direct-*-document-xai)"
XAI_IMAGE = FileLimits(bytes=10 * 1024 * 1024)

GROK = Family(
    provider="xai",
    api="openai-responses",
    patterns=("grok*",),
    example="grok-4-1-fast-non-reasoning",
    cells=(
        *make_cells("sees", TOOL, PNG_JPEG, XAI_LIVE, "2026-07-17", limits=XAI_IMAGE),
        *make_cells("sees", USER, PNG_JPEG, XAI_USER, forms=EVERY_FORM, limits=XAI_IMAGE),
        *make_cells("sees", USER, PDF, XAI_SEARCH, forms=("url", "file_id")),
    ),
    order=ORDER,
    # xAI's docs advise not to store a history that holds images.
    dialect=Dialect(stateless=True),
)

GROQ_USER = "recorded: test_multimodal_tool_return_matrix[*-image-groq]; Groq docs, vision"
GROQ_TOOL = "groq 1.7 types allow it in a tool message; nobody sends it"
GROQ = Family(
    provider="groq",
    api="openai-chat",
    patterns=("*qwen3.[68]*", "*llama-4*"),
    example="qwen/qwen3.6-27b",
    cells=(
        *make_cells("unproven", TOOL, WEB_IMAGES, GROQ_TOOL),
        *make_cells("sees", USER, WEB_IMAGES, GROQ_USER, forms=INLINE_URL, limits=FileLimits(pixels=33_000_000)),
    ),
    order=ORDER,
    # Five images and 4 MB of base64 a request (Groq docs, vision).
    budget=Budget(bytes=4_000_000, images=5, message_images=5),
    dialect=replace(CHAT_DIALECT, stream_usage=False),
)

ROUTER_CLAUDE = "recorded: claude-haiku-4.5 described an image_url part in role tool"
ROUTER_TOOL = "openrouter 1.3 types: parts in tool messages; what is seen depends on the upstream endpoint"
ROUTER_IMAGE = "OpenRouter docs: image_url by data or https"
ROUTER_PDF = "OpenRouter docs, PDFs: file for any model, read natively or by the file-parser plugin"
ROUTER_AUDIO = "OpenRouter docs: input_audio; what is heard depends on the upstream endpoint"

ROUTER_USER = (
    *make_cells("sees", USER, WEB_IMAGES, ROUTER_IMAGE, forms=INLINE_URL),
    *make_cells("sees", USER, PDF, ROUTER_PDF),
)
ROUTER_RESULTS = (
    *make_cells("unproven", TOOL, WEB_IMAGES, ROUTER_TOOL, forms=INLINE_URL),
    *make_cells("unproven", TOOL, PDF, ROUTER_TOOL),
)
# Claude's cache marks, which OpenRouter passes on. pydantic-ai 2.68 (providers/openrouter.py) also puts one on tool
# messages, and says that OpenRouter's docs only name user messages.
ROUTER_ANTHROPIC = Family(
    provider="openrouter",
    api="openai-chat",
    patterns=("anthropic/*",),
    example="anthropic/claude-haiku-4.5",
    cells=(
        *make_cells("sees", TOOL, WEB_IMAGES, ROUTER_CLAUDE),
        *make_cells("unproven", TOOL, WEB_IMAGES, ROUTER_TOOL, forms=("url",)),
        *make_cells("unproven", TOOL, PDF, ROUTER_TOOL),
        *ROUTER_USER,
    ),
    order=replace(CLAUDE_ORDER, marks=4),
    dialect=replace(CHAT_DIALECT, cache_mark="cache_control"),
)
ROUTER_OPENAI = replace(
    ROUTER_ANTHROPIC,
    patterns=("openai/*",),
    example="openai/gpt-5-mini",
    cells=(*ROUTER_RESULTS, *ROUTER_USER),
    order=ORDER,
    dialect=CHAT_DIALECT,
)
ROUTER_OPENAI_AUDIO = replace(
    ROUTER_OPENAI,
    patterns=("openai/*audio*",),
    example="openai/gpt-audio",
    cells=(*ROUTER_OPENAI.cells, *make_cells("unproven", USER, WAV_MP3, ROUTER_AUDIO)),
)
ROUTER_GOOGLE = replace(ROUTER_OPENAI_AUDIO, patterns=("google/*",), example="google/gemini-3-flash-preview")
ROUTER_XAI = replace(ROUTER_OPENAI, patterns=("x-ai/*",), example="x-ai/grok-4-fast")
ROUTER_MISTRAL = replace(
    ROUTER_OPENAI, patterns=("mistralai/*",), example="mistralai/mistral-medium-3.1", order=MISTRAL_ORDER
)

MISTRAL_USER = "recorded: test_multimodal_tool_return_matrix[*-mistral]"
MISTRAL_TOOL = "mistralai 3.7 types allow it; self-hosted mistral-common takes text only (LibreChat-AI/agents #344)"
MISTRAL = Family(
    provider="mistral",
    api="openai-chat",
    patterns=("mistral-*", "pixtral-*", "magistral-*", "ministral-*"),
    example="mistral-medium-latest",
    cells=(
        *make_cells("unproven", TOOL, WEB_IMAGES, MISTRAL_TOOL, forms=INLINE_URL),
        *make_cells("unproven", TOOL, PDF, MISTRAL_TOOL, forms=INLINE_URL),
        *make_cells("sees", USER, WEB_IMAGES, MISTRAL_USER, forms=INLINE_URL),
        *make_cells("sees", USER, PDF, MISTRAL_USER, forms=INLINE_URL),
        *make_cells("unproven", USER, PDF, "mistralai 3.7 types: file by id", forms=("file_id",)),
    ),
    order=MISTRAL_ORDER,
    # "The maximum number images per request via API is 8" (docs.mistral.ai, capabilities/vision, FAQ; read 2026-11).
    budget=Budget(images=8, message_images=8),
    dialect=replace(CHAT_DIALECT, document="document_url", stream_usage=False, extra_body=False, raw_audio=True),
)
VOXTRAL = replace(
    MISTRAL,
    patterns=("voxtral-*",),
    example="voxtral-small-latest",
    cells=make_cells("unproven", USER, WAV_MP3, "mistralai 3.7 types: input_audio"),
    budget=Budget(),
)

COHERE_VISION = Family(
    provider="cohere",
    api="openai-chat",
    patterns=("*vision*",),
    example="command-a-vision-07-2025",
    cells=make_cells("sees", USER, WEB_IMAGES, "Cohere docs: image_url in user messages of vision models"),
    order=ORDER,
    dialect=CHAT_DIALECT,
)
COHERE_TEXT = replace(COHERE_VISION, patterns=("command-*",), example="command-a-03-2025", cells=())

FAMILIES = (
    GROK,
    as_default(GROK, "some-model"),
    GROQ,
    as_default(GROQ, "some-model"),
    ROUTER_ANTHROPIC,
    ROUTER_OPENAI_AUDIO,
    ROUTER_OPENAI,
    ROUTER_GOOGLE,
    ROUTER_XAI,
    ROUTER_MISTRAL,
    as_default(ROUTER_OPENAI, "some-house/some-model"),
    VOXTRAL,
    MISTRAL,
    as_default(MISTRAL, "some-model"),
    COHERE_VISION,
    COHERE_TEXT,
    as_default(COHERE_VISION, "some-model"),
)
