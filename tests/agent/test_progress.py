"""Progress and previews of tools while they work."""

import asyncio
from io import BytesIO

from PIL import Image

from showandtell import Agent, File, RunContext
from showandtell.errors import StorageFailed
from showandtell.events import ToolOutput, ToolProgress
from showandtell.storage.files.file_cache import FileCache
from support.fixtures import picture


async def events_of(function, text):
    """The progress and the result of a run that calls one tool."""
    events = [event async for event in Agent("inspector", [function]).run(text)]
    return [event for event in events if isinstance(event, ToolProgress | ToolOutput)]


def test_a_file_that_a_tool_yields_is_shown_as_a_small_picture_while_it_works():
    seen = asyncio.Event()

    async def paint():
        yield "a first draft"
        yield File.from_bytes(picture("PNG", 900, 600, (200, 30, 30)))
        await seen.wait()
        yield "it is done"

    async def watch():
        previews = []
        async for event in Agent("inspector", [paint]).run("/paint"):
            if isinstance(event, ToolProgress) and event.preview is not None:
                previews.append(event)
                seen.set()
        return previews

    (event,) = asyncio.run(watch())
    assert event.preview.media_type == "image/webp"
    assert Image.open(BytesIO(event.preview.read())).size == (320, 213)


def test_a_preview_is_neither_stored_nor_shown_to_the_model():
    async def paint(context: RunContext):
        context.progress(1, 2, "half", preview=Image.new("RGB", (64, 48)))
        return "it is done"

    agent = Agent("inspector", [paint])
    run = agent.run_sync("/paint")
    assert not run.conversation.attachments
    assert run.messages[2].text == "it is done"


def test_progress_is_reported_at_once_also_if_its_preview_cannot_be_made():
    async def paint(context: RunContext):
        context.progress(1, 2, "half", preview=File.from_bytes(b"\x89PNG\r\n\x1a\n but damaged", "image/png"))
        context.progress(2, 2, "all")
        return "it is done"

    *progress, output = asyncio.run(events_of(paint, "/paint"))
    assert [(event.done, event.note, event.preview) for event in progress] == [(1, "half", None), (2, "all", None)]
    assert output.text == "it is done"


def test_of_many_previews_the_newest_is_shown():
    seen = asyncio.Event()

    async def paint(context: RunContext):
        for number in range(100):
            context.progress(number, 100, preview=Image.new("RGB", (64, 48), (number, 0, 0)))
        await seen.wait()

    async def watch():
        async for event in Agent("inspector", [paint]).run("/paint"):
            if isinstance(event, ToolProgress) and event.preview is not None:
                seen.set()
                yield event.done, Image.open(BytesIO(event.preview.read())).getpixel((0, 0))[0]

    async def collect():
        return [shown async for shown in watch()]

    assert asyncio.run(collect()) == [(99, 99)]


def test_a_preview_keeps_the_note_and_a_file_for_the_model_alone_is_not_shown():
    async def paint():
        yield "a first draft"
        yield File.from_bytes(picture("PNG", 64, 48, (200, 30, 30)), audience="assistant")
        yield 0.5

    *progress, _ = asyncio.run(events_of(paint, "/paint"))
    assert [(event.done, event.note, event.preview) for event in progress] == [
        (0, "a first draft", None),
        (0.5, "", None),
    ]


def test_previews_continue_after_one_that_could_not_be_stored(monkeypatch):
    seen, failed = asyncio.Event(), asyncio.Event()

    def fail_once(cache, file, probe=FileCache.probe):
        if not failed.is_set():
            failed.set()
            raise StorageFailed("the disk is full: make room")
        return probe(cache, file)

    monkeypatch.setattr(FileCache, "probe", fail_once)

    async def paint(context: RunContext):
        context.progress(1, 2, preview=Image.new("RGB", (64, 48)))
        await failed.wait()
        context.progress(2, 2, preview=Image.new("RGB", (64, 48)))
        await seen.wait()

    async def watch():
        async for event in Agent("inspector", [paint]).run("/paint"):
            if isinstance(event, ToolProgress) and event.preview is not None:
                seen.set()

    asyncio.run(watch())
    assert seen.is_set()
