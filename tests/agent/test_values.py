"""What data analysts' tools return: arrays, tables and objects that show themselves, through a whole run."""

import asyncio
import io
import sqlite3
import threading
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from showandtell import Agent, Depends, File, FileCache, FilePolicy, Tool, ToolResult, Toolset, tool
from showandtell.core.collect.tables import CELLS_AT_A_TIME
from support.isolated_tools import draw_pixels

pytestmark = pytest.mark.anyio


class Chart:
    """Shows what a function gives, which may take its time."""

    def __init__(self, draw):
        self.draw = draw

    def _repr_html_(self):
        return self.draw()


def returning(value):
    def give():
        """Give it."""
        return value

    return give


async def ask(tool, **settings):
    return await Agent("inspector", [tool], **settings).run(f"/{getattr(tool, 'name', None) or tool.__name__}")


async def test_the_event_loop_goes_on_while_a_value_shows_itself():
    free = threading.Event()

    async def chart():
        """Draw."""
        asyncio.get_running_loop().call_soon(free.set)
        return Chart(lambda: f"<p>{free.wait(60)}</p>")

    assert "True" in (await ask(chart)).messages[2].text


async def test_what_a_tool_depends_on_is_open_while_its_value_is_collected():
    def connect() -> Generator[sqlite3.Connection]:
        connection = sqlite3.connect(":memory:")
        yield connection
        connection.close()

    def chart(database: Annotated[sqlite3.Connection, Depends(connect)]):
        """Draw."""
        return Chart(lambda: str(database.execute("SELECT 40 + 2").fetchone()))

    assert "(42,)" in (await ask(chart)).messages[2].text


async def test_a_display_method_that_hangs_runs_into_the_timeout_of_its_tool():
    never = threading.Event()
    run = await ask(Tool("chart", "Draw.", {"type": "object"}, returning(Chart(never.wait)), timeout=0.2))
    never.set()
    assert "chart did not finish in time" in run.messages[2].text


async def test_pixels_reach_the_model_as_a_picture_also_from_another_process():
    pixels = np.arange(64 * 48 * 3, dtype=np.uint8).reshape(48, 64, 3)
    for draw in (returning(pixels), Tool("draw", "Draw.", {"type": "object"}, draw_pixels, isolate=True)):
        run = await ask(draw)
        assert run.receipts[0].delivery == "native"
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(run.files[0].read()))), pixels)


async def test_a_table_is_words_for_the_model_and_a_stored_file_for_the_user():
    frame = pd.DataFrame({"city": ["Oslo", "Bergen"], "raw": [b"\xff", b"\0"], "rain": [1.5, float("nan")]})
    agent = Agent("inspector", [returning(frame)])
    conversation = agent.conversation()
    run = await agent.run("/give", conversation=conversation)
    assert "| Oslo | <1 bytes> | 1.5 |" in run.text
    assert [(file.name, file.media_type, file.audience) for file in run.files] == [("give.csv", "text/csv", "user")]
    assert run.receipts[0].delivery == "withheld"
    assert conversation.file(1).read() == b"city,raw,rain\nOslo,b'\\xff',1.5\nBergen,b'\\x00',\n"


async def test_a_csv_that_is_too_large_is_written_up_to_the_limit_alone(monkeypatch):
    written, to_csv = [], pd.DataFrame.to_csv

    def count(frame, **settings):
        written.append(len(frame))
        return to_csv(frame, **settings)

    monkeypatch.setattr(pd.DataFrame, "to_csv", count)
    frame = pd.DataFrame({"n": range(10**6)})
    agent = Agent("inspector", [returning(frame)], file_policy=FilePolicy(max_file_bytes=50_000))
    conversation = agent.conversation()
    run = await agent.run("/give", conversation=conversation)
    assert "table of 1,000,000 rows and 1 column" in run.text
    assert conversation.attachments[1].problem.startswith("is larger than 50000 bytes")
    assert 0 < sum(written) < 200_000 + CELLS_AT_A_TIME


