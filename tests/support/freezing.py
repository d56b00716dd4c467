"""A database that hangs: a proxy before PostgreSQL that keeps its connections and passes nothing on while it is frozen."""

import asyncio
import contextlib
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import make_url

CHUNK = 65536


class FreezingProxy:
    """`url` leads through the proxy to a PostgreSQL that listens on a socket in a folder."""

    def __init__(self, url, folder):
        parts = make_url(url)
        self._socket = f"{parts.query['host']}/.s.PGSQL.{parts.port or parts.query.get('port', 5432)}"
        self.folder, self.url = folder, parts.update_query_dict({"host": str(folder)}).render_as_string(False)
        self.name = Path(self._socket).name
        self._flows, self.tasks = asyncio.Event(), set()
        self._flows.set()

    def freeze(self):
        """Answer nothing from now on. New connections are accepted."""
        self._flows.clear()

    def thaw(self):
        """Pass on what waited, and what comes."""
        self._flows.set()

    @property
    def connections(self):
        """How many there are."""
        return len(self.tasks)

    async def connect(self, reader, writer):
        """Handle one connection."""
        task = asyncio.create_task(self._connect(reader, writer))
        self.tasks.add(task)
        await asyncio.wait({task})
        self.tasks.discard(task)
        writer.close()

    async def _connect(self, reader, writer):
        await self._flows.wait()
        behind, there = await asyncio.open_unix_connection(self._socket)
        await asyncio.gather(self._pass_on(reader, there), self._pass_on(behind, writer), return_exceptions=True)

    async def _pass_on(self, reader, writer):
        with contextlib.closing(writer):  # a half-open connection is of no use to PostgreSQL
            while data := await reader.read(CHUNK):
                await self._flows.wait()
                writer.write(data)
                await writer.drain()


@asynccontextmanager
async def freezing_proxy(url, folder):
    """A proxy that runs in this event loop."""
    proxy = FreezingProxy(url, folder)
    server = await asyncio.start_unix_server(proxy.connect, Path(folder, proxy.name))
    try:
        yield proxy
    finally:
        server.close()
        for task in [*proxy.tasks]:
            task.cancel()
        await asyncio.gather(*proxy.tasks, return_exceptions=True)
