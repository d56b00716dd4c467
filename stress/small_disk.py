"""Fills a disk of 4 MB until there is no room, makes room, and continues. Run it by `unshare --map-root-user --mount`.

It prints one JSON object: how often there was no room, which errors were of another type, how many messages were
acknowledged and how many of them are there.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(1, str(Path(__file__).parent.parent / "tests"))
from durable import noise

from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Text
from showandtell.errors import StorageFailed
from showandtell.storage.conversations.store import Store
from support.stores import post

MIB = 1024 * 1024


async def fill(conversation, acknowledged):
    """Post until the store fails; gives the name of the error."""
    while True:
        name = f"file {len(acknowledged)}"
        try:
            message = await post(conversation, Draft("user", (Text(name), noise(name, 150_000))))
        except StorageFailed as error:
            return type(error).__name__
        acknowledged.append(message.id)


async def play(folder):
    acknowledged, errors = [], []
    ballast = [folder / f"ballast {number}" for number in range(3)]  # this disk's other use
    for item in ballast:
        item.write_bytes(bytes(MIB // 2))
    async with Store.at(folder / "data") as store:
        conversation = await store.create()
        for item in ballast:
            errors.append(await fill(conversation, acknowledged))
            item.unlink()
            await post(conversation, Draft("user", (Text("there is room again"),)))
    async with Store.at(folder / "data") as store:
        again = await store.open(conversation.id)
        there = [message.id for message in again.messages]
        found = await store.fsck()
    return {
        "errors": errors,
        "acknowledged": len(acknowledged),
        "lost": len({*acknowledged} - {*there}),
        "damaged": len([item for item in found if item.kind != "leftover"]),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", name], check=True)  # noqa: S603, S607
        sys.stdout.write(json.dumps(asyncio.run(play(Path(name)))))
        subprocess.run(["umount", name], check=True)  # noqa: S603, S607
