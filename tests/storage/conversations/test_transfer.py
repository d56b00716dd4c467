"""Export and import: a conversation comes back as it was but for its ids, and what is no export leaves nothing behind."""

import asyncio
import base64
import json
import stat
import struct
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import example as at_least
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from sqlalchemy import event, text

from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.errors import BadConversation, BadInput, ShowAndTellError
from showandtell.storage.conversations import archive as archive_module
from showandtell.storage.conversations.archive import unpacked
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.transfer import export_conversation, import_conversation
from showandtell.storage.database.quotas import Quotas
from showandtell.storage.files.conversation_file import load
from showandtell.storage.files.numbering import MAX_NUMBER
from support.fixtures import png
from support.properties import examples
from support.talks import talk, turns

FOLDER = Path(tempfile.mkdtemp(prefix="showandtell-transfer-"))


async def read_back(conversation):
    """All that is to be equal: messages and files without their ids."""
    messages = await conversation.everything()
    place = {None: None} | {message.id: at for at, message in enumerate(messages)}
    plain = {attachment.id: f"file {attachment.number}" for attachment in conversation.attachments.values()}
    output = json.dumps(
        [(place[item.parent_id], str(structs.replace(item, id="", parent_id=None))) for item in messages]
    )
    for item, number in plain.items():
        output = output.replace(item, number)
    files = [structs.replace(item, id="", state="ready") for _, item in sorted(conversation.attachments.items())]
    return output, files, place[conversation.head]


def records(path):
    with zipfile.ZipFile(path) as archive:
        return archive.read("conversation.json")


@given(st.lists(turns(), max_size=4), st.sets(st.integers(1, 4), max_size=1))
@examples(15)
def test_an_import_equals_what_was_exported_but_for_the_ids(spoken, deleted):
    async def run(folder):
        async with Store.at(FOLDER) as store:
            before = await store.create("ann")
            await talk(before, spoken)
            for number in deleted & before.attachments.keys():
                await store.delete_file(before, number)
            await export_conversation(before, folder / "one.zip")
            after = await import_conversation(store, folder / "one.zip", "bob", addresses=True)
            assert await read_back(after) == await read_back(before)
            for number, file in after.attachments.items():
                assert file.facts is None or after.file(number).read() == before.file(number).read()
            await export_conversation(await store.open(after.id, "bob"), folder / "two.zip")
            assert records(folder / "one.zip") == records(folder / "two.zip")

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


def example(path, **more):
    """The message that shows one file of the archive."""
    part = {"type": "file", "path": path, **more}
    return json.dumps({"version": 1, "messages": [{"role": "user", "parts": [part]}]})


