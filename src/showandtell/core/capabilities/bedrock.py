"""Amazon Bedrock's Converse API, by the vendor of the model. Model ids may start with a region: us., eu., global."""

from __future__ import annotations

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Budget, Dialect, FileLimits, Order
from showandtell.core.capabilities.family import (
    BOTH,
    CONVERSE_IDS,
    LISTED,
    PDF,
    TOOL,
    USER,
    VIDEO,
    WEB_IMAGES,
    Family,
    as_default,
    make_cells,
    no_images,
    no_pdf,
    subfamily_of,
)

# A filler goes between results and files: Bedrock merges consecutive user turns, and refuses whitespace as a turn.
FILLER_ORDER = Order(after_results="filler", filler=".", filler_when="user", call_ids=CONVERSE_IDS)
# Claude's results may share a turn with images, not with documents or video. Whether a result with status "error" may
# hold images is not documented for Converse; the Messages API forbids it, so they get none here either.
CLAUDE_ORDER = replace(FILLER_ORDER, filler_when="media", error_media=False, marks=4)
NOVA_ORDER = Order(after_results="same_turn", call_ids=CONVERSE_IDS, marks=4)

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
AWS_TEXT = "AWS docs, Converse, supported models: no vision"
AWS_DOCUMENTS = "AWS docs, Converse, supported models: document chat"
AWS_NOTHING = "AWS docs, Converse, supported models: no vision, no document chat"
HAIKU_TEXT = (
    "400 This model doesn't support the image content block (vercel/ai #4770, boto3 #4581); AWS docs: no vision"
)
NO_VISUAL_PDF = "PDF as text: 400 does not support PDFs with citations, but without (boto3 #4581)"
NO_VISION = "litellm 1.109 table: no vision"
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
    # AWS's docs, "InferenceConfiguration": temperature of at most 1, for all models.
    dialect=Dialect(citations=True, resend_tools=True, max_temperature=1.0),
)

CLAUDE_DOCUMENTS = (
    *make_cells("blind", TOOL, PDF, PDF_BLIND, "2026-03-16", limits=DOCUMENT),
    *make_cells("sees", USER, PDF, NO_VISUAL_PDF, LISTED, limits=DOCUMENT),
    *make_cells("sees", USER, OFFICE, CONVERSE, limits=DOCUMENT),
    *make_cells("rejects", BOTH, VIDEO, NO_VIDEO),
)
# Citations make Converse read a PDF with vision, which these models reject.
ON_CLAUDE_3 = subfamily_of(
    replace(ON_CLAUDE, dialect=replace(ON_CLAUDE.dialect, citations=False)),
    patterns=("*claude-3-opus*", "*claude-3-sonnet*", "*claude-3-haiku*"),
    example="anthropic.claude-3-haiku-20240307-v1:0",
    cells=(*make_cells("sees", BOTH, WEB_IMAGES, CLAUDE, limits=IMAGE), *CLAUDE_DOCUMENTS),
)
ON_HAIKU_3_5 = subfamily_of(
    ON_CLAUDE_3,
    patterns=("*claude-3-5-haiku*",),
    example="us.anthropic.claude-3-5-haiku-20241022-v1:0",
    cells=(*no_images(HAIKU_TEXT), *CLAUDE_DOCUMENTS),
)
ON_CLAUDE_2 = subfamily_of(
    ON_CLAUDE_3,
    patterns=("*claude-v[12]*", "*claude-instant*"),
    example="anthropic.claude-v2:1",
    cells=(*no_images(AWS_TEXT), *CLAUDE_DOCUMENTS),
)

