"""Tools that run in a process of their own, in a module that such a process can import."""

import os

from showandtell import File, Tool, ToolError, ToolResult, tool


@tool(isolate=True)
def describe(image: File, words: str = "pixels") -> dict:
    """Report the process and the size of the file."""
    return {"process": os.getpid(), "bytes": len(image.read()), "words": words}


@tool(isolate=True)
async def broken_apart():
    """Raise in another process."""
    raise KeyError("the password is hunter2")


@tool(isolate=True)
def probe_isolation():
    """Raise a `ToolError` in another process."""
    raise ToolError("only on Mondays")


def draw_pixels():
    """Draw a picture in another process."""
    import numpy as np

    return np.arange(64 * 48 * 3, dtype=np.uint8).reshape(48, 64, 3)


def much() -> str:
    """Return half a million characters."""
    return "word " * 100_000


write_much = Tool("write_much", "Write much.", run=much, isolate=True)


@tool(isolate=True)
def nothing_to_show():
    """Build a result that can't be shown in another process."""
    return ToolResult(object())
