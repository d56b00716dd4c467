"""What a program keeps with its files and results: ids, metadata, and files that no model gets in another form."""

import json
import logging

import pytest

from showandtell import (
    File,
    FilePolicy,
    ToolResult,
    UnsupportedFile,
    export_conversation,
    get_document,
    import_conversation,
    render,
    view_file,
)
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from support.builders import user_history
from support.fixtures import bmp, docx, pdf, png
from support.scripted import MODELS, each_api, say, scripted

HIDDEN = "customer-4711"
CHART = File.from_bytes(png(), "image/png", "a.png", id=HIDDEN, metadata={"row": HIDDEN, "n": [1, None]})


def returning(value):
    def show():
        """Show it."""
        return value

    return show


def tell(tool, *more, model=MODELS[0], call=("c1", "show", "{}"), **settings):
    answers = say("", call, model=model), say("Done.", model=model)
    return scripted(*answers, model=model, tools=[tool, *more], **settings)


@each_api
def test_ids_and_metadata_reach_no_model_and_come_back(model):
    value = ToolResult({"chart": CHART}, CHART, metadata={"run": HIDDEN})
    agent, script = tell(returning(value), model=model)
    run = agent.run_sync("show me")
    assert len(script.bodies) == 2
    assert HIDDEN not in json.dumps(script.bodies)
    assert [(file.id, file.metadata) for file in run.files] == [(HIDDEN, CHART.metadata)] * 2
    assert [receipt.external_id for receipt in run.receipts] == [HIDDEN] * 2
    assert run.metadata == {"c1": {"run": HIDDEN}}
    assert run.messages[2].metadata == {"run": HIDDEN}


@pytest.mark.anyio
async def test_they_survive_storing_export_and_import(store, tmp_path):
    conversation = await store.create()
    file = File.from_bytes(bmp(), None, "a.bmp", id=HIDDEN, metadata={"row": HIDDEN}, convert=False)
    agent, _ = tell(returning(ToolResult(file, metadata=[HIDDEN, 1.5])))
    await agent.run("show me", conversation=conversation)
    await export_conversation(conversation, tmp_path / "out.zip")
    imported = await import_conversation(store, tmp_path / "out.zip")
    for stored in (await store.open(conversation.id), await store.open(imported.id)):
        attachment, again = stored.attachments[1], stored.file(1)
        assert (attachment.external_id, attachment.metadata, attachment.convert) == (HIDDEN, {"row": HIDDEN}, False)
        assert (again.id, again.metadata, again.convert) == (HIDDEN, {"row": HIDDEN}, False)
        assert stored.messages[2].metadata == [HIDDEN, 1.5]
    await export_conversation(conversation, tmp_path / "public.zip", metadata=False)
    public = await import_conversation(store, tmp_path / "public.zip")
    assert (public.attachments[1].metadata, public.file(1).id, public.messages[2].metadata) == (None, None, None)


def test_metadata_that_is_not_json_is_the_programs_alone_and_a_line_in_the_log(caplog):
    artifact = object()
    agent, _ = tell(returning(ToolResult("Here.", metadata=artifact)))
    run = agent.run_sync("show me")
    assert run.metadata == {"c1": artifact}
    assert run.messages[2].metadata is None
    (line,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert "tool show: the metadata of its result is not stored: metadata is not JSON" in line.getMessage()


@each_api
def test_a_file_that_the_model_takes_is_sent_as_it_is(model):
    agent, script = tell(returning(File.from_bytes(png(), name="a.png", convert=False)), model=model)
    run = agent.run_sync("show me")
    assert run.receipts[0].delivery in {"native", "relocated"}
    assert script.files[-1] == 1


@each_api
@pytest.mark.parametrize("data", [bmp(), docx(), png(9000, 10)], ids=["bmp", "docx", "too wide"])
def test_a_file_that_would_be_converted_is_a_note_with_the_reason(model, data):
    file = File.from_bytes(data, name="plan", convert=False)
    agent, script = tell(returning(file), model=model)
    run = agent.run_sync("look", files=[file])
    assert run.status == "complete"
    for receipt in run.receipts:
        if receipt.delivery == "noted":
            assert receipt.reason.endswith("it is sent as it is or not at all")
        else:
            assert receipt.delivery in {"native", "relocated"}
            assert receipt.converted is False
    assert dict(run.conversation.known()) == {}
    assert any(script.files) == any(receipt.delivery != "noted" for receipt in run.receipts)


def test_text_is_sent_as_it_is():
    history = user_history(File.from_bytes(b"a,b", "text/csv", "a.csv", convert=False))
    assert render(history, model="anthropic:claude-sonnet-5").receipts[0].delivery == "native"


def test_a_policy_that_raises_raises():
    history = user_history(File.from_bytes(bmp(), name="a.bmp", convert=False))
    with pytest.raises(UnsupportedFile, match="sent as it is or not at all"):
        render(history, model="anthropic:claude-sonnet-5", file_policy=FilePolicy(on_unsupported="error"))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("view_file", {"number": 1, "pages": [1]}),
        ("view_file", {"number": 1, "crop": [0, 0, 5, 5]}),
        ("get_document", {"number_or_name": 1}),
    ],
)
def test_tools_do_not_show_it_in_another_form(tool, arguments):
    file = File.from_bytes(pdf("forty-two"), name="a.pdf", convert=False)
    agent, script = tell(view_file, get_document, call=("c1", tool, json.dumps(arguments)))
    run = agent.run_sync("look", files=[file], conversation=MemoryConversation())
    assert "is shown as it is or not at all" in run.messages[2].text
    assert "forty-two" not in json.dumps(script.bodies)


@pytest.mark.parametrize("arguments", ['{"number": 1}', '{"number_or_name": 1, "return_original": true}'])
def test_tools_show_it_as_a_whole(arguments):
    file = File.from_bytes(pdf("forty-two"), name="a.pdf", convert=False)
    tool = "view_file" if "number_or_name" not in arguments else "get_document"
    agent, _ = tell(view_file, get_document, call=("c1", tool, arguments))
    run = agent.run_sync("look", files=[file])
    assert run.messages[2].showings[0].number == 1
