"""Files that a package's converter reads, on the server: a thumbnail, a text, and what the model got."""

import io

import pytest

from showandtell.extending import Converter, register_converter
from support.extensions import STL, converting
from support.serving import serving

pytestmark = pytest.mark.anyio

NOTES = (
    "import sys\n\ndef to_text(source, target):\n    open(target, 'w').write(open(source, 'rb').read()[8:].decode())\n"
)


@pytest.fixture(autouse=True)
def acme(tmp_path, monkeypatch):
    with converting(tmp_path, monkeypatch, acme_notes=NOTES):
        yield


async def put(site, data, name):
    async with site.session.put("/api/attachments", params={"name": name}, data=io.BytesIO(data)) as response:
        return await response.json()


async def test_a_converted_picture_has_a_thumbnail(tmp_path):
    register_converter(Converter(media_type="model/stl", becomes="image/png", function="acme_stl:draw", suffix=".stl"))
    async with serving(tmp_path / "data") as site:
        file = await put(site, STL.encode(), "part.stl")
        assert file["media_type"] == "model/stl"
        async with site.session.get(file["thumbnail"]) as response:
            assert (response.status, response.headers["content-type"]) == (200, "image/webp")


async def test_a_converted_text_can_be_read(tmp_path):
    function = "acme_notes:to_text"
    register_converter(
        Converter(
            media_type="application/x-notes", becomes="text/markdown", function=function, signature=b"NOTES\0\0\0"
        )
    )
    async with serving(tmp_path / "data") as site:
        file = await put(site, b"NOTES\0\0\0# Hello", "a.notes")
        assert file["thumbnail"] is None
        async with site.session.get(f"/api/attachments/{file['id']}/text") as response:
            assert await response.text() == "# Hello"
