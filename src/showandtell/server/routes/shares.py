"""Routes of sharing: with whom a conversation is shared, what others share with the user, and the end of both."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query
from msgspec import Struct
from pydantic import ConfigDict, Field
from starlette.responses import Response

from showandtell.errors import BadInput
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.json_body import describe_body, json_body
from showandtell.server.routes.conversations import LISTED_CONVERSATION, ListedShape, check_conversation_id
from showandtell.server.schemas import Shape, errors, json_response
from showandtell.server.state import CurrentServer
from showandtell.storage.conversations import sharing

router = APIRouter(prefix="/api/conversations", tags=["conversations"])

ONE_USER = "this server has one user, so there is nobody to share with: accounts come with SHOWANDTELL_OIDC_ISSUER"
#: Another person's account id or display name. Account ids may contain slashes.
OtherUser = Annotated[str, Path(max_length=300, description="account id, or display name")]
_SHARE: dict[str, Any] = {"name": "Ann Smith", "right": "reader"}


class ShareRight(Struct, forbid_unknown_fields=True):
    """The other person's right; null revokes it."""

    right: Literal["reader", "writer"] | None


class ShareShape(Shape):
    """A person with access to a conversation. No two have the same name."""

    name: str = Field(description="display name")
    right: Literal["reader", "writer"]


class SharesShape(Shape):
    """The people with whom a conversation is shared."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"shares": [_SHARE]}]})

    shares: list[ShareShape]


class SharedShape(ListedShape):
    """A conversation that another person shares with you."""

    right: Literal["reader", "writer"]
    shared_by: str = Field(description="display name of its owner")


class SharedPageShape(Shape):
    """A page of the list. `next` is the `before` of the next page; null: there is none."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"conversations": [{**LISTED_CONVERSATION, "right": "reader", "shared_by": "Ann Smith"}], "next": None}
            ]
        }
    )

    conversations: list[SharedShape]
    next: str | None


@router.get("/shared", operation_id="list_shared", responses={200: {"model": SharedPageShape}, **errors(404, 422)})
async def list_shared(
    server: CurrentServer,
    user: CurrentUser,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[str | None, Query(description="the `next` of the previous page")] = None,
) -> Response:
    """List the conversations that others share with you, most recently changed first."""
    checked = None if before is None else check_conversation_id(before)
    return json_response(await sharing.list_shared(server.store.database, user.name, limit=limit, before=checked))


@router.get("/{id}/shares", operation_id="list_shares", responses={200: {"model": SharesShape}, **errors(404)})
async def list_shares(server: CurrentServer, user: CurrentUser, id: str) -> Response:  # noqa: A002 - it is one
    """List the people with whom a conversation is shared. Only its owner may."""
    shares = await sharing.list_shares(server.store.database, check_conversation_id(id), user.name)
    return json_response({"shares": [{"name": share.name, "right": share.right} for share in shares]})


@router.put(
    "/{id}/shares/{other:path}",
    operation_id="share_conversation",
    status_code=204,
    responses=errors(404, 413, 415, 422),
    openapi_extra=describe_body(ShareRight, {"right": "reader"}),
)
async def share_conversation(
    server: CurrentServer,
    user: CurrentUser,
    id: str,  # noqa: A002 - it is one
    other: OtherUser,
    body: Annotated[ShareRight, Depends(json_body(ShareRight))],
) -> Response:
    """Let another person read a conversation or write in it, or revoke that. Only its owner may.

    Only people who have signed in are found, by their full name or account id.
    """
    check_conversation_id(id)
    if server.accounts is None and body.right is not None:
        raise BadInput(ONE_USER)
    await sharing.share(server.store, id, user.name, other, body.right)
    return Response(status_code=204)


@router.delete("/{id}/shares/me", operation_id="leave_conversation", status_code=204, responses=errors(404, 422))
async def leave_conversation(server: CurrentServer, user: CurrentUser, id: str) -> Response:  # noqa: A002 - it is one
    """Give back the access to a conversation that another person shares with you."""
    await sharing.leave(server.store.database, check_conversation_id(id), user.name)
    return Response(status_code=204)
