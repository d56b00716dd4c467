"""Kinds of files: image, document, audio, video, text or other, by their media type."""

from __future__ import annotations

from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["image", "document", "audio", "video", "text", "other"]
DOCUMENTS = frozenset(
    {
        "application/pdf",
        "application/msword",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
        "application/x-ipynb+json",
        "application/vnd.ms-excel.sheet.binary.macroenabled.12",
        "application/vnd.ms-excel.sheet.macroenabled.12",
        "application/vnd.ms-excel.template.macroenabled.12",
        "application/vnd.ms-powerpoint.presentation.macroenabled.12",
        "application/vnd.ms-powerpoint.slideshow.macroenabled.12",
        "application/vnd.ms-powerpoint.template.macroenabled.12",
        "application/vnd.ms-word.document.macroenabled.12",
        "application/vnd.ms-word.template.macroenabled.12",
        "application/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
        "application/vnd.openxmlformats-officedocument.presentationml.template",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
    }
)
TEXTS = frozenset({"application/json", "application/xml", "application/yaml", "application/javascript"})


def kind_of(media_type: str) -> Kind:
    """The kind of an IANA media type. SVG is text, because no model accepts it as an image."""
    if media_type == "image/svg+xml" or media_type in TEXTS:
        return "text"
    if media_type in DOCUMENTS:
        return "document"
    match media_type.partition("/")[0]:
        case "image" | "audio" | "video" | "text" as kind:
            return kind
        case _:
            return "other"
