"""Requests: four consistent readings of one tree, exact sizes, stable prefixes, and files that must not change."""

import asyncio
import base64
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell import BadInput, File, FileChanged, Text, ToolCall, render, render_results
from showandtell.agent.render import plan_now
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.message import Draft
from showandtell.core.planning.values import Policy, RenderedFile
from showandtell.core.wire.options import Options
from showandtell.core.wire.request import Fragments, compose
from showandtell.core.wire.tree import Slot, locate
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.files.file_cache import FileCache
from support.builders import tool_history, user_history
from support.fixtures import pdf, png
from support.properties import examples

MODELS = (
    "anthropic:claude-sonnet-4-5",
    "openai-chat:gpt-5-mini",
    "openai:gpt-5-mini",
    "google:gemini-3-flash-preview",
    "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "mistral:mistral-medium-latest",
)
PNG, PDF = png(), pdf("hello")
each_model = pytest.mark.parametrize("model", MODELS)


def picture(name="kiwi.png"):
    return File.from_bytes(PNG, name=name)


@each_model
def test_the_size_of_the_body_is_exact_and_its_json_equals_its_bytes(model):
    request = render(tool_history("Here:", picture(), File.from_bytes(PDF, name="r.pdf")), model=model)
    body = b"".join(request.chunks())
    assert len(body) == request.size
    assert msgspec.json.decode(body) == request.json()


@each_model
def test_each_file_is_in_the_body_exactly_once(model):
    body = b"".join(render(tool_history(picture()), model=model).chunks())
    assert body.count(base64.b64encode(PNG)) == 1


@each_model
def test_the_async_body_has_the_same_bytes_and_can_be_read_again(model):
    request = render(tool_history(picture()), model=model)

    async def read():
        return b"".join([piece async for piece in request.body()])

    assert asyncio.run(read()) == asyncio.run(read()) == b"".join(request.chunks())


@each_model
def test_messages_come_last_in_the_body(model):
    request = render(tool_history(picture()), model=model, instructions="Be brief.", temperature=0.5)
    assert list(request.json())[-1] == request.api.MESSAGES_KEY


@each_model
def test_an_errors_path_locates_its_file(model):
    request = render(tool_history("Here:", picture()), model=model)
    index = next(
        number for number, item in enumerate(request.items) if request.locate(f"{request.api.MESSAGES_KEY}.{number}")
    )
    assert [placed.number for placed in request.locate(f"{request.api.MESSAGES_KEY}[{index}]")] == [1]
    assert request.locate("model") == ()
    assert request.locate("nothing.known") == ()


def test_paths_are_located_in_every_providers_notation():
    picture = Slot(RenderedFile(1, 1, "a.png", Facts("a" * 64, "image/png", 3), "user"))
    tree = {"messages": [{"content": ["words"]}, {"content": [{"inlineData": {"data": picture}}, "words"]}]}
    paths = ["messages.1.content.0.inline_data", "messages.2.member.content.1.member.inlineData", "messages[1]"]
    assert [len(locate(tree, path)) for path in paths] == [1, 1, 1]
    assert locate(tree, "messages.2.member.content.2.member") == locate(tree, "messages.0") == ()


def test_a_large_file_is_read_in_chunks_that_are_never_joined():
    data = png() + bytes(3_000_000)
    request = render(tool_history(File.from_bytes(data, name="big.png")), model=MODELS[0])
    pieces = list(request.chunks())
    assert max(map(len, pieces)) <= 1024 * 1024
    assert base64.b64encode(data) in b"".join(pieces)


def test_a_file_deleted_between_plan_and_send_is_a_typed_error():
    file_cache = FileCache()
    request = render(tool_history(picture()), model=MODELS[0], cache=file_cache)
    file_cache.blobs.blob(next(iter(file_cache.facts))).unlink()
    with pytest.raises(FileChanged, match="add the file again"):
        list(request.chunks())


@pytest.mark.parametrize("data", [PNG[:-1], PNG + b"x", b""])
def test_a_file_resized_between_plan_and_send_is_a_typed_error(data):
    file_cache = FileCache()
    request = render(tool_history(picture()), model=MODELS[0], cache=file_cache)
    blob = file_cache.blobs.blob(next(iter(file_cache.facts)))
    blob.unlink()
    blob.write_bytes(data)
    with pytest.raises(FileChanged):
        list(request.chunks())
    with pytest.raises(FileChanged):
        request.json()


def test_render_works_inside_an_event_loop():
    async def inside():
        return render(user_history(picture()), model=MODELS[0]).json()

    assert asyncio.run(inside())["messages"][0]["role"] == "user"


def run_of(steps):
    """Return the drafts of this many steps, each with one call and one file."""
    drafts = [Draft("user", (Text("go"),))]
    for step in range(steps):
        call = ToolCall(f"call_{step}", "get", "{}")
        drafts += [
            Draft("assistant", (call,)),
            Draft("tool", (Text(f"step {step}"), picture(f"{step}.png")), call.call_id, "get"),
        ]
    return drafts


@each_model
def test_the_bytes_of_a_step_are_a_prefix_of_the_next(model):
    target, fragments = resolve(model), Fragments()
    conversation = MemoryConversation()
    drafts = run_of(6)
    conversation.ingest_now(drafts[:1])
    bodies = []
    for step in range(6):
        conversation.ingest_now(drafts[1 + 2 * step : 3 + 2 * step])
        planned = plan_now(conversation, target, Policy())
        bodies.append(
            b"".join(compose(planned, target, Options(instructions="x"), conversation.blobs, fragments).chunks())
        )
    assert all(later.startswith(body[:-2]) for body, later in pairwise(bodies))


