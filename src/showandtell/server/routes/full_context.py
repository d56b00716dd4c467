"""The route that says what can be done about an answer whose conversation was too long for the model."""

from __future__ import annotations

import asyncio
from typing import Any, Final, Literal

from fastapi import APIRouter
from msgspec import structs
from pydantic import ConfigDict, Field
from starlette.responses import Response

from showandtell.agent.full_context_preview import LeftOut, preview_left_out
from showandtell.core.messages.file_json import FileLinks
from showandtell.core.messages.message import starts_turn
from showandtell.core.planning.values import View
from showandtell.providers.full_context import is_full_context
from showandtell.server import openapi_examples
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.files.file_addresses import CurrentLink
from showandtell.server.routes.conversations import check_conversation_id
from showandtell.server.schemas import INVOICE, AttachmentShape, Shape, errors, json_response
from showandtell.server.state import CurrentServer
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.stored_conversation import StoredConversation
from showandtell.storage.conversations.titles import title_of

router = APIRouter(prefix="/api/conversations", tags=["conversations"])

#: Questions and files that are named.
MAX_NAMED: Final = 20
#: What `on_full` of the settings may be besides "error".
OPTIONS: Final = ("drop_oldest", "summarize")
LEFT_OUT: Final[dict[str, Any]] = {
    "messages": 12,
    "questions": [openapi_examples.PROMPT],
    "more_questions": 5,
    "files": [INVOICE],
    "more_files": 0,
    "tokens": 41000,
}


class LeftOutShape(Shape):
    """Messages that the model would not get any more. They stay in the conversation, and files keep their numbers."""

    messages: int
    questions: list[str] = Field(description=f"how your first {MAX_NAMED} of them begin")
    more_questions: int
    files: list[AttachmentShape] = Field(description="files that only these messages have")
    more_files: int
    tokens: int = Field(description="about how many a summary has to read")


class FullContextShape(Shape):
    """What can be done if the last answer failed because the conversation is too long for its model."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"full": True, "window": 200000, "left_out": LEFT_OUT, "options": list(OPTIONS)}]
        },
    )

    full: bool = Field(description="whether it failed for that reason; otherwise there is nothing to choose")
    window: int | None = Field(description="tokens that the model takes, if its provider said that")
    left_out: LeftOutShape | None = Field(description="what each of the options leaves out; null: nothing can be")
    options: list[Literal["drop_oldest", "summarize"]] = Field(
        description="what `on_full` of the conversation's settings may be, before the answer is generated again"
    )


@router.get(
    "/{id}/full-context",
    operation_id="preview_full_context",
    responses={200: {"model": FullContextShape}, **errors(404)},
)
async def preview_full_context(server: CurrentServer, user: CurrentUser, link: CurrentLink, id: str) -> Response:  # noqa: A002 - it is one
    """Plan what another answer would leave out of a conversation that is too long. Nothing is sent to the model.

    Only the owner may, who can choose.
    """
    conversation = await server.store.open(check_conversation_id(id), user.name, "owner")
    view = up_to_question(conversation)
    run = view.answering and await runs.find_last_of(server.store.database, id, view.answering)
    if not run or run.settings is None or run.status != "error" or not is_full_context(run.reason or ""):
        return json_response({"full": False, "window": None, "left_out": None, "options": []})
    agent = await server.agents.get(run.model, run.settings, user.name)
    known, reason = conversation.known(), run.reason or ""
    found = await asyncio.to_thread(lambda: preview_left_out(agent, view, known, reason))
    links = FileLinks(id, link)
    return json_response(
        {
            "full": True,
            "window": found and found.window,
            "left_out": found and left_out_json(found, links),
            "options": OPTIONS if found else (),
        }
    )


def up_to_question(conversation: StoredConversation) -> View:
    """The conversation as the next answer to its last question finds it."""
    view = conversation.view()
    last = next((at for at in reversed(range(len(view.messages))) if starts_turn(view.messages[at])), -1)
    return structs.replace(view, messages=view.messages[: last + 1])


def left_out_json(found: LeftOut, links: FileLinks) -> dict[str, Any]:
    """What is left out, as JSON."""
    questions = [title_of(message) for message in found.messages if starts_turn(message)]
    return {
        "messages": len(found.messages),
        "questions": questions[:MAX_NAMED],
        "more_questions": max(0, len(questions) - MAX_NAMED),
        "files": [links.attachment(file) for file in found.files[:MAX_NAMED]],
        "more_files": max(0, len(found.files) - MAX_NAMED),
        "tokens": found.tokens,
    }
