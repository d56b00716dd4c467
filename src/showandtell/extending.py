"""The names to extend Show & Tell with: providers of your own, and the rows that say what their models take."""

from __future__ import annotations

from showandtell.core.capabilities.cells import Budget, Capability, Dialect, FileLimits, Order
from showandtell.core.capabilities.family import (
    ANY_MODEL,
    AUDIO,
    BOTH,
    INLINE,
    INLINE_URL,
    OFFICE_XML,
    PDF,
    PNG_JPEG,
    PNG_JPEG_WEBP,
    TOOL,
    USER,
    VIDEO,
    WEB_IMAGES,
    Family,
    make_cells,
)
from showandtell.core.capabilities.provider import ApiKey, Provider
from showandtell.core.capabilities.registry import register_provider

__all__ = [
    "ANY_MODEL",
    "AUDIO",
    "BOTH",
    "INLINE",
    "INLINE_URL",
    "OFFICE_XML",
    "PDF",
    "PNG_JPEG",
    "PNG_JPEG_WEBP",
    "TOOL",
    "USER",
    "VIDEO",
    "WEB_IMAGES",
    "ApiKey",
    "Budget",
    "Capability",
    "Dialect",
    "Family",
    "FileLimits",
    "Order",
    "Provider",
    "make_cells",
    "register_provider",
]
