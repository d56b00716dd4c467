"""The OpenAPI description at /api/openapi.json: what FastAPI knows of the routes, and what it doesn't."""

from __future__ import annotations

from typing import Any, cast

from fastapi import FastAPI

from showandtell.server import openapi_examples
from showandtell.server.middleware.origin_guard import PROBES
from showandtell.server.schemas import INVOICE, MEANINGS, Shape

METHODS = frozenset({"get", "put", "post", "delete", "patch", "head", "options"})
OF_THE_PAGE = "what the page has; its name ends in letters of each server's own, and begins with __Host- under https"
SECURITY: dict[str, Any] = {
    "cookie": {"type": "apiKey", "in": "cookie", "name": "showandtell", "description": OF_THE_PAGE},
    "bearer": {"type": "http", "scheme": "bearer", "description": "the server's token, or a JWT of its issuer"},
}
ABOUT = """Chat with models that see what tools show.

A file is uploaded first, and a message names it by its id. Answers of `/api/chat` are the UI message stream, version 1,
which npm `ai` reads. Every id that is not yours is answered as if there were no such thing. A request with a cookie
that changes something needs the header `Origin` with this server's own address. Each error has the form
`{"error": {"kind": "NotFound", "text": "what went wrong, and what to do"}}`."""
TAGS = {
    "chat": "Ask, follow, stop",
    "attachments": "Files: upload, look at, download",
    "conversations": "What was said, kept",
    "models": "Who may be asked, and what each sees",
    "settings": "What a user sets",
    "examples": "What a newcomer may try",
    "health": "For machines that look after this one",
}
#: Examples of parameters by name, and of those that mean another thing below `/api/…`.
GIVEN: dict[str, Any] = {
    "chat_id": openapi_examples.ALIAS,
    "name": "invoice.pdf",
    "number": 1,
    "sha256": "c93ba2d30e2ad044ca41c0a621934f57652f99c0421c1d8e40a8c003e2c35f91",
    "other": "anna@https://id.example.com",
    "download": True,
    "q": "invoice may",
    "limit": 20,
    "before": openapi_examples.CONVERSATION,
}
OF_PATHS: dict[str, dict[str, str]] = {
    "attachments": {"id": INVOICE["id"]},
    "conversations": {"id": openapi_examples.CONVERSATION},
    "examples": {"name": "invoice"},
}
#: How any body may be refused.
OF_BODIES = (400, 413, 415)
OUR_ERROR = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorShape"}}}


def describe(app: FastAPI) -> None:
    """Let an application describe itself so."""
    app.description = ABOUT
    app.openapi_tags = [{"name": name, "description": text} for name, text in TAGS.items()]
    plain = app.openapi

    def whole() -> dict[str, Any]:
        return complete(plain())

    app.openapi = whole  # pyright: ignore[reportAttributeAccessIssue] - as FastAPI's docs say how it is extended


def complete(schema: dict[str, Any]) -> dict[str, Any]:
    """The same description with our errors in place of FastAPI's, and with who may ask; once more changes nothing."""
    components = schema.setdefault("components", {})
    for name in ("HTTPValidationError", "ValidationError"):
        components.get("schemas", {}).pop(name, None)
    components["securitySchemes"] = SECURITY
    for shape in Shape.__subclasses__():
        if shape.__name__ in components["schemas"] and (examples := examples_of(shape)):
            # FastAPI leaves out what is null in them.
            components["schemas"][shape.__name__]["examples"] = examples
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            if method in METHODS:
                tell(path, operation)
    return schema


def examples_of(shape: type[Shape]) -> list[Any]:
    """The examples that a shape gives of itself."""
    extra = shape.model_config.get("json_schema_extra")
    return cast("dict[str, list[Any]]", extra).get("examples", []) if isinstance(extra, dict) else []


def tell(path: str, operation: dict[str, Any]) -> None:
    """Say of one operation that its errors are JSON, whatever else it answers, and that one has to be logged in."""
    for parameter in operation.get("parameters", ()):
        own = OF_PATHS.get(path.split("/")[2], {}) if parameter["in"] == "path" else {}
        example = own.get(parameter["name"], GIVEN.get(parameter["name"]))
        if example is not None:
            parameter["example"] = example
    if path in PROBES:  # nobody has to be logged in
        return
    operation["security"] = [{"cookie": []}, {"bearer": []}]
    answers = cast("dict[str, dict[str, Any]]", operation["responses"])
    if "requestBody" in operation:
        answers |= {str(status): dict[str, Any]() for status in OF_BODIES if str(status) not in answers}
    for status, answer in answers.items():
        if status >= "400":
            answer["content"] = OUR_ERROR
            answer["description"] = MEANINGS.get(int(status)) or answer["description"]