async def test_scripts_in_html_reach_no_model_and_no_name():
    page = "<script>alert('evil')</script><img src=x onerror=alert('evil')><p>42</p>"
    run = await ask(returning(Chart(lambda: page)))
    assert run.messages[2].parts[0].text == "42"
    assert (run.files[0].name, run.files[0].media_type, run.files[0].audience) == ("Chart.html", "text/html", "user")
    assert run.receipts[0].delivery == "withheld"


async def test_a_display_method_that_raises_is_an_error_result_and_a_line_in_the_log(caplog):
    run = await ask(returning(Chart(lambda: 1 / 0)))
    assert "returned something that can't be shown" in run.messages[2].text
    assert "_repr_html_ of Chart raised" in caplog.text


async def test_an_open_file_reaches_the_model_by_its_name_alone(tmp_path):
    path = tmp_path / "harbour.png"
    Image.new("RGB", (8, 8)).save(path)
    for value in (path.open("rb"), {"photo": path.open("rb")}):
        run = await ask(returning(value))
        assert (run.receipts[0].name, run.receipts[0].delivery) == ("harbour.png", "native")
        assert str(tmp_path) not in run.messages[2].text
        assert run.files[0].read() == path.read_bytes()


async def test_an_open_file_is_read_in_the_thread_of_the_call():
    class Here(io.BytesIO):
        def read(self, *_):
            return threading.current_thread().name.encode() if not self.tell() and self.seek(1) else b""

    assert (await ask(returning(Here(b"x")))).messages[2].text == "calls"


async def test_a_file_that_the_tool_closed_is_an_error_result(tmp_path):
    def photo():
        """Give a photo."""
        with (tmp_path / "secret.png").open("wb+") as stream:
            return stream

    text = (await ask(photo)).messages[2].text
    assert "photo returned something that can't be shown: the value: a file that is closed already" in text
    assert "secret" not in text


@dataclass
class Plot:
    file_path: Path


@pytest.fixture
def plot(tmp_path):
    Image.new("RGB", (8, 8)).save(tmp_path / "rain.png")
    return Plot(tmp_path / "rain.png")


async def test_a_file_path_of_a_tool_is_read_from_the_folder_that_is_named_for_it(plot):
    run = await ask(tool(files_from=plot.file_path.parent)(returning(plot)))
    assert (run.receipts[0].name, run.receipts[0].delivery) == ("rain.png", "native")


@pytest.mark.parametrize("folder", [None, "src"])
async def test_the_log_tells_of_a_file_path_elsewhere_and_no_model_gets_it(plot, folder, caplog):
    run = await ask(tool(files_from=folder)(returning(plot)))
    (record,) = caplog.records
    assert record.getMessage().startswith("tool give returned something that can't be shown: the value: a file_path")
    assert str(plot.file_path.parent) not in repr(run.messages)
    assert run.files == []


class Remote(Toolset):
    """Has a tool that names a folder, as the answer of another program might."""

    def __init__(self, plot):
        self.plot = plot

    async def list(self):
        return [Tool("give", "Give it.", {"type": "object"}, files_from=self.plot.file_path.parent)]

    async def call(self, *_, **__):
        return self.plot


async def test_a_toolset_can_not_name_a_folder(plot):
    run = await Agent("inspector", [Remote(plot)]).run("/give")
    assert "names no folder" in run.messages[2].text


def test_a_reader_of_unknown_size_is_stored_as_it_comes():
    data = b"a,b\n" * 1000
    file = File.from_reader(lambda: io.BytesIO(data), None, "text/csv", "table.csv")
    assert FileCache().probe(file).facts.size == len(data)


def test_a_result_that_a_tool_makes_itself_holds_the_same_parts():
    pixels = np.zeros((4, 4), np.uint8)
    assert ToolResult(pixels) == ToolResult(ToolResult(pixels)) != ToolResult(pixels + np.uint8(1))
