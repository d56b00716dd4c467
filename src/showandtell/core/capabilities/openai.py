"""OpenAI's own two APIs, Responses and Chat Completions, and the same two on Azure."""

from __future__ import annotations

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Budget, Dialect, FileLimits, Order
from showandtell.core.capabilities.family import (
    ANY_MODEL,
    AUDIO,
    AUDIO_MODEL,
    BOTH,
    CHAT_IDS,
    EVERY_FORM,
    INLINE_URL,
    OFFICE_XML,
    PDF,
    TEXT,
    TOOL,
    USER,
    WAV_MP3,
    WEB_IMAGES,
    Family,
    as_default,
    make_cells,
    no_images,
    no_pdf,
    subfamily_of,
)

ORDER = Order(after_results="own_turn")
RESPONSES_DIALECT = Dialect(container="tool")
CHAT_DIALECT = Dialect(max_tokens="max_completion_tokens")

# 50 MB a file and a request, 1500 images: unverified, from memory.
FILE = FileLimits(bytes=50_000_000)
BUDGET = Budget(bytes=50_000_000, images=1500)

# Explicit cache breakpoints are for gpt-5.6 and later models, up to four written in a request (openai 3.54,
# prompt_cache_options), on both APIs (pydantic-ai 2.68, profiles/openai.py).
MARKED_GPT = ("gpt-5.[6-9]*", "gpt-5.[1-9][0-9]*", "gpt-[6-9]*")
MARKED_ORDER = replace(ORDER, marks=4)
CHAT_ORDER = replace(ORDER, call_ids=CHAT_IDS)
GPT = ("gpt-*", "o[1-9]*", "chatgpt-*", "codex-*", "computer-use-*")
# gpt-4-1106-vision-preview took images, so the dates are listed.
TEXT_GPT = (
    "gpt-3.5*",
    "gpt-4",
    "gpt-4-0*",
    "gpt-4-1106-preview*",
    "gpt-4-32k*",
    "gpt-4-turbo-preview*",
    "ft:gpt-3.5*",
    "ft:gpt-4-0*",
    "o1-mini*",
    "o1-preview*",
    "o3-mini*",
    "*gpt-oss*",
)
RESPONSES = "recorded: test_multimodal_tool_return_matrix[direct-*-openai_responses]"
CHAT = "recorded: test_multimodal_tool_return_matrix[direct-*-openai_chat]"
FILE_INPUTS = "OpenAI guide, file inputs: others than PDF as text only, 1000 rows a sheet"
OUTPUT_TYPES = "openai 3.54 types: input_file in function_call_output; only PDF was recorded"
USER_IMAGES_ONLY = "400 Image URLs are only allowed for messages with role 'user' (OpenHands #7700)"
NO_AUDIO_MODEL = "recorded: 400 Content blocks are expected to be either text or image_url type (gpt-5-mini)"
TEXT_MODEL = (
    "litellm 1.109 table: no vision (retired models: from memory); 400 image_url is only supported by certain models "
    "(nextcloud/integration_openai #282)"
)
SAME_SCHEMA = "same schema as OpenAI's; no recording on Azure"
NO_CHAT_FILE = "Azure's Chat Completions API takes no documents (pydantic-ai providers/azure.py:161)"

RESPONSES_GPT = Family(
    provider="openai",
    api="openai-responses",
    patterns=GPT,
    example="gpt-5-mini",
    cells=(
        *make_cells("sees", BOTH, WEB_IMAGES, RESPONSES, forms=EVERY_FORM, limits=FILE),
        *make_cells("sees", BOTH, PDF, RESPONSES, forms=EVERY_FORM, limits=FILE),
        *make_cells("sees", USER, OFFICE_XML, FILE_INPUTS, forms=EVERY_FORM, limits=FILE),
        *make_cells("unproven", TOOL, OFFICE_XML, OUTPUT_TYPES, forms=EVERY_FORM, limits=FILE),
        *make_cells("sees", USER, TEXT, FILE_INPUTS, forms=EVERY_FORM, limits=FILE),
        *make_cells("unproven", TOOL, TEXT, OUTPUT_TYPES, forms=EVERY_FORM, limits=FILE),
        *make_cells("rejects", TOOL, AUDIO, "recorded: 400 unsupported MIME type 'audio/mpeg'"),
        *make_cells(
            "rejects", TOOL, AUDIO, "recorded: 400 The file type you uploaded is not supported", forms=("url",)
        ),
    ),
    order=ORDER,
    budget=BUDGET,
    dialect=RESPONSES_DIALECT,
)

# Sources differ on PDFs for o3-mini, so these models get them as text.
RESPONSES_TEXT = subfamily_of(RESPONSES_GPT, patterns=TEXT_GPT, example="o3-mini", cells=no_images(TEXT_MODEL))
RESPONSES_MARKED = replace(
    RESPONSES_GPT,
    patterns=MARKED_GPT,
    example="gpt-5.6",
    order=MARKED_ORDER,
    dialect=replace(RESPONSES_DIALECT, cache_mark="prompt_cache_breakpoint"),
)

