"""Tools for the page's tests; a server process loads them by `--tools support.page_tools:TOOLS`."""

import threading

from showandtell import File, RunContext, ToolError, tool
from support.fixtures import picture

#: `take_time` waits until a test releases it.
GATE = threading.Semaphore(0)
COLOURS = {"red": (200, 30, 30), "green": (30, 160, 60), "blue": (40, 60, 200)}


@tool(approval=True)
def send_money(amount: int) -> str:
    """Send an amount of money."""
    return f"{amount} were sent"


@tool
def take_time(context: RunContext) -> str:
    """Take time, and report progress."""
    context.progress(1, 4, "a quarter is done", preview=File.from_bytes(picture("PNG", 640, 480, COLOURS["red"])))
    if not GATE.acquire(timeout=60):
        raise ToolError("not released within 60 s")
    return "all is done"


@tool
def break_down() -> str:
    """Break down."""
    raise ToolError("the wheel came off")


@tool
def gdrive_display_image(name: str) -> File:
    """Show a picture of the drive by its colour: red, green or blue."""
    return File.from_bytes(picture("PNG", 64, 48, COLOURS[name]), name=f"{name}.png")


TOOLS = (send_money, take_time, break_down, gdrive_display_image)
