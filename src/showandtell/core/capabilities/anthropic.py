"""Claude through the Messages API: at Anthropic, on Bedrock (InvokeModel, Mantle) and on Vertex.

Its text source isn't base64, so there is no cell for text: text files are sent as text.
"""

from __future__ import annotations

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Budget, FileLimits, Order
from showandtell.core.capabilities.family import BOTH, EVERY_FORM, PDF, WEB_IMAGES, Family, as_default, make_cells

ORDER = Order(after_results="same_turn", error_media=False, call_ids="anthropic", marks=4)

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


FAMILIES = (
    DIRECT,
    as_default(DIRECT, "some-model"),
    BEDROCK,
    as_default(BEDROCK, "some-model"),
    VERTEX,
    as_default(VERTEX, "some-model"),
)
