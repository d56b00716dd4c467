"""A run as AG-UI events, for a route of the program's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from typing import Any

from showandtell.agent.agent import Run
from showandtell.agent.client_turns import ClientTurn, body_bytes
from showandtell.agent.streams import RunStream
from showandtell.checking.checked import checked
from showandtell.core.ag_ui.ag_ui_stream import AgUiContext, AgUiStream
from showandtell.core.ag_ui.events import HEADERS
from showandtell.core.ag_ui.run_input import parse_run_input
from showandtell.core.events.turns import turns
from showandtell.core.messages.file_json import FileLinks, Link
from showandtell.core.ui_stream.chunks import Record


@checked
def ag_ui_stream(run: Run[Any], link: Link | None = None, *, request: object) -> AgUiRunStream:
    """Return a run as the events of AG-UI 1.0, which `@ag-ui/client` and CopilotKit read.

    Send it with its `headers`. It is read, left, read again and stopped as that of `ui_stream`. A peer of 0.0.x gets
    files in words and in `CUSTOM` events.

    >>> import asyncio
    >>> from showandtell import Agent, from_ag_ui
    >>> from showandtell.asgi import ag_ui_stream
    >>> body = {"threadId": "t", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "hello"}]}
    >>> async def answer():
    ...     turn = await from_ag_ui(body)
    ...     run = Agent("inspector").run(turn.text, conversation=turn.conversation)
    ...     return b"".join([data async for data in ag_ui_stream(run, request=turn)])
    >>> b'"type":"RUN_FINISHED"' in asyncio.run(answer())
    True

    Args:
        run (Run): a run that nobody has awaited or iterated over.
        link (Callable[[str], str] | None): makes the absolute address of a file from a path such as
            `/api/attachments/att_…/content/chart.png`. Default: no addresses; files are named in words.
        request (ClientTurn | bytes | str | Mapping | RunAgentInput): what `from_ag_ui` returned, or the body of the
            request for a program that stores its conversations.

    Raises:
        BadInput: the request is not one of AG-UI.
    """
    turn = request if isinstance(request, ClientTurn) else None
    read = turn.request if turn is not None else None
    read = read or parse_run_input(body_bytes(request))
    conversation = run.conversation
    links = FileLinks(conversation.id, link)

    def list_files() -> Iterable[Record]:
        return [links.attachment(file) for file in conversation.attachments.values()]

    context = AgUiContext.of(
        read,
        steps=count_steps(run),
        files=list_files,
        seal=turn.seals.seal if turn is not None and turn.seals is not None else None,
    )
    return AgUiRunStream(RunStream(run, link), context)


def count_steps(run: Run[Any]) -> int:
    """The number of steps of the answer that a run continues; 0 for a new answer."""
    if run.has_question or not run.conversation.messages:
        return 0
    return sum(message.role == "assistant" for message in turns(run.conversation.messages)[-1].answer)


class AgUiRunStream:
    """The bytes of a run's events, for any number of readers. Made by `ag_ui_stream`."""

    def __init__(self, stream: RunStream, context: AgUiContext) -> None:
        self._stream, self._context = stream, context
        self._is_read = False

    @property
    def run(self) -> Run[Any]:
        """The run; its `status`, `usage` and `error` are final at the end of the stream."""
        return self._stream.run

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the response."""
        return dict(HEADERS)

    @property
    def has_ended(self) -> bool:
        """Whether the run has ended, so that nothing follows what is sent already."""
        return self._stream.has_ended

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the events from the start to the end. Later readers get the whole answer that the run continues."""
        events = AgUiStream(replace(self._context, is_repeat=True, steps=0) if self._is_read else self._context)
        self._is_read = True
        async for data in self._stream:
            if converted := events.feed_bytes(data):
                yield converted

    async def stop(self) -> None:
        """Stop the run, and wait until its messages are stored. Readers get the end of the stream."""
        await self._stream.stop()
