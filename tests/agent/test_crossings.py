"""What is for the user alone stays theirs, whatever way a conversation takes to its next request: a way is a row."""

import asyncio
import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import pybase64
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from showandtell import File, NotFound, Text, ToolResult, from_ag_ui, from_ui_messages
from showandtell.agent.suggest_title import suggest_title
from showandtell.asgi import ui_stream
from showandtell.core.ag_ui.history import ag_ui_messages
from showandtell.core.events.turns import turns
from showandtell.core.messages.conversation_file import dump, parse
from showandtell.core.messages.file_json import FileLinks
from showandtell.core.planning.plain_text import as_plain_text
from showandtell.core.ui_stream.answer import UiAccumulator
from showandtell.core.ui_stream.chunks import Chunk
from showandtell.core.ui_stream.messages import Page, ui_messages
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.conversations.transfer import record_of
from support.properties import examples
from support.scripted import say, scripted
from support.serving import chunks_in

#: In all that is for the user alone; and in what is for the model alone.
WORD, MODELS_WORD = "xylophone", "zeppelin"
LINK = "https://chat.test".__add__


def a_file(word, audience):
    """A file that has the word in its bytes, name and description."""
    return File.from_bytes(f"{word} bytes".encode(), "text/plain", f"{word}.txt", f"{word} told", audience=audience)


def mcp_text(word, role):
    return {"type": "text", "text": f"{word} noted", "annotations": {"audience": [role]}}


def mcp_resource(word, role):
    resource = {"uri": f"file:///{word}.txt", "mimeType": "text/plain", "text": f"{word} text"}
    return {"type": "resource", "resource": resource, "annotations": {"audience": [role]}}


#: Whatever a tool marks for one audience, and what it returns beside it.
def in_json(*block):
    """Text that is JSON with a block in it, as tools return that pass on what another server has said."""
    return json.dumps({"result": json.dumps([mcp_text(*block)])})


