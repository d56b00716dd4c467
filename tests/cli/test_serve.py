"""The command `serve` as a process: what it says, how it ends, and what it takes from options and variables."""

import asyncio
import os
import re
import signal
import socket
import stat
from pathlib import Path

import aiohttp
import pytest

import showandtell
from showandtell.config.settings import keys
from support.commandline import call, spawn
from support.middleware_app import is_login_cookie
from support.server_process import TIMEOUT, running, until
from support.server_requests import ENDS, say
from support.serving import chat_body

pytestmark = pytest.mark.anyio
OIDC = [
    f"SHOWANDTELL_OIDC_{item}" for item in ("ISSUER", "CLIENT_ID", "CLIENT_SECRET", "AUDIENCE", "SCOPES", "ADMIN_CLAIM")
]


async def get(program, path, **headers):
    async with program.session.get(program.url + path, headers=headers, allow_redirects=False) as answer:
        return answer.status, answer.headers.get("set-cookie", ""), await answer.text()


async def test_it_prints_an_address_that_signs_in_once_and_nothing_else(tmp_path):
    async with running(tmp_path) as program:
        assert program.output.splitlines() == [
            f"Show & Tell is ready: {program.url}/?code={program.code}",
            f"Conversations are stored in {tmp_path}. Press Ctrl-C to stop.",
        ]
        assert b"`showandtell token` prints another" in await program.process.stdout.readline()
        assert (await get(program, "/api/me"))[0] == 200  # by the token of the environment
        assert (await get(program, "/api/me", authorization="Bearer another-token"))[0] == 401
        del program.session.headers["authorization"]
        status, cookie, _ = await get(program, f"/?code={program.code}")
        assert (status, is_login_cookie(cookie)) == (303, True)
        status, cookie, page = await get(program, f"/?code={program.code}")
        assert status == 401
        assert cookie == ""
        assert "showandtell token" in page
        assert await program.end() == (143, "")


BROWSER = """#!/bin/sh
cat /proc/$$/cmdline > opened.new && mv opened.new opened
"""


async def test_the_browsers_command_line_has_a_code_of_its_own_and_never_the_token(tmp_path):
    program_file = tmp_path / "browser"
    program_file.write_text(BROWSER)
    program_file.chmod(0o755)
    async with running(tmp_path, "--open", BROWSER=f"{program_file} %s") as program:
        await until((tmp_path / "opened").exists)
        opened = (tmp_path / "opened").read_text()
        assert program.token not in opened
        assert program.code not in opened
        del program.session.headers["authorization"]
        address = opened.strip("\0").rpartition("\0")[2].removeprefix(program.url)
        assert [(await get(program, address))[0] for _ in range(2)] == [303, 401]
        assert (await get(program, f"/?code={program.code}"))[0] == 303


@pytest.mark.parametrize(
    ("number", "expected"),
    [end if end[0] == signal.SIGTERM else pytest.param(*end, marks=pytest.mark.thorough) for end in ENDS],
)
async def test_a_signal_ends_it_any_client_that_reads(number, expected, tmp_path):
    async with running(tmp_path) as program, say(program, "/hold name=one") as answer:
        await until(lambda: [*tmp_path.glob("one.*")])
        status, output = await program.end(number)
        assert (status, output) == (expected, "")
        with pytest.raises(aiohttp.ClientPayloadError):  # it breaks off, so that a client doesn't take it for complete
            await answer.read()


@pytest.mark.thorough
async def test_many_signals_at_once_end_it_too(tmp_path):
    async with running(tmp_path) as program:
        for _ in range(5000):
            os.kill(program.process.pid, signal.SIGHUP)
        assert (await program.end(signal.SIGTERM))[0] in {129, 143}


async def test_a_restart_keeps_logins_and_goes_on_with_what_was_left(tmp_path):
    async with running(tmp_path) as program, say(program, "/hold name=one", "c"):
        _, cookie, _ = await get(program, f"/?code={program.code}")
        await until(lambda: [*tmp_path.glob("one.*")])
        await program.end()
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600
    (tmp_path / "one.go").touch()
    async with running(tmp_path) as program:
        async with program.session.get(f"{program.url}/api/chat/c/stream") as answer:
            assert answer.status in {200, 204}
            await answer.read()
        _, _, listed = await get(program, "/api/conversations")
        assert '"running":false' in listed.replace(" ", "")
        async with aiohttp.ClientSession(program.url) as visitor:
            answer = await visitor.get("/api/me", headers={"cookie": cookie.partition(";")[0]})
            assert (answer.status, (await answer.json())["user"]) == (200, "local")


async def test_options_are_taken_from_variables_and_arguments(tmp_path):
    variables = {"SHOWANDTELL_HOST": "::1", "SHOWANDTELL_HOSTS": "chat.test", "SHOWANDTELL_RATE": "reads=2/minute"}
    variables["SHOWANDTELL_MAX_MESSAGE_FILES"] = "7"
    async with running(tmp_path, "--public-url", "https://chat.example.com/help/", **variables) as program:
        url = f"{program.url}/api/attachments?name=note.txt"
        async with program.session.put(url, data=b"hello") as answer:
            file = await answer.json()
        assert file["url"].startswith("https://chat.example.com/help/api/attachments/att_")
        assert program.url.startswith("http://[::1]:")
        status, _, output = await get(program, "/api/me", host="chat.test")
        assert status == 200
        assert '"max_message_files":7' in output.replace(" ", "")
        assert [(await get(program, "/api/me"))[0] for _ in range(2)] == [200, 429]


