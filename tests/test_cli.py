"""The command line, as people and scripts use it: what it prints, and its exit status."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fixtures import pdf, png, wav
from test_records import example

SAMPLES = Path(__file__).parent.parent / "src" / "showandtell" / "samples"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.png").write_bytes(png())
    (tmp_path / "kiwi.jpg").write_bytes((SAMPLES / "kiwi.jpg").read_bytes())
    (tmp_path / "report.pdf").write_bytes(pdf("The total is 42 EUR."))
    (tmp_path / "beep.wav").write_bytes(wav())
    (tmp_path / "talk.json").write_text(json.dumps(example()))
    return tmp_path


def run(folder, *arguments, stdin=""):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SHOWANDTELL")}
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "showandtell", *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        input=stdin,
        env=environment,
    )


def test_ask_shows_tool_calls_files_receipts_and_the_answer(folder):
    done = run(folder, "ask", "/read_file path=invoice.pdf")
    assert done.returncode == 0
    assert '→ read_file {"path":"invoice.pdf"}' in done.stdout
    assert "+ document 1: invoice.pdf (application/pdf, 2 kB)" in done.stdout
    assert "= document 1 native in the tool result" in done.stdout


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
    done = run(folder, "ask", "listen", "--attach", "beep.wav", "--json")
    assert done.returncode == 4
    assert json.loads(done.stdout.splitlines()[-1])["status"] == "refused"


def test_strict_refuses_a_tools_file_with_status_4(folder):
    assert run(folder, "ask", "/read_file path=beep.wav", "--folder", ".").returncode == 0
    assert run(folder, "ask", "/read_file path=beep.wav", "--folder", ".", "--strict").returncode == 4


def test_own_tools_come_from_a_module_in_the_current_folder(folder):
    (folder / "mine.py").write_text(
        "from showandtell import File\ndef draw() -> File:\n    'Draw.'\n    return File.from_path('plan.png')\nTOOLS = [draw]\n"
    )
    done = run(folder, "ask", "/draw", "--tools", "mine:TOOLS")
    assert "image 1: plan.png" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask"], "Missing argument"),
        (["ask", "x", "--model", "gpt-5"], "provider:model"),
        (["ask", "x", "--model", "nobody:x"], "nobody"),
        (["ask", "x", "--attach", "nix.png"], "there is no file nix.png"),
        (["ask", "x", "--tools", "nix:TOOLS"], "nix"),
        (["ask", "x", "--folder", "nix"], "is no folder"),
        (["explain", "nix.png", "--model", "inspector"], "there is no file"),
        (["frobnicate"], "No such command"),
    ],
)
def test_wrong_usage_says_what_is_wrong_with_status_2(folder, arguments, said):
    done = run(folder, *arguments)
    assert done.returncode == 2
    assert said in done.stderr.replace("│", "").replace("\n", "")
    assert "Traceback" not in done.stderr


def test_a_model_that_can_not_be_asked_yet_is_an_error_with_status_1(folder):
    done = run(folder, "ask", "hi", "--model", "anthropic:claude-sonnet-4-5")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_chat_takes_a_message_a_line_and_ends_with_the_input(folder):
    done = run(folder, "chat", stdin="/read_file path=invoice.pdf\nWhat is the total?\n")
    assert done.returncode == 0
    assert "Total: 184.50 EUR" in done.stdout
    assert done.stdout.index("Try one of these") < done.stdout.index("> /read_file")


def test_chat_takes_files_by_attach(folder):
    done = run(folder, "chat", stdin="/attach plan.png\n/attach nix.png\nwhat is it?\n")
    assert "there is no file nix.png" in done.stdout
    assert "image 1: plan.png, uploaded by the user" in done.stdout


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
    assert done.stderr.startswith("showandtell: talk.json is no conversation file")
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
    by_tool = json.loads(run(folder, "explain", "plan.png", "beep.wav", "--model", "inspector", "--json").stdout)
    by_user = json.loads(
        run(folder, "explain", "plan.png", "beep.wav", "--as", "user", "--model", "inspector", "--json").stdout
    )
    assert [one["delivery"] for one in by_tool] == ["native", "noted"]
    assert [one["delivery"] for one in by_user] == ["native", "refused"]


def test_explain_in_words_says_delivery_reason_cell_and_evidence(folder):
    done = run(folder, "explain", "plan.png", "--model", "anthropic:claude-sonnet-4-5")
    assert "image 1  plan.png  image/png" in done.stdout
    assert "native in the tool result: anthropic:claude-sonnet-4-5 takes image/png in a tool result" in done.stdout
    assert "evidence: recorded" in done.stdout


def test_the_matrix_is_markdown_or_json(folder):
    assert "| **anthropic** |" in run(folder, "matrix", "--markdown").stdout
    assert {"provider", "models", "tool_result", "user"} <= set(json.loads(run(folder, "matrix", "--json").stdout)[0])


def test_an_interrupt_ends_with_status_130(folder):
    (folder / "slow.py").write_text(
        "import asyncio, os, signal\nasync def wait() -> str:\n    'Wait.'\n    os.kill(os.getpid(), signal.SIGINT)\n    await asyncio.Event().wait()\nTOOLS = [wait]\n"
    )
    done = run(folder, "ask", "/wait", "--tools", "slow:TOOLS")
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
