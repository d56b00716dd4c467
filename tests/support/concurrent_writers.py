"""Two processes that write to one conversation."""

import subprocess
import sys

from support.stores import places

POSTS = """
import asyncio, sys
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Text
from showandtell.storage.conversations.store import Store

async def run(url, blobs, conversation, name, posts):
    async with Store(url, blobs) as store:
        conversation = await store.open(conversation)
        for number in range(posts):
            await conversation.record(Draft("user", (Text(f"{name} {number}"),)), ())

asyncio.run(run(*sys.argv[1:5], int(sys.argv[5])))
"""


async def write_concurrently(place, posts):
    """Let two processes post messages; returns their positions in order, and their texts."""
    async with place.store() as store:
        conversation = (await store.create()).id
    command = [sys.executable, "-c", POSTS, place.url, str(place.folder / "blobs"), conversation]
    running = [subprocess.Popen([*command, name, str(posts)], stderr=subprocess.PIPE) for name in "ab"]  # noqa: ASYNC220, S603
    assert [item.communicate()[1].decode() for item in running] == ["", ""]
    async with place.store() as store:
        return await places(store), [message.text for message in (await store.open(conversation)).messages]


def check_order(posts, numbers, words):
    assert numbers == [*range(1, 2 * posts + 1)]
    for name in "ab":
        assert [word for word in words if word.startswith(name)] == [f"{name} {number}" for number in range(posts)]
