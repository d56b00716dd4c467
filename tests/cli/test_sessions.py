"""What the command line keeps and says of it, how it waits for others, and how it tells of files and words."""

import asyncio
import hashlib
import json
import re
import sys

import pytest

from showandtell import Agent
from showandtell.cli import chat
from showandtell.cli.sessions import NEW
from showandtell.core.planning.receipt_words import delivery_line
from showandtell.errors import Busy
from showandtell.storage.conversations.store import Store
from showandtell.storage.location import StorageLocation
from support.commandline import Stream, call
from support.compound import compound
from support.fixtures import pdf, png
from support.photos import photo
from support.scripted import say, scripted
from support.server_process import until

ID = re.compile(r"conv_[0-9A-Za-z_-]{22}")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.png").write_bytes(png())
    (tmp_path / "report.pdf").write_bytes(pdf("The total is 42 EUR."))
    (tmp_path / "old.doc").write_bytes(compound("WordDocument", b""))
    return tmp_path


def run(folder, *arguments, **settings):
    return call(folder, *arguments, environ={"SHOWANDTELL_DATA": str(folder / "data")}, **settings)


def listed(folder):
    return [load["title"] for load in json.loads(run(folder, "list", "--json").stdout)]


def test_a_chat_says_where_and_as_what_it_is_kept(folder):
    output = run(folder, "chat", stdin="hi\nhello\n").stdout
    assert f"\nThis conversation is stored in {folder / 'data'} (see showandtell list, show, delete).\n" in output
    assert output.count(f"(stored as {ID.search(run(folder, 'list').stdout)[0]})\n") == 1


def test_a_chat_without_a_message_leaves_nothing(folder):
    run(folder, "chat", stdin="/help\n")
    assert listed(folder) == []


@pytest.mark.parametrize("command", [("ask", "hi"), ("chat",)])
def test_none_keeps_nothing(folder, command):
    done = run(folder, *command, "-c", "none", "--data", "other", stdin="hi\n", terminal=True)
    assert (done.returncode, done.stderr, (folder / "other").exists()) == (0, "", False)
    assert "Kept" not in done.stdout


def test_ask_tells_a_person_the_id_and_a_program_nothing(folder):
    assert run(folder, "ask", "hi").stderr == ""
    received = run(folder, "ask", "hi", terminal=True).stderr
    assert received == f"(stored as {ID.search(run(folder, 'list').stdout)[0]})\n"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["-a", "old.doc"], 4), (["-m", "openai:gpt-5"], 1), (["-a", "plan.png", "--quota", "9"], 4)],
)
def test_what_was_never_sent_is_not_kept_and_is_not_the_last(folder, arguments, status):
    run(folder, "ask", "hi")
    assert run(folder, "ask", "look", *arguments, terminal=True).returncode == status
    assert listed(folder) == ["hi"]
    assert run(folder, "ask", "look", "-c", "last", *arguments).returncode == status
    assert listed(folder) == ["hi"]


def test_how_words_were_read_is_reported_and_shown(folder):
    done = run(folder, "ask", "look at image 1 and document 1", "-a", "plan.png", "-a", "report.pdf")
    lines = [
        '  "image 1" = image 1: plan.png\n',
        '  "document 1" may mean image 1: plan.png or document 2: report.pdf\n',
    ]
    assert [line for line in lines if line not in done.stdout] == []
    assert done.stdout.index("+ document 2") < done.stdout.index(lines[0]) < done.stdout.index("= image 1")
    shown = run(folder, "show").stdout
    assert [line for line in lines if line not in shown] == []


def receipt(kind, **more):
    usual = {
        "kind": kind,
        "delivery": "native",
        "converted": True,
        "place": "user",
        "cell": "a",
        "reason": "converted: m takes no x",
    }
    return delivery_line({**usual, **more})


DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
RECEIPTS = {
    "3 pages": receipt("image", pages=(1, 2, 3), total=3.0),
    "page 6 of 12": receipt("document", pages=(6,), total=12.0, scale=1.9),
    "pages 1 to 5 of 12": receipt("document", pages=(1, 2, 3, 4, 5), total=12.0),
    "pages 6, 8 of 12, its part 1, 2, 3, 4": receipt("document", pages=(6, 8), total=12.0, crop=(1, 2, 3, 4)),
    "8 frames of 50 s": receipt("video", times=tuple(range(8)), total=50.0, scale=0.4),
    "a machine transcript": receipt("audio", cell=None, reason="given as words: m takes no x"),
    "a description by m:x, cut": receipt("image", cell=None, described_by="m:x", cut=True),
    "a description by m:x, pages 1 to 2 of 9": receipt(
        "document", cell=None, described_by="m:x", pages=(1, 2), total=9.0
    ),
    "text": receipt("document", cell=None, reason="given as words: m takes no x"),
    "text, pages 1 to 2 of 9, cut": receipt("document", cell=None, pages=(1, 2), total=9.0, cut=True),
    "audio in another format of 60 s, cut": receipt("audio", total=60.0, cut=True),
    "an image, scaled to 43%": receipt("image", scale=0.4321),
    "an image, enlarged to 200%": receipt("image", scale=2.0),
    "an image in a follow-up message": receipt("image", delivery="relocated"),
}


