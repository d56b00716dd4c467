"""Routes of files: upload, look at, download, delete. Bytes leave by `serving_files` alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from pydantic import ConfigDict
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from showandtell.agent.provider_uploads import delete_uploads
from showandtell.errors import ShowAndTellError
from showandtell.server.auth.authenticate import CurrentUser, User
from showandtell.server.files.receiving import MOST_FILES, Body, check_length, receive_file, receive_form, turn_away
from showandtell.server.schemas import (
    BYTES,
    PENDING,
    AttachmentShape,
    ErrorShape,
    Link,
    Shape,
    answer,
    attachment_json,
    errors,
    plain,
)
from showandtell.server.state import CurrentServer, Server
from showandtell.storage.conversations.uploads import AttachedFile, Upload

#: What an uploaded file is called.
Name = Annotated[str, Query(description="what the file is called")]

router = APIRouter(prefix="/api/attachments", tags=["attachments"])

SLOW: Final[dict[int | str, dict[str, Any]]] = {408: {"description": "no more of the body came", "model": ErrorShape}}
#: What a form adds to its files.
FORM_BYTES: Final = 1 << 20
FORM: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "array", "items": BYTES["schema"]}},
                },
                "example": {"file": [BYTES["example"]]},
            }
        },
    }
}
RAW: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": BYTES},
    }
}


class UploadedShape(Shape):
    """What was uploaded, in the order of the form."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"attachments": [PENDING]}]})

    attachments: list[AttachmentShape]


def link_for(here: Server, user: User) -> Link:
    """How this user is given addresses of files: plain where a cookie goes along, else signed for them alone."""
    if user.how == "cookie":
        return plain

    def sign(path: str) -> str:
        return f"{path}?{here.keys.sign_url(path, user.name, here.clock())}"

    return sign


def found_json(found: Upload | AttachedFile, link: Link) -> dict[str, Any]:
    """An upload, or a file of a conversation, as JSON."""
    if isinstance(found, Upload):
        return attachment_json(found.attachment, None, link)
    return attachment_json(found.attachment, found.conversation_id, link)


async def take_in(request: Request, work: Callable[[Body], Awaitable[Any]], most: int) -> Response:
    """Read a body of at most so many bytes; where it is refused before its end, the connection ends, too."""
    body = Body(request)
    try:
        check_length(request, most)
        return answer(await work(body), 201)
    except ClientDisconnect:
        return Response(status_code=499)  # nobody reads it: for those who count
    except ShowAndTellError as error:
        if body.is_whole:
            raise
        return turn_away(error)


@router.post(
    "",
    operation_id="upload_files",
    summary="Upload files as a form",
    status_code=201,
    response_model=UploadedShape,
    responses={**errors(413, 415, 422, 507), **SLOW},
    openapi_extra=FORM,
)
async def upload_files(request: Request, here: CurrentServer, user: CurrentUser) -> Response:
    """Each field `file` is one file, up to 32; all of them are taken, or none. They wait a day for their message."""
    uploads = here.store.uploads(user.name)

    async def work(body: Body) -> dict[str, Any]:
        done = await receive_form(uploads, body, request.headers.get("content-type"))
        return {"attachments": [found_json(one, link_for(here, user)) for one in done]}

    return await take_in(request, work, MOST_FILES * here.store.max_file_bytes + FORM_BYTES)


@router.put(
    "",
    operation_id="upload_file",
    summary="Upload one file as it is",
    status_code=201,
    response_model=AttachmentShape,
    responses={**errors(413, 422, 507), **SLOW},
    openapi_extra=RAW,
)
async def upload_file(request: Request, here: CurrentServer, user: CurrentUser, name: Name = "") -> Response:
    """The body is the file, its content type what it is said to be; what it is, its bytes prove."""
    uploads = here.store.uploads(user.name)

    async def work(body: Body) -> dict[str, Any]:
        claimed = request.headers.get("content-type")
        return found_json(await receive_file(uploads, body, name, claimed), link_for(here, user))

    return await take_in(request, work, here.store.max_file_bytes)


@router.get(
    "/{id}",
    operation_id="get_attachment",
    summary="What is known of a file",
    response_model=AttachmentShape,
    responses=errors(404),
)
async def get_attachment(id: str, here: CurrentServer, user: CurrentUser) -> Response:  # noqa: A002 - it is one
    """An upload of yours, or a file of a conversation that you may read."""
    found = await here.store.uploads(user.name).find(id)
    return answer(found_json(found, link_for(here, user)))


@router.delete(
    "/{id}", operation_id="delete_attachment", summary="Delete a file", status_code=204, responses=errors(404)
)
async def delete_attachment(id: str, here: CurrentServer, user: CurrentUser) -> Response:  # noqa: A002 - it is one
    """An upload, or the bytes of a conversation's file: its number and name stay. Only its owner may."""
    uploads = here.store.uploads(user.name)
    found = await uploads.find(id)
    if isinstance(found, Upload):
        await uploads.drop(id)
        return Response(status_code=204)
    conversation = await here.store.open(found.conversation_id, user.name, "owner")
    await delete_uploads(conversation, [found.attachment.number])
    await here.store.delete_file(conversation, found.attachment.number)
    return Response(status_code=204)
