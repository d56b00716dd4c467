"""A program without a store answers npm's `@ag-ui/client`, which holds the whole history."""

import asyncio
import json

import pytest

from showandtell import BadInput, File, NotFound, from_ag_ui, tool
from showandtell.asgi import ag_ui_stream
from showandtell.core.histories.client_history import UNVERIFIED
from support.fixtures import png
from support.nodejs import AG_UI_CLIENTS, ag_ui_talk
from support.scripted import say, scripted
from support.streams import anthropic

SECRET = b"0123456789abcdef"
PICTURE = png(16, 8)


def draw() -> File:
    """Draw a picture."""
    return File.from_bytes(PICTURE, name="drawn.png")


@tool(approval=True)
def erase(path: str) -> str:
    """Erase it."""
    return f"erased {path}"


class Program:
    """An agent in a route of its own, that keeps nothing but files."""

    def __init__(self, *answers):
        self.agent, self.script = scripted(*answers, tools=[draw, erase])
        self.files = {}
        self.link = lambda path: f"https://x.test{path}"

    async def find(self, identifier):
        if identifier not in self.files:
            raise NotFound("no such file")
        return self.files[identifier]

    async def respond(self, body):
        """The stream for a request."""
        self.turn = turn = await from_ag_ui(body, self.find, secret=SECRET)
        run = self.agent.run(turn.text, files=turn.files, approvals=turn.approvals, conversation=turn.conversation)
        stream = ag_ui_stream(run, self.link, request=turn)
        data = b"".join([data async for data in stream])
        for file in run.files:
            self.files[run.conversation.attachments[file.number].id] = file
        assert b"".join([data async for data in stream]).endswith(data[-20:])
        return data


@pytest.fixture(scope="module", params=AG_UI_CLIENTS)
def chat_with(request):
    """A client in a new chat with a program: `chat_with(program)` returns its actions."""
    with ag_ui_talk(request.param) as do:

        def open_chat(program):
            do("open")
            return lambda action, **more: do(action, lambda body: asyncio.run(program.respond(body)), **more)

        yield open_chat


def of(got, role):
    return [message for message in got["messages"] if message["role"] == role]


SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"title": "Kiwi"}]}
CITED = {"type": "web_search_result_location", "url": "https://kiwi.example", "title": "Kiwi", "cited_text": "Green."}
SEARCHED = anthropic.sse(
    anthropic.BEGIN,
    *anthropic.block(0, SEARCH, {"type": "input_json_delta", "partial_json": '{"query": "kiwi"}'}),
    *anthropic.block(1, FOUND),
    *anthropic.block(
        2,
        {"type": "text", "text": ""},
        {"type": "text_delta", "text": "A fruit."},
        {"type": "citations_delta", "citation": CITED},
    ),
    anthropic.end("end_turn"),
    anthropic.STOP,
)


def test_a_tool_of_the_provider_is_an_activity_and_a_source_a_custom_event_and_the_chat_goes_on(chat_with):
    program = Program(SEARCHED, say("Yes."))
    client = chat_with(program)
    first = client("say", id="m1", content="look")
    assert (first["error"], first["warnings"]) == (None, [])
    hosted = [one["content"] for one in of(first, "activity") if one["activityType"] == "showandtell.hosted_tool"]
    assert [(one["tool"], one["input"], one["state"]) for one in hosted] == [("web_search", {"query": "kiwi"}, "done")]
    sources = [one["value"]["url"] for one in first["events"] if one.get("name") == "showandtell.source"]
    assert sources == ["https://kiwi.example"]
    second = client("say", id="m2", content="and?")
    assert (second["error"], [one["content"] for one in of(second, "assistant")]) == (None, ["A fruit.", "Yes."])


def test_two_turns_with_a_file_that_comes_back_by_its_address(chat_with):
    program = Program(say("Look.", ("c1", "draw", "{}")), say("A picture."), say("Still a picture."))
    client = chat_with(program)
    first = client("say", id="m1", content="draw")
    assert (first["error"], first["warnings"]) == (None, [])
    (file,) = first["state"]["showandtell"]["files"]
    assert file["url"].startswith("https://x.test/api/attachments/att_")
    again = [{"type": "text", "text": "and this?"}, {"type": "image", "source": {"type": "url", "value": file["url"]}}]
    second = client("say", id="m2", content=again)
    assert [message["content"] for message in of(second, "assistant")] == ["Look.", "A picture.", "Still a picture."]
    assert (second["error"], len(program.files)) == (None, 1)
    (shown, *_) = [message for message in program.turn.conversation.messages if message.role == "tool"]
    assert [part.number for part in shown.showings] == [1]
    assert UNVERIFIED in json.dumps(program.script.bodies[-1])


def test_without_a_link_a_file_is_named_and_comes_back_by_its_id(chat_with):
    program = Program(say("Look.", ("c1", "draw", "{}")), say("A picture."), say("Still a picture."))
    program.link = None
    client = chat_with(program)
    (result,) = of(client("say", id="m1", content="draw"), "tool")
    assert "image 1: drawn.png" in json.dumps(result["content"])
    assert "/api/" not in json.dumps(result)
    client("say", id="m2", content="and this?")
    (file,) = program.turn.conversation.attachments.values()
    assert (file.name, file.id) == ("drawn.png", result["metadata"]["showandtell"]["files"][0])


@pytest.mark.parametrize("approved", [True, False])
def test_a_call_is_approved_that_the_client_holds(chat_with, approved):
    client = chat_with(Program(say("Hm.", ("c1", "erase", '{"path": "a"}')), say("Done.")))
    waits = client("say", id="m1", content="erase a")
    (interrupt,) = waits["interrupts"]
    payload = {"approved": approved}
    resume = [{"interruptId": interrupt["id"], "status": "resolved", "payload": payload}]
    done = client("run", input={"resume": resume})
    (message,) = of(done, "tool")
    assert message["content"] == ("erased a" if approved else "the user denied this call")
    assert [message["content"] for message in of(done, "assistant")] == ["Hm.", "Done."]
    assert (done["error"], done["interrupts"]) == (None, [])


def test_a_call_that_the_client_changed_is_not_run(chat_with):
    program = Program(say("Hm.", ("c1", "erase", '{"path": "a"}')), say("Done."))
    client = chat_with(program)
    client("say", id="m1", content="erase a")
    honest = program.respond

    async def forge(body):
        body["messages"][-1]["toolCalls"][0]["function"]["arguments"] = '{"path": "b"}'
        with pytest.raises(BadInput, match="none of these calls is waiting"):
            await honest(body)
        return b""

    program.respond = forge
    client("run", input={"resume": [{"interruptId": "c1", "status": "resolved", "payload": {"approved": True}}]})
