"""Claude through the Messages API: at Anthropic, on Bedrock (InvokeModel, Mantle) and on Vertex.

Its text source isn't base64, so there is no cell for text: text files are sent as text.
"""

from __future__ import annotations

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Budget, Capability, Dialect, FileLimits, Order
from showandtell.core.capabilities.family import (
    BOTH,
    CLAUDE_IDS,
    EVERY_FORM,
    LISTED,
    PDF,
    USER,
    WEB_IMAGES,
    Family,
    as_default,
    make_cells,
    no_images,
    no_pdf,
    subfamily_of,
)

ORDER = Order(after_results="same_turn", error_media=False, call_ids=CLAUDE_IDS, marks=4)

# The API allows 5 MB of base64 an image, so 3/4 of that in raw bytes.
IMAGE = FileLimits(bytes=5 * 1024 * 1024 * 3 // 4, side=8000)
# 600 pages need a context of 1M tokens; 100 hold for every model.
PAGES = FileLimits(pages=100)

# A side of 8000 pixels is allowed for up to 20 images in a request, 2000 for more; 100 images in all hold for every
# model (600 with a context of 1M).
BUDGET = Budget(bytes=32_000_000, images=100, few_images=20, many_side=2000)
# Partners take less than 32 MB. How much less was not read anywhere: unverified, from memory.
PARTNER_BUDGET = replace(BUDGET, bytes=20_000_000)

RECORDED = "recorded: test_multimodal_tool_return_matrix[direct-*-anthropic]"
PARTNER = "Claude docs, vision: on Bedrock and Google Cloud only base64 sources"

TEXT_MODELS = ("*claude-1*", "*claude-v[12]*", "*claude-2*", "*claude-instant*")
# The first models of Claude 3 take images, but PDFs came with 3.5.
BEFORE_PDF = ("*claude-3-opus*", "*claude-3-sonnet*", "*claude-3-haiku*")
HAIKU_3_5 = ("*claude-3-5-haiku*",)
NO_VISION = "AWS docs, Converse, supported models: Claude 2.x and earlier have no vision"
NO_VISUAL_PDF = "litellm 1.109 table: Claude 3 Opus, Sonnet and Haiku have vision, no PDF input (Bedrock, Vertex)"
HAIKU_TEXT = (
    "litellm 1.109 table: no vision on Bedrock and Vertex; 400 doesn't support the image content block (boto3 #4581)"
)
HAIKU_NO_PDF = "400 claude-3-5-haiku-20241022 does not support PDFs (boto3 #4581)"

DIRECT = Family(
    provider="anthropic",
    api="anthropic-messages",
    patterns=("*claude*",),
    example="claude-sonnet-4-5",
    cells=(
        *make_cells("sees", BOTH, WEB_IMAGES, RECORDED, forms=EVERY_FORM, limits=IMAGE),
        *make_cells("sees", BOTH, PDF, RECORDED, forms=EVERY_FORM, limits=PAGES),
    ),
    order=ORDER,
    budget=BUDGET,
    # Anthropic's docs, "Citations" and "Messages": temperature "ranges from 0.0 to 1.0".
    dialect=Dialect(can_cite=True, container="blocks", max_temperature=1.0),
)

DIRECT_TEXT = subfamily_of(
    DIRECT, patterns=TEXT_MODELS, example="claude-2.1", cells=(*no_images(NO_VISION), *no_pdf(NO_VISION))
)
DIRECT_BEFORE_PDF = subfamily_of(
    DIRECT,
    patterns=BEFORE_PDF,
    example="claude-3-haiku-20240307",
    cells=(*make_cells("sees", BOTH, WEB_IMAGES, RECORDED, forms=EVERY_FORM, limits=IMAGE), *no_pdf(NO_VISUAL_PDF)),
)

BY_PARTNERS = (
    *make_cells("sees", BOTH, WEB_IMAGES, PARTNER, limits=IMAGE),
    *make_cells("sees", BOTH, PDF, PARTNER, limits=PAGES),
)
NO_URL = "400 URL sources are not supported (Claude behind Bedrock)"
BEDROCK = replace(
    DIRECT,
    provider="anthropic-bedrock",
    example="us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    cells=(*BY_PARTNERS, *make_cells("rejects", BOTH, WEB_IMAGES, NO_URL, forms=("url",))),
    budget=PARTNER_BUDGET,
)
VERTEX = replace(BEDROCK, provider="anthropic-vertex", example="claude-sonnet-4-5@20250929", cells=BY_PARTNERS)


def older(family: Family, haiku: str, haiku_3_5: str, haiku_pdf: tuple[Capability, ...]) -> tuple[Family, ...]:
    """The rows of a partner's older models, with its names of Haiku 3 and 3.5, and what 3.5 does with PDFs."""
    before_pdf = (*make_cells("sees", BOTH, WEB_IMAGES, PARTNER, limits=IMAGE), *no_pdf(NO_VISUAL_PDF))
    return (
        subfamily_of(family, patterns=TEXT_MODELS, example="anthropic.claude-v2:1", cells=DIRECT_TEXT.cells),
        subfamily_of(family, patterns=BEFORE_PDF, example=haiku, cells=before_pdf),
        subfamily_of(family, patterns=HAIKU_3_5, example=haiku_3_5, cells=(*no_images(HAIKU_TEXT), *haiku_pdf)),
    )


BEDROCK_OLDER = older(
    BEDROCK,
    "anthropic.claude-3-haiku-20240307-v1:0",
    "us.anthropic.claude-3-5-haiku-20241022-v1:0",
    no_pdf(HAIKU_NO_PDF),
)
VERTEX_OLDER = older(
    VERTEX,
    "claude-3-haiku@20240307",
    "claude-3-5-haiku@20241022",
    make_cells("unproven", USER, PDF, "litellm 1.109 table: PDF input", LISTED, limits=PAGES),
)

FAMILIES = (
    DIRECT,
    DIRECT_TEXT,
    DIRECT_BEFORE_PDF,
    as_default(DIRECT, "some-model"),
    BEDROCK,
    *BEDROCK_OLDER,
    as_default(BEDROCK, "some-model"),
    VERTEX,
    *VERTEX_OLDER,
    as_default(VERTEX, "some-model"),
)
