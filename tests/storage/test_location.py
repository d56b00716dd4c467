"""The data folder: nobody but its owner can read it, whichever command or program creates it."""

import asyncio
import os
import stat

import pytest

from showandtell import Agent, File, Store
from showandtell.server.auth.keys import load_secret
from showandtell.storage.location import StorageLocation
from support.commandline import call
from support.fixtures import png
from support.server_process import running


@pytest.fixture(autouse=True)
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def readable_by_others(folder):
    """The folder and all that is in it, if anybody but the owner may do anything with it."""
    return [str(path) for path in (folder, *folder.rglob("*")) if stat.S_IMODE(path.stat().st_mode) & 0o077]


async def ask(store):
    async with store:
        conversation = await store.create()
        await Agent("inspector").run("Hello", files=[File.from_bytes(png())], conversation=conversation)


@pytest.mark.anyio
@pytest.mark.parametrize("variable", [False, pytest.param(True, marks=pytest.mark.thorough)])
async def test_serve_creates_a_private_folder(tmp_path, variable):
    folder = tmp_path / "new" / "data"
    option, environ = ([], {"SHOWANDTELL_DATA": str(folder)}) if variable else (["--data", str(folder)], {})
    async with running(tmp_path, *option, data=False, **environ):
        assert (folder / "secret").exists()
    assert readable_by_others(tmp_path / "new") == []


@pytest.mark.parametrize("command", [("chat",), ("ask", "hi")])
def test_chat_and_ask_create_a_private_folder(tmp_path, command):
    folder = tmp_path / "new" / "data"
    call(tmp_path, *command, "--data", str(folder), stdin="hi\n")
    assert (folder / "showandtell.db").exists()
    assert readable_by_others(tmp_path / "new") == []


@pytest.mark.parametrize("make", [Store.at, lambda folder: StorageLocation(data=folder).store()])
def test_a_program_creates_a_private_folder(tmp_path, make):
    asyncio.run(ask(make(tmp_path / "new" / "data")))
    assert readable_by_others(tmp_path / "new") == []


def test_the_secret_creates_a_private_folder(tmp_path):
    load_secret(tmp_path / "new" / "data", {})
    assert readable_by_others(tmp_path / "new") == []


def test_an_existing_folder_keeps_its_mode_and_what_is_stored_there_is_private(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir(0o755)
    load_secret(folder, {})
    asyncio.run(ask(Store.at(folder)))
    assert readable_by_others(folder) == [str(folder)]
