"""Databases that older programs wrote: one of each revision lies in tests/databases, and opens with what is in it."""

import asyncio
import hashlib
import sqlite3
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import text

from showandtell.storage.conversations.store import Store
from showandtell.storage.database import migrations
from showandtell.storage.database.tables import HEAD
from support.paths import TESTS

VERSION = text("SELECT version_num FROM alembic_version")
SAMPLES = TESTS / "databases"
#: Databases that these revisions have made exist: they are never changed.
FROZEN = {
    "first.py": "cc284698e4db9972a7e167d756f9054adb568ff99a6469d69a15259e8d5e7f2b",
    "chat.py": "a43fcd250b9ef2c54ae67494ee741e52b7de027f21ee6aadc37b1273b23a1f12",
    "accounts.py": "4c1232235cf5144158869f6b1abf86023bd5bdbf0f3d5923e3f0831ebe981245",
    "settings_of_runs.py": "f6d15e3298bf01168ad820b3425a7060b3decec6221ea21441f31c6594665d10",
}
NEW = "dump one of it, as the first lines of the others say, before the next revision is written"


def revisions():
    """The names of all revisions, the newest first."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    return [revision.revision for revision in ScriptDirectory.from_config(config).walk_revisions()]


def test_there_is_a_sample_of_each_revision():
    names = revisions()
    assert names[0] == HEAD
    assert {path.stem for path in SAMPLES.glob("*.sql")} == {*names}, NEW


@pytest.mark.parametrize("revision", revisions())
def test_a_database_of_each_revision_opens_with_its_conversations(revision, tmp_path):
    with sqlite3.connect(tmp_path / "showandtell.db") as database:
        database.executescript((SAMPLES / f"{revision}.sql").read_text())
    database.close()

    async def read():
        async with Store.at(tmp_path) as store:
            (listed,) = await store.list("ann")
            conversation = await store.open(listed.id, "ann")
            rows = await store.database.read(VERSION)
            return listed.title, conversation, [row[0] for row in rows]

    title, conversation, version = asyncio.run(read())
    assert version == [HEAD]
    assert title == "Draw a house"
    assert [(message.role, message.text) for message in conversation.messages] == [
        ("user", "Draw a house"),
        ("assistant", ""),
        ("tool", "drawn"),
        ("assistant", "There it is."),
    ]
    assert [(attachment.name, attachment.facts.size) for attachment in conversation.attachments.values()] == [
        ("plan.txt", 6),
        ("house.txt", 5),
    ]
    assert conversation.view().started == {"call_2"}
    assert len(conversation.known()) == 1


def test_a_revision_never_changes():
    folder = Path(migrations.__file__).parent / "versions"
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("[!_]*.py")}
    changed = {name for name in {*found, *FROZEN} if found.get(name) != FROZEN.get(name)}
    assert not changed, (
        "databases of this revision exist: restore its file, write a new revision, and add that to FROZEN"
    )
