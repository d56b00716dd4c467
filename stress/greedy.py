"""A user who starts as much at once as the server's rates allow: `python stress/greedy.py URL TOKEN FILE`.

Uploads FILE, a PDF of very many pages, asks for its thumbnail, text and pages, chats and uploads pictures until
standard input ends. Then prints how often each got which status.
"""

import asyncio
import io
import json
import random
import sys
from collections import Counter
from pathlib import Path

import aiohttp

from support import fixtures
from support.many_users import ask
from support.serving import chat_body

PATH = "/api/attachments"
#: How many of each kind are going at once.
AT_ONCE = {"convert": 12, "chat": 50, "upload": 50}


async def convert(session, pdf):
    """The status of an upload, or the worst one of its conversions."""
    data = io.BytesIO(pdf + b"%%%d" % random.getrandbits(64))
    status, body = await ask(session, "PUT", PATH, params={"name": "big.pdf"}, data=data)
    if status != 201:
        return status
    paths = [f"{PATH}/{json.loads(body)['id']}/{what}" for what in ("thumbnail", "text", "pages/2", "pages/3")]
    return max(status for status, _ in await asyncio.gather(*[ask(session, "GET", path) for path in paths]))


async def chat(session, _):
    body = chat_body("hello", f"greedy {random.getrandbits(64)}")
    return (await ask(session, "POST", "/api/chat", json=body))[0]


async def upload(session, _):
    data = fixtures.png(random.getrandbits(10) + 1)
    return (await ask(session, "PUT", PATH, params={"name": "a.png"}, data=data))[0]


async def repeat(kind, session, pdf, outcomes):
    while True:
        status = await {"convert": convert, "chat": chat, "upload": upload}[kind](session, pdf)
        outcomes[f"{kind} {status}"] += 1
        if status == 429:
            await asyncio.sleep(1)


async def main(url, token, file):
    outcomes, pdf = Counter(), await asyncio.to_thread(Path(file).read_bytes)
    timeout, connector = aiohttp.ClientTimeout(total=None), aiohttp.TCPConnector(limit=0)
    headers = {"authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(url, headers=headers, timeout=timeout, connector=connector) as session:
        going = [
            asyncio.create_task(repeat(kind, session, pdf, outcomes))
            for kind, count in AT_ONCE.items()
            for _ in range(count)
        ]
        await asyncio.to_thread(sys.stdin.read)
        for task in going:
            task.cancel()
        await asyncio.wait(going)
    print(json.dumps(dict(sorted(outcomes.items()))))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
