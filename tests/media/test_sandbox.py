"""Hostile code in the process that decodes: none of its ways out leads anywhere, and it ends with its request."""

import os
import platform
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from showandtell.media import gate, linux, sandbox
from showandtell.media.worker import ChildFailed, MediaWorker
from support import escapes
from support.paths import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the walls are Linux's")
MODULE = (sys.executable, "-P", "-B", "-m", "support.hostile_child")


@pytest.fixture(scope="module")
def workers():
    """The hostile child behind walls, the same without, and one that may not write."""
    kinds = {"walled": ("--convert",), "bare": ("--convert", "--bare"), "reading": ()}
    workers = {name: MediaWorker((*MODULE, *options)) for name, options in kinds.items()}
    yield workers
    for worker in workers.values():
        worker.stop()


@pytest.fixture(scope="module")
def walls():
    """The walls that stand on this machine."""
    return gate.CONVERTERS.ask({"task": "walls", "path": None}, 60)["result"] | {"limits": True}


@pytest.fixture
def target(tmp_path):
    """A request, and what an attack would like to reach: all of it exists and is readable by this user."""
    linux.control_process(linux.PR_SET_DUMPABLE, 1)  # other tests run commands in this process, which hide it
    data, folder = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    folder.mkdir()
    for path in (tmp_path / "source.png", tmp_path / "beside.txt", data / "blob", data / "victim", data / "chat.db"):
        path.write_bytes(b"private words")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield {
            "path": str(tmp_path / "source.png"),
            "folder": str(folder),
            "data": str(data),
            "blob": str(data / "blob"),
            "victim": str(data / "victim"),
            "database": str(data / "chat.db"),
            "beside": str(tmp_path / "beside.txt"),
            "server": os.getpid(),
            "port": listening.getsockname()[1],
        }
    assert {path.read_bytes() for path in (data / "blob", data / "chat.db", tmp_path / "source.png")} == {
        b"private words"
    }


def ask(worker, task, target, seconds=20):
    return worker.ask({"task": task, **target}, seconds)


def skip_without(walls, name):
    """Skip a test of a wall that this kernel lacks. On machines for tests (`CI`) a kernel that has it must raise it."""
    if not walls[name]:
        lacks, is_ci = name in map(str.lower, sandbox.list_missing_walls()), "CI" in os.environ
        assert lacks or not is_ci, f"the kernel has {name}, and it was not raised"
        pytest.skip(f"this kernel or container has no {name}")


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert value
    return value


@pytest.mark.parametrize("name", escapes.ATTACKS)
def test_no_way_out_leads_anywhere(workers, walls, target, name):
    skip_without(walls, escapes.NEEDS[name])
    outcome, words = ask(workers["walled"], name, target)["result"]
    assert outcome == "stopped", words


@pytest.mark.parametrize("name", sorted(escapes.ATTACKS.keys() - escapes.UNSURE))
def test_the_same_way_is_open_without_walls(workers, target, name):
    outcome, words = ask(workers["bare"], name, target)["result"]
    assert outcome == "escaped", words


def test_a_request_reads_its_file_and_writes_into_its_folder(workers, target):
    assert ask(workers["walled"], "open_own_file_and_folder", target)["result"] == ["escaped", "done"]
    assert Path(target["folder"], "out.bin").read_bytes() == b"private words"


def test_a_process_without_a_folder_writes_nowhere(workers, target):
    outcome, _ = ask(workers["reading"], "write_without_a_folder", target)["result"]
    assert outcome == "stopped"
    assert Path(target["beside"]).read_bytes() == b"private words"


def test_no_process_serves_two_files(workers, target):
    first, second = (ask(workers["walled"], "leave_a_trace", target)["result"][1] for _ in range(2))
    assert (first[0], second[0]) == (None, None)
    assert first[1] != second[1]


def test_nothing_of_earlier_requests_and_answers_is_in_memory(workers, target):
    words = "the words of another owner"
    _, answer = ask(workers["bare"], "answer_with_words", target | {"words": words})["result"]
    assert answer == words * 100
    found = ask(workers["bare"], "search_own_memory", target | {"backwards": words[::-1]})["result"]
    assert found == ["escaped", 0]


def test_an_answer_for_another_file_is_never_passed_on(workers, target):
    assert ask(workers["walled"], "answer_twice", target) == {"result": "mine"}
    assert ask(workers["walled"], "open_own_file_and_folder", target)["result"] == ["escaped", "done"]


@pytest.mark.parametrize("task", ["write_many_files", "write_large_files", "start_many_threads"])
def test_who_takes_too_much_while_answering_is_ended(workers, target, task):
    with pytest.raises(ChildFailed, match="stopped the decoder"):
        ask(workers["walled"], task, target | {"trickles": True})


@pytest.mark.parametrize(
    "task", ["write_many_files", "write_large_files", "start_many_threads", "answer_after_many_files", "die"]
)
def test_who_takes_too_much_is_ended_and_the_template_stays(workers, target, task):
    ask(workers["walled"], "leave_a_trace", target)
    template = workers["walled"].process.pid
    assert ask(workers["walled"], task, target)["problem"] == "stopped the decoder"
    assert ask(workers["walled"], "leave_a_trace", target | {"folder": None})["result"][0] == "escaped"
    assert workers["walled"].process.pid == template


