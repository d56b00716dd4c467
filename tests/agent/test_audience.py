"""A file for the user alone: neither its bytes nor its name nor its description reach a provider, in any way."""

import json

import pybase64
import pytest

from showandtell import Draft, File, Text, ToolResult, export_conversation, import_conversation
from showandtell.agent.builtin_tools import get_document, list_files, view_file
from showandtell.core.events.replay import tool_output
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.conversations.stored_conversation import title_of
from support.fixtures import pdf, png
from support.scripted import MODELS, each_api, say, scripted
from support.stores import post, user_draft

CHART = png(31, 17)
WORD = "salary-4711"
PRIVATE = {
    "image": File.from_bytes(CHART, "image/png", f"{WORD}.png", WORD, audience="user"),
    "document": File.from_bytes(pdf(WORD), name=f"{WORD}.pdf", audience="user"),
    "text": File.from_bytes(WORD.encode(), "text/plain", f"{WORD}.txt", audience="user"),
}
each_file = pytest.mark.parametrize("file", PRIVATE.values(), ids=PRIVATE)
LOOKING = [
    ("view_file", {"number": 1}),
    ("view_file", {"number": 1, "crop": [0, 0, 5, 5]}),
    ("get_document", {"number_or_name": 1}),
    ("get_document", {"number_or_name": WORD}),
    ("get_document", {"number_or_name": 1, "return_original": True}),
    ("list_files", {}),
]


def check_kept(script, file):
    """No request holds the file's bytes or anything that names it."""
    encoded = pybase64.b64encode(file.read()).decode()
    assert script.bodies
    for body in map(json.dumps, script.bodies):
        assert encoded not in body
        assert WORD not in body
    assert not any(script.files)


@each_api
@each_file
def test_a_tools_file_for_the_user_is_kept_from_the_model_and_the_receipt_says_so(model, file):
    answers = say("", ("c1", "show", "{}"), model=model), say("Done.", model=model)
    agent, script = scripted(*answers, model=model, tools=[show_of(file)])
    run = agent.run_sync("show me")
    check_kept(script, file)
    assert "1: shown to the user alone" in json.dumps(script.bodies[1], ensure_ascii=False)
    (receipt,) = run.receipts
    assert (receipt.delivery, receipt.place, receipt.bytes) == ("withheld", None, 0)
    assert "kept from the model" in receipt.reason
    assert [(found.name, found.audience) for found in run.files] == [(file.name, "user")]


def show_of(file):
    def show():
        """Show the file."""
        return {"chart": file, "rows": 3}

    return show


@each_api
@pytest.mark.parametrize(("tool", "arguments"), LOOKING)
def test_the_models_own_tools_do_not_show_it(model, tool, arguments):
    file = PRIVATE["image"]
    answers = say("", ("c1", tool, json.dumps(arguments)), model=model), say("Done.", model=model)
    agent, script = scripted(*answers, model=model, tools=[view_file, get_document, list_files])
    run = agent.run_sync("look", files=[file])
    call = f'"{WORD}"' in json.dumps(arguments)
    assert run.status == "complete"
    assert WORD not in json.dumps(script.bodies[0])
    assert pybase64.b64encode(CHART).decode() not in json.dumps(script.bodies)
    assert call or WORD not in json.dumps(script.bodies[1])
    assert not any(script.files)


@each_api
def test_a_reference_to_it_does_not_show_it(model):
    file = PRIVATE["image"]
    agent, script = scripted(say("Ok.", model=model), model=model, max_in_context=1)
    conversation = MemoryConversation()
    agent.run_sync("keep this", files=[file], conversation=conversation)
    agent.run_sync("compare image 1 with the picture", conversation=conversation)
    check_kept(script, file)
    assert "image 1 = shown to the user alone" in json.dumps(script.bodies[1], ensure_ascii=False)


def test_it_is_neither_uploaded_nor_linked_nor_converted():
    asked = []
    file = PRIVATE["image"]
    agent, script = scripted(
        say("Ok."), uploads=True, expected_steps=10**6, url_signer=lambda facts: asked.append(facts) or "https://x/y"
    )
    run = agent.run_sync("keep this", files=[file])
    check_kept(script, file)
    assert (run.status, asked, dict(run.conversation.known())) == ("complete", [], {})


