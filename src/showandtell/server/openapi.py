"""The OpenAPI description at /api/openapi.json: what FastAPI knows of the routes, and what it doesn't."""

from __future__ import annotations

from typing import Any, cast

from fastapi import FastAPI

from showandtell.server.shapes import MEANINGS

#: Where nobody has to be logged in.
OPEN = frozenset({"/healthz", "/readyz"})
METHODS = frozenset({"get", "put", "post", "delete", "patch", "head", "options"})
SECURITY: dict[str, Any] = {
    "cookie": {"type": "apiKey", "in": "cookie", "name": "showandtell", "description": "what the page has"},
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
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            if method in METHODS:
                tell(path, operation)
    return schema


def tell(path: str, operation: dict[str, Any]) -> None:
    """Say of one operation how its wrong values are answered, and that somebody has to be logged in."""
    answers = cast("dict[str, Any]", operation["responses"])
    if "HTTPValidationError" in str(answers.get("422")):
        answers["422"] = {"description": MEANINGS[422], "content": OUR_ERROR}
    if path not in OPEN:
        operation["security"] = [{"cookie": []}, {"bearer": []}]
