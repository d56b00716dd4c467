"""Stored conversations on the command line: continue, list, show, export, import, delete and check them."""

import asyncio
import base64
import io
import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, contextmanager

import docx
import pytest

from showandtell import File, tool
from showandtell.core.messages.attachments import Facts
from showandtell.installation import install_command
from showandtell.storage.conversations.store import Store
from support.commandline import PROGRAM, call, spawn
from support.fixtures import bmp, jpeg, pdf, png
from support.openai_history import SAMPLE
from support.scripted import MODELS, say, scripted, watch

ID = re.compile(r"conv_[0-9A-Za-z_-]{22}")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.png").write_bytes(png())
    (tmp_path / "report.pdf").write_bytes(pdf("The total is 42 EUR."))
    return tmp_path


def run(folder, *arguments, status=0, stdin="", more=(), terminal=False):
    """A command with its data in this folder; gives what it said, on both ways out."""
    environment = {"SHOWANDTELL_DATA": str(folder / "data"), **dict(more)}
    done = call(folder, *arguments, stdin=stdin, environ=environment, terminal=terminal)
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


def ask(folder, *arguments):
    """A conversation with a few files and an error; gives its id."""
    run(folder, "ask", "/read_file path=nix.png", "-a", "plan.png", "-a", "report.pdf", *arguments)
    return ID.search(run(folder, "list")[0])[0]


def test_a_conversation_goes_on_in_the_next_program_with_another_model(folder):
    ask(folder)
    output, _ = run(folder, "ask", "compare image 1 with document 2", "-c", "last", "-m", "inspector:gemini")
    assert "image 1 (plan.png), document 2 (report.pdf) compared" in output
    assert len(run(folder, "list")[0].splitlines()) == 1
    run(folder, "ask", "hi")
    assert len(run(folder, "list")[0].splitlines()) == 2


def test_a_chat_goes_on_by_id_and_says_so(folder):
    which = ask(folder)
    output, _ = run(folder, "chat", "-c", which, stdin="What is document 2?\n")
    assert f"Continuing {which}: 4 messages, 2 files." in output
    assert "The total is 42 EUR." in output


def test_a_list_says_when_how_much_and_how_it_begins_and_aligns(folder):
    which = ask(folder)
    run(folder, "ask", "  hello\n  there " + "long " * 40)
    newest, oldest = run(folder, "list")[0].splitlines()
    assert newest.index("hello there") == oldest.index("/read_file")
    assert re.fullmatch(
        which + r"  \d{4}-\d\d-\d\d \d\d:\d\d    4 messages    2 files  /read_file path=nix\.png", oldest
    )
    assert newest.endswith("…")
    assert len(newest) < 140
    assert len(run(folder, "list", "-n", "1")[0].splitlines()) == 1
    assert [load["id"] for load in json.loads(run(folder, "list", "--json")[0])][1] == which


def test_the_times_of_a_list_are_local(folder):
    ask(folder)
    hours = [run(folder, "list", more={"TZ": zone})[0][30:43] for zone in ("UTC", "UTC-5")]
    assert hours[0] != hours[1]


def test_an_empty_place_says_so_and_has_no_last_conversation(folder):
    (folder / "data").mkdir()
    assert run(folder, "list")[0] == "no conversation is stored here yet\n"
    assert run(folder, "show", status=1)[1] == "showandtell: no conversation is stored here yet: start one\n"


def test_show_prints_words_calls_errors_files_and_what_became_of_them(folder):
    which = ask(folder)
    output, _ = run(folder, "show", which)
    assert output.startswith(
        f"{which}\n\nyou: /read_file path=nix.png\n  [image 1: plan.png]\n  [document 2: report.pdf]\n\n"
        'model: → read_file {"path":"nix.png"}\n\n  ← read_file failed: there is no file'
    )
    assert "\nfiles:\n  image 1: plan.png (image/png, " in output
    assert "  document 2: report.pdf (application/pdf, " in output
    assert "    shown in a user message: inspector:anthropic-messages takes application/pdf" in output
    assert not [line for line in output.splitlines() if line != line.rstrip()]
    value = json.loads(run(folder, "show", which, "--json")[0])
    assert ([attachment["number"] for attachment in value["attachments"]], len(value["messages"])) == ([1, 2], 4)


