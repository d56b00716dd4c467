"""Hosts with their own dialect of an OpenAI API: xAI, Groq, OpenRouter, Mistral, Cohere."""

from __future__ import annotations

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Budget, Dialect, FileLimits, Order
from showandtell.core.capabilities.family import (
    AUDIO_MODEL,
    CHAT_IDS,
    CLAUDE_IDS,
    EVERY_FORM,
    INLINE_URL,
    MISTRAL_IDS,
    PDF,
    PNG_JPEG,
    TOOL,
    USER,
    WAV_MP3,
    WEB_IMAGES,
    Family,
    as_default,
    make_cells,
    no_images,
    subfamily_of,
)

ORDER = Order(after_results="own_turn")
# Mistral rejects a user message right after tool messages (code 3230), also behind other hosts.
MISTRAL_ORDER = Order(after_results="filler", filler="OK", filler_when="user", call_ids=MISTRAL_IDS)
CLAUDE_ORDER = replace(ORDER, call_ids=CLAUDE_IDS)
# OpenAI rejects longer ids, also behind other hosts.
OPENAI_ORDER = replace(ORDER, call_ids=CHAT_IDS)

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
)

# Retired on 2026-05-15 (docs.x.ai). grok-code-fast is now a name for newer models with vision (litellm 1.109 table).
GROK_TEXT = subfamily_of(
    GROK,
    patterns=("grok-3*", "grok-2", "grok-2-1212", "grok-2-latest", "grok-beta"),
    example="grok-3",
    cells=no_images(
        "models.dev: grok-3 takes only text; so did grok-2 and grok-beta, but for the vision models (memory)"
    ),
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
    dialect=Dialect(stream_usage=False),
)

GROQ_STRING = "400 messages[0].content must be a string, for a message with an image (vercel/ai #2837)"
GROQ_LISTED = "litellm 1.109 table and models.dev: text only"
GROQ_TEXT = subfamily_of(
    GROQ,
    patterns=("*llama-3.[13]*", "llama3-*", "*llama-guard-3*", "mixtral-*", "gemma-7b*", "gemma2-*"),
    example="llama-3.3-70b-versatile",
    cells=no_images(GROQ_STRING),
)
GROQ_NEWER_TEXT = subfamily_of(
    GROQ,
    patterns=(
        "*gpt-oss*",
        "*kimi-k2-instruct*",
        "*deepseek-r1*",
        "*qwen3-32b*",
        "*qwq-32b*",
        "*prompt-guard*",
        "*allam-*",
    ),
    example="openai/gpt-oss-120b",
    cells=no_images(GROQ_LISTED),
)

ROUTER_CLAUDE = "recorded: claude-haiku-4.5 described an image_url part in role tool"
ROUTER_TOOL = "openrouter 1.3 types: parts in tool messages; what is seen depends on the upstream endpoint"
ROUTER_IMAGE = "OpenRouter docs: image_url by data or https"
ROUTER_PDF = "OpenRouter docs, PDFs: file for any model, read natively or by the file-parser plugin"
ROUTER_NO_IMAGES = (
    "models.dev lists OpenRouter's text-only models (retired models: from memory); 404 No endpoints found that support "
    "image input (hermes-agent #23411)"
)
ROUTER_AUDIO = "OpenRouter docs: input_audio; what is heard depends on the upstream endpoint"