@pytest.mark.parametrize(
    ("arguments", "environ", "status", "received"),
    [
        (["--port", "99999"], {}, 2, "65535"),
        (["--port", "0", "--folder", "nowhere"], {}, 2, "nowhere is not a folder"),
        (["--port", "0", "--tools", "nothing:HERE"], {}, 2, "no module named 'nothing'"),
        (["--port", "0", "--host", "no.such.host.invalid"], {}, 2, "no such address on this machine"),
        (["--port", "0", "--workers", "0"], {}, 2, "--workers"),
        (["--port", "0", "--model", "nonsense"], {}, 2, "'nonsense' is not written as provider:model"),
        (
            ["--port", "0"],
            {"SHOWANDTELL_MODEL": "inspector:foo"},
            2,
            "inspector has no such model, only anthropic-messages",
        ),
        (["--port", "0", "--rate", "chat=often"], {}, 1, "invalid rate 'chat=often'"),
        (["--port", "0"], {"SHOWANDTELL_TOKEN": "short"}, 1, "SHOWANDTELL_TOKEN is not usable"),
        (["--port", "0"], {"SHOWANDTELL_SECRET": "short"}, 1, "use at least 32 random"),
        (["--port", "0"], {"SHOWANDTELL_OIDC_ISSUER": "https://id.test"}, 1, "SHOWANDTELL_OIDC_CLIENT_ID is missing"),
        (["--port", "0", "--database", "postgresql://a:hidden@127.0.0.1:1/b"], {}, 1, "does not answer"),
    ],
)
def test_what_it_cannot_follow_it_says_in_one_line(arguments, environ, status, received, tmp_path):
    done = call(tmp_path, "serve", "--data", str(tmp_path), *arguments, environ=environ)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (status, "", 1)
    assert received in done.stderr
    assert "hidden" not in done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("arguments", "status", "received"),
    [
        (["--rate", "chat=often"], 1, "invalid rate 'chat=often'"),
        (["--tools", "nothing:HERE"], 2, "no module named 'nothing'"),
    ],
)
def test_what_several_workers_cannot_follow_is_reported_once(arguments, status, received, tmp_path):
    done = spawn(tmp_path, "serve", "--data", str(tmp_path), "--port", "0", "--workers", "2", *arguments)
    lines = [line for line in done.stderr.splitlines() if "several workers" not in line]
    assert (done.returncode, done.stdout, len(lines)) == (status, "", 1)
    assert received in lines[0]


async def test_a_model_whose_key_is_missing_is_reported_when_it_starts_and_keeps_no_other_from_answering(tmp_path):
    async with running(tmp_path, SHOWANDTELL_MODEL="anthropic:claude-sonnet-4-5", ANTHROPIC_API_KEY="") as program:
        body = {**chat_body("Hello"), "model": "inspector"}
        async with program.session.post(f"{program.url}/api/chat", json=body) as answer:
            assert answer.status == 200
            assert b"[DONE]" in await answer.read()
        _, output = await program.end()
        assert "is not available: anthropic needs a key: set ANTHROPIC_API_KEY" in output


def test_the_help_names_every_variable_whole_also_in_a_narrow_terminal(tmp_path):
    source = "".join(path.read_text() for path in Path(showandtell.__file__).parent.rglob("*.py"))
    read = set(re.findall(r"\bSHOWANDTELL_[A-Z_]*[A-Z]\b", source)) | set(OIDC)
    read |= {key.variable for key in keys().values() if key.variable}
    commands = ("--help",), ("serve", "--help")
    output = "".join(call(tmp_path, *words, environ={"COLUMNS": "80"}).stdout for words in commands)
    assert len(read) > 50
    assert read - set(re.findall(r"SHOWANDTELL_[A-Z_]*[A-Z](?![A-Z_…])", output)) == set()


def test_a_port_that_is_taken_is_reported(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = call(tmp_path, "serve", "--data", str(tmp_path), "--port", str(port))
        assert done.returncode == 2
        assert "choose another with --port" in done.stderr


@pytest.mark.thorough
async def test_several_workers_share_a_port_and_end_together(tmp_path):
    async with running(tmp_path, "--workers", "2") as program:
        children = await until(lambda: (found := children_of(program))[1:] and found)
        assert (await get(program, "/api/me"))[0] == 200
        status, output = await program.end(signal.SIGINT)
        assert (status, output.count("\n")) == (130, 1)
        assert "PostgreSQL is faster" in output
        assert not [child for child in children if is_alive(child)]


async def test_a_worker_that_dies_is_replaced_and_all_end_with_the_one_who_began_them(tmp_path):
    async with running(tmp_path, "--workers", "2") as program:
        first = await until(lambda: (found := children_of(program))[1:] and found)
        os.kill(first[0], signal.SIGKILL)
        second = await until(
            lambda: (found := [child for child in children_of(program) if child != first[0]])[1:] and found
        )
        async with program.session.get(f"{program.url}/healthz") as answer:
            assert answer.status == 200
        program.process.kill()
        await asyncio.wait_for(program.process.wait(), TIMEOUT)
        await until(lambda: not [item for item in second if is_alive(item)])


def children_of(program):
    """The workers of a server, by their number."""
    numbers = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    mine = [number for number in numbers if field_of(number, 1) == str(program.process.pid)]
    return sorted(item for item in mine if "spawn_main" in read(item, "cmdline"))


def read(number, name):
    try:
        return Path(f"/proc/{number}/{name}").read_text()
    except OSError:
        return ""


def field_of(number, place):
    """What the system says of a process, behind its name: its state, its parent."""
    fields = read(number, "stat").rpartition(")")[2].split()
    return fields[place] if fields else None


def is_alive(number):
    return field_of(number, 0) not in {None, "Z"}
