"""Amazon Bedrock's Converse API, by the vendor of the model. Model ids may start with a region: us., eu., global."""

from __future__ import annotations

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Budget, Dialect, FileLimits, Order
from showandtell.core.capabilities.family import (
    BOTH,
    PDF,
    TOOL,
    USER,
    VIDEO,
    WEB_IMAGES,
    Family,
    as_default,
    make_cells,
)

# A filler goes between results and files: Bedrock merges consecutive user turns, and refuses whitespace as a turn.
FILLER_ORDER = Order(after_results="filler", filler=".", filler_when="user", call_ids="bedrock")
# Claude's results may share a turn with images, not with documents or video. Whether a result with status "error" may
# hold images is not documented for Converse; the Messages API forbids it, so they get none here either.
CLAUDE_ORDER = replace(FILLER_ORDER, filler_when="media", error_media=False, marks=4)
NOVA_ORDER = Order(after_results="same_turn", call_ids="bedrock", marks=4)

BUDGET = Budget(message_images=20, message_documents=5)
# Claude takes 8000 pixels a side for up to 20 images in a request, as at Anthropic.
CLAUDE_BUDGET = replace(BUDGET, images=100, few_images=20, many_side=2000)
IMAGE = FileLimits(bytes=3_750_000, side=8000)
DOCUMENT = FileLimits(bytes=4_500_000)
# 25 MB of base64, so 3/4 of it in raw bytes.
CLIP = FileLimits(bytes=18_750_000)

OFFICE = (
    "application/msword",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.ms-excel",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
)
CSV_TXT = ("text/csv", "text/plain")
TEXTS = (*CSV_TXT, "text/html", "text/markdown")
CLIPS = (
    "video/mp4",
    "video/quicktime",
    "video/x-matroska",
    "video/webm",
    "video/x-flv",
    "video/mpeg",
    "video/x-ms-wmv",
    "video/3gpp",
)

CLAUDE = "recorded: test_multimodal_tool_return_matrix[direct-*-image-bedrock_claude]"
CLAUDE_USER = "recorded: a PDF in the user turn, 2242 tokens, read correctly (bedrock_claude)"
PDF_BLIND = "recorded: 200 but 'no visible output', PDF alone in toolResult (direct-*-document-bedrock_claude)"
CONVERSE = "botocore 1.44.5: DocumentFormat"
NO_S3 = "recorded: 400 This model doesn't support the s3Uri field"
NO_S3_DOCUMENT = "recorded: 400 messages.2.content.2.document.source.type: Field required"
NO_VIDEO = "recorded: 400 This model doesn't support the video content block"
NOVA_RECORDED = "recorded: test_multimodal_tool_return_matrix[*-bedrock_nova]"
NOVA_DOCUMENTS = "PDF and docx are rejected in toolResult, csv and txt are not (pydantic-ai providers/bedrock.py:421)"
NOVA_S3 = "recorded: 400 extraneous key [toolResult] is not permitted (bedrock_nova)"
DELIVERED = "recorded: test_bedrock_media_kind_delivered_in_tool_result"
LIVE = "verified live (pydantic-ai providers/bedrock.py:520-523, 580-584)"
HOISTED = "LiteLLM supports_bedrock_converse_tool_result_images: false; langchain-aws hoists"
UNRECORDED = "schema only: botocore 1.44.5; no recording of this model"

ON_CLAUDE = Family(
    provider="bedrock",
    api="bedrock-converse",
    patterns=("*claude*",),
    example="us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    cells=(
        *make_cells("sees", BOTH, WEB_IMAGES, CLAUDE, limits=IMAGE),
        *make_cells("rejects", BOTH, WEB_IMAGES, NO_S3, forms=("url",), schemes=("s3",)),
        *make_cells("blind", TOOL, PDF, PDF_BLIND, "2026-03-16", limits=DOCUMENT),
        *make_cells("sees", USER, PDF, CLAUDE_USER, limits=DOCUMENT),
        *make_cells("sees", USER, OFFICE, CONVERSE, limits=DOCUMENT),
        *make_cells("rejects", USER, PDF, NO_S3_DOCUMENT, forms=("url",), schemes=("s3",)),
        *make_cells("rejects", BOTH, VIDEO, NO_VIDEO),
    ),
    order=CLAUDE_ORDER,
    budget=CLAUDE_BUDGET,
    dialect=Dialect(citations=True, resend_tools=True),
)