def archive(path, *entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as sink:
        for name, data in entries:
            sink.writestr(name, data)


def try_import(folder, name, **settings):
    """Import, which must fail; gives its error and how many rows and blobs are there then."""

    async def run():
        async with Store.at(folder / "data", **settings) as store:
            with pytest.raises(ShowAndTellError) as caught:
                await import_conversation(store, folder / name)
            asked = "SELECT (SELECT count(*) FROM showandtell_conversations) + (SELECT count(*) FROM showandtell_blobs)"
            (rows,) = await store.database.read(text(asked))
            return caught.value, rows[0], [*store.blobs.for_owner("local").list_blobs()]

    error, rows, kept = asyncio.run(run())
    assert (rows, kept) == (0, [])
    return error


LINK = zipfile.ZipInfo("files/1.png")
LINK.external_attr = (stat.S_IFLNK | 0o777) << 16
TALK = ("conversation.json", example("files/1.png"))
BAD = {
    "no records": ([("files/1.png", png())], "has no conversation.json"),
    "upwards": ([TALK, ("files/1.png", png()), ("../x", b"x")], "contains '../x', which exports never contain"),
    "absolute": ([TALK, ("files/1.png", png()), ("/etc/x", b"x")], "contains '/etc/x', which exports never contain"),
    "of Windows": ([TALK, ("files\\..\\..\\x", b"x")], "which exports never contain"),
    "a drive": ([TALK, ("C:/x", b"x")], "which exports never contain"),
    "a link": ([TALK, (LINK, "/etc/passwd")], "contains 'files/1.png', which exports never contain"),
    "without its file": ([TALK], "the archive has no files/1.png: export it again"),
    "another version": ([("conversation.json", '{"version": 2, "messages": []}')], "has version 2"),
    "no JSON": ([("conversation.json", "{")], "is not a conversation file"),
    "a path outside": ([("conversation.json", example("../../x"))], "outside the folder"),
    "the same twice": (
        [TALK, ("files/1.png", png()), ("files/1.png", b"x")],
        "contains 'files/1.png', which exports never contain",
    ),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("case", BAD)
def test_what_is_no_export_is_refused_and_leaves_nothing(tmp_path, case):
    entries, words = BAD[case]
    archive(tmp_path / "x.zip", *entries)
    error = try_import(tmp_path, "x.zip")
    assert isinstance(error, BadConversation)
    assert words in str(error)


def test_a_message_that_contradicts_what_was_stored_before_it_takes_that_with_it(tmp_path):
    message = {"role": "user", "parts": [{"type": "file", "path": "files/1.png", "number": 1}]}
    archive(
        tmp_path / "x.zip",
        ("conversation.json", json.dumps({"version": 1, "messages": [message, message]})),
        ("files/1.png", png()),
    )
    assert "messages[1]: number 1 of 1.png is taken by 1.png" in str(try_import(tmp_path, "x.zip"))


@at_least(cut=1.0, flipped=0.9921875, bit=0)
@given(cut=st.floats(0, 1), flipped=st.floats(0, 1), bit=st.integers(0, 7))
@examples(40)
def test_a_damaged_archive_is_refused_or_reads_as_it_was(cut, flipped, bit):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.zip"
        archive(path, ("conversation.json", example("files/1.png")), ("files/1.png", png()))
        data = bytearray(path.read_bytes())
        data[int(flipped * (len(data) - 1))] ^= 1 << bit
        path.write_bytes(data[: max(1, round(len(data) * (0.5 + cut)))])
        try:
            found = asyncio.run(take_in(path))
        except BadInput:
            return
        assert found in {png(), None}


async def take_in(path):
    """The bytes of file 1 of an archive; None where it has a problem."""
    with unpacked(path, 1_000_000) as file:
        (draft,) = load(file)
        return draft.parts[0].source.read_bytes() if draft.parts[0].source.exists() else None


def test_a_bomb_is_refused_long_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(archive_module, "EXTRA_SIZE", 2**22)
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as sink:
        sink.writestr(*TALK)
        with sink.open("files/1.png", "w") as entry:
            for _ in range(20):
                entry.write(bytes(2**20))
    bounded = try_import(tmp_path, "x.zip", quotas=Quotas(file=1_000_000))
    assert "files/1.png has more than 1000000 bytes: raise the limit of one file" in str(bounded)
    assert "expands to far more than an export has" in str(try_import(tmp_path, "x.zip", quotas=Quotas(file=None)))


def test_a_size_that_lies_is_found_out(tmp_path):
    archive(tmp_path / "x.zip", TALK, ("files/1.png", png()))
    data = (tmp_path / "x.zip").read_bytes()
    where = data.rindex(b"PK\1\2") + 24
    (tmp_path / "x.zip").write_bytes(data[:where] + struct.pack("<I", 10) + data[where + 4 :])
    assert isinstance(try_import(tmp_path, "x.zip"), BadConversation)


def test_a_file_that_is_missing_is_exported_with_its_problem_and_the_kind_that_it_had(tmp_path):
    async def run():
        async with Store.at(tmp_path) as store:
            before = await store.create()
            draft = Draft("user", (File.from_bytes(png(), name="a.png"),))
            await before.record(draft, await before.probe(draft))
            store.blobs.for_owner("local").delete(before.attachments[1].facts.sha256)
            await export_conversation(before, tmp_path / "x.zip")
            return (await import_conversation(store, tmp_path / "x.zip")).attachments[1]

    file = asyncio.run(run())
    assert (file.label, file.name, file.facts) == ("image 1", "a.png", None)
    assert "the blob is missing" in file.problem


def test_where_an_export_can_not_be_written_nothing_is_left(tmp_path):
    async def run(path):
        async with Store.at(tmp_path / "data") as store:
            with pytest.raises(BadInput, match="can't be written"):
                await export_conversation(await store.create(), path)

    asyncio.run(run(tmp_path / "nix" / "x.zip"))
    (tmp_path / "there").mkdir()
    asyncio.run(run(tmp_path / "there"))
    assert sorted(item.name for item in tmp_path.iterdir()) == ["data", "there"]


def user(*parts, **more):
    return {"role": "user", "parts": list(parts), **more}


def talk_of(path, *messages):
    """A conversation file without an archive around it."""
    path.write_text(json.dumps({"version": 1, "messages": messages}))
    return path


def imported(folder, *messages, **options):
    """What a conversation file of these messages becomes, and how often it began to write for that."""
    begun = []

    async def run():
        async with Store.at(folder / "data") as store:
            event.listen(store.database.engine, "begin", begun.append)
            found = await import_conversation(store, talk_of(folder / "x.json", *messages), **options)
            return found, await found.everything()

    return *asyncio.run(run()), len(begun)


WORDS_ONLY = {"type": "text", "text": "hello"}


@pytest.mark.parametrize("uri", ["https://e.com/a.png?key=secret", "s3://b/a.png", "openai:file-1"])
def test_an_address_is_taken_over_only_where_the_import_allows_it(tmp_path, uri):
    part = {"type": "file", "uri": uri, "media_type": "image/png"}
    kept = imported(tmp_path, user(part))[0].attachments[1]
    assert (kept.address, kept.label) == (None, "image 1")
    assert "import it with addresses=True" in kept.problem
    assert imported(tmp_path, user(part), addresses=True)[0].attachments[1].address is not None


def test_an_import_writes_in_as_few_transactions_as_it_has_files(tmp_path):
    root, leaves = user(WORDS_ONLY), [user(WORDS_ONLY, parent=max(0, at - 2)) for at in range(1, 1200)]
    found, output, begun = imported(tmp_path, root, *leaves)
    assert len(output) == 1200
    assert (found.head, len(found.messages)) == (output[-1].id, 601)
    assert begun == 1


@pytest.mark.parametrize("table", ["conversations", "messages", "attachments"])
def test_an_import_that_breaks_off_leaves_no_conversation(tmp_path, table):
    def fail(_connection, _cursor, statement, *_):
        if f"INTO showandtell_{table}" in statement:
            raise OSError("killed")

    async def run():
        async with Store.at(tmp_path / "data") as store:
            event.listen(store.database.engine, "after_cursor_execute", fail)
            data = {"type": "file", "data": base64.b64encode(png()).decode()}
            with pytest.raises(OSError, match="killed"):
                await import_conversation(store, talk_of(tmp_path / "x.json", user(WORDS_ONLY, data)))
            asked = (
                "SELECT (SELECT count(*) FROM showandtell_conversations) + (SELECT count(*) FROM showandtell_messages)"
            )
            return await store.list(), (await store.database.read(text(asked)))[0][0]

    assert asyncio.run(run()) == ((), 0)


def test_the_highest_number_leaves_room_for_more_files_and_for_its_own_export(tmp_path):
    async def run():
        async with Store.at(tmp_path / "data") as store:
            data = {"type": "file", "data": base64.b64encode(png()).decode(), "number": MAX_NUMBER}
            found = await import_conversation(store, talk_of(tmp_path / "x.json", user(data)))
            draft = Draft("user", (File.from_bytes(b"one more"), File.from_bytes(b"and more")))
            await found.record(draft, await found.probe(draft))
            await export_conversation(found, tmp_path / "x.zip")
            return sorted((await import_conversation(store, tmp_path / "x.zip")).attachments)

    assert asyncio.run(run()) == [1, 2, MAX_NUMBER]


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("form", ["see {} there", "see data:image/png;base64,{} there", "{}"])
def test_a_file_that_is_written_out_among_words_is_stored_as_a_file(tmp_path, role, form):
    data = base64.b64encode(png(64, 64)).decode()
    message = {"role": role, "parts": [{"type": "text", "text": form.format(data)}]}
    found, (output,), _ = imported(tmp_path, message)
    assert found.attachments[1].facts.pixels == (64, 64)
    assert output.text == form.format("").replace("data:image/png;base64,", "")
    assert data[:60].encode() not in (tmp_path / "data" / "showandtell.db").read_bytes()


def test_calls_that_were_left_open_are_imported_as_they_are(tmp_path):
    call = {"role": "assistant", "parts": [{"type": "tool_call", "call_id": "c", "tool": "t", "arguments": {}}]}
    result = {"role": "tool", "call_id": "c", "tool": "t", "parts": [WORDS_ONLY]}
    _, output, _ = imported(tmp_path, user(WORDS_ONLY), call, user(WORDS_ONLY), call, result, {**result, "parent": 1})
    places = {item.id: at for at, item in enumerate(output)}
    assert [places.get(item.parent_id) for item in output] == [None, 0, 1, 2, 3, 1]
