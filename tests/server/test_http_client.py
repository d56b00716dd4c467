"""The HTTP client is loaded beside the first requests of a server: a run would hold the event loop for it."""

import subprocess
import sys

import pytest

LOADS = """
import asyncio, sys
from showandtell.server.app import load_client
asyncio.run(load_client(sys.argv[1]))
print("aiohttp" in sys.modules)
"""

SERVES = """
import asyncio, sys
from pathlib import Path
from showandtell.server.app import open_server
from showandtell.server.config import Config
from showandtell.storage.location import StorageLocation

async def main():
    place = StorageLocation(Path(sys.argv[1]), None, None)
    config = Config(place=place, secret=b"s" * 32, default_model="anthropic:claude-sonnet-5")
    async with open_server(config), asyncio.timeout(60):
        while "showandtell.network.http_session" not in sys.modules:
            await asyncio.sleep(0.01)
    print("loaded")

asyncio.run(main())
"""


def run(code, argument):
    command = [sys.executable, "-c", code, argument]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603 - ours


@pytest.mark.parametrize(
    ("model", "loaded"),
    [("inspector:gemini", "False"), pytest.param("anthropic:claude-sonnet-5", "True", marks=pytest.mark.thorough)],
)
def test_the_inspector_needs_no_http_client(model, loaded):
    assert run(LOADS, model) == loaded


def test_a_server_loads_it_before_its_first_message(tmp_path):
    assert run(SERVES, str(tmp_path)) == "loaded"
