"""Runs of real agents with their UI streams, and what is stored of them as a page."""

import msgspec

from showandtell.content import Approval, is_approval
from showandtell.events.retell import find_step, retell
from showandtell.events.ui_messages import Page, turns, ui_messages
from showandtell.events.ui_stream import Answer, UiStream, answer_id


class Plainly:
    """Shows files by number alone."""

    def attachment(self, file):
        url = f"/api/attachments/{file.id}/content/{file.name}"
        fields = {"id": file.id, "number": file.number, "name": file.name, "media_type": file.media_type}
        return {**fields, "problem": file.problem, "origin": msgspec.to_builtins(file.origin), "url": url}

    def variant(self, file, sha256):
        return f"/api/attachments/{file.id}/variants/{sha256}"


SHOW = Plainly()
STARTED = {"conversation_id": "conv_1", "run_id": "run_1", "model": "inspector", "created": 1.5}


class Answering:
    """A conversation that is answered run by run; it keeps what a server would keep beside the messages."""

    def __init__(self, agent, conversation=None):
        self.agent, self.conversation = agent, conversation or agent.conversation()
        self.told, self.metadata, self.waiting = {}, {}, ()

    def stream(self, said, given):
        """The stream of the answer to a stored message; `given` are the receipts so far."""
        return UiStream(
            Answer(
                answer_id(said),
                STARTED,
                self.conversation.attachments,
                SHOW,
                "inspector",
                lambda: 2.5,
                given,
                lambda: self.conversation.messages,
            )
        )

    async def answer(self, text=None, *, stop_at=None, yes=None, **settings):
        """One run, to its end or until it is stopped at an event; gives its chunks as sent, one bytes for each event."""
        conversation = self.conversation
        approvals = [Approval(call_id, one) for call_id, one in (yes or {}).items()]
        before = turns(conversation.messages)[-1:] if text is None else []
        given = {number: one.record() for number, one in conversation.receipts.items()}
        run = self.agent.run(text, conversation=conversation, approvals=yes, **settings)
        events = []
        async for event in run:
            events.append(event)
            if stop_at is not None and stop_at(event):
                await run.cancel()
        said = [one.id for one in conversation.messages if one.role == "user" and not is_approval(one.parts)][-1]
        stream = self.stream(said, given)
        sent = [stream.start()]
        sent += [self.retold(stream, turn) for turn in before]
        sent += [stream.take(event) for event in [*approvals, *events]]
        self.keep(stream, said, run)
        return sent

    def retold(self, stream, turn):
        """What an earlier run has stored of this answer."""
        shown = {one.number for one in turn.said.showings}
        files = self.conversation.attachments
        return stream.look_back(retell(turn.answer, files, self.told, before=shown, waiting=self.waiting))

    def keep(self, stream, said, run):
        """What a server stores beside the messages."""
        for step, told in stream.told.items():
            self.told[find_step(self.conversation.messages, step).id] = told
        usage = msgspec.to_builtins(run.usage)
        end = {"status": run.status, "reason": run.reason, "usage": usage, "finished": 2.5}
        self.metadata[answer_id(said)] = {**STARTED, **end}
        calls = [one for message in self.conversation.messages for one in message.calls]
        results = {one.call_id for one in self.conversation.messages}
        self.waiting = [one.call_id for one in calls if one.call_id not in results]

    def page(self):
        """The messages as a page gets them."""
        page = Page(self.conversation.attachments, SHOW, self.told, self.waiting, self.metadata)
        return ui_messages(self.conversation.messages, page)
