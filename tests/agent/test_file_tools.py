"""`get_document` finds a file of the conversation by number or name and gives its words; `Files.text` is its way."""

import asyncio
import json

import pytest
from msgspec import structs

from showandtell import Agent, File, RunContext
from showandtell.agent.builtin_tools import builtin_tools, get_document
from showandtell.agent.context import Files
from showandtell.agent.file_tools import find_document
from showandtell.agent.loader import Sharing, transcribe_file
from showandtell.core.messages.derivations import Derivative
from showandtell.errors import BadInput, ToolError
from showandtell.inspector.request import files_of
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.conversations.store import Store
from showandtell.storage.files.file_cache import FileCache
from support.builders import attachment
from support.docx import word_file
from support.fixtures import pdf, png, wav
from support.scripted import CLAUDE, MODELS, check_usable, each_api, results, say, scripted

FILES = {
    "Offer.docx": word_file("The crane costs 900 EUR."),
    "bill.pdf": pdf("Total 42 EUR", "Thank you"),
    "note.txt": b"the harbour opens at nine",
    "old note.txt": b"it opened at eight",
    "red.png": png(),
}


@pytest.fixture(scope="module")
def conversation():
    """A conversation with a file of every kind, numbered in the order of `FILES`, which nobody writes on."""
    files = [File.from_bytes(data, name=name) for name, data in FILES.items()]
    return scripted(say("Ok."))[0].run_sync("keep these", files=files).conversation


def files_in(conversation):
    return Files(conversation.attachments, conversation.file)


def get(files, named, model=CLAUDE, **more):
    """What the model receives for `get_document`, whether it is an error, and the run."""
    call = say("", ("c1", "get_document", json.dumps({"number_or_name": named, **more})), model=model)
    agent, script = scripted(call, say("Done.", model=model), model=model, tools=[get_document])
    claims = [File.from_bytes(data, name=name) for name, data in files.items()]
    run = agent.run_sync("read", files=claims)
    check_usable(run.conversation)
    _, words, failed = results(run.messages)[0]
    return words, failed, script


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Offer.docx", "The crane costs 900 EUR."),
        ("bill.pdf", "[page 1]\nTotal 42 EUR\n\n[page 2]\nThank you"),
        ("note.txt", "the harbour opens at nine"),
    ],
)
def test_the_words_of_a_document_are_given(name, words):
    kind = "text" if name.endswith(".txt") else "document"
    given_words, failed, _ = get({name: FILES[name]}, name)
    assert (given_words.strip(), failed) == (f"{kind} 1 ({name}) as text:\n{words}", False)


@each_api
def test_the_original_is_shown_when_it_is_asked_for(model):
    data = FILES["bill.pdf"]
    words, failed, script = get({"bill.pdf": data}, 1, model, return_original=True)
    assert (words, failed) == ("", False)
    assert [file.data for turn in script.asked[1].turns for file in files_of(turn)] == [data] * 2


@pytest.mark.parametrize(
    ("output", "number"),
    [
        (1, 1),
        ("1", 1),
        ("document 2", 2),
        ("Document #2", 2),
        ("file 3", 3),
        ("Offer.docx", 1),
        ("offer.DOCX", 1),
        ("offer", 1),
        ("note.txt", 3),
        ("old", 4),
        ("  bill.pdf ", 2),
    ],
)
def test_a_document_is_found_by_number_or_name(conversation, output, number):
    assert find_document(files_in(conversation), output).number == number


@pytest.mark.parametrize(
    ("output", "received"),
    [
        (9, "has no file 9; it has: document 1, "),
        ("9", "no file is called '9'; there are: document 1 (Offer.docx), document 2 (bill.pdf), "),
        ("image 2", "there is no image 2: number 2 is document 2 (bill.pdf)"),
        ("gone.pdf", "no file is called 'gone.pdf'; there are: document 1 (Offer.docx), "),
        ("", "no file is called ''; there are: "),
        ("note", "'note' may mean text 3 (note.txt), text 4 (old note.txt): ask by number"),
        (".", "'.' may mean document 1 (Offer.docx), document 2 (bill.pdf), text 3 (note.txt), "),
    ],
)
def test_what_is_not_one_file_is_reported_with_those_it_may_be(conversation, output, received):
    with pytest.raises((ToolError, BadInput)) as caught:
        find_document(files_in(conversation), output)
    assert received in str(caught.value)


def test_the_same_bytes_under_one_name_are_the_newest_of_them():
    same = {at: structs.replace(attachment(1), number=at, id=f"att_{at}") for at in (1, 2, 3)}
    assert find_document(Files(same, same.__getitem__), "file1.png").number == 3


def test_a_deleted_file_gives_way_to_one_of_its_name_that_is_there():
    there = structs.replace(attachment(1), name="a.pdf")
    gone = structs.replace(attachment(2), name="a.pdf", facts=None, problem="was deleted by the user", state="deleted")
    files = Files({1: there, 2: gone}, print)
    assert find_document(files, "a.pdf").number == 1
    assert find_document(files, 2).number == 2


def test_a_deleted_file_is_reported_as_such():
    gone = structs.replace(attachment(1), facts=None, problem="was deleted by the user", state="deleted")
    files = Files({1: gone}, print)
    context = RunContext("me", "conv", "c1", files, print)
    for original in (False, True):
        with pytest.raises((ToolError, BadInput)) as caught:
            asyncio.run(get_document(1, context, return_original=original))
        assert str(caught.value) == "file 1 (file1.png) can't be used: was deleted by the user"


