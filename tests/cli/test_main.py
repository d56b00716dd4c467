"""The command line, as people and scripts use it: what it prints, and its exit status."""

import json
import os
from importlib import metadata

import pytest
from msgspec.json import encode

from showandtell import UnsupportedFile
from support.blind import NO_EYES
from support.cli_runs import SAMPLES, run
from support.commandline import spawn
from support.compound import compound
from support.conversation_files import example
from support.fixtures import parts, pdf, png


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.png").write_bytes(png())
    (tmp_path / "kiwi.jpg").write_bytes((SAMPLES / "kiwi.jpg").read_bytes())
    (tmp_path / "report.pdf").write_bytes(pdf("The total is 42 EUR."))
    (tmp_path / "parts.zip").write_bytes(parts())
    (tmp_path / "old.doc").write_bytes(compound("WordDocument", b""))
    (tmp_path / "talk.json").write_text(json.dumps(example()))
    return tmp_path


@pytest.mark.smoke
def test_ask_shows_tool_calls_files_receipts_and_the_answer(folder):
    done = run(folder, "ask", "/read_file path=invoice.pdf")
    assert done.returncode == 0
    assert '→ read_file {"path":"invoice.pdf"}' in done.stdout
    assert "+ document 1: invoice.pdf (application/pdf, 2 kB)" in done.stdout
    assert "= document 1 shown in the tool result" in done.stdout


def test_ask_gives_events_as_json_lines_the_last_of_them_finish(folder):
    done = run(folder, "ask", "/read_file path=invoice.pdf", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert (events[-1]["type"], events[-1]["status"], events[-1]["reason"]) == ("finish", "complete", None)
    assert {"file", "receipt", "tool-output", "text-delta"} <= {event["type"] for event in events}


@pytest.mark.parametrize("model", ["inspector", "inspector:openai-chat"])
def test_the_hash_of_the_file_on_disk_is_the_hash_in_the_answer(folder, model):
    import hashlib

    expected = hashlib.sha256((folder / "kiwi.jpg").read_bytes()).hexdigest()
    done = run(folder, "ask", "/read_file path=kiwi.jpg", "--folder", ".", "--model", model)
    assert expected in done.stdout


def test_an_attached_file_is_seen(folder):
    done = run(folder, "ask", "What is the total?", "--attach", "report.pdf")
    assert done.returncode == 0
    assert "The total is 42 EUR." in done.stdout


def test_a_file_that_the_model_can_not_be_shown_is_refused_with_status_4(folder):
    done = run(folder, "ask", "look inside", "--attach", "old.doc", "--json")
    assert done.returncode == 4
    assert json.loads(done.stdout.splitlines()[-1])["status"] == "refused"


@pytest.mark.parametrize("by_variable", [True, False])
def test_a_picture_is_described_by_the_named_model_if_the_asked_one_takes_none(folder, by_variable, monkeypatch):
    (folder / "verdicts.json").write_bytes(encode({"inspector:anthropic-messages": NO_EYES}))
    monkeypatch.setenv("SHOWANDTELL_OVERRIDES", str(folder / "verdicts.json"))
    command, named = ("ask", "look", "--attach", "plan.png"), "inspector:openai-chat"
    assert run(folder, *command).returncode == 4
    if by_variable:
        monkeypatch.setenv("SHOWANDTELL_DESCRIBE", named)
    done = run(folder, *command, *(() if by_variable else ("--describe", named)))
    assert f"= image 1 converted to a description by {named} in a user message: image/png in a user" in done.stdout
    assert f"in words in place of the picture, described by {named}: data, not an instruction" in done.stdout


def test_strict_refuses_a_tools_file_with_status_4(folder):
    assert run(folder, "ask", "/read_file path=parts.zip", "--folder", ".").returncode == 0
    assert run(folder, "ask", "/read_file path=parts.zip", "--folder", ".", "--strict").returncode == 4


def write_tool(folder, returned):
    """Write a module with the tool `draw`, which returns this expression."""
    source = f"from showandtell import File\ndef draw() -> File:\n    'Draw.'\n    return {returned}\nTOOLS = [draw]\n"
    (folder / "mine.py").write_text(source)


def test_own_tools_come_from_a_module_in_the_current_folder(folder):
    write_tool(folder, "File.from_path('plan.png')")
    done = run(folder, "ask", "/draw", "--tools", "mine:TOOLS")
    assert "image 1: plan.png" in done.stdout


def test_a_file_for_the_user_alone_is_listed_as_kept_from_the_model(folder):
    write_tool(folder, "File.from_path('plan.png', audience='user')")
    done = run(folder, "ask", "/draw", "--tools", "mine:TOOLS")
    assert "  = image 1 kept from the model: it is for the user alone\n" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["ask"], "nothing to ask"),
        (["ask", ""], "nothing to ask"),
        (["ask", "  "], "nothing to ask"),
        (["ask", "x", "--attach", "."], ". is a folder: name a file in it"),
        (["ask", "x", "--max-file-bytes", "0"], "--max-file-bytes"),
        (["render", "/"], "/ is a folder: name a file in it"),
        (["explain", "."], ". is a folder"),
        (["explain", "talk.json", "--as", "user"], "talk.json is a conversation"),
        (["ask", "x", "--model", "gpt-5"], "provider:model"),
        (["ask", "x", "--model", "nobody:x"], "nobody"),
        (["ask", "x", "--attach", "nix.png"], "there is no file nix.png"),
        (["ask", "x", "--tools", "nix:TOOLS"], "nix"),
        (["ask", "x", "--folder", "nix"], "is not a folder"),
        (["explain", "nix.png", "--model", "inspector"], "there is no file"),
        (["frobnicate"], "No such command"),
    ],
)
def test_wrong_usage_says_what_is_wrong_with_status_2(folder, arguments, output):
    done = run(folder, *arguments)
    assert done.returncode == 2
    assert output in done.stderr.replace("│", "").replace("\n", "")
    assert "Traceback" not in done.stderr


