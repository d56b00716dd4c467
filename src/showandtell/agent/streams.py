"""A run as the UI message stream, for a route of the program's own."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from msgspec.structs import replace

from showandtell.agent.agent import Run
from showandtell.agent.client_turns import ClientTurn
from showandtell.checking.checked import checked
from showandtell.core.events.replay import replay
from showandtell.core.events.turns import Turn, turns
from showandtell.core.events.types import ErrorEvent, Event, Finish
from showandtell.core.messages.file_json import FileLinks, Link
from showandtell.core.messages.ids import new_id
from showandtell.core.messages.message import starts_turn
from showandtell.core.messages.parts import ToolCall, is_approval
from showandtell.core.planning.values import records_of
from showandtell.core.ui_stream.chunks import HEADERS
from showandtell.core.ui_stream.ui_stream import AnswerContext, UiStream, answer_id
from showandtell.errors import StorageFailed, UnsupportedFile, public_message

log = logging.getLogger(__name__)

STORAGE_FAILED = "the answer could not be stored: try again later"
#: Runs that have not ended. The event loop itself holds its tasks weakly.
RUNNING: set[asyncio.Task[None]] = set()


@checked
def ui_stream(
    run: Run[Any], link: Link | None = None, message_id: str | None = None, *, turn: ClientTurn | None = None
) -> RunStream:
    """Return the UI message stream of a run, which `useChat` of npm's `ai` reads.

    Send it with its `headers`. Iterating starts the run, which then continues by itself, read or not.
    Iterating again, at any time, gives the answer from its start: that is how a client resumes. `await stream.stop()`
    stops the run. An error of the run is a chunk of the stream.

    The stream keeps what it has sent for as long as you keep it: the model's texts and what tools returned, each
    of those up to `FilePolicy.max_tool_text`, and small previews, but never the bytes of files.

    >>> import asyncio
    >>> from showandtell import Agent
    >>> from showandtell.asgi import ui_stream
    >>> async def answer():
    ...     stream = ui_stream(Agent("inspector").run("hello"))
    ...     return b"".join([data async for data in stream])
    >>> b"hello" in asyncio.run(answer())
    True

    Args:
        run (Run): a run that nobody has awaited or iterated over.
        link (Callable[[str], str] | None): makes the address of a file from a path such as
            `/api/attachments/att_…/content/chart.png`. `ai` needs absolute addresses. Default: no addresses; files
            are named in the tools' output and in the data parts.
        message_id (str | None): the id of the answer. To continue after an approval, that of the client's answer.
            Default: that of `turn`, or an id made from the stored message.
        turn (ClientTurn | None): what `from_ui_messages` returned, so that the next request can approve the calls.
    """
    if turn is None:
        return RunStream(run, link, message_id)
    seal = turn.seals.sign if turn.seals is not None else None
    return RunStream(run, link, message_id or turn.message_id, seal)


class RunStream:
    """The bytes of a run's answer, for any number of readers. Made by `ui_stream`.

    Attributes:
        run: the run; its `status`, `usage` and `error` are final at the end of the stream.
    """

    def __init__(
        self,
        run: Run[Any],
        link: Link | None = None,
        message_id: str | None = None,
        seal: Callable[[ToolCall], str] | None = None,
    ) -> None:
        self.run, self._seal = run, seal
        self._show = FileLinks(run.conversation.id, link)
        self._message_id = message_id
        self._stream: UiStream | None = None
        self._task: asyncio.Task[None] | None = None
        self._chunks: list[bytes] = []
        self._opening: bytes | None = None
        self._has_ended = self._has_finish = False
        self._changed = asyncio.Event()

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the response."""
        return dict(HEADERS)

    @property
    def has_ended(self) -> bool:
        """Whether the run has ended, so that nothing follows what is sent already."""
        return self._has_ended

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the answer from its start to its end. All that is there at once is one item.

        The first reader has the earlier part of an answer that the run continues; others get it, too.
        """
        is_first, position = self._task is None and not self._has_ended, 0
        if is_first:
            self._task = asyncio.create_task(self._run())
            RUNNING.add(self._task)
            self._task.add_done_callback(RUNNING.discard)
        while True:
            changed = self._changed
            if position == 0 and self._chunks and self._opening is not None and not is_first:
                position = 1  # the opening has the start
                yield self._opening
            elif position < len(self._chunks):
                data, position = b"".join(self._chunks[position:]), len(self._chunks)
                yield data
            elif self._has_ended:
                return
            else:
                await changed.wait()

    async def stop(self) -> None:
        """Stop the run, and wait until its messages are stored. Readers get the end of the stream."""
        if self._task is None:
            await self.run.cancel()
            self._end()
        elif not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        try:
            await self.run.pour(self._report)
        except Exception as error:
            log.exception("the run of a stream failed")
            if not self._has_finish:
                self._report(ErrorEvent(type(error).__name__, public_message(error)))
                self._report(Finish("error", public_message(error)))
        finally:
            self._end()

    def _end(self) -> None:
        """End the stream, as cancelled if the run has not come to its end."""
        if not self._has_finish:
            self._report(Finish("incomplete", "cancelled"))
        self._has_ended = True
        self._wake()

    def _report(self, event: Event) -> None:
        """Add the bytes of an event. Before the user's message is stored, events belong to the previous answer."""
        event = self._redact(event)
        if self._stream is None:
            is_stored = not self.run.has_question or (self.run.has_begun and any(map(starts_turn, self.run.messages)))
            if not is_stored and not isinstance(event, ErrorEvent | Finish):
                return
            self._stream = self._start(turns(self.run.conversation.messages)[-1] if is_stored else None)
        self._has_finish = self._has_finish or isinstance(event, Finish)
        if data := self._stream.feed(event):
            self._chunks.append(data)
            self._wake()

    def _start(self, turn: Turn | None) -> UiStream:
        """Start the stream. A run that continues an answer opens with what is stored of it, for later readers."""
        run, conversation = self.run, self.run.conversation
        model = run.agent.target.name
        default_id = new_id("ans") if turn is None else answer_id(turn.message_id)
        stream = UiStream(
            AnswerContext(
                id=self._message_id or default_id,
                start={"conversation_id": conversation.id, "model": model, "created": time.time()},
                files=conversation.attachments,
                show=self._show,
                model=model,
                now=time.time,
                earlier_receipt=records_of(conversation.receipts),
                messages=lambda: conversation.messages,
                seal=self._seal,
            )
        )
        self._chunks.append(start := stream.start())
        if turn is not None:
            new = {message.id for message in run.messages} if run.has_begun else set[str]()
            earlier = [message for message in turn.answer if message.id not in new or is_approval(message.parts)]
            opening = stream.replay(replay(earlier, conversation.attachments, {}, before=turn.before))
            self._opening = start + opening if opening else None
        return stream

    def _redact(self, event: Event) -> Event:
        """Return the event without the text of storage errors, and with that of a refused file in its `Finish`."""
        error = self.run.error if self.run.has_begun else None
        if isinstance(error, UnsupportedFile) and isinstance(event, Finish):
            return replace(event, reason=str(error))
        if not isinstance(error, StorageFailed):
            return event
        match event:
            case ErrorEvent():
                log.error("the run of a stream failed: %s", error)
                return replace(event, text=STORAGE_FAILED)
            case Finish():
                return replace(event, reason=STORAGE_FAILED)
            case _:
                return event

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
