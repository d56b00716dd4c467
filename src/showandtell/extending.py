"""The names to extend Show & Tell with: providers, APIs, converters, tools and stores of your own.

docs/extending.md has a whole working file for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from showandtell.lazy import lazy_names

if TYPE_CHECKING:
    from showandtell.core.capabilities.apis import Api, register_api
    from showandtell.core.capabilities.cells import (
        AnswerFormat,
        Budget,
        Capability,
        Dialect,
        ErrorWords,
        FileLimits,
        Order,
        Target,
        TokenCosts,
        Window,
    )
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
    from showandtell.core.events.types import ProviderFault, StepEnd, StreamEvent
    from showandtell.core.media_types.converters import Converter, register_converter
    from showandtell.core.planning.values import Data, Entry, RenderedFile, Result
    from showandtell.core.wire.extra_body import merge_extra_body, read_extra_body
    from showandtell.core.wire.opaque import arguments_json
    from showandtell.core.wire.open_block import OpenBlock
    from showandtell.core.wire.options import Options, ToolSpec
    from showandtell.core.wire.parsers import ResponseParser
    from showandtell.core.wire.renderers import Renderer
    from showandtell.core.wire.stream import EventReader, FrameSplitter
    from showandtell.core.wire.tree import Slot, Tree
    from showandtell.errors import BadAnswer
    from showandtell.storage.blobs.object_store import ObjectStore, StoredObject, register_store

#: The public names by module. Modules are imported on first use of a name.
MODULES = {
    "core.capabilities.apis": "Api register_api",
    "core.capabilities.cells": "AnswerFormat Budget Capability Dialect ErrorWords FileLimits Order Target TokenCosts "
    "Window",
    "core.capabilities.family": "ANY_MODEL AUDIO BOTH INLINE INLINE_URL OFFICE_XML PDF PNG_JPEG PNG_JPEG_WEBP TOOL "
    "USER VIDEO WEB_IMAGES Family make_cells",
    "core.capabilities.provider": "ApiKey Provider",
    "core.capabilities.registry": "register_provider",
    "core.media_types.converters": "Converter register_converter",
    "core.events.types": "ProviderFault StepEnd StreamEvent",
    "core.planning.values": "Data Entry RenderedFile Result",
    "core.wire.extra_body": "merge_extra_body read_extra_body",
    "core.wire.opaque": "arguments_json",
    "core.wire.open_block": "OpenBlock",
    "core.wire.options": "Options ToolSpec",
    "core.wire.parsers": "ResponseParser",
    "core.wire.renderers": "Renderer",
    "core.wire.stream": "EventReader FrameSplitter",
    "core.wire.tree": "Slot Tree",
    "errors": "BadAnswer",
    "storage.blobs.object_store": "ObjectStore StoredObject register_store",
}
MODULE_OF = {name: module for module, names in MODULES.items() for name in names.split()}

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
    "AnswerFormat",
    "Api",
    "ApiKey",
    "BadAnswer",
    "Budget",
    "Capability",
    "Converter",
    "Data",
    "Dialect",
    "Entry",
    "ErrorWords",
    "EventReader",
    "Family",
    "FileLimits",
    "FrameSplitter",
    "ObjectStore",
    "OpenBlock",
    "Options",
    "Order",
    "Provider",
    "ProviderFault",
    "RenderedFile",
    "Renderer",
    "ResponseParser",
    "Result",
    "Slot",
    "StepEnd",
    "StoredObject",
    "StreamEvent",
    "Target",
    "TokenCosts",
    "ToolSpec",
    "Tree",
    "Window",
    "arguments_json",
    "make_cells",
    "merge_extra_body",
    "read_extra_body",
    "register_api",
    "register_converter",
    "register_provider",
    "register_store",
]

__getattr__, __dir__ = lazy_names(__name__, MODULE_OF)