ROUTER_USER = (
    *make_cells("sees", USER, WEB_IMAGES, ROUTER_IMAGE, forms=INLINE_URL),
    *make_cells("sees", USER, PDF, ROUTER_PDF),
)
ROUTER_RESULTS = (
    *make_cells("unproven", TOOL, WEB_IMAGES, ROUTER_TOOL, forms=INLINE_URL),
    *make_cells("unproven", TOOL, PDF, ROUTER_TOOL),
)
ROUTER_DIALECT = Dialect(takes_annotations=True)
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
    dialect=Dialect(cache_mark="cache_control", takes_annotations=True),
)
ROUTER_OPENAI = replace(
    ROUTER_ANTHROPIC,
    patterns=("openai/*",),
    example="openai/gpt-5-mini",
    cells=(*ROUTER_RESULTS, *ROUTER_USER),
    order=OPENAI_ORDER,
    dialect=ROUTER_DIALECT,
)
ROUTER_SOUND = make_cells("unproven", USER, WAV_MP3, ROUTER_AUDIO)
ROUTER_OPENAI_AUDIO = replace(
    ROUTER_OPENAI,
    patterns=("openai/*audio*",),
    example="openai/gpt-audio",
    cells=(*no_images(AUDIO_MODEL), *make_cells("sees", USER, PDF, ROUTER_PDF), *ROUTER_SOUND),
)
ROUTER_TEXT_CELLS = (*no_images(ROUTER_NO_IMAGES), *make_cells("sees", USER, PDF, ROUTER_PDF))
ROUTER_TEXT = subfamily_of(
    ROUTER_OPENAI,
    patterns=(
        "openai/gpt-oss*",
        "openai/gpt-3.5*",
        "openai/gpt-4",
        "openai/gpt-4-0*",
        "openai/gpt-4-1106-preview",
        "openai/gpt-4-turbo-preview",
        "openai/o1-mini*",
        "openai/o1-preview*",
        "openai/o3-mini*",
        "deepseek/deepseek-chat*",
        "deepseek/deepseek-r1*",
        "deepseek/deepseek-v3*",
        "deepseek/deepseek-v4-pro*",
        "deepseek/deepseek-v4-flash",
        "deepseek/deepseek-v4-flash-0*",
        "deepseek/deepseek-v4-flash:*",
        "meta-llama/llama-3-*",
        "meta-llama/llama-3.1-*",
        "meta-llama/llama-3.2-[13]b-*",
        "meta-llama/llama-3.3-*",
        "moonshotai/kimi-k2",
        "moonshotai/kimi-k2[:-]*",
        "qwen/qwen-2.5-7*",
        "qwen/qwen-2.5-coder*",
        "qwen/qwen2.5-coder*",
        "qwen/qwen3-[0-9]*",
        "qwen/qwen3-coder*",
        "qwen/qwen3-next*",
        "qwen/qwen3-max*",
        "qwen/qwq-*",
        "z-ai/glm-4.[567]",
        "z-ai/glm-4.[567][:-]*",
        "z-ai/glm-5",
        "z-ai/glm-5.[12]*",
        "minimax/minimax-m[12]*",
        "x-ai/grok-3*",
        "x-ai/grok-code-fast*",
        "cohere/command-r*",
        "cohere/command-a",
        "amazon/nova-micro*",
        "ai21/jamba*",
        "microsoft/phi-4",
        "google/gemma-2-*",
    ),
    example="openai/gpt-oss-120b",
    cells=ROUTER_TEXT_CELLS,
)
ROUTER_ANTHROPIC_TEXT = subfamily_of(
    ROUTER_ANTHROPIC,
    patterns=("anthropic/claude-2*", "anthropic/claude-instant*"),
    example="anthropic/claude-2.1",
    cells=ROUTER_TEXT_CELLS,
)
ROUTER_GOOGLE = replace(
    ROUTER_OPENAI,
    patterns=("google/*",),
    example="google/gemini-3-flash-preview",
    cells=(*ROUTER_OPENAI.cells, *ROUTER_SOUND),
    # Encrypted reasoning names its call by the id that the host gave it.
    order=ORDER,
)
ROUTER_XAI = replace(ROUTER_OPENAI, patterns=("x-ai/*",), example="x-ai/grok-4-fast")
ROUTER_MISTRAL = replace(
    ROUTER_OPENAI, patterns=("mistralai/*",), example="mistralai/mistral-medium-3.1", order=MISTRAL_ORDER
)
ROUTER_MISTRAL_TEXT = subfamily_of(
    ROUTER_MISTRAL,
    patterns=(
        "mistralai/codestral*",
        "mistralai/devstral-2512*",
        "mistralai/devstral-medium*",
        "mistralai/devstral-small",
        "mistralai/devstral-small-250*",
        "mistralai/ministral-[38]b",
        "mistralai/mistral-7b*",
        "mistralai/mistral-large",
        "mistralai/mistral-large-24*",
        "mistralai/mistral-nemo*",
        "mistralai/mistral-saba*",
        "mistralai/mistral-small-24b*",
        "mistralai/mistral-tiny*",
        "mistralai/mixtral*",
        "mistralai/open-mistral*",
    ),
    example="mistralai/devstral-2512",
    cells=ROUTER_TEXT_CELLS,
)
ROUTER_VOXTRAL = subfamily_of(
    ROUTER_MISTRAL,
    patterns=("mistralai/voxtral*",),
    example="mistralai/voxtral-small-24b-2507",
    cells=(*ROUTER_TEXT_CELLS, *ROUTER_SOUND),
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
    dialect=Dialect(document="document_url", stream_usage=False, extra_body=False, raw_audio=True),
)
# Whether `document_url` works for these is not known, so PDFs are sent as text.
MISTRAL_TEXT = subfamily_of(
    MISTRAL,
    patterns=(
        "codestral-*",
        "open-*",
        "mathstral-*",
        "devstral-latest",
        "devstral-2512",
        "devstral-medium-*",
        "devstral-small-250*",
        "devstral-small-latest",
        "*leanstral-*",
        "magistral-*-250[67]",
        "ministral-[38]b-2410",
        "mistral-code-*",
        "mistral-large-24*",
        "mistral-medium-23*",
        "mistral-nemo*",
        "mistral-saba-*",
        "mistral-small-24*",
        "mistral-small-2501",
        "mistral-tiny*",
        "glm-5-2",
        "zai-glm-5",
        "zai-glm-5-[23]",
    ),
    example="codestral-latest",
    cells=no_images("litellm 1.109 table and models.dev: text only (retired models: from memory)"),
)
VOXTRAL = replace(
    MISTRAL,
    patterns=("voxtral-*",),
    example="voxtral-small-latest",
    cells=(
        *make_cells("unproven", USER, WAV_MP3, "mistralai 3.7 types: input_audio"),
        *no_images("litellm 1.109 table and models.dev: text and audio"),
    ),
    budget=Budget(),
)

