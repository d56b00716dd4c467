"""Estimates the tokens of text and files, before anything is sent. Counting them exactly would take a request each.

Text is measured in UTF-8 bytes, which fits scripts better than characters: a Chinese character has three bytes and
about one token. Anthropic's glossary names 3.5 characters of English a token, OpenAI and Google 4.
"""

from __future__ import annotations

from math import ceil

from showandtell.core.capabilities.cells import TokenCosts
from showandtell.core.messages.attachments import Address, Facts

BYTES_PER_TOKEN = 3.5
#: Bytes of a page of a document whose pages aren't known.
PAGE_BYTES = 50_000
#: Seconds of audio and video whose length isn't known.
UNKNOWN_SECONDS = 60


def text_tokens(size: int) -> int:
    """The tokens of text of `size` bytes."""
    return int(size / BYTES_PER_TOKEN)


def file_tokens(file: Facts | Address, costs: TokenCosts) -> int:
    """The tokens of a file that is sent as it is. Unknown files count as large ones of their kind."""
    facts = file if isinstance(file, Facts) else None
    match file.kind:
        case "image":
            return image_tokens(facts.pixels if facts else None, costs)
        case "document":
            known = facts.pages if facts else None
            return costs.page * (known or pages_in(facts))
        case "audio" | "video":
            seconds = (facts.seconds if facts else None) or UNKNOWN_SECONDS
            return ceil(seconds * (costs.second_audio if file.kind == "audio" else costs.second_video))
        case _:
            return text_tokens(facts.size if facts else PAGE_BYTES)


def pages_in(facts: Facts | None) -> int:
    """The likely number of pages of a document, by its size."""
    return max(1, (facts.size if facts else 0) // PAGE_BYTES)


def image_tokens(pixels: tuple[int, int] | None, costs: TokenCosts) -> int:
    """The tokens of an image; the most that one costs if its pixels aren't known."""
    if pixels is None:
        return costs.image_max
    squares = ceil(pixels[0] / costs.image_side) * ceil(pixels[1] / costs.image_side)
    return min(costs.image_max, ceil(squares * costs.image_factor))
