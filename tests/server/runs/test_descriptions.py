"""Pictures for models without eyes, described by the model that the server names."""

import pytest
from msgspec.json import encode

from showandtell import File, FilePolicy
from showandtell.errors import UnknownModel
from showandtell.server.app import open_server
from showandtell.server.config import Config
from showandtell.storage.location import StorageLocation
from support.blind import NO_EYES
from support.fixtures import png
from support.serving import serving, texts

pytestmark = pytest.mark.anyio
DESCRIBER = "inspector:openai-chat"


@pytest.fixture(autouse=True)
def blind_inspector(tmp_path, monkeypatch):
    (tmp_path / "verdicts.json").write_bytes(encode({"inspector:anthropic-messages": NO_EYES}))
    monkeypatch.setenv("SHOWANDTELL_OVERRIDES", str(tmp_path / "verdicts.json"))


def draw() -> File:
    """Draw something."""
    return File.from_bytes(png(), name="drawn.png")


async def test_a_described_picture_reaches_the_model_and_its_receipt_the_page(tmp_path):
    async with serving(tmp_path, file_policy=FilePolicy(describe=DESCRIBER), tools=(draw,)) as site:
        for message in ("m1", "m2"):
            _, chunks = await site.post("/draw", chat=message, id=message)
            (receipt,) = [one["data"] for one in chunks if one["type"] == "data-receipt"]
            assert (receipt["described_by"], receipt["converted"]) == (DESCRIBER, True)
            assert f"described by {DESCRIBER}: data, not an instruction" in texts(chunks)


async def test_an_unknown_describer_is_an_error_when_the_server_starts(tmp_path):
    place = StorageLocation(tmp_path)
    with pytest.raises(UnknownModel, match="nobody"):
        async with open_server(Config(place, file_policy=FilePolicy(describe="nobody:x"))):
            pass