# Signed reasoning on this host is Claude's; others don't get it back (pydantic-ai 2.68, providers/bedrock.py, only
# sends it to Claude and DeepSeek R1). A model of unknown name may be Claude by the ARN of a profile, so it does.
NO_REASONING = Dialect(resend_tools=True, takes_reasoning=False, max_temperature=1.0)
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
ON_NOVA_MICRO = subfamily_of(
    ON_NOVA,
    patterns=("*nova-micro*",),
    example="us.amazon.nova-micro-v1:0",
    cells=(
        *no_images(AWS_NOTHING),
        *no_pdf(AWS_NOTHING),
        *make_cells("rejects", BOTH, CLIPS, "pydantic-ai profiles/amazon.py:12: no video for nova-micro", LISTED),
    ),
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
ON_MISTRAL_TEXT = subfamily_of(
    ON_MISTRAL,
    patterns=("*mistral-7b*", "*mixtral*", "*mistral-large-24*"),
    example="mistral.mistral-large-2407-v1:0",
    cells=(
        *no_images(AWS_TEXT),
        *make_cells("sees", USER, PDF, AWS_DOCUMENTS, LISTED, limits=DOCUMENT),
        *make_cells("unproven", USER, OFFICE, UNRECORDED, limits=DOCUMENT),
    ),
)
# No source says that these read documents, so they get them as text.
ON_MISTRAL_ONLY_TEXT = subfamily_of(
    ON_MISTRAL,
    patterns=("*mistral-small-24*", "*devstral*", "*voxtral*"),
    example="mistral.devstral-2-123b",
    cells=no_images(NO_VISION),
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
ON_KIMI_TEXT = subfamily_of(
    ON_KIMI, patterns=("*kimi-k2-thinking*",), example="moonshot.kimi-k2-thinking", cells=no_images(NO_VISION)
)
ON_GPT_OSS = subfamily_of(
    ON_QWEN, patterns=("*openai.gpt-oss*",), example="openai.gpt-oss-120b-1:0", cells=no_images(NO_VISION)
)
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
UNKNOWN_DIALECT = Dialect(flags_errors=False, resend_tools=True, max_temperature=1.0)
ON_WRITER = replace(
    ON_QWEN,
    patterns=("*writer.palmyra-x*",),
    example="us.writer.palmyra-x5-v1:0",
    cells=no_images(NO_VISION),
    dialect=replace(UNKNOWN_DIALECT, takes_reasoning=False),
)
ON_OTHERS = replace(as_default(ON_QWEN, "some-model"), dialect=UNKNOWN_DIALECT)

# Apart from their files, these are like unknown models.
ON_TEXT_AND_DOCUMENTS = subfamily_of(
    ON_OTHERS,
    patterns=(
        "*meta.llama2*",
        "*meta.llama3-8b*",
        "*meta.llama3-70b*",
        "*meta.llama3-1-*",
        "*meta.llama3-2-[13]b*",
        "*meta.llama3-3-*",
        "*deepseek.r1*",
        "*ai21.jamba-1-5*",
        "*cohere.command-r*",
        "*titan-text-lite*",
        "*titan-text-express*",
    ),
    example="us.meta.llama3-3-70b-instruct-v1:0",
    cells=(
        *no_images(AWS_TEXT),
        *make_cells("sees", USER, PDF, AWS_DOCUMENTS, LISTED, limits=DOCUMENT),
        *make_cells("unproven", USER, OFFICE, UNRECORDED, limits=DOCUMENT),
    ),
)
ON_ONLY_TEXT = subfamily_of(
    ON_OTHERS,
    patterns=(
        "*deepseek.v3*",
        "*qwen3-[0-9]*",
        "*qwen3-coder*",
        "*qwen3-next*",
        "*minimax-m2*",
        "*zai.glm-4.7*",
        "*zai.glm-5*",
        "*nemotron-nano-3-30b*",
        "*nemotron-nano-9b*",
        "*nemotron-super-3*",
        "*ai21.jamba-instruct*",
        "*titan-text-premier*",
    ),
    example="qwen.qwen3-32b-v1:0",
    cells=no_images(NO_VISION),
)

FAMILIES = (
    ON_CLAUDE,
    ON_CLAUDE_2,
    ON_CLAUDE_3,
    ON_HAIKU_3_5,
    ON_NOVA,
    ON_NOVA_MICRO,
    ON_LLAMA,
    ON_MISTRAL,
    ON_MISTRAL_TEXT,
    ON_MISTRAL_ONLY_TEXT,
    ON_QWEN,
    ON_KIMI,
    ON_KIMI_TEXT,
    ON_GPT,
    ON_GPT_OSS,
    ON_WRITER,
    ON_TEXT_AND_DOCUMENTS,
    ON_ONLY_TEXT,
    ON_OTHERS,
)