CHAT_GPT = Family(
    provider="openai-chat",
    api="openai-chat",
    patterns=GPT,
    example="gpt-5-mini",
    cells=(
        *make_cells("rejects", TOOL, WEB_IMAGES, USER_IMAGES_ONLY, forms=INLINE_URL),
        *make_cells("sees", USER, WEB_IMAGES, CHAT, forms=INLINE_URL, limits=FILE),
        *make_cells("sees", USER, PDF, CHAT, forms=("inline", "file_id"), limits=FILE),
        *make_cells("rejects", USER, AUDIO, NO_AUDIO_MODEL),
    ),
    order=CHAT_ORDER,
    budget=BUDGET,
    dialect=CHAT_DIALECT,
)

CHAT_TEXT = subfamily_of(CHAT_GPT, patterns=TEXT_GPT, example="o3-mini", cells=RESPONSES_TEXT.cells)
CHAT_MARKED = replace(
    CHAT_GPT,
    patterns=MARKED_GPT,
    example="gpt-5.6",
    order=replace(CHAT_ORDER, marks=4),
    dialect=replace(CHAT_DIALECT, cache_mark="prompt_cache_breakpoint"),
)

CHAT_AUDIO = replace(
    CHAT_GPT,
    patterns=("*audio*",),
    example="gpt-audio",
    cells=(
        *make_cells("sees", USER, WAV_MP3, "OpenAI docs: input_audio wav, mp3, base64, audio models only"),
        *no_images(AUDIO_MODEL),
        *no_pdf(AUDIO_MODEL),
    ),
)

# A deployment on Azure has the name that its owner gave it, so the name tells nothing of the model, unless it is
# that of a model. "gpt-4" may be its version with vision, and a deployment keeps its name when its model is exchanged.
NAMED_TEXT = (
    "gpt-3.5*",
    "gpt-35-*",
    "o1-mini*",
    "o3-mini*",
    "*gpt-oss*",
    "*deepseek-r1*",
    "*deepseek-v3*",
    "*llama-3.[13]-*",
    "phi-4",
    "phi-4-mini*",
    "phi-4-reasoning*",
)
NAMED = "deployed under the name of a model that litellm 1.109's table lists for Azure without vision"
AZURE = Family(
    provider="azure",
    api="openai-responses",
    patterns=ANY_MODEL,
    example="gpt-5-mini",
    cells=(
        *make_cells("unproven", BOTH, WEB_IMAGES, SAME_SCHEMA, forms=INLINE_URL, limits=FILE),
        *make_cells("unproven", BOTH, PDF, SAME_SCHEMA, forms=INLINE_URL, limits=FILE),
        *make_cells("unproven", BOTH, OFFICE_XML, SAME_SCHEMA, limits=FILE),
        *make_cells("unproven", BOTH, TEXT, SAME_SCHEMA, limits=FILE),
    ),
    order=ORDER,
    budget=BUDGET,
    dialect=RESPONSES_DIALECT,
)

AZURE_TEXT = subfamily_of(AZURE, patterns=NAMED_TEXT, example="o3-mini", cells=no_images(NAMED))

AZURE_CHAT = Family(
    provider="azure-chat",
    api="openai-chat",
    patterns=ANY_MODEL,
    example="gpt-5-mini",
    cells=(
        *make_cells("rejects", TOOL, WEB_IMAGES, USER_IMAGES_ONLY, forms=INLINE_URL),
        *make_cells("unproven", USER, WEB_IMAGES, SAME_SCHEMA, forms=INLINE_URL, limits=FILE),
        *make_cells("rejects", USER, PDF, NO_CHAT_FILE),
    ),
    order=CHAT_ORDER,
    budget=BUDGET,
    dialect=CHAT_DIALECT,
)

AZURE_AUDIO = replace(
    AZURE_CHAT,
    patterns=("*audio*",),
    example="gpt-audio",
    cells=(
        *make_cells("unproven", USER, WAV_MP3, SAME_SCHEMA),
        *no_images(AUDIO_MODEL),
        *make_cells("rejects", USER, PDF, NO_CHAT_FILE),
    ),
)
AZURE_CHAT_TEXT = subfamily_of(
    AZURE_CHAT,
    patterns=NAMED_TEXT,
    example="o3-mini",
    cells=(*no_images(NAMED), *make_cells("rejects", USER, PDF, NO_CHAT_FILE)),
)

FAMILIES = (
    RESPONSES_MARKED,
    RESPONSES_GPT,
    RESPONSES_TEXT,
    as_default(RESPONSES_GPT, "some-model"),
    CHAT_AUDIO,
    CHAT_MARKED,
    CHAT_GPT,
    CHAT_TEXT,
    as_default(CHAT_GPT, "some-model"),
    AZURE_TEXT,
    AZURE,
    AZURE_AUDIO,
    AZURE_CHAT_TEXT,
    AZURE_CHAT,
)