@pytest.mark.parametrize("task", ["answer_with_noise", "answer_with_a_list", "answer_with_deep_nesting"])
def test_an_answer_in_no_known_form_counts_as_a_death(workers, target, task):
    with pytest.raises(ChildFailed, match="stopped the decoder"):
        ask(workers["walled"], task, target)


def test_half_a_character_does_not_spoil_an_answer(workers, target):
    assert ask(workers["walled"], "answer_with_half_a_character", target)["result"] == ["escaped", "half ?"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86-64 has calls for 32 bits")
def test_a_call_for_32_bits_ends_the_process(workers, walls, target):
    skip_without(walls, "seccomp")
    assert ask(workers["walled"], "make_a_call_for_32_bits", target)["problem"] == "stopped the decoder"


def test_nothing_outlives_its_answer(workers, target):
    _, pid = ask(workers["walled"], "answer_while_a_thread_stays", target)["result"]
    wait_for(lambda: not psutil.pid_exists(pid))


def test_nothing_outlives_the_time_limit(workers, target):
    with pytest.raises(ChildFailed, match="within"):
        ask(workers["walled"], "ignore_signals_and_stay", target, seconds=3)
    pid = int(Path(target["folder"], "pid").read_text())
    wait_for(lambda: not psutil.pid_exists(pid))


def test_nothing_outlives_a_killed_template(workers, target):
    used = ask(workers["bare"], "leave_a_trace", target)["result"][1][1]
    template = psutil.Process(workers["bare"].process.pid)
    waiting = wait_for(lambda: next((fork for fork in template.children() if fork.pid != used), None))
    template.kill()
    wait_for(lambda: not waiting.is_running())


def test_the_decoder_sees_no_key(target, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    worker = MediaWorker((*MODULE, "--bare"))
    _, words = ask(worker, "list_own_environment", target)["result"]
    worker.stop()
    assert "OPENAI_API_KEY" not in words


def test_a_library_outside_of_the_usual_folders_can_be_read(workers, target):
    outcome, words = ask(workers["walled"], "read_own_module", target)["result"]
    assert (outcome, words) == ("escaped", "read")
    assert str(ROOT) in escapes.__file__


#: As systemd does for a service without capabilities and namespaces: `unshare` and `capset` are not permitted.
WITHOUT_CAPSET = """
import ctypes, os, struct
from showandtell.media import linux, sandbox, seccomp
linux.keep_capabilities(0)
linux.control_process(linux.PR_SET_NO_NEW_PRIVS, 1)
machine = os.uname().machine
steps = [seccomp.step(seccomp.LOAD, seccomp.NUMBER_OFFSET)]
for number in {"x86_64": (272, 126), "aarch64": (97, 91)}[machine]:
    steps += [seccomp.step(seccomp.JUMP_IF_EQUAL, number, 0, 1), seccomp.step(seccomp.RETURN, seccomp.FAIL | 1)]
steps += [seccomp.step(seccomp.RETURN, seccomp.ALLOW)]
program = ctypes.create_string_buffer(b"".join(steps))
pointer = struct.pack("HP", len(steps), ctypes.addressof(program))
linux.system_call(seccomp.MACHINES[machine][2], seccomp.SET_MODE_FILTER, 0, pointer)
walls = sandbox.raise_outer_walls()
print(walls.privileges, walls.landlock, walls.seccomp)
"""


def test_a_service_that_may_not_change_capabilities_has_the_walls(walls):
    skip_without(walls, "seccomp")
    done = subprocess.run([sys.executable, "-c", WITHOUT_CAPSET], check=True, capture_output=True, text=True)  # noqa: S603 - our own words
    assert done.stdout.split() == ["True", str(walls["landlock"]), "True"]


def test_a_server_names_the_walls_that_are_denied(walls):
    skip_without(walls, "seccomp")
    imports = "from showandtell.cli import serve; from showandtell.media import sandbox, seccomp; "
    denies = "sandbox.raise_outer_walls(); seccomp.filter_calls(may_write=False); "
    command = [sys.executable, "-c", f"{imports}{denies}serve.warn_of_missing_walls()"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own words
    assert "decoded without Landlock and seccomp" in done.stderr


@pytest.mark.parametrize("is_hidden", [True, False])
def test_a_hidden_process_keeps_its_environment_from_others_of_its_user(is_hidden):
    alike = "from showandtell.media import linux, sandbox; linux.keep_capabilities(0); "
    waits = alike + ("sandbox.hide_process(); " if is_hidden else "") + "print(flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", waits], **pipes) as hidden:  # pyright: ignore[reportCallIssue]  # noqa: S603 - our own words
        hidden.stdout.readline()
        reads = f"{alike}open('/proc/{hidden.pid}/environ').read()"
        reader = subprocess.run([sys.executable, "-c", reads], check=False, capture_output=True)  # noqa: S603 - the same
        hidden.stdin.close()
    assert (b"PermissionError" in reader.stderr, reader.returncode) == (is_hidden, int(is_hidden))