def test_entries_are_encoded_once_for_all_steps():
    target, fragments = resolve(MODELS[0]), Fragments()
    conversation = MemoryConversation()
    conversation.ingest_now(run_of(5))
    planned = plan_now(conversation, target, Policy())
    compose(planned, target, Options(), conversation.blobs, fragments)
    before = dict(fragments.entries)
    compose(plan_now(conversation, target, Policy()), target, Options(), conversation.blobs, fragments)
    assert {key: id(value) for key, value in before.items()} == {
        key: id(value) for key, value in fragments.entries.items()
    }


def test_only_what_the_last_request_was_made_of_is_remembered():
    target, fragments = resolve(MODELS[0]), Fragments()
    for steps in (40, 20, 2):
        conversation = MemoryConversation()
        conversation.ingest_now(run_of(steps))
        plan = plan_now(conversation, target, Policy())
        compose(plan, target, Options(), conversation.blobs, fragments)
        assert len(fragments.entries) <= len(plan.entries)
        assert len(fragments.groups) <= len(plan.entries) // 16


def test_sixteen_entries_in_a_row_are_joined_once_until_one_of_them_changes():
    target, fragments = resolve(MODELS[0]), Fragments()
    conversation = MemoryConversation()
    drafts = run_of(20)
    conversation.ingest_now(drafts[:-2])
    first = compose(plan_now(conversation, target, Policy()), target, Options(), conversation.blobs, fragments)
    conversation.ingest_now(drafts[-2:])
    second = compose(plan_now(conversation, target, Policy()), target, Options(), conversation.blobs, fragments)
    assert [id(fragment) for fragment in second.fragments[:2]] == [id(fragment) for fragment in first.fragments[:2]]
    other = MemoryConversation()
    other.ingest_now([Draft("user", (Text("Other words"),)), *drafts[1:]])
    changed = compose(plan_now(other, target, Policy()), target, Options(), other.blobs, fragments)
    assert b"".join(changed.chunks()).count(b"Other words") == 1


def test_a_cache_mark_changes_no_other_bytes():
    target = resolve(MODELS[0])
    conversation = MemoryConversation()
    conversation.ingest_now(run_of(3))
    plain, marked = (
        b"".join(
            compose(plan_now(conversation, target, Policy(cache=cache)), target, Options(), conversation.blobs).chunks()
        )
        for cache in (False, True)
    )
    assert marked.count(b"cache_control") == 2
    assert marked.replace(b',"cache_control":{"type":"ephemeral"}', b"") == plain


texts = st.text(max_size=40)


@examples(40)
@given(st.lists(st.one_of(texts, st.sampled_from([PNG, PDF])), max_size=6), st.sampled_from(MODELS))
def test_json_equals_the_joined_body(values, model):
    parts = [File.from_bytes(value, name="f") if isinstance(value, bytes) else value for value in values]
    request = render(tool_history(*parts), model=model)
    body = b"".join(request.chunks())
    assert len(body) == request.size
    assert msgspec.json.decode(body) == request.json()
    assert len(request.receipts) == sum(isinstance(value, bytes) for value in values)


def test_no_text_contains_base64():
    request = render(tool_history("Here:", picture(), "x"), model=MODELS[1])
    encoded = base64.b64encode(PNG).decode()[:40]

    def texts(value):
        match value:
            case dict():
                yield from (text for key, item in value.items() if key != "url" for text in texts(item))
            case list():
                yield from (text for item in value for text in texts(item))
            case str():
                yield value

    assert not [text for text in texts(request.json()) if encoded in text]


def test_render_results_renders_only_the_newest_results():
    call = ToolCall("toolu_1", "chart", "{}")
    rendered = render_results([(call, ["Here:", picture()])], model="anthropic:claude-sonnet-4-5")
    block = rendered.messages[0]["content"][0]
    assert (block["type"], block["tool_use_id"]) == ("tool_result", "toolu_1")
    assert [part["type"] for part in block["content"]] == ["text", "text", "image"]
    assert rendered.follow_up == ()


def test_render_results_puts_files_after_the_results_of_parallel_calls():
    rendered = render_results(
        [("call_1", picture()), ("call_2", "done")], model="openai-chat:gpt-5-mini", first_number=7
    )
    assert [message["role"] for message in rendered.messages] == ["tool", "tool", "user"]
    assert [message["tool_call_id"] for message in rendered.results] == ["call_1", "call_2"]
    assert rendered.receipts[0].number == 7
    assert rendered.follow_up[0]["content"][0]["text"].startswith("⟦image 7: kiwi.png")


def test_two_results_for_one_call_are_an_error():
    with pytest.raises(BadInput, match="used twice"):
        render_results([("call_1", "a"), ("call_1", "b")], model="openai-chat:gpt-5-mini")


def test_a_mark_within_a_long_conversation_is_rendered():
    target = resolve(MODELS[0])
    conversation = MemoryConversation()
    conversation.ingest_now(run_of(8)[:-1])
    conversation.ingest_now(run_of(8)[-1:])
    planned = plan_now(conversation, target, Policy(cache=True))
    marked_plan = msgspec.structs.replace(planned, marks=(3, 5))
    body = b"".join(compose(marked_plan, target, Options(), conversation.blobs).chunks())
    assert body.count(b"cache_control") == 2
