"""The route for clients of AG-UI. The server owns the history: of a request's messages only the newest counts.

A `threadId` is the client's own name of a conversation, or a conversation's id; a `runId` is the idempotency key of its
message. The runs are those of `chat`, and their stored streams are converted while they are read.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from msgspec import Struct, structs
from starlette.responses import Response

from showandtell.core.ag_ui import events as ag
from showandtell.core.ag_ui.ag_ui_stream import AgUiContext, AgUiStream
from showandtell.core.ag_ui.history import ag_ui_messages
from showandtell.core.ag_ui.run_input import RunInput, parse_run_input
from showandtell.core.events.replay import without_receipts
from showandtell.core.events.turns import turns
from showandtell.core.events.types import IfRunning
from showandtell.core.messages.file_json import FileLinks, Link
from showandtell.core.messages.message import Draft, without_user_texts
from showandtell.core.messages.parts import Approval, Text
from showandtell.core.ui_stream.chunks import serialize
from showandtell.core.ui_stream.messages import Page
from showandtell.server.auth.authenticate import User, current_user
from showandtell.server.chat_request import ChatRequest
from showandtell.server.drafts import new_drafts, with_file_ids
from showandtell.server.event_stream import EventStream
from showandtell.server.files.file_addresses import current_address_reader, current_link
from showandtell.server.idempotency import find_branch_point
from showandtell.server.if_running import StreamForm
from showandtell.server.model_choice import choose_model
from showandtell.server.new_messages import Place, answer_body, find_last_run, find_repeat, in_place, start_run
from showandtell.server.runs.execute import replay_run
from showandtell.server.runs.live_run import RunRequest
from showandtell.server.runs.private_parts import for_reader
from showandtell.server.schemas import errors
from showandtell.server.state import Server, get_server
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.memory_conversation import waiting_calls
from showandtell.storage.conversations.runs import RUNNING, RunRow
from showandtell.storage.conversations.stored_conversation import StoredConversation

router = APIRouter(prefix="/ag-ui", tags=["chat"])

EXAMPLE = {
    "threadId": "my-thread",
    "runId": "run-1",
    "protocolVersion": "1.0",
    "messages": [{"id": "message-1", "role": "user", "content": "hello"}],
    "tools": [],
    "context": [],
}
STREAM_RESPONSE: dict[str, Any] = {
    "content": {
        "text/event-stream": {
            "schema": {"type": "string"},
            "example": 'data: {"type":"RUN_STARTED","threadId":"my-thread","runId":"run-1"}\n\n',
        }
    },
    "description": "the events of AG-UI 1.0",
}
REQUEST_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["threadId", "runId"],
                    "properties": {
                        "threadId": {"type": "string", "description": "the client's own name, or a conversation id"},
                        "runId": {"type": "string", "description": "the idempotency key of the message"},
                        "protocolVersion": {"type": ["string", "null"], "description": "omitted by peers of 0.0.x"},
                        "messages": {
                            "type": "array",
                            "items": {"type": "object"},
                            "description": "the last one is read if it is a user's",
                        },
                        "forwardedProps": {
                            "type": ["object", "null"],
                            "description": "`if_running`: a running answer is stopped (the default), answered before "
                            "(queue), or a 409 (error); `lift`: ids of files for the user alone that the model may see",
                        },
                        "resume": {
                            "type": ["array", "null"],
                            "items": {"type": "object"},
                            "description": "answers to interrupts",
                        },
                    },
                },
                "example": EXAMPLE,
            }
        },
    }
}


@router.post(
    "",
    operation_id="run_ag_ui",
    summary="Send a message and stream the response as AG-UI events",
    response_class=Response,
    responses={200: STREAM_RESPONSE, **errors(404, 409, 413, 415, 422, 507)},
    openapi_extra=REQUEST_BODY,
)
async def run_ag_ui(request: Request) -> Response:
    """Respond to a new message or to answers to interrupts; without them, stream the conversation so far."""
    server, user = await get_server(request), await current_user(request)  # FastAPI's dependencies would take longer
    link, read_address = await current_link(request, server, user), await current_address_reader(request, server, user)

    def parse(body: bytes) -> Asked:
        run_input = parse_run_input(body)
        return Asked(run_input, with_file_ids(as_chat_request(run_input), read_address))

    async def respond(asked: Asked) -> Response:
        thread_id = asked.run_input.thread_id
        at = partial(respond_in, server, user, asked, link)
        return await in_place(server, user, thread_id, asked.chat_request.client_id, at)

    return await answer_body(request, server, user, parse, respond, form=FORM)


class Asked(Struct, frozen=True):
    """A request, and the same as `chat` has it."""

    run_input: RunInput
    chat_request: ChatRequest

    @property
    def if_running(self) -> IfRunning:
        """What happens to an answer that runs already."""
        return self.run_input.if_running


def failure(text: str) -> bytes:
    """The stream of an answer that there will not be."""
    return serialize(ag.RunError(text))


FORM = StreamForm(ag.HEADERS, failure)


async def respond_in(server: Server, user: User, both: Asked, link: Link, place: Place) -> Response:
    """Start a run and stream it; for a repeated request, read its run again from the start of its answer."""
    conversation, asked, request = place.conversation, both.run_input, both.chat_request
    if asked.content is None and not asked.approvals:
        return await send_history(server, asked, place, link)
    repeat = await find_repeat(server, request, place)
    if repeat.run is not None:
        return await read_again(server, asked, conversation, repeat.run, link)
    earlier = await find_same_message(server, asked, conversation)
    if earlier is not None and earlier.state == RUNNING:
        return await read_again(server, asked, conversation, earlier, link)
    if earlier is not None:
        request = structs.replace(
            request, content=(), trigger="regenerate-message", message_id=earlier.message_id, client_id=None
        )
    choice = await choose_model(server, user, request, conversation, place.head)
    async with new_drafts(server, user, request, conversation) as drafts:
        if asked.content is not None:  # a client may type over an interrupt, and cancel it in the same request
            waiting = {call.call_id for call in waiting_calls(conversation.messages)}
            answers = [
                Approval(call_id, *asked.approvals[call_id]) for call_id in asked.approvals if call_id in waiting
            ]
            drafts[:0] = [Draft("user", tuple(answers))] if answers else []
        steps = 0 if asked.content is not None else count_steps(conversation)
        branch_point = None
        if earlier is not None:
            branch_point = find_branch_point(request, conversation.messages, await conversation.everything(), None)
        run_request = RunRequest(drafts, branch_point, choice.settings, place.create)
        row, live = await start_run(server, user, place, choice, run_request, key=repeat.key)
    if live is None:
        return await read_again(server, asked, conversation, row, link)
    events = server.addresses.follow(for_reader(live.buffer.follow(), is_owner=conversation.is_owner), link)
    return stream(events, make_context(asked, conversation, link, steps=steps), conversation.id)


def as_chat_request(asked: RunInput) -> ChatRequest:
    """The same request as `chat` has it. It is recognized by its ids, or else by the answers to interrupts."""
    is_message = asked.content is not None
    approvals = {} if is_message else dict(asked.approvals)
    client_id = encode_ids(asked.message_id, asked.run_id) if is_message else None
    content = asked.content or ()
    return ChatRequest(
        asked.thread_id, client_id, content, approvals, "submit-message", None, None, lift=asked.lift if content else ()
    )


def encode_ids(*ids: str) -> str:
    """The ids of a message and a run as one key."""
    return msgspec.json.encode(ids).decode()


async def find_same_message(server: Server, asked: RunInput, conversation: StoredConversation) -> RunRow | None:
    """The newest run that answers the same message, under another id of a run: the client wants another answer.

    Some clients use an id for several messages, so texts and the number of files must be the same.
    """
    if not asked.message_id or not conversation.messages or asked.content is None:
        return None
    prefix = encode_ids(asked.message_id).removesuffix("]") + ","
    run = await runs.find_last_with_prefix(server.store.database, conversation.id, prefix)
    if run is None:
        return None
    question = next((one for one in await conversation.everything() if one.id == run.message_id), None)
    texts = [part for part in asked.content if isinstance(part, str)]
    is_same = (
        question is not None
        and [part.text for part in question.parts if isinstance(part, Text)] == texts
        and len(question.showings) == len(asked.content) - len(texts)
    )
    return run if is_same else None


def count_steps(conversation: StoredConversation) -> int:
    """The number of steps of the newest answer so far."""
    grouped = turns(conversation.messages)
    return sum(message.role == "assistant" for message in grouped[-1].answer) if grouped else 0


def make_context(asked: RunInput, conversation: StoredConversation, link: Link, **settings: Any) -> AgUiContext:
    """The context of a response's stream."""
    links = FileLinks(conversation.id, link)
    return AgUiContext.of(
        asked,
        files=lambda: [links.attachment(file) for file in conversation.attachments.values()],
        **settings,
    )


