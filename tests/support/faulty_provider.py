"""The fake provider with faults, in a thread of its own."""

import asyncio
import threading
from contextlib import contextmanager

from fake_provider import FakeProvider


@contextmanager
def serving(*faults, **settings):
    """A fake provider in its own thread, because the command line has its own event loop."""
    loop, fake_provider = asyncio.new_event_loop(), FakeProvider([*faults], **settings)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(fake_provider.__aenter__(), loop).result()
        yield fake_provider
    finally:
        asyncio.run_coroutine_threadsafe(fake_provider.__aexit__(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
