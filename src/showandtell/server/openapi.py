"""The OpenAPI document at /api/openapi.json: FastAPI's own, plus errors, security and examples."""

from __future__ import annotations

from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from showandtell.server import openapi_examples
from showandtell.server.auth.authenticate import auth_context, current_user
from showandtell.server.middleware.body_limits import MAX_CHAT_BODY, OWN_LIMITS, limit_of
from showandtell.server.middleware.origin_guard import IMPORT_PATH, PROBE_PATHS, UPLOADS_PATH
from showandtell.server.schemas import ERROR_CONTENT, ERROR_DESCRIPTIONS, INVOICE, ErrorShape, Shape

METHODS = frozenset({"get", "put", "post", "delete", "patch", "head", "options"})
COOKIE_DESCRIPTION = "the page's cookie; its name has a suffix for each server, and the prefix __Host- under https"
SECURITY: dict[str, Any] = {
    "cookie": {"type": "apiKey", "in": "cookie", "name": "showandtell", "description": COOKIE_DESCRIPTION},
    "bearer": {"type": "http", "scheme": "bearer", "description": "the server's token, or a JWT from its issuer"},
}
DESCRIPTION = """Chat with models that see what tools show.

Upload a file first, then refer to it by its id in a message. `/api/chat` responds with the UI message stream,
version 1, which npm `ai` reads. Ids of other users are treated as unknown ids. A request with a cookie that changes
something needs the header `Origin` with this server's own address. Each error has the form
`{"error": {"kind": "NotFound", "text": "what went wrong, and what to do"}}`."""
TAGS = {
    "chat": "Send messages, follow responses, stop runs",
    "attachments": "Upload, describe, view, download and delete files",
    "conversations": "Stored conversations",
    "models": "Available models, and the kinds of files that each one supports",
    "settings": "Settings of the current user",
    "examples": "Example prompts and files",
    "health": "Health checks and metrics",
}
#: Examples of parameters by name, and those that differ by the first path segment below `/api/`.
PARAMETER_EXAMPLES: dict[str, Any] = {
    "chat_id": openapi_examples.ALIAS,
    "name": "invoice.pdf",
    "number": 1,
    "sha256": "c93ba2d30e2ad044ca41c0a621934f57652f99c0421c1d8e40a8c003e2c35f91",
    "other": "anna@id.example.com",
    "provider": "anthropic",
    "revision": 1,
    "use": "everyone",
    "download": True,
    "q": "invoice may",
    "limit": 20,
    "model": "inspector",
    "newest": 100,
    "ids": [INVOICE["id"]],
    "kind": "image",
    "since": "2026-05-01",
    "sort": "largest",
    "until": "2026-05-31",
    "archived": False,
    "tag": "invoices",
    "before": openapi_examples.CONVERSATION,
}
PATH_EXAMPLES: dict[str, dict[str, str]] = {
    "attachments": {"id": INVOICE["id"]},
    "files": {"id": INVOICE["id"]},
    "conversations": {"id": openapi_examples.CONVERSATION},
    "presets": {"id": "preset_5kT2mQx0bZr8nVw4yLsAhd"},
    "examples": {"name": "pages"},
    "pending": {"id": openapi_examples.PENDING_MESSAGE},
}
#: Error statuses of every route with a body.
BODY_STATUSES = (400, 413, 415)
COMPONENTS = "#/components/schemas/{model}"


def customize_openapi(app: FastAPI) -> None:
    """Replace the application's OpenAPI document with the completed one."""
    app.description = DESCRIPTION
    app.openapi_tags = [{"name": name, "description": text} for name, text in TAGS.items()]
    make_default = app.openapi

    def make_complete() -> dict[str, Any]:
        return complete(make_default())

    app.openapi = make_complete  # pyright: ignore[reportAttributeAccessIssue] - the way of FastAPI's docs to extend it

    async def describe_api(request: Request) -> JSONResponse:
        context = auth_context(request)
        if context.accounts is not None or context.host_users is not None:
            await current_user(request)
        return JSONResponse(app.openapi())

    app.add_api_route("/api/openapi.json", describe_api, methods=["GET"], include_in_schema=False)


def complete(schema: dict[str, Any]) -> dict[str, Any]:
    """Replace FastAPI's error schemas with ours, and add security and examples. Idempotent."""
    components = schema.setdefault("components", {})
    for name in ("HTTPValidationError", "ValidationError"):
        components.get("schemas", {}).pop(name, None)
    error = ErrorShape.model_json_schema(ref_template=COMPONENTS)
    components["schemas"] = {**components.get("schemas", {}), **error.pop("$defs"), ErrorShape.__name__: error}
    components["securitySchemes"] = SECURITY
    for shape in Shape.__subclasses__():
        if shape.__name__ in components["schemas"] and (examples := examples_of(shape)):
            # FastAPI drops null values from examples.
            components["schemas"][shape.__name__]["examples"] = examples
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            if method in METHODS:
                complete_operation(path, operation)
    return schema


def examples_of(shape: type[Shape]) -> list[Any]:
    """Return the examples in a model's config."""
    extra = shape.model_config.get("json_schema_extra")
    return cast("dict[str, list[Any]]", extra).get("examples", []) if isinstance(extra, dict) else []


def complete_operation(path: str, operation: dict[str, Any]) -> None:
    """Add JSON errors, security and parameter examples to an operation."""
    for parameter in operation.get("parameters", ()):
        path_examples = PATH_EXAMPLES.get(path.split("/")[2], {}) if parameter["in"] == "path" else {}
        example = path_examples.get(parameter["name"], PARAMETER_EXAMPLES.get(parameter["name"]))
        if example is not None:
            parameter["example"] = example
    if path in PROBE_PATHS:  # needs no login
        return
    operation["security"] = [{"cookie": []}, {"bearer": []}]
    responses = cast("dict[str, dict[str, Any]]", operation["responses"])
    if "requestBody" in operation:
        if path not in {UPLOADS_PATH, IMPORT_PATH}:
            limit = MAX_CHAT_BODY if path in OWN_LIMITS else limit_of(path)
            operation["requestBody"]["description"] = f"at most {limit:,} bytes"
        responses |= {str(status): dict[str, Any]() for status in BODY_STATUSES if str(status) not in responses}
    for status, response in responses.items():
        if status >= "400":
            response["content"] = ERROR_CONTENT
            response["description"] = ERROR_DESCRIPTIONS.get(int(status)) or response["description"]
