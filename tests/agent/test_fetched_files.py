"""Addresses that a provider doesn't open: fetched here where the program allows it, by one function, and never else."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from showandtell import File
from showandtell.errors import BadFile, UnsupportedFile
from showandtell.network.fetch import FetchPolicy
from support.fixtures import png
from support.scripted import CONVERSE, say, scripted, watch

KIWI = File.from_uri("https://example.com/kiwi.png", "image/png")


def talk(fetched, *, text="What is it?"):
    """A run whose fetching is replaced by a function of a URL; gives the run, the script, the URLs."""
    agent, script = scripted(say("A kiwi.", model=CONVERSE), model=CONVERSE, fetch=FetchPolicy(fetch=True))
    asked = []

    async def fetch(url, folder, max_bytes):
        asked.append((url, max_bytes))
        path = Path(folder) / "fetched"
        path.write_bytes(fetched(url))
        return File(path, "image/png", "kiwi.png")

    agent.sharing = replace(agent.sharing, fetch=fetch)
    run = agent.run(text, files=[KIWI])
    asyncio.run(watch(run))
    return run, script, asked


def test_an_address_that_the_provider_does_not_open_is_fetched_and_shown():
    run, script, asked = talk(lambda _: png())
    assert (run.receipts[0].delivery, run.receipts[0].converted, script.files) == ("native", True, [1])
    assert [url for url, _ in asked] == ["https://example.com/kiwi.png"]
    assert "fetched from its address" in str(script.bodies)


def test_what_is_fetched_is_proved_like_any_other_file():
    run, script, _ = talk(lambda _: b"<html>not found</html>")
    assert isinstance(run.error, UnsupportedFile)
    assert script.bodies == []


def test_an_address_that_can_not_be_fetched_says_why():
    def refuse(_):
        raise BadFile("example.com", "answers 404", "check the address")

    run, *_ = talk(refuse)
    assert "example.com answers 404: check the address" in str(run.error)


@pytest.mark.parametrize("allow", [None, FetchPolicy()])
def test_nothing_is_fetched_unless_the_program_says_so(allow):
    agent, script = scripted(say("A kiwi.", model=CONVERSE), model=CONVERSE, fetch=allow)
    run = agent.run("What is it?", files=[KIWI])
    asyncio.run(watch(run))
    assert isinstance(run.error, UnsupportedFile)
    assert script.bodies == []