@pytest.mark.parametrize("words", RECEIPTS)
def test_a_receipt_says_once_what_became_of_a_file(words):
    place = "" if " in a follow-up message" in words else " in a user message"
    assert RECEIPTS[words] == f"converted to {words}{place}: m takes no x"


def test_a_receipt_of_a_file_as_it_is_says_how_it_went():
    output = receipt("document", converted=False, reason=f"m takes {DOCX}")
    assert output == "shown in a user message: m takes docx"
    assert (
        receipt("document", converted=False, delivery="noted", place=None, reason="too large") == "name only: too large"
    )


async def ask_while_held(folder, received):
    """The exit status of a question in a conversation that another program answers in, until `told` gives words."""
    async with Store.at(folder) as one, Store.at(folder) as other:
        first = await one.create()
        agent, _ = scripted(say("Hello."))
        run = agent.run("hi", conversation=await other.open(first.id))
        async with first.turn:
            watching = asyncio.create_task(chat.watch(run, str))
            words = await until(received)
        return await watching, words


def test_who_waits_for_another_program_gets_one_notice(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(chat, "WAIT_NOTICE", 0.02)
    status, words = asyncio.run(ask_while_held(tmp_path, lambda: capsys.readouterr().err))
    assert (status, words, capsys.readouterr().err) == (0, f"showandtell: {chat.WAITING}\n", "")


def test_who_never_got_a_turn_gets_no_a_cancelled_run(folder, monkeypatch):
    run(folder, "ask", "hi")
    monkeypatch.setattr("showandtell.storage.database.lease.Lease.acquire", busy)
    done = run(folder, "ask", "hello", "-c", "last", "--json")
    assert [json.loads(line)["type"] for line in done.stdout.splitlines()] == ["error", "finish"]
    assert (done.returncode, done.stderr) == (1, "showandtell: try again later\n")
    output = run(folder, "chat", "-c", "last", stdin="hello\n")
    assert output.returncode == 1
    assert "Busy: try again later\n" in output.stdout
    assert "cancelled" not in output.stdout


async def busy(*_):
    raise Busy("try again later")


def test_a_chat_whose_conversation_was_deleted_says_so_and_begins_another(folder, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Stream(terminal=True))
    lines = iter(["hi", "look", "hello again"])

    def read(_):
        line = next(lines, None)
        if line is None:
            raise EOFError
        if line == "look":
            asyncio.run(delete_all(folder))
        return line

    chat.run_chat(lambda _: Agent("inspector"), None, StorageLocation(folder), NEW, read)
    assert "has been deleted: your next message starts a new one" in capsys.readouterr().out
    assert listed_in(folder) == ["hello again"]


async def delete_all(folder):
    async with Store.at(folder) as store:
        for item in await store.list():
            await store.delete(item.id)


def listed_in(folder):
    async def titles():
        async with Store.at(folder) as store:
            return [item.title for item in await store.list()]

    return asyncio.run(titles())


@pytest.mark.parametrize(
    ("arguments", "status", "received"),
    [
        (["delete"], 2, "Missing argument"),
        (["ask", "x", "--nix"], 2, "No such option"),
        (["ask", "x", "-c", ""], 1, "there is no conversation ''"),
        (["ask", "x", "-a", "/proc/self/mem/x"], 2, "--attach: /proc/self/mem/x can't be read: Not a directory"),
        (["import", "list.json"], 1, "name its API with --from, one of openai, anthropic, gemini"),
    ],
)
def test_every_error_is_one_line(folder, arguments, status, received):
    (folder / "list.json").write_text('[{"role": "user", "content": "hi"}]')
    done = run(folder, *arguments)
    assert done.returncode == status
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert received in done.stderr


def test_an_export_names_the_files_without_bytes(folder):
    run(folder, "ask", "hi", "-a", "plan.png", "-a", "report.pdf")
    run(folder, "delete", "last", "--file", "2", "-y")
    received = run(folder, "export", "last", "x.zip").stderr
    assert received.splitlines()[0].startswith("without its bytes: document 2: report.pdf (was deleted by the user)")
    assert len(received.splitlines()) == 1


def test_a_deleted_file_whose_bytes_another_needs_is_reported(folder):
    run(folder, "ask", "hi", "-a", "plan.png")
    run(folder, "ask", "hello", "-a", "plan.png")
    assert "; its bytes stay: another file has the same" in run(folder, "delete", "last", "--file", "1", "-y").stdout


@pytest.mark.parametrize("which", ["new", "none"])
def test_a_photo_is_sent_without_its_place_where_that_is_wanted(folder, which):
    picture = photo((48.0, 8.0, 0.0))
    (folder / "photo.jpg").write_bytes(picture)
    hashes = [
        hashlib.sha256(picture).hexdigest()
        in run(folder, "ask", "look", "-a", "photo.jpg", "-c", which, *option).stdout
        for option in ([], ["--strip-location"])
    ]
    assert hashes == [True, False]
