"""The examples do what they say, on the strict servers."""

import importlib.util
import sys

import anyio
import pytest

from fake_provider import FakeProvider
from showandtell import Agent, File, ToolError
from showandtell.samples import folder
from support.paths import ROOT

EXAMPLES = ROOT / "examples"
ROWS = pytest.mark.parametrize("row", ["google", "vertex"])
PAINTER = "gemini-3-pro-image-preview"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


IMAGE_AGENT = load("image_agent")


async def start(folder, *arguments):
    """The example as a person starts it."""
    return await anyio.run_process([sys.executable, EXAMPLES / "image_agent.py", *arguments], check=False, cwd=folder)


@pytest.fixture
async def fake_provider(monkeypatch):
    async with FakeProvider() as fake_provider:
        for name, value in (fake_provider.environ() | {"NO_PROXY": "127.0.0.1"}).items():
            monkeypatch.setenv(name, value)
        for name in ("GOOGLE_API_KEY", "AGENT_MODEL", "IMAGE_MODEL"):
            monkeypatch.delenv(name, raising=False)
        yield fake_provider


@ROWS
@pytest.mark.anyio
async def test_what_an_image_model_draws_is_seen_by_the_agent_that_asked_for_it(row, fake_provider):
    run = await IMAGE_AGENT.illustrator("anthropic:claude-sonnet-5", f"{row}:{PAINTER}").run("/draw scene='a kiwi'")
    assert (run.status, run.receipts[0].delivery) == ("complete", "native")
    assert "64 x 64 pixels" in run.text
    assert [item.host for item in fake_provider.ledger] == ["anthropic", row, "anthropic"]
    (seen,) = fake_provider.ledger[-1].seen
    assert seen.sha256 == run.conversation.attachments[1].facts.sha256


@pytest.mark.anyio
async def test_a_drawn_picture_gets_the_next_number_beside_a_persons_file(fake_provider):
    agent = Agent("openai-chat:gpt-5-mini", [IMAGE_AGENT.painter(f"google:{PAINTER}")])
    run = await agent.run("/draw scene='another one'", files=[File.from_path(folder() / "kiwi.jpg")])
    assert [(file.number, file.media_type) for file in run.files] == [(2, "image/png")]
    assert [item.place for item in fake_provider.ledger[-1].seen] == ["user", "user"]


@pytest.mark.anyio
async def test_a_model_that_draws_nothing_is_a_tools_error(fake_provider):
    with pytest.raises(ToolError, match="drew nothing"):
        await IMAGE_AGENT.painter("google:gemini-3-flash-preview")("a kiwi")
    assert len(fake_provider.ledger) == 1


@pytest.mark.usefixtures("fake_provider")
@pytest.mark.anyio
async def test_the_image_agent_prints_its_words_and_saves_what_was_drawn(tmp_path):
    done = await start(tmp_path, "/draw", "scene=kiwi")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"64 x 64 pixels" in done.stdout
    assert [path.read_bytes()[1:4] for path in tmp_path.iterdir()] == [b"PNG"]


@pytest.mark.usefixtures("fake_provider")
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("key", "received"),
    [
        ("wrong", b"error: invalid x-api-key (the key is from ANTHROPIC_API_KEY)\n"),
        ("", b"anthropic needs a key: set ANTHROPIC_API_KEY"),
    ],
)
async def test_the_image_agent_says_why_it_could_not_finish(tmp_path, monkeypatch, key, received):
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    done = await start(tmp_path, "hi")
    assert (done.returncode, done.stderr[: len(received)]) == (1, received)


@pytest.mark.anyio
async def test_the_image_agent_without_words_says_how_it_is_used(tmp_path):
    done = await start(tmp_path)
    assert done.returncode == 2
    assert b"the following arguments are required: words\n" in done.stderr