async def read_again(
    server: Server, asked: RunInput, conversation: StoredConversation, row: RunRow, link: Link, **settings: Any
) -> Response:
    """Stream the answer of a run from its start, whatever of it the client has. Raises `NotFound`."""
    last = await find_last_run(server, conversation, row)
    context = make_context(asked, conversation, link, is_repeat=True, **settings)
    if last.state == RUNNING:
        followed = for_reader(server.runs.follow(last, late=True), is_owner=conversation.is_owner)
        events = server.addresses.follow(followed, link)
        return stream(events, context, conversation.id)
    await conversation.refresh()  # the run may have ended after the conversation was read
    return stream(whole(await replay_run(conversation, row, last, link)), context, conversation.id)


async def send_history(server: Server, asked: RunInput, place: Place, link: Link) -> Response:
    """Stream the conversation so far: all before the last answer as a snapshot, then that answer, live or not."""
    conversation = place.conversation
    messages, files = conversation.messages, conversation.attachments
    summaries = await conversation.step_summaries() if messages else {}  # a new conversation isn't stored yet
    if not conversation.is_owner:
        private = {number for number, file in files.items() if file.is_private}
        files = {number: file for number, file in files.items() if number not in private}
        messages, summaries = [*map(without_user_texts, messages)], without_receipts(summaries, private)
    grouped = turns(messages)
    page = Page(files, FileLinks(conversation.id, link), summaries)
    question = grouped[-1].message if grouped else None
    row = None
    if question is not None:
        row = await runs.find_last_of(server.store.database, conversation.id, question.id)
    answer = grouped.pop() if row is not None and grouped else None
    if answer is not None:
        grouped.append(structs.replace(answer, answer=()))
    history = await asyncio.to_thread(lambda: ag_ui_messages(grouped, page, is_legacy=asked.is_legacy))
    if row is not None:
        return await read_again(server, asked, conversation, row, link, history=history)
    version = None if asked.is_legacy else ag.PROTOCOL_VERSION
    events = (
        ag.RunStarted(asked.thread_id, asked.run_id, version, asked.parent_run_id),
        ag.MessagesSnapshot([*history]),
        ag.RunFinished(asked.thread_id, asked.run_id, {"status": "complete", "reason": None}, ag.Success()),
    )
    return Response(b"".join(map(serialize, events)), headers=headers_of(conversation.id))


async def whole(data: bytes) -> AsyncGenerator[bytes]:
    """A stream that is there already."""
    yield data


def stream(chunks: AsyncGenerator[bytes], context: AgUiContext, conversation_id: str) -> Response:
    """Respond with the events of a run."""
    return EventStream(convert(chunks, context), headers=headers_of(conversation_id))


async def convert(chunks: AsyncGenerator[bytes], context: AgUiContext) -> AsyncGenerator[bytes]:
    """Convert a run's stream while it is read."""
    events = AgUiStream(context)
    async with aclosing(chunks):
        async for data in chunks:
            if converted := events.feed_bytes(data):
                yield converted


def headers_of(conversation_id: str) -> dict[str, str]:
    """The headers of every stream of events."""
    return {**ag.HEADERS, "x-conversation-id": conversation_id}