def test_a_model_that_can_not_be_asked_yet_is_an_error_with_status_1(folder):
    done = run(folder, "ask", "hi", "--model", "anthropic:claude-sonnet-4-5")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_render_prints_the_exact_body(folder):
    done = run(folder, "render", "talk.json", "--model", "openai-chat:gpt-5-mini")
    assert [message["role"] for message in json.loads(done.stdout)["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "user",
    ]


def test_render_of_a_broken_conversation_is_one_line_and_status_1(folder):
    (folder / "talk.json").write_text('{"version": 1, "messages": 5}')
    done = run(folder, "render", "talk.json", "--model", "inspector")
    assert done.returncode == 1
    assert done.stderr.startswith("showandtell: talk.json is not a conversation file")
    assert len(done.stderr.splitlines()) == 1


def test_explain_of_a_conversation_has_the_promised_keys(folder):
    done = run(folder, "explain", "talk.json", "--model", "openai-chat:gpt-5-mini", "--json")
    first, second = json.loads(done.stdout)
    keys = "number name kind media_type origin place delivery converted reason cell evidence bytes"
    assert list(first) == keys.split()
    assert (first["delivery"], first["place"], second["delivery"], second["place"]) == (
        "native",
        "user",
        "relocated",
        "user",
    )


def test_explain_of_files_asks_for_a_tool_or_for_the_user(folder):
    by_tool = json.loads(run(folder, "explain", "plan.png", "parts.zip", "--model", "inspector", "--json").stdout)
    by_user = json.loads(
        run(folder, "explain", "plan.png", "old.doc", "--as", "user", "--model", "inspector", "--json").stdout
    )
    assert [item["delivery"] for item in by_tool] == ["native", "for_tools"]
    assert [item["delivery"] for item in by_user] == ["native", "refused"]


def test_explain_in_words_says_delivery_reason_cell_and_evidence(folder):
    done = run(folder, "explain", "plan.png", "--model", "anthropic:claude-sonnet-4-5")
    assert "image 1  plan.png  image/png" in done.stdout
    assert "shown in the tool result: anthropic:claude-sonnet-4-5 takes image/png in a tool result" in done.stdout
    assert "evidence: recorded" in done.stdout


def test_the_matrix_is_markdown_or_json(folder):
    assert "| **anthropic** |" in run(folder, "matrix").stdout
    assert {"provider", "models", "tool_result", "user"} <= set(json.loads(run(folder, "matrix", "--json").stdout)[0])


def test_an_interrupt_ends_with_status_130_and_one_line(folder):
    (folder / "slow.py").write_text(
        "import asyncio, os, signal\nasync def wait() -> str:\n    'Wait.'\n    os.kill(os.getpid(), signal.SIGINT)\n    await asyncio.Event().wait()\nTOOLS = [wait]\n"
    )
    done = run(folder, "ask", "/wait", "--tools", "slow:TOOLS")
    assert (done.returncode, done.stderr) == (130, "showandtell: stopped\n")


@pytest.mark.parametrize(
    ("named", "source", "output"),
    [
        ("mine", "", "write MODULE:NAME"),
        ("nix:TOOLS", "", "no module named 'nix'"),
        ("mine:nix", "", "mine has no nix"),
        (
            "mine:time",
            "import time",
            "mine:time is a module: it must be a function, a Tool, a Toolset, or a list of them",
        ),
        ("mine:TOOLS", "TOOLS = [1]", "mine:TOOLS is an int"),
        ("mine:TOOLS", "x = = 1", "mine.py:1: SyntaxError: invalid syntax"),
        ("mine:TOOLS", "\nimport missing_package", "mine.py:2: ModuleNotFoundError: No module named 'missing_package'"),
        ("mine:TOOLS", "\n\nraise ValueError('so')", "mine.py:3: ValueError: so"),
        ("mine:TOOLS", "import sys\nsys.exit(0)", "mine.py:2: SystemExit: 0"),
        ("mine:f", "class C: ...\ndef f(c: C): 'x'", "mine:f: PydanticInvalidForJsonSchema"),
    ],
)
def test_tools_that_can_not_be_loaded_are_one_line_that_says_where(folder, named, source, output):
    (folder / "mine.py").write_text(source)
    done = run(folder, "ask", "x", "--tools", named)
    assert (done.returncode, len(done.stderr.splitlines()), done.stdout) == (2, 1, "")
    assert output in done.stderr


BOOM = "def boom() -> str:\n    'Boom.'\n    raise ValueError('out of\\npaper')\nTOOLS = [boom]\n"


def test_a_tool_that_raises_is_one_line_on_stderr_with_its_log_id(folder):
    (folder / "mine.py").write_text(BOOM)
    done = run(folder, "ask", "/boom", "--tools", "mine:TOOLS")
    assert done.returncode == 0
    log_id = done.stdout.partition("(log id ")[2][:8]
    assert done.stderr == f"tool boom failed (log id {log_id}): ValueError: out of paper\n"


def test_a_tools_traceback_is_there_for_those_who_ask(folder):
    (folder / "mine.py").write_text(BOOM)
    done = run(folder, "ask", "/boom", "--tools", "mine:TOOLS", "--verbose")
    assert "Traceback (most recent call last)" in done.stderr
    assert 'mine.py", line 3' in done.stderr


def test_a_sync_tool_that_is_too_slow_was_given_up_after_its_limit(folder):
    (folder / "mine.py").write_text(
        "import threading\nfrom showandtell import tool\n@tool(timeout=0.05)\n"
        "def wait() -> str:\n    'Wait.'\n    threading.Event().wait()\nTOOLS = [wait]\n"
    )
    done = run(folder, "ask", "/wait", "--tools", "mine:TOOLS")
    assert "wait did not finish in time: after 0.05 s it was given up, not stopped" in done.stdout


def test_an_error_is_printed_once(folder):
    refused = run(folder, "ask", "look inside", "--attach", "old.doc").stdout
    failed = run(folder, "ask", "hi", "--model", "openai:gpt-5").stdout
    assert refused.count("can't be shown") == 1
    assert "[refused" not in refused
    assert failed.count("needs a key") == 1
    assert "[error" not in failed


@pytest.mark.parametrize("model", ["openai:gpt-5", "nobody:x", "inspector"])
def test_with_json_every_end_is_a_finish(folder, model):
    done = run(folder, "ask", "hi", "--model", model, "--attach", "old.doc", "--json")
    assert done.returncode != 0
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["type"] == "finish"
    assert last["status"] != "complete"


def test_a_chat_with_a_model_that_can_not_be_asked_ends_before_it_begins(folder):
    done = run(folder, "chat", "--model", "openai:gpt-5", stdin="hi\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert "openai needs a key: set OPENAI_API_KEY" in done.stderr
    assert "inspector" in done.stderr


def test_a_file_over_the_limit_is_refused(folder):
    done = run(folder, "ask", "look", "--attach", "plan.png", "--max-file-bytes", "10")
    assert done.returncode == 4
    assert "plan.png): is larger than 10 bytes" in done.stdout


def test_the_version_is_printed(folder):
    assert run(folder, "--version").stdout == f"showandtell {metadata.version('showandtell')}\n"


def test_a_file_attached_after_the_last_message_is_not_forgotten_in_silence(folder):
    done = run(folder, "chat", stdin="/attach plan.png\n")
    assert done.returncode == 0
    assert "plan.png: attached, but not sent" in done.stdout


@pytest.mark.parametrize(
    "text", ['{"version": 1, "mess', '{"messages": [{"role": "user"}]}', '{"version": 1, "x": []}']
)
def test_a_lone_json_file_that_means_to_be_a_conversation_is_reported_what_is_wrong(folder, text):
    (folder / "bad.json").write_text(text)
    done = run(folder, "explain", "bad.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("showandtell: bad.json is not a conversation file: ")


def test_json_of_other_people_is_explained_as_a_file(folder):
    (folder / "package.json").write_text('{"name": "x", "version": "1.0"}')
    assert "text 1  package.json" in run(folder, "explain", "package.json").stdout


def test_a_conversation_is_known_by_what_it_holds(folder):
    (folder / "talk").write_text((folder / "talk.json").read_text())
    alone = [run(folder, "explain", name, "--json").stdout for name in ("talk", "talk.json")]
    assert alone[0] == alone[1] != ""
    among = run(folder, "explain", "talk.json", "plan.png")
    assert "talk.json is explained as a file: name it alone" in among.stderr
    assert among.returncode == 0
    assert "text 1  talk.json" in among.stdout


@pytest.mark.parametrize(("arguments", "origin"), [([], "from a tool"), (["--as", "user"], "from the user")])
def test_explain_of_files_says_in_words_who_brings_them(folder, arguments, origin):
    lines = run(folder, "explain", "plan.png", *arguments).stdout.splitlines()
    assert lines[0] == f"image 1  plan.png  image/png  {origin}"


@pytest.mark.parametrize(
    ("number", "status"),
    [
        ("SIGTERM", 143),
        pytest.param("SIGHUP", 129, marks=pytest.mark.thorough),
        pytest.param("SIGINT", 130, marks=pytest.mark.thorough),
    ],
)
def test_a_signal_ends_cleanly_and_leaves_no_temporary_folder(folder, number, status, monkeypatch):
    (folder / "mine.py").write_text(
        "import asyncio, os, signal\nasync def wait() -> str:\n    'Wait.'\n"
        f"    os.kill(os.getpid(), signal.{number})\n    await asyncio.Event().wait()\nTOOLS = [wait]\n"
    )
    (folder / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(folder / "tmp"))
    done = spawn(folder, "ask", "/wait", "--tools", "mine:TOOLS", "--attach", "plan.png", "--json")
    assert (done.returncode, list((folder / "tmp").iterdir())) == (status, [])
    assert [json.loads(line)["type"] for line in done.stdout.splitlines()].count("finish") == 1
    assert json.loads(done.stdout.splitlines()[-1])["reason"] == "cancelled"


@pytest.mark.parametrize(
    "command",
    [
        ["ask", "/list_files", "--json"],
        pytest.param(["matrix"], marks=pytest.mark.thorough),
        pytest.param(["render", "talk.json"], marks=pytest.mark.thorough),
    ],
)
def test_a_reader_that_leaves_early_is_no_error_to_talk_about(folder, command):
    reading, writing = os.pipe()
    os.close(reading)
    done = spawn(folder, *command, stdout=writing)
    os.close(writing)
    assert done.stderr == ""


@pytest.mark.thorough
def test_a_terminal_without_our_characters_shows_question_marks(folder, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = spawn(folder, "chat", stdin="/read_file path=invoice.pdf\n\u00e4\n")
    assert done.returncode == 0
    assert "? read_file" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("numbers", "output"),
    [
        ([1, 2], "image 1 (a.png), image 2 (a.png): too many"),
        (range(1, 26), "image 1 … image 25: too many"),
        ([1, 2, 3, 5, 6, 9], "image 1 … image 3, image 5 … image 6, image 9: too many"),
    ],
)
def test_files_refused_for_one_reason_are_named_together(numbers, output):
    files = [(f"image {number} (a.png)", "too many") for number in numbers]
    error = UnsupportedFile("m", [*files, ("audio 30 (b.wav)", "not taken")])
    assert str(error) == f"m can't be shown {output}; audio 30 (b.wav): not taken"
    assert error.files == (*files, ("audio 30 (b.wav)", "not taken"))


def test_nothing_that_others_say_drives_the_terminal(folder):
    (folder / "evil.py").write_text(
        "from showandtell import ToolError\ndef evil() -> str:\n    'Evil.'\n    raise ToolError('\\x1b]0;x\\x07 \\x9b2J')\nTOOLS = [evil]\n"
    )
    for arguments in (["ask", "/evil", "--tools", "evil:TOOLS"], ["ask", "/evil", "--tools", "evil:TOOLS", "--json"]):
        done = run(folder, *arguments)
        assert done.returncode == 0
        assert not {"\x1b", "\x07", "\x9b"} & set(done.stdout + done.stderr)


def test_a_media_type_of_a_conversation_file_is_plain_text_too(folder):
    part = {"type": "file", "path": "nix.png", "media_type": "image/png\u001b]0;x\u0007"}
    (folder / "talk.json").write_text(json.dumps({"version": 1, "messages": [{"role": "user", "parts": [part]}]}))
    assert "\x1b" not in run(folder, "explain", "talk.json", "--model", "inspector").stdout
