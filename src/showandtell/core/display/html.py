"""Blocks as HTML for notebooks. It holds no script, no link and no address: pictures are data URIs."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape

from showandtell.core.display.layout import (
    MAX_PICTURE_BYTES,
    MAX_PICTURES,
    MAX_TOTAL_BYTES,
    Block,
    Picture,
    Rows,
    Words,
    limit,
)

#: Images that a browser draws without running anything in them, as SVG could.
IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
#: The classes keep MathJax, which notebooks run over their output, away from the texts.
ROOT = '<div class="showandtell tex2jax_ignore mathjax_ignore" style="max-width:60em">'
TEXT = '<pre style="white-space:pre-wrap;overflow-wrap:anywhere;margin:0.2em 0 0.8em">'
FIGURE = '<figure style="display:inline-block;vertical-align:top;margin:0 1em 0.8em 0;max-width:340px">'
IMAGE = 'style="max-width:320px;max-height:320px"'


def to_html(blocks: Iterable[Block]) -> str:
    """Format blocks within their limits, with all texts escaped."""
    pictures, size = MAX_PICTURES, MAX_TOTAL_BYTES
    formatted: list[str] = []
    for block in limit(blocks):
        media_type, data = block.load() if isinstance(block, Picture) and pictures else ("", b"")
        if media_type not in IMAGES or len(data) > min(MAX_PICTURE_BYTES, size):
            data = b""
        pictures, size = pictures - bool(data), size - len(data)
        formatted.append(_format(block, media_type, data))
    return f"{ROOT}{''.join(formatted)}</div>"


def _format(block: Block, media_type: str, data: bytes) -> str:
    match block:
        case Words(heading, text):
            return f"<div><b>{escape(heading)}</b></div>{f'{TEXT}{escape(text)}</pre>' if text else ''}"
        case Picture(caption):
            shown = escape(caption)
            address = f"data:{media_type};base64,{base64.b64encode(data).decode()}"
            image = f'<img src="{address}" alt="{shown}" {IMAGE}>' if data else ""
            return f"{FIGURE}{image}<figcaption>{shown}</figcaption></figure>"
        case Rows(title, rows):
            items = "".join(f"<li>{escape(row)}</li>" for row in rows)
            return f"<details><summary>{escape(title)}</summary><ul>{items}</ul></details>" if rows else ""