# Signed reasoning on this host is Claude's; others don't get it back (pydantic-ai 2.68, providers/bedrock.py, only
# sends it to Claude and DeepSeek R1). A model of unknown name may be Claude by the ARN of a profile, so it does.
NO_REASONING = Dialect(resend_tools=True, takes_reasoning=False)
ON_NOVA = replace(
    ON_CLAUDE,
    patterns=("*nova*",),
    example="us.amazon.nova-2-lite-v1:0",
    cells=(
        *make_cells("sees", BOTH, WEB_IMAGES, NOVA_RECORDED, limits=IMAGE),
        *make_cells("sees", BOTH, WEB_IMAGES, NOVA_RECORDED, forms=("url",), schemes=("s3",)),
        *make_cells("rejects", TOOL, PDF, NOVA_DOCUMENTS),
        *make_cells("rejects", TOOL, OFFICE, NOVA_DOCUMENTS),
        *make_cells("sees", TOOL, CSV_TXT, NOVA_DOCUMENTS, limits=DOCUMENT),
        *make_cells("rejects", TOOL, PDF, NOVA_S3, forms=("url",), schemes=("s3",)),
        *make_cells("rejects", TOOL, CLIPS, NOVA_S3, forms=("url",), schemes=("s3",)),
        *make_cells("sees", USER, PDF, NOVA_RECORDED, limits=DOCUMENT),
        *make_cells("sees", USER, PDF, NOVA_RECORDED, forms=("url",), schemes=("s3",)),
        *make_cells("sees", USER, OFFICE, CONVERSE, limits=DOCUMENT),
        *make_cells("sees", USER, TEXTS, CONVERSE, limits=DOCUMENT),
        *make_cells("sees", USER, CLIPS, NOVA_RECORDED, limits=CLIP),
        *make_cells("sees", USER, CLIPS, NOVA_RECORDED, forms=("url",), schemes=("s3",)),
    ),
    order=NOVA_ORDER,
    budget=BUDGET,
    dialect=NO_REASONING,
)

ON_LLAMA = replace(
    ON_NOVA,
    patterns=("*llama4*",),
    example="us.meta.llama4-maverick-17b-instruct-v1:0",
    cells=(
        *make_cells("sees", BOTH, WEB_IMAGES, f"{DELIVERED}[meta_*]", limits=IMAGE),
        *make_cells("sees", BOTH, PDF, f"{DELIVERED}[meta_*]: by text extraction", limits=DOCUMENT),
        *make_cells("unproven", USER, OFFICE, UNRECORDED, limits=DOCUMENT),
    ),
    order=FILLER_ORDER,
)
ON_MISTRAL = replace(
    ON_LLAMA,
    patterns=("*mistral*", "*pixtral*"),
    example="us.mistral.pixtral-large-2502-v1:0",
    cells=(
        *make_cells(
            "sees", USER, WEB_IMAGES, "pydantic-ai providers/bedrock.py: images only in the user turn", limits=IMAGE
        ),
        *make_cells("sees", BOTH, PDF, f"{DELIVERED}[mistral_document]: by text extraction", limits=DOCUMENT),
        *make_cells("unproven", USER, OFFICE, UNRECORDED, limits=DOCUMENT),
    ),
)
ON_QWEN = replace(
    ON_LLAMA,
    patterns=("*qwen*vl*",),
    example="qwen.qwen3-vl-235b-a22b",
    cells=(
        *make_cells("sees", USER, WEB_IMAGES, LIVE, limits=IMAGE),
        *make_cells("unproven", USER, PDF, UNRECORDED, limits=DOCUMENT),
    ),
)
ON_KIMI = replace(ON_QWEN, patterns=("*moonshot*", "*kimi*"), example="moonshotai.kimi-k2.5")
ON_GPT = replace(
    ON_QWEN,
    patterns=("*openai.gpt*",),
    example="openai.gpt-5.2",
    cells=(
        *make_cells("rejects", TOOL, WEB_IMAGES, HOISTED),
        *make_cells("unproven", USER, WEB_IMAGES, UNRECORDED, limits=IMAGE),
        *make_cells("unproven", USER, PDF, UNRECORDED, limits=DOCUMENT),
    ),
)
# If a model rejects `status`, the whole request fails; leaving it out breaks nothing. So unknown models don't get it.
UNKNOWN_DIALECT = Dialect(flags_errors=False, resend_tools=True)
ON_WRITER = replace(
    ON_QWEN,
    patterns=("*writer.*",),
    example="us.writer.palmyra-x5-v1:0",
    cells=(),
    dialect=replace(UNKNOWN_DIALECT, takes_reasoning=False),
)
ON_OTHERS = replace(as_default(ON_QWEN, "some-model"), dialect=UNKNOWN_DIALECT)

FAMILIES = (ON_CLAUDE, ON_NOVA, ON_LLAMA, ON_MISTRAL, ON_QWEN, ON_KIMI, ON_GPT, ON_WRITER, ON_OTHERS)
