"""Python objects as plain values, one layer at a time: models, dataclasses, enums, dates and other scalars.

It never looks inside what it gives, so a file in a field stays a file.
"""

from __future__ import annotations

import io
from collections.abc import AsyncIterable, Awaitable, Iterator
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, cast
from uuid import UUID

import msgspec

from showandtell.core.collect.pointer_errors import PointerError

#: msgspec writes these as JSON text, and nobody subclasses them to mean something else.
SCALARS = frozenset({datetime, date, time, timedelta, UUID, Decimal})


def unfold(value: Any) -> object:
    """The plain value that stands for an object; its members are given as they are.

    Raises PointerError for what has no value yet (iterators, coroutines) and for unknown classes.
    """
    match value:
        case Enum():
            return value.value
        case str():
            return str.__str__(value)
        case int():
            return int(value)
        case float():
            return float(value)
        case PurePath():
            return str(value)
        case io.IOBase():
            raise PointerError("an open file has no JSON; return File.from_path(path) or its bytes")
        case Iterator() | AsyncIterable() | Awaitable():
            raise PointerError(f"a {name_class(cast('object', value))} holds no values yet; return a list")
        case _:
            return value if isinstance(value, type) else unfold_object(value)


def unfold_object(value: Any) -> object:
    """The named fields of an object, or the JSON spelling of a scalar."""
    kind = cast("Any", type(value))
    if isinstance(value, msgspec.Struct):
        return read_struct(value)
    if hasattr(kind, "__pydantic_root_model__") and hasattr(value, "root"):
        return value.root
    if hasattr(kind, "__pydantic_fields__") and hasattr(value, "model_dump"):
        return read_model(value)
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if hasattr(kind, "__attrs_attrs__"):
        return {field.name: getattr(value, field.name) for field in kind.__attrs_attrs__}
    return spell_scalar(value)


def read_struct(value: msgspec.Struct) -> object:
    """A msgspec Struct by its encoded names, with its tag; array-like ones as a list."""
    config = value.__struct_config__
    names = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
    members = {encoded: getattr(value, name) for encoded, name in names if getattr(value, name) is not msgspec.UNSET}
    if config.array_like:
        tagged = [] if config.tag is None else [config.tag]
        return tagged + list(members.values())
    return members if config.tag_field is None else {config.tag_field: config.tag, **members}


def read_model(value: Any) -> dict[str, object]:
    """A pydantic model by field: pydantic itself would dump a `File` to its fields, so it writes only what it must."""
    kind = cast("Any", type(value))
    if kind.__pydantic_decorators__.model_serializers:
        return value.model_dump()
    members = {name: getattr(value, name) for name, field in kind.__pydantic_fields__.items() if not field.exclude}
    members |= value.__pydantic_extra__ or {}
    members |= {name: getattr(value, name) for name in kind.__pydantic_decorators__.computed_fields}
    written = find_serialized(kind) & members.keys()
    return members | (value.model_dump(include=written) if written else {})


def find_serialized(model: Any) -> set[str]:
    """The fields of a model that are written by a serializer of their own."""
    decorators = model.__pydantic_decorators__.field_serializers.values()
    named = {name for decorator in decorators for name in decorator.info.fields}
    annotated = {
        name
        for name, field in model.__pydantic_fields__.items()
        if any(type(mark).__name__.endswith("Serializer") for mark in field.metadata)
    }
    return annotated | (set(model.__pydantic_fields__) if "*" in named else named)


def spell_scalar(value: object) -> object:
    """A date, a UUID, a decimal, an address or a secret, as JSON spells it; unknown classes are misfits."""
    try:
        return msgspec.to_builtins(value)
    except TypeError:
        pass
    # Loaded here because most values never need it, and `import showandtell` stays light.
    from pydantic_core import PydanticSerializationError, to_jsonable_python  # noqa: PLC0415

    try:
        return cast("object", to_jsonable_python(value, inf_nan_mode="constants"))
    except PydanticSerializationError:
        raise refuse(value) from None


def refuse(value: object) -> PointerError:
    """The misfit of an object that nobody knows how to read."""
    what = f"the class {value.__name__}" if isinstance(value, type) else f"an object of type {name_class(value)}"
    return PointerError(f"{what} has no JSON; return text, JSON values, or a File")


def name_class(value: object) -> str:
    """The name of an object's class, with its module unless that is Python's own."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
