"""Routes that upload, describe and delete files. `contents` has the routes that serve their bytes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from pydantic import ConfigDict
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from showandtell.core.messages.file_json import Link, attachment_json
from showandtell.errors import ShowAndTellError
from showandtell.media.turns import Turns
from showandtell.server.auth.authenticate import CurrentUser, current_user
from showandtell.server.files.file_addresses import CurrentLink, current_link
from showandtell.server.files.receiving import MAX_FILES, Body, check_length, receive_file, receive_form, refuse_body
from showandtell.server.schemas import (
    BINARY,
    PENDING,
    AttachmentShape,
    ErrorShape,
    Shape,
    errors,
    json_response,
)
from showandtell.server.state import CurrentServer, get_server
from showandtell.storage.conversations.uploads import AttachedFile, Upload

#: The name of an uploaded file.
Name = Annotated[str, Query(description="file name")]

router = APIRouter(prefix="/api/attachments", tags=["attachments"])

TIMEOUT_RESPONSE: Final[dict[int | str, dict[str, Any]]] = {
    408: {"description": "the body stopped arriving", "model": ErrorShape}
}
#: Seconds that an upload waits for its turn.
TURN_SECONDS: Final = 60.0
#: Maximum bytes that a form adds to its files.
FORM_OVERHEAD: Final = 1 << 20
FORM: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "array", "items": BINARY["schema"]}},
                },
                "example": {"file": [BINARY["example"]]},
            }
        },
    }
}
RAW: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": BINARY},
    }
}


class UploadedShape(Shape):
    """The uploaded files, in the order of the form."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"attachments": [PENDING]}]})

    attachments: list[AttachmentShape]


def file_json(file: Upload | AttachedFile, link: Link) -> dict[str, Any]:
    """Return an upload, or a file of a conversation, as JSON."""
    if isinstance(file, Upload):
        return attachment_json(file.attachment, None, link)
    return attachment_json(file.attachment, file.conversation_id, link)


async def receive_body(
    request: Request,
    job: Callable[[Body], Awaitable[Any]],
    max_bytes: int,
    turns: Turns | None = None,
    status: int = 201,
) -> Response:
    """Return the response to a body of at most `max_bytes`, read when it is the user's turn: by default of uploads.

    Closes the connection if it rejects a partial body.
    """
    body, server, user = Body(request), await get_server(request), await current_user(request)
    try:
        check_length(request, max_bytes)
        async with (turns or server.store.upload_turns).awaited(user.name, TURN_SECONDS):
            return json_response(await job(body), status)
    except ClientDisconnect:
        return Response(status_code=499)  # the client is gone: only metrics and logs see this
    except ShowAndTellError as error:
        if body.is_complete:
            raise
        return refuse_body(error)


@router.post(
    "",
    operation_id="upload_files",
    summary="Upload files as a form",
    status_code=201,
    response_model=UploadedShape,
    responses={**errors(413, 415, 422, 507), **TIMEOUT_RESPONSE},
    openapi_extra=FORM,
)
async def upload_files(request: Request) -> Response:
    """Each field `file` is one file, up to 32. Either all are stored or none.

    An upload is deleted after a day if no message uses it.
    """
    server, user = await get_server(request), await current_user(request)  # FastAPI's dependencies would take longer
    uploads, link = server.store.uploads(user.name), await current_link(request, server, user)

    async def receive(body: Body) -> dict[str, Any]:
        files = await receive_form(uploads, body, request.headers.get("content-type"))
        return {"attachments": [file_json(file, link) for file in files]}

    return await receive_body(request, receive, MAX_FILES * server.store.max_file_bytes + FORM_OVERHEAD)


@router.put(
    "",
    operation_id="upload_file",
    summary="Upload one file as the request body",
    status_code=201,
    response_model=AttachmentShape,
    responses={**errors(413, 422, 507), **TIMEOUT_RESPONSE},
    openapi_extra=RAW,
)
async def upload_file(request: Request, name: Name = "") -> Response:
    """The body is the file. The content type is only a claim: the bytes decide the type."""
    server, user = await get_server(request), await current_user(request)
    uploads, link = server.store.uploads(user.name), await current_link(request, server, user)

    async def receive(body: Body) -> dict[str, Any]:
        media_type = request.headers.get("content-type")
        return file_json(await receive_file(uploads, body, name, media_type), link)

    return await receive_body(request, receive, server.store.max_file_bytes)


@router.get(
    "/{id}",
    operation_id="get_attachment",
    summary="Describe a file",
    response_model=AttachmentShape,
    responses=errors(404),
)
async def get_attachment(
    id: str,  # noqa: A002 - it is an id
    server: CurrentServer,
    user: CurrentUser,
    link: CurrentLink,
) -> Response:
    """Describes an upload of yours, or a file of a conversation that you may read."""
    file = await server.store.uploads(user.name).find(id)
    return json_response(file_json(file, link))


@router.delete(
    "/{id}", operation_id="delete_attachment", summary="Delete a file", status_code=204, responses=errors(404)
)
async def delete_attachment(id: str, server: CurrentServer, user: CurrentUser) -> Response:  # noqa: A002 - it is an id
    """Deletes an upload, or the bytes of a conversation's file, which keeps its number and name. Owners only."""
    uploads = server.store.uploads(user.name)
    file = await uploads.find(id)
    await server.store.make_room()
    if isinstance(file, Upload):
        await uploads.delete(id)
        return Response(status_code=204)
    conversation = await server.store.open(file.conversation_id, user.name, "owner")
    deleted = await server.store.delete_file(conversation, file.attachment.number)
    await server.deletions.delete(deleted.uploads)
    return Response(status_code=204)