def test_an_export_is_imported_elsewhere_and_shows_the_same(folder):
    which = ask(folder)
    assert run(folder, "export", "last", "x.zip")[0].startswith(f"{which}: 4 messages, 2 files in x.zip, ")
    assert "x.zip exists already" in run(folder, "export", "last", "x.zip", status=2)[1]
    other = ID.search(run(folder, "import", "x.zip", "--data", "other")[0])[0]
    shown = [run(folder, "show", *where)[0] for where in ([which], [other, "--data", "other"])]
    assert shown[0].partition("\nfiles:")[0].replace(which, other) == shown[1].partition("\nfiles:")[0]
    assert "42 EUR" in run(folder, "ask", "What is document 2?", "-c", "last", "--data", "other")[0]


def test_a_conversation_file_is_imported_and_its_broken_files_are_named(folder):
    parts = [{"type": "file", "path": name} for name in ("plan.png", "nix.png")]
    talk = {"version": 1, "instructions": "Be brief.", "messages": [{"role": "user", "parts": parts}]}
    (folder / "talk.json").write_text(json.dumps(talk))
    output, warned = run(folder, "import", "talk.json")
    assert output.endswith(": 1 message, 2 files\n")
    assert "its instructions are dropped" in warned
    assert "file 2: nix.png (can't be read" in warned


B64 = "iVBORw0KGgo="


def without_marks(request):
    """A recorded request with a picture where the recording left its bytes out."""
    text = json.dumps(request)
    return re.sub(r"<<media[^>]*enc:dataurl>>", f"data:image/png;base64,{B64}", re.sub(r"<<media[^>]*b64>>", B64, text))


GEMINI = {
    "contents": [
        {"role": "user", "parts": [{"text": "Look."}, {"inlineData": {"mimeType": "image/png", "data": B64}}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "draw", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "draw", "response": {"a": 1}}}]},
    ]
}
REQUESTS = [*((item["provider"], item["request"]) for item in SAMPLE), ("gemini", GEMINI)]


@pytest.mark.parametrize(("vendor", "request_"), REQUESTS, ids=[vendor for vendor, _ in REQUESTS])
def test_the_request_of_another_api_is_imported_with_its_files(folder, vendor, request_):
    (folder / "request.json").write_text(without_marks(request_))
    output, _ = run(folder, "import", "request.json", "--from", vendor)
    assert "1 file\n" in output
    shown, _ = run(folder, "show")
    assert "draw" in shown
    assert "\n  image 1: " in shown


def test_what_can_not_be_imported_is_one_line_and_leaves_nothing(folder):
    (folder / "x.zip").write_bytes(b"PK\3\4 torn")
    (folder / "x.json").write_text('[{"role": "tool", "tool_call_id": "c", "content": "x"}]')
    for arguments in (["x.zip"], ["x.json"], ["x.json", "--from", "openai"], ["x.zip", "--from", "gemini"]):
        assert len(run(folder, "import", *arguments, status=1)[1].splitlines()) == 1
    assert "there is no file nix.zip" in run(folder, "import", "nix.zip", status=2)[1]
    assert json.loads(run(folder, "list", "--json")[0]) == []


def test_delete_asks_and_then_nothing_is_left(folder):
    which = ask(folder)
    question = f"permanently delete {which} (4 messages, 2 files)?"
    assert question in run(folder, "delete", "last", stdin="n\n", status=1)[0]
    assert f"deleted {which} (4 messages, 2 files)\n" in run(folder, "delete", "last", stdin="y\n")[0]
    assert [path for path in (folder / "data" / "blobs").rglob("*") if path.is_file()] == []
    assert "there is no conversation" in run(folder, "delete", which, "-y", status=1)[1]


def test_one_file_is_deleted_and_stays_by_name(folder):
    which = ask(folder)
    assert f"deleted document 2 (report.pdf) of {which}\n" == run(folder, "delete", which, "--file", "2", "-y")[0]
    assert "document 2: report.pdf (was deleted by the user), from the user" in run(folder, "show")[0]
    assert (
        "has no file 7; it has: image 1, document 2" in run(folder, "delete", which, "--file", "7", "-y", status=1)[1]
    )


def test_an_upload_that_can_not_be_deleted_is_named(folder):
    which = ask(folder)
    with closing(sqlite3.connect(folder / "data" / "showandtell.db")) as database, database:
        ((owner, sha256),) = database.execute(
            "SELECT owner, sha256 FROM showandtell_attachments WHERE number = 1"
        ).fetchall()
        record = '{"variant":{"file_id":"file-abc"}}'
        columns = [row[1] for row in database.execute("PRAGMA table_info(showandtell_known)")]
        row = {"owner": owner, "sha256": sha256, "recipe": "upload", "at": "openai:k", "record": record}
        values = [row.get(name, 0) for name in columns]
        database.execute(f"INSERT INTO showandtell_known VALUES ({','.join('?' * len(values))})", values)  # noqa: S608 - marks alone
    output, warned = run(folder, "delete", which, "-y")
    assert f"deleted {which}" in output
    assert re.search(r"not deleted: file-abc is still there: ", warned)