def test_words_that_were_read_are_gone_when_a_stored_file_is_deleted(tmp_path):
    async def go():
        async with Store.at(tmp_path) as store:
            conversation = await store.create()
            call = say("", ("c1", "get_document", '{"number_or_name": "note.txt"}'))
            reader = scripted(call, say("Done."), tools=[get_document])[0]
            await reader.run("read", files=[File.from_bytes(b"nine", name="note.txt")], conversation=conversation)
            await store.delete_file(conversation, 1)
            call = say("", ("c2", "get_document", '{"number_or_name": "note.txt"}'))
            reader = scripted(call, say("Done."), tools=[get_document])[0]
            return (await reader.run("again", conversation=conversation)).messages

    ((_, words, failed),) = results(asyncio.run(go()))
    assert (failed, words.endswith("(note.txt) can't be used: was deleted by the user")) == (True, True)


@pytest.mark.parametrize(
    ("name", "data", "received"),
    [
        ("red.png", png(), "image 1 (red.png) is image/png and has no text"),
        ("blank.pdf", pdf(""), "document 1 (blank.pdf) has no text that can be read: has no text layer"),
    ],
)
def test_a_file_without_words_explains_how_to_view_it(name, data, received):
    words, failed, _ = get({name: data}, 1)
    assert failed
    assert words.startswith(received)
    assert words.endswith("Ask with return_original=true to be shown the file itself")


def test_words_are_made_once():
    read = say("", ("c1", "get_document", '{"number_or_name": 1}'), ("c2", "get_document", '{"number_or_name": 1}'))
    again = say("", ("c3", "get_document", '{"number_or_name": 1}'))
    agent, _ = scripted(read, again, say("Done."), tools=[get_document])
    run = agent.run_sync("read", files=[File.from_bytes(FILES["bill.pdf"], name="bill.pdf")])
    ((want, found),) = run.conversation.known().items()
    assert (want.conversion, isinstance(found, Derivative)) == ("text", True)
    assert len({words for _, words, _ in results(run.messages)}) == 1


def test_any_tool_may_ask_for_words_whether_async_or_not():
    async def wait(context: RunContext) -> str:
        return await context.files.text(1)

    def hold(context: RunContext) -> str:
        return context.files.text_now(1)

    agent, _ = scripted(say("", ("c1", "wait", "{}"), ("c2", "hold", "{}")), say("Done."), tools=[wait, hold])
    run = agent.run_sync("go", files=[File.from_bytes(FILES["note.txt"], name="note.txt")])
    assert [words for _, words, _ in results(run.messages)] == ["the harbour opens at nine"] * 2


def test_an_async_tool_that_would_hold_up_the_loop_is_reported():
    async def hold(context: RunContext) -> str:
        return context.files.text_now(1)

    agent, _ = scripted(say("", ("c1", "hold", "{}")), say("Done."), tools=[hold])
    run = agent.run_sync("go", files=[File.from_bytes(FILES["note.txt"], name="note.txt")])
    ((_, words, failed),) = results(run.messages)
    assert failed
    assert "write `await files.text(number)`" in words


def test_files_without_a_conversation_have_no_words(conversation):
    with pytest.raises(BadInput, match="can't be converted here"):
        files_in(conversation).text_now(3)


def test_a_long_document_comes_in_pieces():
    files = {"Offer.docx": word_file("The crane costs 900 EUR. " * 6000)}
    words, failed, _ = get(files, 1)
    heading, _, piece = words.partition(":\n")
    end = int(heading.removeprefix("document 1 (Offer.docx) as text, characters 0 to ").partition(" of ")[0])
    assert (failed, piece.endswith(f"\n(more follows: offset={end})")) == (False, True)
    assert "(end of the text)" in get(files, 1, offset=140_000)[0]


def test_a_document_is_searched():
    words, _, _ = get({"bill.pdf": FILES["bill.pdf"]}, 1, search="total 42")
    assert words.splitlines()[1].startswith("at 9: … ")
    assert get({"bill.pdf": FILES["bill.pdf"]}, 1, search="43 EUR")[0].startswith("'43 EUR' occurs 0 times in ")


def test_a_sound_is_given_as_a_transcript_or_reported_why_not():
    words, failed, _ = get({"a.wav": wav()}, 1, MODELS[3])
    assert words.startswith("audio 1 (a.wav) ")
    assert "transcri" in words or not failed


def test_flipped_bytes_are_never_written_down_and_that_may_pass(tmp_path):
    folder, facts = Folder(tmp_path), FileCache(Folder(tmp_path)).probe(File.from_bytes(wav(), name="a.wav")).facts
    (blob,) = (path for path in tmp_path.rglob("*") if path.is_file())
    blob.chmod(0o600)
    blob.write_bytes(bytes(blob.stat().st_size))
    found = transcribe_file(facts, folder, Sharing(transcribe=lambda _: pytest.fail("was given flipped bytes")))
    assert (found.passing, found.reason.endswith("no longer matches its hash: add the file again")) == (True, True)


@each_api
def test_words_ask_the_inspector_for_a_document(tmp_path, model):
    agent = Agent(model, tools=builtin_tools(tmp_path))
    run = agent.run_sync("keep it", files=[File.from_bytes(FILES["note.txt"], name="note.txt")])
    run = agent.run_sync("/get_document number_or_name=note.txt", conversation=run.conversation)
    assert [failed for _, _, failed in results(run.messages)] == [False]
    assert "the harbour opens at nine" in results(run.messages)[0][1]
