"""On a disk without a byte left, what is stored can be deleted: some space was reserved for that."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from showandtell.storage.database import reserve
from showandtell.storage.database.reserve import SIZE, Reserve
from support.paths import TESTS
from support.server_process import until
from support.serving import serving

OWN_DISKS = ("unshare", "--map-root-user", "--mount")
#: What happens on a disk of 16 MB; prints the outcome of each step.
STEPS = """
import asyncio, json, subprocess, sys
from contextlib import suppress
from pathlib import Path
from showandtell.errors import StorageFull
from showandtell.storage.conversations.store import Store
from support.stores import note, post, show, user_draft

folder = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", folder], check=True)

def fill():
    for size in (4096, 1):
        with suppress(OSError), (folder / "ballast").open("ab", buffering=0) as ballast:
            while ballast.write(bytes(size)):
                pass

async def main():
    async with Store.at(folder / "data") as store:
        await asyncio.to_thread(store.reserve.restore)
        kept, gone = [await show(store, note(words * 100_000)) for words in ("one ", "two ")]
        fill()
        try:
            await post(kept, user_draft("more " * 1_000_000))
        except StorageFull as error:
            words = str(error)
        await store.delete(gone.id)
        await store.delete_file(kept, 1)
        left = [item.id for item in await store.list()] == [kept.id]
        (folder / "ballast").unlink()
        await store.collect()
        again = (folder / "data" / "showandtell.db.reserve").stat().st_size
    fill()
    async with Store.at(folder / "data") as store:
        await store.delete(kept.id)
        left_over = len(await store.list())
    (folder / "data" / "showandtell.db.reserve").unlink(missing_ok=True)
    fill()
    try:
        async with Store.at(folder / "data"):
            reopened = "opened"
    except StorageFull as error:
        reopened = "is full"
    return {"words": words, "left": left, "again": again, "in the end": left_over, "reopened": reopened}

print(json.dumps(asyncio.run(main())))
"""


def test_on_a_full_disk_conversations_and_files_can_be_deleted(tmp_path):
    if not shutil.which("unshare") or subprocess.run([*OWN_DISKS, "true"], check=False, capture_output=True).returncode:  # noqa: S603
        pytest.skip("only root, or users with mounts of their own, can have a small disk")
    command = [*OWN_DISKS, sys.executable, "-c", STEPS, str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env={"PYTHONPATH": str(TESTS)})  # noqa: S603
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert outcome.pop("words").endswith("has no space left: delete conversations or free space, then try again")
    assert outcome == {"left": True, "again": SIZE, "in the end": 0, "reopened": "is full"}


def test_space_is_reserved_unless_that_would_fill_the_disk(tmp_path, monkeypatch):
    free = shutil.disk_usage(tmp_path).free
    for minimum, exists in ((free * 2, False), (0, True)):
        monkeypatch.setattr(reserve, "MIN_FREE", minimum)
        Reserve(f"{tmp_path}/x.db").restore()
        assert [path.name for path in tmp_path.iterdir()] == ["x.db.reserve"] * exists


def test_what_is_reserved_stays_while_there_is_space(tmp_path):
    own = Reserve(f"{tmp_path}/x.db")
    for step in (own.restore, own.give_up, own.shrink, own.restore):
        step()
        assert [path.stat().st_size for path in tmp_path.iterdir()] == [SIZE]
    Reserve(None).restore()


@pytest.mark.anyio
async def test_a_server_reserves_space_at_once(tmp_path):
    async with serving(tmp_path) as site:
        path = Path(f"{site.store.database.url.database}.reserve")
        await until(lambda: path.exists() and path.stat().st_size == SIZE)
