"""The chat in the terminal: a line at a time, its commands, and its questions before risky calls."""

import io
import os
import pty
import select
import subprocess
from contextlib import contextmanager

import pytest

from showandtell.cli.chat import ask_approval, attach
from showandtell.cli.terminal import Printer
from showandtell.core.events.types import ApprovalNeeded, Retry
from showandtell.samples import folder as samples
from support.commandline import PROGRAM, call
from support.fixtures import png


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.png").write_bytes(png())
    (tmp_path / "kiwi.jpg").write_bytes((samples() / "kiwi.jpg").read_bytes())
    return tmp_path


def run(folder, *arguments, stdin=""):
    return call(folder, *arguments, stdin=stdin, environ={"SHOWANDTELL_DATA": str(folder / "data")})


def test_chat_takes_a_message_a_line_and_ends_with_the_input(folder):
    done = run(folder, "chat", stdin="/read_file path=invoice.pdf\nWhat is the total?\n")
    assert done.returncode == 0
    assert "Total: 184.50 EUR" in done.stdout
    assert done.stdout.index("Try one of these") < done.stdout.index("you: /read_file")


def test_chat_takes_files_by_attach(folder):
    done = run(folder, "chat", stdin="/attach plan.png\n/attach nix.png\nwhat is it?\n")
    assert "there is no file nix.png" in done.stdout
    assert "image 1: plan.png, uploaded by the user" in done.stdout


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ('"a b.png" plan.png', ["a b.png", "plan.png"]),
        (r"a\ b.png", ["a b.png"]),
        ("a b.png", ["a b.png"]),
        ("'plan.png'", ["plan.png"]),
        ("it's.png", ["it's.png"]),
        ("~/plan.png", ["plan.png"]),
    ],
)
def test_attach_takes_paths_as_people_type_and_terminals_drop_them(folder, line, names, monkeypatch):
    for name in ("a b.png", "it's.png"):
        (folder / name).write_bytes(png())
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    assert [file.name for file in attach(line)] == names


def test_attach_alone_and_a_folder_are_explained(folder):
    done = run(folder, "chat", stdin="/attach\n/attach .\n/help\n/quit\nnever read\n")
    assert "write /attach PATH" in done.stdout
    assert ". is a folder: name a file in it" in done.stdout
    assert "Ctrl-C stops an answer" in done.stdout
    assert "never read" not in done.stdout


def test_the_greeting_names_the_folder_and_a_file_in_it(folder):
    done = run(folder, "chat", "--folder", ".")
    assert f'read_file serves "{folder.resolve()}".' in done.stdout
    assert "/read_file path=kiwi.jpg" in done.stdout


def test_list_files_is_shown_whole_in_a_chat(folder):
    for index in range(12):
        (folder / f"{index}.png").write_bytes(png(8, index + 1))
    asked = "".join(f"/read_file path={index}.png\n" for index in range(12))
    done = run(folder, "chat", "--folder", ".", stdin=asked + "/list_files\n")
    assert [f"  image {index + 1}: {index}.png (image/png, " in done.stdout for index in range(12)] == [True] * 12


@contextmanager
def terminal(folder, *arguments):
    """The program at a terminal of its own: give it keys once it has said something."""
    ours, theirs = pty.openpty()
    command = [*PROGRAM, *arguments]
    with subprocess.Popen(command, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs) as process:  # noqa: S603 - our own program
        os.close(theirs)
        output = bytearray()

        def after(words, keys):
            output.clear()
            while words.encode() not in output:
                assert select.select([ours], [], [], 30)[0], f"it never said {words!r} but {output!r}"
                output.extend(os.read(ours, 4096))
            os.write(ours, keys)
            return output.decode()

        try:
            yield after
        finally:
            process.kill()
    os.close(ours)


RISKY = (
    "from showandtell import tool\n@tool(approval=True)\n"
    "def delete(name: str) -> str:\n    'Delete.'\n    return 'gone: ' + name\nTOOLS = [delete]\n"
)


def test_to_leave_a_question_is_a_no_and_the_chat_goes_on(folder):
    (folder / "mine.py").write_text(RISKY)
    with terminal(folder, "chat", "--tools", "mine:TOOLS") as after:
        after("> ", b"/delete name=x\r")
        asked = after("allow delete? [y/N] ", b"\x04")
        received = after("\n> ", b"/help\r")
        after("Ctrl-C stops an answer", b"/quit\r")
    assert "? delete" in asked
    assert "[waiting" not in asked
    assert "did not allow this call" in received
    assert "\u2192 delete" not in received


@pytest.mark.parametrize("left", [KeyboardInterrupt, EOFError])
def test_an_interrupt_at_a_question_is_a_no(left):
    def leave(_):
        raise left

    assert ask_approval(ApprovalNeeded("c1", "delete", "{}"), leave) is False


@pytest.mark.parametrize(("output", "yes"), [("n", False), ("", False), ("x", False), ("y", True), (" Yes", True)])
def test_only_a_yes_is_a_yes(output, yes):
    assert ask_approval(ApprovalNeeded("c1", "delete", "{}"), lambda _: output) is yes


def test_a_yes_runs_the_call(folder):
    (folder / "mine.py").write_text(RISKY)
    with terminal(folder, "chat", "--tools", "mine:TOOLS") as after:
        after("> ", b"/delete name=x\r")
        after("allow delete? [y/N] ", b"y\r")
        received = after("\n> ", b"\x04")
    assert "\u2192 delete" in received
    assert "gone: x" in received


def test_a_line_of_the_chat_can_be_had_again(folder):
    with terminal(folder, "chat") as after:
        after("> ", b"/help\r")
        after("\n> ", b"\x1b[A\r")
        assert "/help" in after("Ctrl-C stops an answer", b"\x04")


def test_a_step_on_the_way_to_an_answer_is_named_without_a_time():
    out = io.StringIO()
    printer = Printer(out)
    for seconds in (0.0, 2.0):
        printer.event(Retry("the context is full: the model sums up 4 earlier messages", seconds))
    first, second = out.getvalue().splitlines()
    assert first == "  … the context is full: the model sums up 4 earlier messages"
    assert second.startswith("  … retrying in 2.0 s: ")
