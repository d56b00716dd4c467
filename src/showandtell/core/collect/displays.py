"""Objects that show themselves in notebooks: `_repr_png_`, `_repr_jpeg_`, `_repr_svg_` and `_repr_html_`.

A picture goes to the model. HTML is a file for people, whose words the model reads.
"""

from __future__ import annotations

import logging
from typing import Any, cast

from showandtell.core.collect.data_uris import decode_base64
from showandtell.core.collect.html_words import words_of
from showandtell.core.collect.surrogates import join_surrogates
from showandtell.core.display.displayed import Displayed
from showandtell.core.messages.file import File

log = logging.getLogger("showandtell.tools")

#: The methods that give a picture, best first. PNG needs no conversion and loses nothing.
PICTURES = {"_repr_png_": "image/png", "_repr_jpeg_": "image/jpeg", "_repr_svg_": "image/svg+xml"}
HTML = "_repr_html_"


def has_display(kind: type) -> bool:
    """Whether objects of a class show themselves, not our own. Attributes of objects don't count: a proxy has any."""
    return any(hasattr(kind, name) for name in (*PICTURES, HTML)) and not issubclass(kind, Displayed)


def read_picture(value: Any) -> tuple[object, ...] | None:
    """The picture of an object, if one of its methods gives one."""
    for name, media_type in PICTURES.items():
        content = call_display(value, name)
        if content:
            data = to_bytes(content, is_text=media_type == "image/svg+xml")
            if data:
                return (File(data, media_type),)
    return None


def read_html(value: Any) -> tuple[object, ...] | None:
    """The words of an object's HTML, and the HTML as a file for the user."""
    content = call_display(value, HTML)
    data = to_bytes(content, is_text=True) if content else None
    if not data:
        return None
    return (words_of(data.decode(errors="replace")), html_file(data, type(value).__name__))


def html_file(data: bytes, name: str) -> File:
    """HTML as a file. It may hold scripts, which the server never lets a browser run."""
    return File(data, "text/html", f"{name}.html", audience="user")


def call_display(value: object, name: str) -> object:
    """What a display method returns, without its metadata. None if there is none or it raises, which is logged."""
    if not hasattr(type(value), name):
        return None
    try:
        content: object = getattr(value, name)()
    except Exception:  # the program's own method may raise anything, and the next one may work
        log.warning("%s of %s raised", name, type(value).__qualname__, exc_info=True)
        return None
    return cast("tuple[object, ...]", content)[0] if isinstance(content, tuple) and content else cast("object", content)


def to_bytes(content: object, *, is_text: bool) -> bytes | None:
    """The bytes of a picture, which may be in base64, or of text. None for anything else."""
    match content:
        case bytes() | bytearray() | memoryview():
            return bytes(cast("bytes", content))
        case str() if is_text:
            return join_surrogates(content).encode()
        case str():
            return decode_base64(content)
        case _:
            return None
