"""Fields of a message that are the host's own, such as its reasoning: tool loops on hosts that require or refuse them."""

import asyncio
import base64
import json
from contextlib import asynccontextmanager

import pytest

from fake_provider import FakeProvider
from showandtell import RunLimits, Store, export_conversation, from_openai, import_conversation
from showandtell.config.learned_models import learned_models
from showandtell.core.wire.http import HttpResponse
from showandtell.inspector.request import Call, Reply
from showandtell.providers.exchange import Exchange
from support.agents import make_agent
from support.fixtures import png
from support.scripted import ONCE, in_pieces

STEPS = 20
HERE, ELSEWHERE = "https://one.example/v1", "https://two.example/v1"
MODEL = "openai-chat:some-model"
ways = pytest.mark.parametrize("stream", [True, False])


@pytest.fixture(autouse=True)
def nothing_learned():
    learned_models().forget()


def look(at: int) -> str:
    """Look at something."""
    return f"seen {at}"


def call(at):
    return {"id": f"call{at:05}", "type": "function", "function": {"name": "look", "arguments": json.dumps({"at": at})}}


def step_by_step(request):
    """Calls a tool twenty times, and thinks before each call."""
    at = sum(turn.role == "assistant" for turn in request.turns)
    calls = (Call(f"{at:09}", "look", json.dumps({"at": at})),) if at < STEPS else ()
    return Reply("" if calls else "Done.", calls, 10, reasoning=f"I have looked {at} times.")


@ways
def test_a_loop_of_twenty_steps_ends_well_on_a_host_that_requires_its_reasoning(stream):
    async def play():
        async with FakeProvider(answerer=step_by_step) as deepseek:
            limits = RunLimits(steps=STEPS + 5)
            at = {"base_url": deepseek.base("deepseek"), "api_key": "any"}
            agent = make_agent("openai-chat:deepseek-v4-pro", [look], limits=limits, stream=stream, retry=ONCE, **at)
            return await agent.run("look around"), deepseek.ledger

    run, ledger = asyncio.run(play())
    assert (run.status, run.error, run.text) == ("complete", None, "Done.")
    assert [item.status for item in ledger] == [200] * (STEPS + 1)


class Host:
    """A host that gives each answer once, and then a last one. It refuses requests as `refuse` of a message says."""

    def __init__(self, *answers, refuse=lambda _: None, stream=False):
        self.answers, self.refuse, self.stream, self.bodies = answers, refuse, stream, []

    @asynccontextmanager
    async def send(self, request):
        body = json.loads(b"".join([piece async for piece in request.body()]))
        self.bodies.append(body)
        sent_back = [message for message in body["messages"] if message["role"] == "assistant"]
        wrong = next(filter(None, map(self.refuse, sent_back)), None)
        if wrong is not None:
            yield HttpResponse(400, {}, in_pieces(json.dumps({"error": {"message": wrong}}).encode()))
            return
        message = self.answers[min(len(sent_back), len(self.answers) - 1)]
        yield HttpResponse(200, {}, in_pieces(b"".join(self.serialize(message))))

    def serialize(self, message):
        reason = "tool_calls" if "tool_calls" in message else "stop"
        if not self.stream:
            yield json.dumps({"choices": [{"message": message, "finish_reason": reason}]}).encode()
            return
        calls = [{**item, "index": at} for at, item in enumerate(message.get("tool_calls", ()))]
        rest = {name: value for name, value in message.items() if name != "tool_calls"}
        deltas = [{name: piece} for name, value in rest.items() for piece in halves(value)]
        for delta in [*deltas, *({"tool_calls": [item]} for item in calls)]:
            yield b"data: %s\n\n" % json.dumps({"choices": [{"delta": delta}]}).encode()
        yield b"data: %s\n\n" % json.dumps({"choices": [{"delta": {}, "finish_reason": reason}]}).encode()

    @property
    def answers_sent_back(self):
        """The messages of the model in the newest request."""
        return [message for message in self.bodies[-1]["messages"] if message["role"] == "assistant"]

    def agent(self, base_url=HERE, model=MODEL, **settings):
        exchange = Exchange(self.send, base_url, {"authorization": "k"})
        return make_agent(model, [look], exchange=exchange, stream=self.stream, retry=ONCE, **settings)


def halves(value):
    """Pieces of a field."""
    return [value[:2], value[2:]] if isinstance(value, str) and len(value) > 2 else [value]


