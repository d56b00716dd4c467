"""`fsck` as operators run it: damage, what to do about it, leftovers of killed programs, folders that aren't there."""

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from support.commandline import PROGRAM, call, spawn
from support.fixtures import png
from support.paths import TESTS
from support.server_process import running

INTACT = "the database and all stored files are intact\n"
READING = {
    "list": ["list"],
    "show": ["show"],
    "export": ["export", "last", "x.zip"],
    "delete": ["delete", "last", "-y"],
    "fsck": ["fsck"],
    "collect": ["fsck", "--collect"],
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.png").write_bytes(png())
    done = call(tmp_path, "ask", "look", "-a", "plan.png", "--data", str(tmp_path / "data"))
    assert done.returncode == 0
    return tmp_path


def fsck(folder, *arguments, status=0, terminal=False):
    """What it says on both ways out."""
    done = call(folder, "fsck", "--data", str(folder / "data"), *arguments, terminal=terminal)
    assert done.returncode == status, done
    return done.stdout, done.stderr


def damage(path, place=None):
    """Write noise over a page of a file."""
    data = bytearray(path.read_bytes())
    place = len(data) - 4096 if place is None else place
    data[place : place + 4096] = random.Random(1).randbytes(4096)  # noqa: S311 - for tests
    path.write_bytes(data)


@pytest.mark.parametrize("command", READING)
def test_a_folder_that_is_not_there_is_named_and_not_made(tmp_path, command):
    done = call(tmp_path, *READING[command], "--data", "nowhere")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "--data: there is no folder nowhere" in done.stderr
    done = call(tmp_path, *READING[command], "--database", f"sqlite:///{tmp_path}/no.db", "--blobs", "none")
    assert done.returncode == 2
    assert "--database: there is no file" in done.stderr
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("command", READING)
def test_an_empty_folder_stays_empty(tmp_path, command):
    done = call(tmp_path, *READING[command], "--data", str(tmp_path))
    assert done.returncode == (0 if command == "list" else 1)
    assert "no conversation is stored here yet" in done.stdout + done.stderr
    assert [*tmp_path.iterdir()] == []


def test_a_damaged_database_is_reported_with_what_to_do(folder):
    damage(folder / "data" / "showandtell.db")
    output, _ = fsck(folder, "--collect", status=1)
    assert re.search(r"^database  ", output, re.MULTILINE)
    assert 'stop all servers, restore the backup (see "Backup and restore" in docs/deploy.md)' in output
    assert "deleted" not in output  # what a damaged database doesn't name may be needed
    kinds = {item["kind"] for item in json.loads(fsck(folder, "--json", status=1)[0])}
    assert kinds == {"database"}


def test_a_damaged_first_page_is_reported_as_well(folder):
    damage(folder / "data" / "showandtell.db", 0)
    assert "showandtell.db is damaged: stop all servers" in fsck(folder, status=1)[0]


def test_files_without_their_database_are_reported_and_nothing_is_made(folder):
    (folder / "data" / "showandtell.db").unlink()
    output, _ = fsck(folder, "--collect", status=1)
    assert "there are files, but no " in output
    assert not (folder / "data" / "showandtell.db").exists()


def test_a_database_that_was_emptied_is_damage_and_is_neither_filled_nor_used(folder):
    """A new one beside these files would let the next collection delete them all."""
    database = folder / "data" / "showandtell.db"
    database.write_bytes(b"")
    assert "its tables are missing" in fsck(folder, "--collect", status=1)[0]
    for command in (["list"], ["ask", "hi"], ["serve", "--port", "0"]):
        done = call(folder, *command, "--data", str(folder / "data"))
        assert done.returncode > 0
        assert "restore the backup of the database" in done.stderr
    database.unlink()
    assert "restore the backup of the database" in call(folder, "ask", "hi", "--data", "data").stderr
    shutil.rmtree(folder / "data" / "blobs")
    assert call(folder, "ask", "hi", "--data", "data").returncode == 0


def test_an_older_database_is_not_migrated_but_named_with_what_to_do(folder):
    database = folder / "data" / "showandtell.db"
    database.unlink()
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript((TESTS / "databases" / "0001.sql").read_text())
    before = database.read_bytes()
    done = call(folder, "fsck", "--data", "data")
    assert done.returncode == 1
    assert "run showandtell fsck again" in done.stderr
    assert database.read_bytes() == before


def test_a_damaged_index_is_named_with_its_table(folder):
    database = folder / "data" / "showandtell.db"
    with closing(sqlite3.connect(database)) as connection:
        ((page,),) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'ix_showandtell_sessions_seen'"
        )
    damage(database, (page - 1) * 4096)
    before = database.read_bytes()
    assert "table showandtell_sessions" in fsck(folder, status=1)[0]
    assert database.read_bytes() == before


def test_leftovers_of_killed_uploads_are_named_and_do_not_count(folder):
    blobs = folder / "data" / "blobs"
    (blobs / "spool").mkdir(exist_ok=True)
    (blobs / "spool" / "tmp123").write_bytes(b"half of")
    orphan = blobs / ("0" * 32) / "ab" / ("ab" + "0" * 62)
    orphan.parent.mkdir(parents=True)
    orphan.write_bytes(b"of nobody")
    first, last = fsck(folder)[0].splitlines()
    assert first.endswith("not finished yet: 1 unused file, unfinished copies: 1; deleted after a day")
    assert last == INTACT.strip()


def test_a_terminal_sees_how_far_it_is(folder):
    _, shown = fsck(folder, terminal=True)
    assert "checking database" in shown
    assert "checking files" in shown
    assert "100%" in shown
    assert fsck(folder)[1] == ""


@pytest.mark.anyio
async def test_it_works_while_a_server_runs_and_finds_what_is_damaged_under_it(folder):
    async with running(folder / "data"):
        done = spawn(folder, "fsck", "--data", "data")
        assert (done.returncode, done.stdout) == (0, INTACT)
        damage(folder / "data" / "showandtell.db", 4096 * 3)
        done = spawn(folder, "fsck", "--data", "data")
        assert done.returncode == 1
        assert "showandtell.db is damaged: stop all servers" in done.stdout


def test_a_store_whose_programs_were_killed_is_whole(folder):
    """At many moments of an upload and its message."""
    environment = {**os.environ, "SHOWANDTELL_DATA": str(folder / "data")}
    (folder / "large.bin").write_bytes(random.Random(1).randbytes(3_000_000))  # noqa: S311 - for tests
    for _ in range(6):
        program = [*PROGRAM, "ask", "look", "-a", "large.bin", "--json"]
        with subprocess.Popen(program, cwd=folder, env=environment, stdout=subprocess.PIPE) as running_program:  # noqa: S603
            watch_spool(folder, running_program)
            running_program.send_signal(signal.SIGKILL)
    assert fsck(folder)[0].splitlines()[-1] == INTACT.strip()


def watch_spool(folder, program):
    """Wait until a program writes a file, or has ended."""
    spool = Path(folder, "data", "blobs", "spool")
    while program.poll() is None and not [*spool.glob("tmp*")]:
        pass
