"""Fills a disk of 16 MB to the last byte, and deletes there by the command line and by a server.

Run it by `unshare --map-root-user --mount` with a folder; it prints one JSON object with the outcome of each step.
"""

import asyncio
import json
import os
import random
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

sys.path.insert(1, str(Path(__file__).parent.parent / "tests"))
from support.commandline import spawn
from support.server_process import running

ID = re.compile(r"conv_[0-9A-Za-z_-]{22}")


def fill(folder):
    """Write until nothing more fits."""
    with suppress(OSError), (folder / "ballast").open("ab", buffering=0) as ballast:
        while ballast.write(bytes(4096)):
            pass
    with suppress(OSError), (folder / "ballast").open("ab", buffering=0) as ballast:
        while ballast.write(b"0"):
            pass


def beside(folder):
    """A folder on another disk."""
    return folder.with_name("beside")


def command(folder, *arguments):
    """A command's exit status and output."""
    done = spawn(folder, *arguments, environ={"SHOWANDTELL_DATA": str(folder / "data")})
    return done.returncode, (done.stdout + done.stderr).strip()


def by_command_line(folder):
    """Delete a conversation, and a file of another one."""
    for number in range(3):
        (folder / "noise.txt").write_text(random.Random(number).randbytes(200_000).hex())  # noqa: S311 - for tests
        status, words = command(folder, "ask", "look", "-a", "noise.txt")
        assert status == 0, words
    beside(folder).mkdir(exist_ok=True)
    (beside(folder) / "large.txt").write_text("more than was reserved\n" * 200_000)
    ids = ID.findall(command(folder, "list")[1])
    reserved = (folder / "data" / "showandtell.db.reserve").stat().st_size
    fill(folder)
    return {
        "reserved": reserved,
        "ask": command(folder, "ask", "one more", "-a", str(beside(folder) / "large.txt")),
        "delete": command(folder, "delete", ids[0], "-y"),
        "delete file": command(folder, "delete", ids[1], "--file", "1", "-y"),
        "left": len(ID.findall(command(folder, "list")[1])),
        "fsck": command(folder, "fsck"),
    }


async def by_server(folder):
    """Delete an upload, and all conversations that are left."""
    fill(folder)
    where = ("--data", str(folder / "data"))
    async with running(beside(folder), *where, data=False, SHOWANDTELL_SECRET="0123456789abcdef" * 4) as server:
        fill(folder)
        async with server.session.put(f"{server.url}/api/attachments?name=x", data=bytes(200_000)) as response:
            refused = {"upload": (response.status, (await response.json())["error"]["text"])}
        async with server.session.get(f"{server.url}/api/conversations") as response:
            found = [item["id"] for item in (await response.json())["conversations"]]
        fill(folder)
        statuses = []
        for id_ in found:
            async with server.session.delete(f"{server.url}/api/conversations/{id_}") as response:
                statuses.append(response.status)
        return {**refused, "deleted": statuses}


def main(folder):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", folder], check=True)  # noqa: S603, S607
    os.environ["TMPDIR"] = str(folder)
    steps = by_command_line(folder)
    (folder / "ballast").unlink()
    steps["restored"] = command(folder, "fsck", "--collect")
    steps["reserved again"] = (folder / "data" / "showandtell.db.reserve").stat().st_size
    steps |= asyncio.run(by_server(folder))
    sys.stdout.write(json.dumps(steps))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