def answers(*fields):
    """Messages that call a tool, each with fields of its own, and a last one with the last fields."""
    *before, last = fields
    return [
        *({"content": "", **own, "tool_calls": [call(at)]} for at, own in enumerate(before)),
        {"content": "Done.", **last},
    ]


def own(message):
    return {name: value for name, value in message.items() if name not in {"role", "content", "tool_calls"}}


DETAILS = [
    {"type": "reasoning.text", "text": "Hm.", "format": "anthropic-claude-v1", "index": 0, "signature": "c2ln"},
    {"type": "reasoning.encrypted", "data": "c2VhbGVk", "index": 1},
]
OWN = {
    "DeepSeek, Kimi, GLM, Qwen": {"reasoning_content": "I think."},
    "DeepSeek without thoughts": {"reasoning_content": ""},
    "Groq, Cerebras, Ollama": {"reasoning": "I think."},
    "vLLM": {"reasoning": "I think.", "reasoning_content": "I think."},
    "OpenRouter": {"reasoning": "Hm.", "reasoning_details": DETAILS},
    "tomorrow": {"plan": {"steps": [1, 2], "of": {"depth": 3}}, "mood": "", "sure": True, "odds": 0.25},
}


@ways
@pytest.mark.parametrize("fields", OWN.values(), ids=OWN)
def test_each_message_has_its_own_fields_in_every_later_request(fields, stream):
    def refuse(message):
        missing = [name for name in fields if message.get(name) != fields[name]]
        return f"The `{missing[0]}` of the model is not what it was" if missing else None

    host = Host(*answers(*[fields] * 6), refuse=refuse, stream=stream)
    run = host.agent().run_sync("look")
    assert (run.status, run.error, run.text) == ("complete", None, "Done.")
    assert [own(message) for message in host.answers_sent_back] == [fields] * 5


def test_a_call_has_its_own_fields_in_every_later_request():
    signed = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    host = Host({"content": None, "tool_calls": [{**call(0), **signed}, call(1)]}, {"content": "Done."})
    run = host.agent().run_sync("look")
    assert (run.status, host.answers_sent_back[0]["tool_calls"]) == ("complete", [{**call(0), **signed}, call(1)])


@ways
def test_mistrals_thinking_goes_back_in_its_place(stream):
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "I think."}], "closed": True}
    content = [thinking, {"type": "text", "text": "Let me see."}]
    host = Host({"content": content, "tool_calls": [call(0)]}, {"content": "Done."}, stream=stream)
    run = host.agent(model="mistral:magistral-medium-latest").run_sync("look")
    assert (run.status, host.answers_sent_back[0]["content"]) == ("complete", content)


def test_fields_that_hold_files_do_not_go_back():
    picture = "data:image/png;base64," + base64.b64encode(png(9, 8)).decode()
    held = {"sketch": {"url": picture}, "images": [{"image_url": {"url": picture}}], "note": "kept", "empty": None}
    host = Host(*answers(held, {}))
    run = host.agent().run_sync("look")
    assert [own(message) for message in host.answers_sent_back] == [{"note": "kept"}]
    assert len(run.files) == 1


def test_another_base_url_gets_none_of_it_and_the_first_one_all_of_it_again():
    here, there = Host(*answers(*[OWN["tomorrow"]] * 3)), Host({"content": "Hello."})
    run = here.agent().run_sync("look")
    there.agent(ELSEWHERE).run_sync("and you?", conversation=run.conversation)
    assert [own(message) for message in there.answers_sent_back] == [{}] * 3
    here.agent().run_sync("back again", conversation=run.conversation)
    assert [own(message) for message in here.answers_sent_back] == [*[OWN["tomorrow"]] * 3, {}]


def test_a_stored_and_an_imported_conversation_keep_the_fields_and_where_they_came_from(tmp_path):
    here, there = Host(*answers(*[OWN["OpenRouter"]] * 2)), Host({"content": "Hello."})

    async def play():
        async with Store.at(tmp_path / "store") as store:
            first = await store.create("anna")
            await here.agent().run("look", conversation=first)
            await export_conversation(first, tmp_path / "talk.zip")
        async with Store.at(tmp_path / "store") as store:
            for talk in (
                await store.open(first.id, "anna"),
                await import_conversation(store, tmp_path / "talk.zip", "ben"),
            ):
                for host, base_url, fields in ((there, ELSEWHERE, {}), (here, HERE, OWN["OpenRouter"])):
                    await host.agent(base_url).run("go on", conversation=talk)
                    assert [own(message) for message in host.answers_sent_back[:2]] == [fields] * 2

    asyncio.run(play())


