"""Self-hosted servers (Ollama, vLLM, llama.cpp, LM Studio), and a LiteLLM proxy in front of any other provider."""

from __future__ import annotations

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Order
from showandtell.core.capabilities.family import (
    ANY_MODEL,
    LITELLM_IDS,
    PDF,
    PNG_JPEG_WEBP,
    TOOL,
    USER,
    WAV_MP3,
    WEB_IMAGES,
    Family,
    as_default,
    make_cells,
)
from showandtell.core.capabilities.openai_compatible import CLAUDE_ORDER, MISTRAL_ORDER, OPENAI_ORDER

ORDER = Order(after_results="own_turn")

# Whether an image is seen depends on the model that is loaded, so nothing here is proven.
OLLAMA = Family(
    provider="ollama",
    api="openai-chat",
    patterns=ANY_MODEL,
    example="qwen3-vl:8b",
    cells=(
        *make_cells(
            "unproven", TOOL, PNG_JPEG_WEBP, "openai.go:567-620: split into several messages, the call id lost"
        ),
        *make_cells("unproven", USER, PNG_JPEG_WEBP, "openai.go: base64 jpeg, png, webp; depends on the model"),
        *make_cells("rejects", USER, PDF, "400 invalid message format (openai.go)"),
    ),
    order=ORDER,
)
VLLM = replace(
    OLLAMA,
    provider="vllm",
    example="Qwen/Qwen3-VL-8B-Instruct",
    cells=(
        *make_cells(
            "unproven", TOOL, PNG_JPEG_WEBP, "depends on the chat template; Kimi K2.5 rejects it (vllm #43203)"
        ),
        *make_cells("unproven", USER, PNG_JPEG_WEBP, "vLLM docs; depends on the model"),
    ),
)
LLAMACPP = replace(
    OLLAMA,
    provider="llamacpp",
    example="gemma-3-4b-it",
    cells=(
        *make_cells("unproven", TOOL, PNG_JPEG_WEBP, "the parser takes it (server-chat.cpp, b10605); effect unknown"),
        *make_cells("unproven", USER, PNG_JPEG_WEBP, "server-common.cpp; needs --mmproj, else 500 (llama.cpp #13566)"),
    ),
)
LMSTUDIO = replace(
    OLLAMA,
    provider="lmstudio",
    example="qwen/qwen3-vl-8b",
    cells=(
        *make_cells("rejects", TOOL, PNG_JPEG_WEBP, "400 Invalid 'messages' (qwen-code #3616)"),
        *make_cells("unproven", USER, PNG_JPEG_WEBP, "base64 only; depends on the model"),
    ),
)

NATIVE = "litellm 1.109 factory.py:1637, 1821, 4393-4460 writes it into the upstream's tool result"
HOISTED = "litellm 1.109 common_utils.py:2802-2890 moves it to a user message"
IN_FILE = "litellm 1.109: file part to the upstream's document"

PROXY_USER = (
    *make_cells("sees", USER, WEB_IMAGES, HOISTED),
    *make_cells("sees", USER, PDF, IN_FILE),
)
PROXY_ANTHROPIC = replace(
    OLLAMA,
    provider="litellm",
    patterns=("anthropic/*",),
    example="anthropic/claude-sonnet-4-5",
    cells=(
        *make_cells("sees", TOOL, WEB_IMAGES, NATIVE),
        *make_cells("sees", TOOL, PDF, NATIVE),
        *PROXY_USER,
    ),
    order=CLAUDE_ORDER,
)
# Claude on Converse doesn't see a PDF in a tool result, so only images go there through the proxy.
PROXY_BEDROCK = replace(
    PROXY_ANTHROPIC,
    patterns=("bedrock/*claude*",),
    example="bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    cells=(
        *make_cells("sees", TOOL, WEB_IMAGES, NATIVE),
        *make_cells("blind", TOOL, PDF, "as Claude on Converse: a PDF in toolResult was not seen", "2026-03-16"),
        *PROXY_USER,
    ),
    # The proxy puts both into one Converse turn, which Claude rejects: litellm 1.109 run against a strict Converse.
    order=replace(CLAUDE_ORDER, after_results="filler", filler=".", filler_when="media"),
)
PROXY_GEMINI = replace(
    PROXY_ANTHROPIC,
    patterns=("gemini/gemini-[3-9]*", "vertex_ai/gemini-[3-9]*"),
    example="gemini/gemini-3-flash-preview",
    cells=(
        *make_cells("sees", TOOL, PNG_JPEG_WEBP, NATIVE),
        *make_cells("sees", TOOL, PDF, NATIVE),
        *make_cells("unproven", USER, WAV_MP3, HOISTED),
        *PROXY_USER,
    ),
    order=replace(ORDER, call_ids=LITELLM_IDS),
)
PROXY_OPENAI = replace(
    PROXY_GEMINI, patterns=("openai/*", "azure/*"), example="openai/gpt-5-mini", cells=PROXY_USER, order=OPENAI_ORDER
)
PROXY_MISTRAL = replace(
    PROXY_OPENAI, patterns=("mistral/*",), example="mistral/mistral-medium-latest", order=MISTRAL_ORDER
)

FAMILIES = (
    OLLAMA,
    VLLM,
    LLAMACPP,
    LMSTUDIO,
    PROXY_ANTHROPIC,
    PROXY_BEDROCK,
    PROXY_GEMINI,
    PROXY_OPENAI,
    PROXY_MISTRAL,
    as_default(PROXY_OPENAI, "some-alias"),
)
