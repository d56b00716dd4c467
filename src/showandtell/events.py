"""The events of a run.

>>> import asyncio
>>> from showandtell import Agent
>>> from showandtell.events import Event, Finish, TextDelta
>>> async def watch() -> tuple[list[str], Event]:
...     texts: list[str] = []
...     async for event in Agent("inspector").run("hello"):
...         if isinstance(event, TextDelta):
...             texts.append(event.text)
...     return texts, event
>>> texts, last = asyncio.run(watch())
>>> len(texts) > 0, isinstance(last, Finish), last.status
(True, True, 'complete')
"""

from showandtell.core.events.types import (
    ApprovalNeeded,
    ErrorEvent,
    Event,
    FileEvent,
    FileMade,
    Finish,
    HostedCall,
    OutputDelta,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReceiptEvent,
    Retry,
    SourceEvent,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    ToolOutput,
    ToolProgress,
    ToolStart,
    Usage,
)

__all__ = [
    "ApprovalNeeded",
    "ErrorEvent",
    "Event",
    "FileEvent",
    "FileMade",
    "Finish",
    "HostedCall",
    "OutputDelta",
    "ReasoningDelta",
    "ReasoningEnd",
    "ReasoningStart",
    "ReceiptEvent",
    "Retry",
    "SourceEvent",
    "StepFinish",
    "StepStart",
    "TextDelta",
    "TextEnd",
    "TextStart",
    "ToolInputDelta",
    "ToolInputEnd",
    "ToolInputStart",
    "ToolOutput",
    "ToolProgress",
    "ToolStart",
    "Usage",
]