REFUSALS = {
    "Groq": "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property "
    "'reasoning_content' is unsupported)]",
    "Cerebras": "messages.2.assistant.reasoning_content: property 'messages.2.assistant.reasoning_content' is unsupported",
    "Mistral": '[{"type":"extra_forbidden","loc":["body","messages",2,"assistant","reasoning_content"],"msg":'
    '"Extra inputs are not permitted"}]',
    "OpenAI": "Unknown parameter: 'messages[2].reasoning_content'.",
    "serde": "messages[2]: unknown field `reasoning_content`, expected one of `role`, `content`",
    "others": "reasoning_content must not be present in the input messages",
}


@pytest.mark.parametrize("words", REFUSALS.values(), ids=REFUSALS)
def test_a_field_that_the_host_refuses_is_left_out_alone_and_remembered(words):
    fields = {"reasoning_content": "I think.", "mood": "good"}

    def refuse(message):
        return words if "reasoning_content" in message else None

    host = Host(*answers(fields, fields, fields), refuse=refuse)
    run = host.agent().run_sync("look")
    assert (run.status, [own(message) for message in host.answers_sent_back]) == ("complete", [{"mood": "good"}] * 2)
    assert len(host.bodies) == 4  # one of them was refused
    host.agent().run_sync("look", conversation=run.conversation)
    assert len(host.bodies) == 5
    [known] = learned_models().all
    assert [(field.name, field.state) for field in known.fields] == [("reasoning_content", "refused")]


DEMANDS = {
    "DeepSeek": "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "DeepSeek 3.2": "Missing `reasoning_content` field in the assistant message at message index 2. For more information",
    "Kimi": "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
    "a router": "Error from provider: [invalid_request_error] The reasoning_content in the thinking mode must be passed "
    "back to the API.",
}


@pytest.mark.parametrize("words", DEMANDS.values(), ids=DEMANDS)
def test_a_field_that_the_host_misses_is_sent_empty_with_messages_of_others(words):
    def refuse(message):
        return None if "reasoning_content" in message else words

    other, host = Host(*answers({}, {})), Host({"content": "Hello."}, refuse=refuse)
    run = other.agent(ELSEWHERE).run_sync("look")
    again = host.agent().run_sync("and you?", conversation=run.conversation)
    assert (again.status, [own(message) for message in host.answers_sent_back]) == (
        "complete",
        [{"reasoning_content": ""}] * 2,
    )
    host.agent().run_sync("go on", conversation=run.conversation)
    assert len(host.bodies) == 3


@pytest.mark.parametrize(
    "words",
    [
        "The thinking is too long",
        "Missing `content` field in the assistant message at message index 2",
        "unsupported value for temperature",
    ],
)
def test_an_error_about_anything_else_ends_the_run_and_is_not_remembered(words):
    host = Host(*answers(OWN["DeepSeek, Kimi, GLM, Qwen"], {}), refuse=lambda _: words)
    run = host.agent().run_sync("look")
    assert (run.status, len(host.bodies), learned_models().all) == ("error", 2, ())


def test_a_refusal_that_did_not_help_is_not_remembered():
    host = Host(*answers({"mood": "good"}, {}), refuse=lambda _: "property 'mood' of messages is unsupported")
    run = host.agent().run_sync("look")
    assert (run.status, len(host.bodies), learned_models().all) == ("error", 3, ())


HISTORY = [
    {"role": "user", "content": "look"},
    {"role": "assistant", "content": None, "tool_calls": [call(0)], "reasoning_content": "", "mood": "good"},
    {"role": "tool", "tool_call_id": "call00000", "content": "seen"},
]


@pytest.mark.parametrize(("provider", "is_kept"), [("openai-chat", True), ("groq", False), (None, False)])
def test_an_imported_history_keeps_the_fields_of_its_provider_and_of_no_other(provider, is_kept):
    host = Host({"content": "Done."})
    agent = host.agent()
    conversation = agent.conversation()
    conversation.ingest_now(from_openai(HISTORY, provider=provider))
    agent.run_sync("go on", conversation=conversation)
    assert own(host.answers_sent_back[0]) == ({"reasoning_content": "", "mood": "good"} if is_kept else {})
