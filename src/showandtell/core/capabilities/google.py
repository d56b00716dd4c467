"""Gemini and Gemma by generateContent: the Developer API ("google") and Vertex."""

from __future__ import annotations

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Budget, Capability, Dialect, FileLimits, Order, Target
from showandtell.core.capabilities.family import (
    BOTH,
    EVERY_FORM,
    INLINE_URL,
    LISTED,
    PDF,
    PLAIN,
    PNG_JPEG_WEBP,
    TEXT,
    TOOL,
    USER,
    Family,
    as_default,
    make_cells,
    no_images,
    no_pdf,
    subfamily_of,
)

ORDER = Order(after_results="own_turn")
OLDER_DIALECT = Dialect(thinking="budget")
# Inline files of a request together, since January 2026 (Google's announcement of the new file limits).
BUDGET = Budget(bytes=100_000_000)
# Firebase's page still says 20 MB inline; it is the only figure stated for Vertex, so we use it.
VERTEX_BUDGET = Budget(bytes=20_000_000, images=3000)
# 50 MB and 1000 pages: unverified, from memory.
PAGES = FileLimits(bytes=50_000_000, pages=1000)

IMAGES = (*PNG_JPEG_WEBP, "image/heic", "image/heif")
AUDIO = ("audio/wav", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac")
VIDEO = (
    "video/mp4",
    "video/mpeg",
    "video/quicktime",
    "video/x-msvideo",
    "video/x-flv",
    "video/webm",
    "video/x-ms-wmv",
    "video/3gpp",
)
NEWER = ("gemini-[3-9]*",)
OLDER = ("gemini-1*", "gemini-2*", "gemma*")
#: Models that only speak.
SPEECH = ("*-tts*",)
TEXT_GEMMA = ("gemma-2-*", "gemma-3-1b*")

GEMINI_3 = "recorded: test_multimodal_tool_return_matrix[direct-binary-*-google_gemini3]"
PLAIN_PARTS = "pydantic-ai profiles/google.py:27-33: png, jpeg, webp, pdf, text/plain in function_response.parts"
FILE_ID_BLIND = "recorded: 200 but text tokens only, the answer was invented (direct-uploaded_file-*-google_gemini3)"
URL_BLIND = "Kotlin SDK docs: FunctionResponseFileData is not supported in Gemini API"
UNTRIED = "nobody has tried it in function_response.parts"
NO_PARTS = "400 function_response.parts is not supported for this model. (adkx ADR-0002)"
USER_PARTS = "recorded: test_multimodal_tool_return_matrix[*-google_gemini3], [*-google_2_5], user parts"
USER_TYPES = "Gemini API docs: text/* in user parts"
VERTEX_3 = "recorded: test_multimodal_tool_return_matrix[direct-*-google_vertex]"
URL_ROBOTED = "recorded: gs:// and https; a page behind robots.txt is 400 URL_ROBOTED (direct-url-*-google_vertex)"

IN_USER = (
    *make_cells("sees", USER, IMAGES, USER_PARTS, forms=EVERY_FORM),
    *make_cells("sees", USER, PDF, USER_PARTS, forms=EVERY_FORM, limits=PAGES),
    *make_cells("sees", USER, AUDIO, USER_PARTS, forms=EVERY_FORM),
    *make_cells("sees", USER, VIDEO, USER_PARTS, forms=EVERY_FORM),
    *make_cells("sees", USER, TEXT, USER_TYPES, forms=EVERY_FORM),
)
BESIDE_IMAGES = (
    *make_cells("sees", TOOL, PDF, GEMINI_3, limits=PAGES),
    *make_cells("sees", TOOL, PLAIN, PLAIN_PARTS),
    *make_cells("unproven", TOOL, AUDIO, UNTRIED),
    *make_cells("unproven", TOOL, VIDEO, UNTRIED),
)
IN_PARTS = (*make_cells("sees", TOOL, PNG_JPEG_WEBP, GEMINI_3), *BESIDE_IMAGES)
REFERENCES_BLIND = (
    *make_cells("blind", TOOL, IMAGES, FILE_ID_BLIND, forms=("file_id",)),
    *make_cells("blind", TOOL, PDF, FILE_ID_BLIND, forms=("file_id",)),
    *make_cells("blind", TOOL, IMAGES, URL_BLIND, forms=("url",)),
    *make_cells("blind", TOOL, PDF, URL_BLIND, forms=("url",)),
)
PARTS_REJECTED = (
    *make_cells("rejects", TOOL, IMAGES, NO_PARTS, "2025-11-01"),
    *make_cells("rejects", TOOL, PDF, NO_PARTS, "2025-11-01"),
    *make_cells("rejects", TOOL, AUDIO, NO_PARTS, "2025-11-01"),
    *make_cells("rejects", TOOL, VIDEO, NO_PARTS, "2025-11-01"),
    *make_cells("rejects", TOOL, TEXT, NO_PARTS, "2025-11-01"),
)
SPEECH_TEXT = "litellm 1.109 table, gemini-2.5-pro-preview-tts: text only"
GEMMA_TEXT = "Gemma's model cards: Gemma 2 and Gemma 3 1B take only text (memory)"


def no_files(evidence: str) -> tuple[Capability, ...]:
    """The cells of models that take only text."""
    sound_and_video = (make_cells("rejects", BOTH, types, evidence, LISTED) for types in (AUDIO, VIDEO))
    return (*no_images(evidence), *no_pdf(evidence), *(cell for cells in sound_and_video for cell in cells))


SCREENSHOT = make_cells("sees", TOOL, ("image/png",), "screenshot in parts (adkx ADR-0002)", "2025-11-01")

#: The account of Vertex's requests with an API key alone ("express mode"): their URLs name no project.
EXPRESS = "express"

GEMINI_NEWER = Family(
    provider="google",
    api="gemini",
    patterns=NEWER,
    example="gemini-3-flash-preview",
    cells=(*IN_PARTS, *REFERENCES_BLIND, *IN_USER),
    order=ORDER,
    budget=BUDGET,
    dialect=Dialect(needs_signature=True),
)
GEMINI_COMPUTER = replace(
    GEMINI_NEWER,
    patterns=("gemini-2.5-computer-use*",),
    example="gemini-2.5-computer-use-preview-10-2025",
    cells=(*SCREENSHOT, *IN_USER),
    dialect=OLDER_DIALECT,
)
GEMINI_OLDER = replace(
    GEMINI_NEWER,
    patterns=OLDER,
    example="gemini-2.5-flash",
    cells=(*PARTS_REJECTED, *IN_USER),
    dialect=OLDER_DIALECT,
)
GEMINI_SPEECH = subfamily_of(
    GEMINI_OLDER, patterns=SPEECH, example="gemini-2.5-pro-preview-tts", cells=no_files(SPEECH_TEXT)
)
GEMMA = subfamily_of(GEMINI_OLDER, patterns=TEXT_GEMMA, example="gemma-3-1b-it", cells=no_files(GEMMA_TEXT))

# 7 MB an image inline, 30 MB from a bucket (Google Cloud docs, image understanding).
VERTEX_IMAGE = FileLimits(bytes=7_000_000)
SCHEMES = ("gs", "https")
VERTEX_USER = (
    *make_cells("sees", USER, IMAGES, VERTEX_3, forms=INLINE_URL, limits=VERTEX_IMAGE, schemes=SCHEMES),
    *make_cells("sees", USER, PDF, VERTEX_3, forms=INLINE_URL, limits=PAGES, schemes=SCHEMES),
    *make_cells("sees", USER, AUDIO, VERTEX_3, forms=INLINE_URL, schemes=SCHEMES),
    *make_cells("sees", USER, VIDEO, VERTEX_3, forms=INLINE_URL, schemes=SCHEMES),
    *make_cells("sees", USER, TEXT, USER_TYPES, forms=INLINE_URL, schemes=SCHEMES),
)
VERTEX_PARTS = (
    *make_cells("sees", TOOL, PNG_JPEG_WEBP, VERTEX_3, limits=VERTEX_IMAGE),
    *BESIDE_IMAGES,
    *make_cells("sees", TOOL, PNG_JPEG_WEBP, URL_ROBOTED, forms=("url",), schemes=SCHEMES),
    *make_cells("sees", TOOL, PDF, URL_ROBOTED, forms=("url",), schemes=SCHEMES),
)

VERTEX_NEWER = replace(
    GEMINI_NEWER,
    provider="vertex",
    cells=(*VERTEX_PARTS, *VERTEX_USER),
    budget=VERTEX_BUDGET,
    dialect=Dialect(takes_call_ids=False, needs_signature=True),
)
VERTEX_COMPUTER = replace(
    VERTEX_NEWER,
    patterns=GEMINI_COMPUTER.patterns,
    example=GEMINI_COMPUTER.example,
    cells=(*SCREENSHOT, *VERTEX_USER),
    dialect=replace(OLDER_DIALECT, takes_call_ids=False),
)
VERTEX_OLDER = replace(
    VERTEX_NEWER,
    patterns=OLDER,
    example="gemini-2.5-flash",
    cells=(*PARTS_REJECTED, *VERTEX_USER),
    dialect=replace(OLDER_DIALECT, takes_call_ids=False),
)
VERTEX_SPEECH = subfamily_of(
    VERTEX_OLDER, patterns=SPEECH, example="gemini-2.5-pro-preview-tts", cells=GEMINI_SPEECH.cells
)
VERTEX_GEMMA = subfamily_of(VERTEX_OLDER, patterns=TEXT_GEMMA, example="gemma-3-1b-it", cells=GEMMA.cells)

FAMILIES = (
    GEMINI_NEWER,
    GEMINI_COMPUTER,
    GEMINI_OLDER,
    GEMINI_SPEECH,
    GEMMA,
    replace(as_default(GEMINI_OLDER, "some-model"), dialect=GEMINI_NEWER.dialect),
    VERTEX_NEWER,
    VERTEX_COMPUTER,
    VERTEX_OLDER,
    VERTEX_SPEECH,
    VERTEX_GEMMA,
    replace(as_default(VERTEX_OLDER, "some-model"), dialect=VERTEX_NEWER.dialect),
)


def in_express_mode(target: Target) -> Target:
    """A target on Vertex as a key alone reaches it. A key opens no buckets, so `gs:` addresses can't be sent."""
    cells = [
        replace(cell, url_schemes=tuple(scheme for scheme in cell.url_schemes if scheme != "gs"))
        for cell in target.cells
    ]
    return replace(target, account=EXPRESS, cells=tuple(cells))
