"""JSON bodies of routes. msgspec stops at the first problem, where pydantic reports each of thousands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar, cast

import msgspec
from starlette.requests import Request

from showandtell.errors import BadInput

T = TypeVar("T")


def json_body(kind: type[T]) -> Callable[[Request], Awaitable[T]]:
    """A dependency that returns the body as this `Struct`. Raises `BadInput`."""
    decode = msgspec.json.Decoder(kind).decode

    async def read(request: Request) -> T:
        try:
            return decode(await request.body())
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise BadInput(f"the body is invalid: {str(error)[:200]}") from None

    return read


def describe_body(kind: type[Any], example: object) -> dict[str, Any]:
    """The OpenAPI description of such a body, for `openapi_extra`."""
    (schema,), components = msgspec.json.schema_components([kind])
    content = {"schema": inline(schema, components), "example": example}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def inline(schema: Any, components: Mapping[str, Any]) -> Any:
    """A schema with the components that it refers to in it."""
    match schema:
        case {"$ref": str(path)}:
            return inline(components[path.rpartition("/")[2]], components)
        case dict():
            return {key: inline(value, components) for key, value in cast("dict[str, Any]", schema).items()}
        case list():
            return [inline(value, components) for value in cast("list[Any]", schema)]
        case _:
            return schema