def test_fsck_finds_what_is_gone_and_collects_nothing_too_early(folder):
    ask(folder)
    assert (
        run(folder, "fsck", "--collect")[0] == "the database and all stored files are intact\ndeleted 0 unused files\n"
    )
    blob = max((folder / "data" / "blobs").rglob("*"), key=lambda path: path.stat().st_size * path.is_file())
    blob.chmod(0o600)
    blob.write_bytes(blob.read_bytes()[:-1])
    output, _ = run(folder, "fsck", status=1)
    assert re.search(r"  has \d+ of \d+ bytes  needed by att_", output)
    assert re.search(
        r"^1 problem: files are damaged: restore them from the backup \(see .*deploy.md\)$", output, re.MULTILINE
    )
    assert len(json.loads(run(folder, "fsck", "--json", status=1)[0])) == 1


def test_a_database_and_blobs_by_url_need_no_folder(folder):
    where = ["--database", f"sqlite:///{folder}/own.db", "--blobs", str(folder / "own")]
    environment = {"SHOWANDTELL_DATA": None, "XDG_DATA_HOME": "/proc/nix"}
    run(folder, "ask", "hi", "-a", "plan.png", *where, more=environment)
    assert "2 messages" in run(folder, "list", *where, more=environment)[0]
    assert [path for path in (folder / "own").rglob("*") if path.is_file()] != []


WRONG = {
    "no such conversation": (["ask", "x", "-c", "conv_nix"], "there is no conversation 'conv_nix': check the id"),
    "nobody listens": (["list", "--database", "postgresql://me:secret@127.0.0.1:1/x"], "does not answer"),
    "no database": (["list", "--database", "redis://x"], "are not supported: write sqlite:///"),
    "a file for a folder": (["ask", "x", "--data", "plan.png"], "the folder plan.png can't be created"),
    "no place for a folder": (["ask", "x", "--data", "/proc/nix"], "can't be created"),
    "no database but a picture": (["list", "--database", "sqlite:///plan.png"], "plan.png"),
    "blobs of no kind": (["ask", "x", "--blobs", "ftp://x"], "ftp"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_can_not_be_opened_is_one_line_with_status_1(folder, case):
    arguments, words = WRONG[case]
    _, warned = run(folder, *arguments, status=1)
    assert len(warned.splitlines()) == 1
    assert words in warned
    assert "secret" not in warned


def test_a_database_of_a_newer_version_is_left_alone(folder):
    ask(folder)
    with closing(sqlite3.connect(folder / "data" / "showandtell.db")) as database, database:
        database.execute("UPDATE showandtell_version SET version_num = 'showandtell_9999'")
        database.execute("DROP TABLE showandtell_login_codes")
    output, warned = run(folder, "ask", "hi", "--json", status=1)
    assert "was written by a newer version of showandtell" in warned
    assert [json.loads(line)["type"] for line in output.splitlines()] == ["error", "finish"]


def test_a_full_disk_is_reported_and_what_was_stored_stays(folder):
    ask(folder)
    (folder / "large.bin").write_bytes(os.urandom(1_000_000))
    database = (folder / "data" / "showandtell.db").stat().st_size

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (database + 100_000, database + 100_000))

    where = {"SHOWANDTELL_DATA": str(folder / "data")}
    done = spawn(folder, "ask", "look", "-a", "large.bin", "-c", "last", environ=where, preexec_fn=limit)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) < 2
    assert "4 messages    2 files" in run(folder, "list")[0]


SLOW = (
    "import asyncio, os, pathlib\nasync def wait() -> str:\n    'Wait.'\n"
    "    print('waiting', flush=True)\n    while not pathlib.Path('go').exists():\n        await asyncio.sleep(0.02)\n"
    "    return 'done'\nTOOLS = [wait]\n"
)