COHERE_IMAGES = "Cohere docs: image_url in user messages of vision models"
COHERE_VISION = Family(
    provider="cohere",
    api="openai-chat",
    # Command A+ is the first model whose name doesn't tell that it sees (litellm 1.109 table).
    patterns=("*vision*", "command-a-plus*"),
    example="command-a-vision-07-2025",
    cells=make_cells("sees", USER, WEB_IMAGES, COHERE_IMAGES),
    order=ORDER,
)
COHERE_TEXT = replace(
    COHERE_VISION,
    patterns=("command-*", "c4ai-*"),
    example="command-a-03-2025",
    cells=no_images(f"{COHERE_IMAGES}; litellm 1.109 table: no vision"),
)

FAMILIES = (
    GROK,
    GROK_TEXT,
    as_default(GROK, "some-model"),
    GROQ,
    GROQ_TEXT,
    GROQ_NEWER_TEXT,
    as_default(GROQ, "some-model"),
    ROUTER_ANTHROPIC,
    ROUTER_ANTHROPIC_TEXT,
    ROUTER_OPENAI_AUDIO,
    ROUTER_OPENAI,
    ROUTER_GOOGLE,
    ROUTER_XAI,
    ROUTER_MISTRAL,
    ROUTER_MISTRAL_TEXT,
    ROUTER_VOXTRAL,
    ROUTER_TEXT,
    as_default(ROUTER_OPENAI, "some-house/some-model"),
    VOXTRAL,
    MISTRAL,
    MISTRAL_TEXT,
    as_default(MISTRAL, "some-model"),
    COHERE_VISION,
    COHERE_TEXT,
    as_default(COHERE_VISION, "some-model"),
)
