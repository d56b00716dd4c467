"""The fake provider with faults, in a thread of its own."""

import asyncio
import threading
from contextlib import contextmanager

from fake_provider import Standin


@contextmanager
def serving(*faults, **settings):
    """A stand-in in a thread of its own, for the command line has its own event loop."""
    loop, standin = asyncio.new_event_loop(), Standin([*faults], **settings)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(standin.__aenter__(), loop).result()
        yield standin
    finally:
        asyncio.run_coroutine_threadsafe(standin.__aexit__(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
