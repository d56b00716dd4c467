"""Uploads to the chat server by size: CPU time of its process for a MB of fresh photos, as a body and as a form.

The floor hashes and writes the same bytes in the bench's own process, without any HTTP. Beside it are FastAPI routes on
uvicorn: one that hashes and writes the body as it arrives, in a thread, and one that takes a form (`UploadFile`). Ours
also proves each file before it answers, and stores a row for it.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aiohttp

from figures import FLOOR, Figure, save
from processes import processor_seconds
from sample_files import image
from servers import HERE, client, ours, started

#: Bytes of a file, and files in a round.
SIZES = {100_000: 40, 1_000_000: 12, 10_000_000: 3}
ROUNDS = 7
MB = 1_000_000
PATH = "/api/attachments"


def fresh(photo: bytes) -> bytes:
    """The photo with another comment, so that nobody has its bytes."""
    return photo[:2] + b"\xff\xfe\x00\x12" + os.urandom(16) + photo[2:]


async def send(session: aiohttp.ClientSession, files: list[bytes], *, as_form: bool) -> None:
    """Upload files one after the other."""
    for file in files:
        form = aiohttp.FormData()
        form.add_field("file", file, filename="photo.jpg", content_type="image/jpeg")
        request = session.post(PATH, data=form) if as_form else session.put(f"{PATH}?name=photo.jpg", data=file)
        async with request as answer:
            assert answer.status in {200, 201}, await answer.text()
            await answer.read()


def hash_and_write(folder: Path, files: list[bytes]) -> float:
    """The CPU milliseconds of a MB."""
    begun = time.process_time()
    for at, file in enumerate(files):
        hashlib.sha256(file).hexdigest()
        with (folder / f"floor {at}").open("wb", buffering=0) as out:
            out.write(file)
    return (time.process_time() - begun) * 1000 / (sum(map(len, files)) / MB)


async def measure() -> list[Figure]:
    """Measure all sizes, as a body and as a form."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        own, theirs, bare = (Path(folder, name) for name in ("own", "theirs", "bare"))
        theirs.mkdir()
        bare.mkdir()
        running: dict[str, Any] = {
            "ours": stack.enter_context(ours(str(own), "http://127.0.0.1:9")),
            "FastAPI": stack.enter_context(started(str(HERE / "served/uploads.py"), str(theirs))),
        }
        for as_form, (size, count) in ((as_form, item) for as_form in (False, True) for item in SIZES.items()):
            photo = image("JPEG", size, quality=90)
            costs: dict[str, list[float]] = {"ours": [], FLOOR: [], "FastAPI": []}
            for at in range(ROUNDS + 1):
                files = [fresh(photo) for _ in range(count)]
                for name, (url, process) in running.items():
                    async with client(url) as session:
                        before = processor_seconds(process)
                        await send(session, files, as_form=as_form)
                        spent = (processor_seconds(process) - before) * 1000
                    if at:
                        costs[name].append(spent / (sum(map(len, files)) / MB))
                if at:
                    costs[FLOOR].append(hash_and_write(bare, files))
            work = f"an upload of {size / MB:g} MB as a {'form' if as_form else 'body'}, each MB"
            figures.append(
                Figure(work, "ms", costs.pop("ours"), costs, of=FLOOR, goal=2, before="4 to 7 ms" if size == MB else "")
            )
    return figures


if __name__ == "__main__":
    save(__doc__, asyncio.run(measure()))