MARKED = [
    *[make(WORD, "user") for make in (Text, a_file, mcp_text, mcp_resource, in_json)],
    *[make(MODELS_WORD, "assistant") for make in (Text, a_file, mcp_text, in_json)],
]
PLAIN = ["plain", 4711, None, Text("open"), File.from_bytes(b"open", "text/plain", "open.txt"), {"rows": 3}]
VALUES = st.recursive(
    st.sampled_from([*MARKED, *PLAIN]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@dataclass
class Talk:
    """A conversation in which a tool has returned something, and what its client has received of it."""

    conversation: MemoryConversation
    stream: bytes
    finds: bool = True
    links: FileLinks = field(init=False)

    def __post_init__(self):
        self.links = FileLinks(self.conversation.id, LINK)

    async def find(self, identifier):
        """The files of the program, if it has kept them."""
        for file in self.conversation.attachments.values() if self.finds else ():
            if file.id == identifier:
                return replace(self.conversation.file(file.number), number=None)
        raise NotFound("there is no such file")

    @property
    def page(self):
        return Page(self.conversation.attachments, self.links)

    @property
    def turns(self):
        return turns(self.conversation.messages)


async def by_ui_messages(talk):
    """A client of `useChat` loads the conversation and continues."""
    return await next_ui_turn(talk, [*ui_messages(talk.turns, talk.page)])


async def by_ui_stream(talk):
    """A client of `useChat` has read the stream."""
    answer = UiAccumulator()
    decode = msgspec.json.Decoder(Chunk).decode
    answer.add(decode(json.dumps(chunk)) for chunk in chunks_in(talk.stream))
    question = {"id": "m", "role": "user", "parts": [{"type": "text", "text": "show me"}]}
    return await next_ui_turn(talk, [question, answer.message])


async def next_ui_turn(talk, messages):
    check_model_words(messages)
    asked = {"id": "next", "role": "user", "parts": [{"type": "text", "text": "go on"}]}
    return (await from_ui_messages(json.loads(json.dumps([*messages, asked])), talk.find)).conversation


async def by_ag_ui(talk, *, is_legacy=False):
    """A client of AG-UI has the conversation, and holds the whole history."""
    messages = ag_ui_messages(talk.turns, talk.page, is_legacy=is_legacy)
    check_model_words(messages)
    body = {"threadId": "t", "runId": "r", "messages": [*messages, {"id": "n", "role": "user", "content": "go on"}]}
    return (await from_ag_ui(json.dumps(body), talk.find)).conversation


async def by_old_ag_ui(talk):
    """A client of AG-UI 0.0.x."""
    return await by_ag_ui(talk, is_legacy=True)


async def by_file(talk):
    """A conversation file is written and read."""

    def record(number):
        attachment = talk.conversation.attachments[number]
        data = pybase64.b64encode_as_string(talk.conversation.file(number).read())
        return msgspec.structs.replace(record_of(attachment), path=None, data=data)

    copy = MemoryConversation(talk.conversation.file_cache)
    copy.ingest_now(parse(dump(talk.conversation.messages, record, talk.conversation.head), Path()))
    return copy


async def by_going_on(talk):
    """The next message of the same conversation."""
    return talk.conversation


WAYS = [by_ui_messages, by_ui_stream, by_ag_ui, by_old_ag_ui, by_file, by_going_on]


def check_model_words(received):
    """No text for the model alone is sent to a person. A file is known by its name and audience, without an address."""
    text = json.dumps(received)
    assert f"{MODELS_WORD} noted" not in text
    assert f'"{MODELS_WORD}"' not in text
    assert f"{MODELS_WORD} text" not in text


def talk_about(value, *, is_error=False, finds=True):
    """A conversation in which a tool returns a value."""

    def show():
        """Show it."""
        return ToolResult(value, is_error=is_error)

    agent, script = scripted(say("", ("c1", "show", "{}")), say("Done."), tools=[show])

    async def talk():
        run = agent.run("show me")
        data = b"".join([data async for data in ui_stream(run, LINK)])
        assert [message.is_error for message in run.messages if message.role == "tool"] == [is_error]
        return Talk(run.conversation, data, finds)

    return asyncio.run(talk()), script


def check_kept(bodies):
    """No request has anything of what is for the user alone."""
    for body in bodies:
        text = json.dumps(body)
        assert WORD not in text
        assert pybase64.b64encode_as_string(f"{WORD} bytes".encode()) not in text


@examples(60)
@example(value=[MARKED[0], {"a": MARKED[1], "b": MARKED[0]}, *MARKED[2:]], is_error=False, finds=False)
@given(value=VALUES, is_error=st.booleans(), finds=st.booleans())
def test_no_next_request_has_what_is_for_the_user_alone(value, is_error, finds):
    talk, script = talk_about(value, is_error=is_error, finds=finds)
    check_kept(script.bodies)
    for way in WAYS:
        agent, after = scripted(say("Done."))
        run = agent.run_sync("go on", conversation=asyncio.run(way(talk)))
        assert run.status == "complete", way
        check_kept(after.bodies)


@examples(30)
@given(VALUES)
def test_no_title_and_no_summary_is_made_of_it(value):
    talk, _ = talk_about(value)
    agent, script = scripted(say("Sums"), model="anthropic:claude-sonnet-4-5")
    (turn,) = talk.turns
    assert asyncio.run(suggest_title(agent, talk.conversation, turn, lambda _: None)) == "Sums"
    texts = [as_plain_text(message, talk.conversation.attachments) for message in talk.conversation.messages]
    check_kept([*script.bodies, texts])
    assert len(script.bodies) == 1
    assert any(MODELS_WORD in text for text in texts) or MODELS_WORD not in repr(talk.conversation.messages)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_for_the_model_alone_is_not_lost_where_its_mark_can_be_trusted(way):
    talk, _ = talk_about([Text(f"{MODELS_WORD} noted", "assistant"), a_file(WORD, "user")])
    agent, script = scripted(say("Done."))
    agent.run_sync("go on", conversation=asyncio.run(way(talk)))
    is_trusted = way in {by_file, by_going_on}
    assert (MODELS_WORD in json.dumps(script.bodies)) is is_trusted
    assert "shown to the user alone" in json.dumps(script.bodies)
