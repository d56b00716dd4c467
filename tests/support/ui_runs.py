"""Runs of real agents: their UI streams, and the page that is built from what was stored."""

import asyncio

import msgspec

from showandtell.agent.agent import Run
from showandtell.agent.drafts import user_draft
from showandtell.core.events.replay import replay
from showandtell.core.events.turns import turns
from showandtell.core.events.types import Usage
from showandtell.core.messages.file_json import file_reference
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Approval, is_approval
from showandtell.core.ui_stream.messages import Page, ui_messages
from showandtell.core.ui_stream.ui_stream import AnswerContext, UiStream, answer_id
from showandtell.storage.conversations.memory_conversation import MemoryConversation, waiting_calls


def link(path):
    """An absolute address."""
    return f"https://chat.test{path}"


class PlainLinks:
    """Links to files and derivatives, by id."""

    def attachment(self, file):
        url = link(f"/api/attachments/{file.id}/content/{file.name}")
        fields = {"id": file.id, "number": file.number, "name": file.name, "media_type": file.media_type}
        return {**fields, "problem": file.problem, "origin": msgspec.to_builtins(file.origin), "url": url}

    def reference(self, file):
        return file_reference(file, link)

    def derivative_url(self, file, sha256):
        return link(f"/api/attachments/{file.id}/variants/{sha256}")


LINKS = PlainLinks()
STARTED = {"conversation_id": "conv_1", "run_id": "run_1", "model": "inspector", "created": 1.5}


class RecordingConversation(MemoryConversation):
    """A conversation in memory that also keeps the summary of each step, as a database does."""

    def __init__(self):
        super().__init__()
        self.summaries = {}

    async def write(self, accepted, step):
        if step is not None:
            self.summaries[accepted.message.id] = step.summary()
        return await super().write(accepted, step)


class ChatRecorder:
    """A conversation that is answered run by run, with what a server stores of each."""

    def __init__(self, agent):
        self.agent, self.conversation = agent, RecordingConversation()
        self.metadata, self.waiting = {}, ()

    async def answer(self, text=None, *, stop_at=None, yes=None, **settings):
        """Run to the end, or until stopped at an event. Returns the chunks as sent, one `bytes` for each event.

        The first is the stream's start. If an answer continues, the second holds what was stored of it.
        """
        given = {number: item.record() for number, item in self.conversation.receipts.items()}
        run = Run(self.agent, [*answers(yes), *drafts(text, **settings)], self.conversation)
        sent, streams = [], []

        def take(event):
            if not streams:
                if text is not None and not any(map(is_visible, run.messages)):
                    return  # the event belongs to the previous answer
                streams.append(self.stream(given))
                sent.append(streams[0].start())
                if text is None:
                    sent.append(streams[0].replay(self.earlier(run)))
            sent.append(streams[0].feed(event))
            if stop_at is not None and stop_at(event):
                task.cancel()

        task = asyncio.create_task(run.pour(take))
        await asyncio.wait({task})
        if not task.cancelled():
            task.result()
        self.store(run)
        return sent

    def stream(self, given):
        """The stream of the newest answer; `given` are the receipts so far."""
        output, files = turns(self.conversation.messages)[-1].message.id, self.conversation.attachments
        return UiStream(
            AnswerContext(
                answer_id(output),
                STARTED,
                files,
                LINKS,
                self.agent.target.name,
                lambda: 2.5,
                given.get,
                lambda: self.conversation.messages,
            )
        )

    def earlier(self, run):
        """What was stored of this answer before a run continued it, with the results of its calls."""
        turn, fresh = turns(self.conversation.messages)[-1], {message.id for message in run.messages}
        shown = {showing.number for showing in turn.message.showings}
        stored = [item for item in turn.answer if item.id not in fresh or is_approval(item.parts)]
        return replay(stored, self.conversation.attachments, self.conversation.summaries, before=shown)

    def store(self, run):
        """Store what a server stores of an ended run."""
        output = turns(self.conversation.messages)[-1].message.id
        answer = turns(self.conversation.messages)[-1].answer
        received = (self.conversation.summaries[item.id].usage for item in answer if item.role == "assistant")
        usage = msgspec.to_builtins(sum(received, Usage()))
        end = {"status": run.status, "reason": run.reason, "usage": usage, "finished": 2.5}
        self.metadata[answer_id(output)] = {**STARTED, **end}
        is_waiting = run.status == "waiting"
        self.waiting = [call.call_id for call in waiting_calls(self.conversation.messages)] if is_waiting else ()

    def page(self):
        """The messages as a page gets them."""
        page = Page(self.conversation.attachments, LINKS, self.conversation.summaries, self.waiting, self.metadata)
        return [*ui_messages(turns(self.conversation.messages), page)]


def is_visible(message):
    """Whether this is a user's text, not an approval."""
    return message.role == "user" and not is_approval(message.parts)


def answers(yes):
    """A draft with the user's approvals."""
    return [Draft("user", tuple(Approval(call_id, item) for call_id, item in yes.items()))] if yes else []


def drafts(text, files=()):
    """A draft with the user's text."""
    return [] if text is None else [user_draft(text, files)]