@contextmanager
def begin_waiting(folder):
    """The program in the midst of a tool."""
    (folder / "slow.py").write_text(SLOW)
    environment = {**os.environ, "SHOWANDTELL_DATA": str(folder / "data")}
    with subprocess.Popen(  # noqa: S603 - our own program
        [*PROGRAM, "ask", "/wait", "--tools", "slow:TOOLS", "-c", "last", "--json"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as running:
        try:
            assert any("waiting" in line for line in iter(running.stdout.readline, ""))
            yield running
        finally:
            running.kill()


def test_who_asks_in_a_conversation_that_is_answered_waits_for_its_turn(folder):
    ask(folder)
    with begin_waiting(folder) as first:
        second = threading.Timer(1, (folder / "go").touch)
        second.start()
        run(folder, "ask", "hi", "-c", "last")
        assert first.wait() == 0
    output = run(folder, "show")[0]
    assert output.index("← wait: done") < output.index("you: hi")


@pytest.mark.parametrize(
    ("number", "status"),
    [
        pytest.param(signal.SIGINT, 130, marks=pytest.mark.thorough),
        pytest.param(signal.SIGTERM, 143, marks=pytest.mark.thorough),
        (signal.SIGKILL, -9),
    ],
)
def test_after_an_end_in_the_midst_of_a_tool_the_conversation_goes_on(folder, number, status):
    ask(folder)
    with begin_waiting(folder) as first:
        first.send_signal(number)
        lines = first.stdout.readlines()
        assert first.wait() == status
    if number != signal.SIGKILL:
        last = json.loads(lines[-1])
        assert (last["type"], last["status"], last["reason"]) == ("finish", "incomplete", "cancelled")
        assert last["usage"]["input_tokens"] > 0
    run(folder, "ask", "What is document 2?", "-c", "last")
    assert "← wait failed: " in run(folder, "show")[0]


LIBRARIES = ("sqlalchemy", "alembic")
BLOCKED = f"""
import sys
for name in {LIBRARIES}: sys.modules[name] = None
from showandtell.cli.main import main
main()
"""


def test_without_the_extra_a_chat_works_keeps_nothing_and_says_so_once(folder):
    program = (sys.executable, "-c", BLOCKED)
    chat = spawn(folder, "chat", stdin="/list_files\nhi\n", program=program)
    assert (chat.returncode, chat.stderr.count(install_command("history"))) == (0, 1)
    assert "This conversation is not stored." in chat.stdout


@pytest.mark.parametrize("name", LIBRARIES)
def test_without_the_extra_what_needs_it_says_so_on_one_line(folder, name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    unset = {"SHOWANDTELL_DATA": None}
    assert len(run(folder, "ask", "hi", "--json", more=unset)[1].splitlines()) == 1
    for arguments in (["list"], ["show"], ["export", "last", "x.zip"], ["fsck"], ["ask", "hi", "-c", "last"]):
        warned = run(folder, *arguments, status=2, more=unset)[1]
        assert len(warned.splitlines()) == 1
        assert install_command("history") in warned


def letter():
    """A Word file with words."""
    document, buffer = docx.Document(), io.BytesIO()
    document.add_paragraph("Dear harbour master, the rope is in shed nine.")
    document.save(buffer)
    return buffer.getvalue()


@tool(name="show_all")
def show_all() -> list[File]:
    """Show a picture and a letter."""
    return [File.from_bytes(jpeg(40, 30), name="wall.jpg"), File.from_bytes(letter(), name="letter.docx")]


def pieces(data):
    """What would give these bytes away, as they are or as base64."""
    return [data[at : at + 24] for at in (0, len(data) // 2)] + [base64.b64encode(data)[20:60]]


@pytest.mark.parametrize("model", MODELS)
def test_no_bytes_no_base64_and_no_words_of_ours_are_in_the_database(tmp_path, model):
    given = [File.from_bytes(png(20, 20), name="kiwi.png"), File.from_bytes(bmp(), name="old.bmp")]
    given += [File.from_bytes(pdf("The total is 42 EUR."), name="report.pdf")]

    async def go():
        async with Store.at(tmp_path) as store:
            conversation = await store.create()
            agent, script = scripted(
                say("", ("c1", "show_all", "{}"), model=model), say("Seen.", model=model), model=model, tools=[show_all]
            )
            run = agent.run("look", files=given, conversation=conversation)
            await watch(run)
            kept = [path.read_bytes() for path in sorted(tmp_path.glob("showandtell.db*"))]
            blobs = store.blobs.for_owner("local")
            return (
                run,
                b"".join(kept),
                [blobs.read(Facts(blob.sha256, "", blob.size)) for blob in blobs.list_blobs()],
                script,
            )

    run, data, blobs, script = asyncio.run(go())
    assert len(script.asked) == 2
    assert len(run.conversation.attachments) == 5
    assert len(blobs) >= 5
    assert [name for name in (b"kiwi.png", b"letter.docx") if name not in data] == []
    assert [piece for blob in blobs for piece in pieces(blob) if piece in data] == []
    assert "\u27e6".encode() not in data
    assert [message.role for message in run.conversation.messages] == ["user", "assistant", "tool", "assistant"]