def test_switching_the_model_keeps_it():
    file, conversation = PRIVATE["document"], MemoryConversation()
    for model in MODELS:
        agent, script = scripted(say("Ok.", model=model), model=model)
        agent.run_sync("and now?", files=[file], conversation=conversation)
        check_kept(script, file)


@pytest.mark.anyio
async def test_it_stays_private_when_it_is_stored_exported_and_imported(store, tmp_path):
    file = PRIVATE["image"]
    conversation = await store.create()
    agent, _ = scripted(say("", ("c1", "show", "{}")), say("Ok."), tools=[show_of(file)])
    await agent.run("show me", conversation=conversation)
    await export_conversation(conversation, tmp_path / "out.zip")
    imported = await import_conversation(store, tmp_path / "out.zip")
    for stored in (await store.open(conversation.id), imported):
        agent, script = scripted(say("Ok."))
        await agent.run("and now?", conversation=stored)
        check_kept(script, file)
        assert stored.attachments[1].audience == stored.file(1).audience == "user"


def test_a_file_for_the_assistant_is_sent_as_any_other():
    file = File.from_bytes(CHART, audience="assistant")
    agent, script = scripted(say("Ok."))
    run = agent.run_sync("look", files=[file])
    assert (script.files, run.conversation.attachments[1].audience, run.receipts[0].delivery) == (
        [1],
        "assistant",
        "native",
    )


BOSS, MODEL = "ask your boss", "be brief about it"
NOTES = {
    "beside": (Text(BOSS, "user"), "rain", Text(MODEL, "assistant")),
    "in a dict": {"rain": 3, "notes": {"user": Text(BOSS, "user"), "model": [Text(MODEL, "assistant")]}},
    "in a result": ToolResult({"a": Text(BOSS, "user")}, Text(MODEL, "assistant"), is_error=True),
    "in MCP's words": {
        "content": [
            {"type": "text", "text": BOSS, "annotations": {"audience": ["user"]}},
            {"type": "text", "text": MODEL, "annotations": {"audience": ["assistant"]}},
        ]
    },
}


def giving(value):
    def show():
        """Show it."""
        return value

    return show


@each_api
@pytest.mark.parametrize("value", NOTES.values(), ids=NOTES)
def test_a_text_reaches_its_audience_alone(model, value):
    answers = say("", ("c1", "show", "{}"), model=model), say("Done.", model=model)
    agent, script = scripted(*answers, model=model, tools=[giving(value)])
    run = agent.run_sync("show me")
    bodies = json.dumps(script.bodies)
    assert BOSS not in bodies
    assert MODEL in bodies
    output = tool_output(run.messages[2])
    assert BOSS in output.text
    assert MODEL not in output.text


@pytest.mark.anyio
async def test_texts_keep_their_audience_when_they_are_stored_exported_and_imported(store, tmp_path):
    conversation = await store.create()
    agent, _ = scripted(say("", ("c1", "show", "{}")), say("Ok."), tools=[giving(NOTES["in a dict"])])
    await agent.run("show me", conversation=conversation)
    await export_conversation(conversation, tmp_path / "out.zip")
    imported = await import_conversation(store, tmp_path / "out.zip")
    for stored in (await store.open(conversation.id), imported):
        assert stored.messages[2].parts[1:] == (Text(BOSS, "user"), Text(MODEL, "assistant"))
        agent, script = scripted(say("Ok."))
        await agent.run("and now?", conversation=stored)
        assert BOSS not in json.dumps(script.bodies)


@pytest.mark.anyio
async def test_a_title_and_references_are_of_the_text_for_both(store):
    conversation = await store.create()
    await post(conversation, user_draft("", File.from_bytes(CHART, "image/png", "a.png")))
    await post(conversation, Draft("assistant", (Text("Ok."),)))
    parts = (Text(MODEL, "assistant"), Text("What is in image 1?", "user"), Text(" Tell me."))
    message = await post(conversation, Draft("user", parts))
    assert message.references == ()
    assert title_of(message) == "Tell me."
