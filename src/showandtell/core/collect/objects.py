"""Python objects as plain values, one layer at a time: models, dataclasses, enums, dates and other scalars.

The values of fields aren't converted, so a file in a field stays a file.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Iterator
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from types import ModuleType
from typing import Any, cast
from uuid import UUID

import msgspec

from showandtell.core.collect.charts import refuse_module
from showandtell.core.collect.pointer_errors import PointerError

#: Exact types that msgspec writes as JSON strings.
SCALARS = frozenset({datetime, date, time, timedelta, UUID, Decimal})


def unfold(value: Any) -> object:
    """The plain value of an object, its members as they are. A class is returned as it is.

    Raises `PointerError` for iterators, coroutines and unknown classes.
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
        case ModuleType():
            raise refuse_module(value)
        case Iterator() | AsyncIterable() | Awaitable():
            raise PointerError(f"a {class_name(cast('object', value))} holds no values yet; return a list")
        case _:
            return value if isinstance(value, type) else unfold_object(value)


def unfold_object(value: Any) -> object:
    """The fields of an object by name, or a scalar as JSON."""
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
    return convert_scalar(value)


def read_struct(value: msgspec.Struct) -> object:
    """A msgspec Struct by its encoded names, with its tag. An array-like Struct is a list."""
    config = value.__struct_config__
    names = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
    members = {encoded: getattr(value, name) for encoded, name in names if getattr(value, name) is not msgspec.UNSET}
    if config.array_like:
        tagged = [] if config.tag is None else [config.tag]
        return tagged + list(members.values())
    return members if config.tag_field is None else {config.tag_field: config.tag, **members}


def read_model(value: Any) -> dict[str, object]:
    """A pydantic model by field. `model_dump` would dump a `File`, so it is used only for fields with serializers."""
    kind = cast("Any", type(value))
    if kind.__pydantic_decorators__.model_serializers:
        return value.model_dump()
    members = {name: getattr(value, name) for name, field in kind.__pydantic_fields__.items() if not field.exclude}
    members |= value.__pydantic_extra__ or {}
    members |= {name: getattr(value, name) for name in kind.__pydantic_decorators__.computed_fields}
    serialized = find_serialized(kind) & members.keys()
    return members | (value.model_dump(include=serialized) if serialized else {})


def find_serialized(model: Any) -> set[str]:
    """The fields of a model that have their own serializers."""
    decorators = model.__pydantic_decorators__.field_serializers.values()
    named = {name for decorator in decorators for name in decorator.info.fields}
    annotated = {
        name
        for name, field in model.__pydantic_fields__.items()
        if any(type(item).__name__.endswith("Serializer") for item in field.metadata)
    }
    return annotated | (set(model.__pydantic_fields__) if "*" in named else named)


def convert_scalar(value: object) -> object:
    """A date, UUID, decimal, IP address or secret as a JSON value. Raises `PointerError` for unknown classes."""
    try:
        return msgspec.to_builtins(value)
    except TypeError:
        pass
    # Rarely needed, and slow to import.
    from pydantic_core import to_jsonable_python  # noqa: PLC0415

    try:
        return cast("object", to_jsonable_python(value, inf_nan_mode="constants"))
    except Exception as error:
        raise unsupported(value) from error


def unsupported(value: object) -> PointerError:
    """The error for an object of an unknown class."""
    what = f"the class {value.__name__}" if isinstance(value, type) else f"an object of type {class_name(value)}"
    return PointerError(f"{what} has no JSON; return text, JSON values, or a File")


def class_name(value: object) -> str:
    """The name of an object's class, with its module unless it is a builtin."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
