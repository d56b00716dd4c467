# A union, or JSON whose types the test knows.
# pyright: reportGeneralTypeIssues=false
"""pydantic-ai's adapter as a peer: it reads the messages that we send, and we read those that it writes."""

import asyncio
import json

import msgspec
from ag_ui.core import Message
from pydantic import TypeAdapter
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.messages import ImageUrl, ModelRequest, ModelResponse, ToolReturnPart, UserPromptPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.ui.ag_ui import AGUIAdapter

from showandtell import File, from_ag_ui
from showandtell.asgi import ag_ui_stream
from showandtell.core.ag_ui import events as ag
from showandtell.core.ag_ui.client_messages import MessageAccumulator
from showandtell.core.wire.sse import Splitter
from support.fixtures import png
from support.scripted import say, scripted

READ_EVENT = msgspec.json.Decoder(ag.Event).decode
URL = "https://x.test/api/attachments/"


def draw() -> list:
    """Draw a picture."""
    return ["Drawn.", File.from_bytes(png(16, 8), name="drawn.png")]


async def answered(body, agent):
    """The messages of the client after a run."""
    turn = await from_ag_ui(body)
    run = agent.run(turn.text, conversation=turn.conversation)
    stream = ag_ui_stream(run, lambda path: f"https://x.test{path}", request=turn)
    client = MessageAccumulator()
    async for data in stream:
        client.apply(event for event in map(READ_EVENT, Splitter().feed(data)))
    return client.messages


def request(*messages):
    return {"threadId": "t", "runId": "r", "protocolVersion": "1.0", "messages": [*messages]}


QUESTION = {"id": "m", "role": "user", "content": "draw"}


def test_it_reads_our_answer_with_a_tools_file():
    agent, _ = scripted(say("Look.", ("c1", "draw", "{}"), thought="Hm."), say("A picture."), tools=[draw])
    messages = asyncio.run(answered(request(QUESTION), agent))
    read = AGUIAdapter.load_messages(TypeAdapter(list[Message]).validate_python([QUESTION, *messages]))
    returned = [part for message in read for part in message.parts if isinstance(part, ToolReturnPart)]
    (image,) = [item for item in returned[0].content if isinstance(item, ImageUrl)]
    assert image.url.startswith(URL)
    assert [part.content for part in read[-1].parts] == ["A picture."]


def test_we_read_what_it_writes():
    run = PydanticAgent(TestModel(call_tools=["draw_words"]), tools=[draw_words]).run("draw")
    history = asyncio.run(run).all_messages()
    dumped = AGUIAdapter.dump_messages([*history, ModelRequest([UserPromptPart("and now?")])])
    written = [json.loads(message.model_dump_json(by_alias=True)) for message in dumped]
    turn = asyncio.run(from_ag_ui(request(*written)))
    assert turn.text == "and now?"
    assert [message.role for message in turn.conversation.messages] == ["user", "assistant", "tool", "assistant"]
    assert turn.conversation.messages[2].parts[1].text == "drawn"
    assert isinstance(history[1], ModelResponse)


def draw_words() -> str:
    """Draw in words."""
    return "drawn"


def test_it_accepts_the_requests_that_we_document():
    read = AGUIAdapter.build_run_input(json.dumps(request(QUESTION)).encode())
    assert (read.thread_id, read.messages[0].content) == ("t", "draw")
