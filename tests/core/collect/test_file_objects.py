"""Objects of any class that have a media type and content or data are files, without an import of ours."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import NamedTuple
from unittest.mock import MagicMock

import attrs
import msgspec
import pybase64
import pytest
from pydantic import BaseModel

from showandtell.core.collect.entry import collect
from showandtell.core.collect.tool_result import ToolResult
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Json
from showandtell.errors import BadFile, BadValue
from support.fixtures import png, wav

PNG, WAV = png(), wav()
BASE64 = pybase64.b64encode(PNG).decode()


@dataclass
class Photo:
    media_type: str
    content: object
    filename: str | None = None
    taken: str | None = None


class Model(BaseModel):
    mime_type: str
    data: bytes | str
    display_name: str | None = None


class Struct(msgspec.Struct):
    mimetype: str
    data: bytes


@attrs.define
class Slots:
    content_type: str
    data: bytes
    name: str


class Lazy:
    """Gives its bytes by a property, and has no fields."""

    mime_type = "image/png"

    @property
    def content(self):
        return PNG


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Photo("image/png", PNG), None),
        (Photo("image/png", BASE64, "a.png"), "a.png"),
        (Photo("IMAGE/PNG; q=1", f"data:image/png;base64,{BASE64}"), None),
        (Model(mime_type="image/png", data=BASE64, display_name="Harbour"), "Harbour"),
        (Struct("image/png", PNG), None),
        (Slots("image/png", memoryview(PNG), "/home/ann/secret/a.png"), "a.png"),
        (Lazy(), None),
        (SimpleNamespace(mime_type=None, media_type="image/png", content=None, data=bytearray(PNG)), None),
        (MagicMock(media_type="image/png", content=PNG, filename="a.png"), "a.png"),
    ],
)
def test_an_object_with_a_media_type_and_content_is_a_file(value, name):
    assert collect([value])[0] == File(PNG, "image/png", name)


def test_a_description_is_kept():
    value = SimpleNamespace(media_type="audio/wav", data=WAV, description="rain", name="a.wav", filename="b.wav")
    assert collect(value) == (File(WAV, "audio/wav", "b.wav", "rain"),)


def test_an_object_that_says_more_is_json_with_the_file_in_it():
    file = File(PNG, "image/png", "a.png")
    (part,) = collect(Photo("image/png", PNG, "a.png", "2026-05-01"))
    assert part == Json(
        '{"media_type":"image/png","content":null,"filename":"a.png","taken":"2026-05-01"}', (("/content", file),)
    )


@pytest.mark.parametrize(
    "value",
    [
        Photo("text/html", "abcd" * 20),  # the text itself
        Photo("image/png", "short"),
        Photo("image/png", "not base64! " * 20),
        Photo("picture", BASE64[:40]),
        Photo("image/png", None),
        Photo("image/png", ["a"]),
    ],
)
def test_an_object_without_bytes_is_its_fields(value):
    (part,) = collect(value)
    assert msgspec.json.decode(part.text)["media_type"] == value.media_type
    assert part.files == ()


class Raises:
    mime_type = "image/png"
    data = property(lambda _: 1 / 0)


class Proxy:
    """Answers to any attribute."""

    def __getattr__(self, name):
        return "image/png"


@pytest.mark.parametrize("value", [Raises(), Proxy(), MagicMock(spec=[]), Photo, Lazy, SimpleNamespace(data=3)])
def test_attributes_that_raise_or_that_any_name_has_make_no_file(value):
    with pytest.raises(BadValue):
        collect(value)


class Pair(NamedTuple):
    media_type: str
    data: str


def test_a_named_tuple_and_a_dict_are_data():
    assert collect({"pair": Pair("image/png", "words")}) == (Json('{"pair":["image/png","words"]}'),)
    assert collect({"media_type": "image/png", "data": "words"}) == (Json('{"media_type":"image/png","data":"words"}'),)


@dataclass
class Plot:
    file_path: object
    title: str | None = None
    media_type: str | None = None


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "rain.png").write_bytes(PNG)
    (tmp_path / "secret.png").write_bytes(PNG)
    (tmp_path / "plots" / "link.png").symlink_to(tmp_path / "secret.png")
    return tmp_path / "plots"


def test_a_file_path_in_the_named_folder_is_the_file(folder):
    for path in ("rain.png", folder / "rain.png", "./x/../rain.png", PurePosixPath("rain.png")):
        (file,) = ToolResult(Plot(path), files_from=folder).files
        assert (file.name, file.within, file.read()) == ("rain.png", folder, PNG)
    result = ToolResult({"plots": [Plot("rain.png", "Rain", "image/png")]}, files_from=str(folder))
    assert result.parts[0].text == '{"plots":[{"file_path":null,"title":"Rain","media_type":"image/png"}]}'
    assert [pointer for pointer, _ in result.parts[0].files] == ["/plots/0/file_path"]


def test_content_without_a_type_says_nothing_of_a_file_path(folder):
    (file,) = ToolResult(SimpleNamespace(file_path="rain.png", data=b"other bytes"), files_from=folder).files
    assert file.read() == PNG


@pytest.mark.parametrize("path", ["../secret.png", "link.png", "/etc/passwd", "a\0b", "x/../../secret.png"])
def test_a_file_path_outside_the_folder_is_refused_without_the_path(folder, path):
    with pytest.raises(BadValue, match=r"^/plot: a file_path") as raised:
        ToolResult({"plot": Plot(path)}, files_from=folder)
    assert str(folder.parent) not in str(raised.value)
    assert "/etc" not in str(raised.value)


def test_a_path_that_becomes_a_link_out_of_the_folder_is_not_read(folder):
    (file,) = ToolResult(Plot("rain.png"), files_from=folder).files
    (folder / "rain.png").unlink()
    (folder / "rain.png").symlink_to(folder.parent / "secret.png")
    with pytest.raises(BadFile, match="outside the folder"):
        file.read()


@pytest.mark.parametrize("path", ["/srv/app/rain.png", Path("/srv/app/rain.png"), r"C:\app\rain.png"])
def test_a_path_of_the_server_without_a_folder_is_refused(path):
    with pytest.raises(BadValue, match="files_from= of the tool names no folder") as raised:
        collect({"plot": Plot(path, "Rain")})
    assert "app" not in str(raised.value)


def test_a_path_that_is_not_of_an_object_stays_data(folder):
    values = [
        {"file_path": str(folder / "rain.png")},
        f'{{"file_path": "rain.png", "image": "data:image/png;base64,{BASE64}"}}',
        {"content": [], "isError": False, "structuredContent": {"file_path": "rain.png"}},
        Plot(None, "Rain"),
        Plot(3, "Rain"),
        Plot("", "Rain"),
    ]
    files = ToolResult(*values, files_from=folder).files
    assert [file.source for file in files] == [PNG]
    assert (
        collect(Plot("src/rain.py", "Rain"))[0].text == '{"file_path":"src/rain.py","title":"Rain","media_type":null}'
    )


def test_a_path_beside_the_content_reaches_no_model():
    value = SimpleNamespace(media_type="image/png", content=PNG, file_path="/srv/a.png")
    assert collect(value) == (File(PNG, "image/png"),)


@dataclass
class Stored(Photo):
    file_path: str = "/srv/app/a.png"


def test_a_path_beside_the_content_of_a_record_reaches_no_model():
    (part,) = collect(Stored("image/png", PNG, taken="2026-05-01"))
    assert part.text == '{"media_type":"image/png","content":null,"filename":null,"taken":"2026-05-01"}'
