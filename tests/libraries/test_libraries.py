"""Results and files of other libraries are recognized by class or exact shape, tested with objects of those libraries."""

import io
from pathlib import Path

import mcp.types as mcp
import msgspec
import numpy as np
import pybase64
import pydantic_ai.messages as ai
import pytest
from google.genai import types as google
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.documents.base import Blob
from langchain_core.messages import AIMessage, ToolMessage
from matplotlib.figure import Figure
from mcp.server.mcpserver import Audio, Image
from PIL import Image as Pillow

from showandtell.core.collect.entry import collect
from showandtell.core.collect.libraries import recognize
from showandtell.core.collect.tool_result import ToolResult
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Json, Text
from showandtell.errors import BadFile, BadValue
from support.fixtures import mp3, pdf, png, wav

PNG, PDF, WAV = png(), pdf("hello"), wav()
IMAGE = File(PNG, "image/png")


def base64(data: bytes) -> str:
    return pybase64.b64encode(data).decode()


def data_uri(data: bytes, media_type: str) -> str:
    return f"data:{media_type};base64,{base64(data)}"


def mcp_image(**extra) -> mcp.ImageContent:
    return mcp.ImageContent(type="image", data=base64(PNG), mime_type="image/png", **extra)


def mcp_text(text: str, audience=None) -> mcp.TextContent:
    annotations = mcp.Annotations(audience=audience) if audience else None
    return mcp.TextContent(type="text", text=text, annotations=annotations)


def mcp_result(*content, structured=None, is_error=False) -> mcp.CallToolResult:
    return mcp.CallToolResult(content=list(content), structured_content=structured, is_error=is_error)


@pytest.mark.parametrize("value", [1, "a", None, [], {}, {"type": "x"}, {"content": []}, object(), {"type": 1}])
def test_ordinary_values_are_not_recognized(value):
    assert recognize(value) is None


def test_an_mcp_result_gives_its_content_in_order():
    blob = mcp.BlobResourceContents(uri="file:///reports/june.pdf", mime_type="application/pdf", blob=base64(PDF))
    result = mcp_result(
        mcp_text("two"),
        mcp_image(),
        mcp.AudioContent(type="audio", data=base64(WAV), mime_type="audio/wav"),
        mcp.EmbeddedResource(type="resource", resource=blob),
        mcp.EmbeddedResource(type="resource", resource=mcp.TextResourceContents(uri="file:///a", text="words")),
    )
    expected = (Text("two"), IMAGE, File(WAV, "audio/wav"), File(PDF, "application/pdf", "june.pdf"), Text("words"))
    assert collect(result) == collect(result.model_dump(by_alias=True, mode="json")) == expected


def test_an_mcp_link_is_text_and_never_fetched():
    link = mcp.ResourceLink(type="resource_link", name="june", uri="https://example.org/june.pdf")
    assert collect(mcp_result(link)) == (Text("june (not fetched): https://example.org/june.pdf"),)


def test_an_mcp_audience_is_kept():
    result = mcp_result(mcp_text("a", ["user"]), mcp_text("b", ["assistant"]), mcp_text("c", ["user", "assistant"]))
    assert collect(result) == (Text("a", "user"), Text("b", "model"), Text("c"))


def test_an_mcp_error_is_an_error():
    assert ToolResult(mcp_result(mcp_text("no"), is_error=True)).is_error
    assert ToolResult({"content": [], "isError": True}).is_error
    assert not ToolResult(mcp_result(mcp_text("yes"))).is_error


@pytest.mark.parametrize(
    ("texts", "structured", "parts"),
    [
        (['{"a": 1}'], {"a": 1}, (Text('{"a": 1}'),)),
        (["hi"], {"result": "hi"}, (Text("hi"),)),
        (["1", "two"], {"result": [1, "two"]}, (Text("1"), Text("two"))),
        (["hi"], {"a": None}, (Text("hi"), Json('{"a":null}'))),
        ([], {"a": 1}, (Json('{"a":1}'),)),
        (["hi"], None, (Text("hi"),)),
    ],
)
def test_structured_content_that_repeats_the_texts_is_dropped(texts, structured, parts):
    assert collect(mcp_result(*map(mcp_text, texts), structured=structured)) == parts


def test_base64_that_structured_content_repeats_is_dropped():
    block = {"type": "image", "data": base64(PNG), "mimeType": "image/png"}
    structured = {"image": base64(PNG), "uri": data_uri(PNG, "image/png"), "list": [block, 1], "only": [block], "w": 8}
    assert collect(mcp_result(mcp_image(), structured=structured)) == (IMAGE, Json('{"list":[1],"w":8}'))
    assert collect(mcp_result(mcp_image(), structured={"result": [block]})) == (IMAGE,)


def test_a_resource_with_fields_of_its_own_is_data():
    resource = {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "words"}
    assert collect([{"type": "resource", "resource": resource}]) == (Text("words"),)
    (part,) = collect([{"type": "resource", "resource": {**resource, "rating": 5}}])
    assert isinstance(part, Json)


def test_structured_content_with_the_bytes_of_a_resource_says_nothing_new():
    resource = {"uri": "file:///a.png", "mimeType": "image/png", "blob": base64(PNG)}
    content = [{"type": "resource", "resource": resource}]
    (part,) = collect({"content": content, "isError": False, "structuredContent": {"blob": base64(PNG)}})
    assert part.read() == PNG


def test_structured_content_nested_too_deep_is_refused():
    deep: dict = {}
    for _ in range(5000):
        deep = {"a": deep}
    for content in ([], [{"type": "image", "data": base64(PNG), "mimeType": "image/png"}]):
        with pytest.raises(BadValue, match="nested"):
            collect({"content": content, "isError": False, "structuredContent": deep})


def test_single_mcp_blocks_and_lists_of_them_are_parts():
    assert collect(mcp_image()) == (IMAGE,)
    assert collect([mcp_text("a"), mcp_image(), "b"]) == (Text("a"), IMAGE, Text("b"))
    assert collect({"chart": mcp_image()}) == (Json('{"chart":null}', (("/chart", IMAGE),)),)


def test_the_image_and_audio_classes_of_mcp_servers_are_files(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(PNG)
    assert collect(Image(data=PNG)) == (IMAGE,)
    assert collect(Image(path=path)) == (File(path, "image/png", "a.png"),)
    assert collect(Audio(data=WAV, format="wav")) == (File(WAV, "audio/wav"),)


def test_google_parts_are_text_and_files():
    parts = [
        google.Part(text="look"),
        google.Part(text="hm", thought=True),
        google.Part(inline_data=google.Blob(data=PNG, mime_type="image/png", display_name="a.png")),
        google.Part.from_uri(file_uri="gs://bucket/film.mp4", mime_type="video/mp4"),
    ]
    expected = (Text("look"), File(PNG, "image/png", "a.png"), File.from_uri("gs://bucket/film.mp4", "video/mp4"))
    assert collect(parts) == collect(google.Content(parts=parts, role="user")) == expected


def test_single_google_files_are_files():
    address = "gs://bucket/a.png"
    assert collect(google.Blob(data=PNG, mime_type="image/png")) == (IMAGE,)
    assert collect(google.FileData(file_uri=address, mime_type="image/png")) == (File.from_uri(address, "image/png"),)
    named = google.FileData(file_uri=address, mime_type="image/png", display_name="Sales.png")
    assert collect(named) == (File.from_uri(address, "image/png", "Sales.png"),)
    assert collect(google.Image(image_bytes=PNG, mime_type="image/png")) == (IMAGE,)
    assert collect(google.Image(gcs_uri=address)) == (File.from_uri(address),)


def test_a_google_function_response_gives_its_values_then_its_files():
    blob = google.FunctionResponseBlob(data=PNG, mime_type="image/png")
    response = google.FunctionResponse(response={"rows": 2}, parts=[google.FunctionResponsePart(inline_data=blob)])
    assert collect(google.Part(function_response=response)) == (Json('{"rows":2}'), IMAGE)


def test_a_pydantic_ai_tool_return_gives_its_value_its_content_and_its_metadata():
    binary = ai.BinaryContent(PNG, media_type="image/png")
    result = ToolResult(ai.ToolReturn({"rows": 2}, content=["see", binary, ai.CachePoint()], metadata={"run": 1}))
    assert result.parts == (Json('{"rows":2}'), Text("see"), IMAGE)
    assert result.metadata == {"run": 1}
    assert collect(ai.ToolReturn("done", content="beside")) == (Text("done"), Text("beside"))


def test_pydantic_ai_files_are_files():
    assert collect(ai.BinaryImage(PNG, media_type="image/png")) == (IMAGE,)
    assert collect(ai.ImageUrl(data_uri(PNG, "image/png"))) == (IMAGE,)
    address = "https://example.org/a.pdf"
    assert collect(ai.DocumentUrl(address)) == (File.from_uri(address),)
    assert collect(ai.VideoUrl(address, media_type="video/mp4")) == (File.from_uri(address, "video/mp4"),)
    assert collect(ai.UploadedFile("file-1", "openai")) == (File.from_uri("openai:file-1"),)
    assert collect(ai.TextContent("hi", metadata=1)) == (Text("hi"),)


def test_names_that_a_program_gave_to_pydantic_ai_and_langchain_files_are_kept():
    address = "https://example.org/a.pdf"
    for value, name in [
        (ai.BinaryContent(PNG, media_type="image/png", identifier="harbour"), "harbour"),
        (ai.ImageUrl(data_uri(PNG, "image/png"), identifier="harbour"), "harbour"),
        (ai.DocumentUrl(address, identifier="invoice"), "invoice"),
        (ai.UploadedFile("file-1", "openai", identifier="invoice"), "invoice"),
        (Blob.from_data(PNG, mime_type="image/png", metadata={"filename": "/x/a.png"}), "a.png"),
        (Blob.from_path("/x/1.png", metadata={"name": "a.png"}), "a.png"),
    ]:
        assert collect([value])[0].name == name


def test_an_address_with_an_unknown_scheme_is_refused():
    with pytest.raises(BadFile, match="ftp"):
        collect(ai.ImageUrl("ftp://example.org/a.png"))


def test_a_langchain_tool_message_gives_its_blocks_and_its_artifact_as_metadata():
    blocks = [
        {"type": "text", "text": "look"},
        {"type": "image", "base64": base64(PNG), "mime_type": "image/png"},
        {"type": "image", "source_type": "base64", "data": base64(PNG), "mime_type": "image/png"},
        {"type": "file", "base64": base64(PDF), "mime_type": "application/pdf", "extras": {"filename": "a.pdf"}},
    ]
    result = ToolResult(ToolMessage(blocks, tool_call_id="1", artifact={"n": 1}, status="error"))
    assert result.parts == (Text("look"), IMAGE, IMAGE, File(PDF, "application/pdf", "a.pdf"))
    assert (result.metadata, result.is_error) == ({"n": 1}, True)


def test_langchain_messages_documents_and_blobs_are_text_and_files():
    assert collect(AIMessage("hi")) == (Text("hi"),)
    assert collect([Document("a"), Document("b", metadata={"page": 2})]) == (Text("a"), Text("b"), Json('{"page":2}'))
    assert collect(Blob.from_data(PNG, mime_type="image/png", path="/x/a.png")) == (File(PNG, "image/png", "a.png"),)
    assert collect(Blob.from_path("/x/a.png")) == (File(Path("/x/a.png"), "image/png", "a.png"),)
    assert collect(Blob.from_data("words")) == (Text("words"),)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "I", "I;16", "P", "RGB", "RGBA", "CMYK", "F", "HSV", "PA", "RGBX"])
def test_a_pillow_image_of_any_mode_is_a_png(mode):
    (file,) = collect(Pillow.new(mode, (3, 2)))
    assert file.media_type == "image/png"
    assert Pillow.open(io.BytesIO(file.read())).size == (3, 2)


def test_a_pillow_image_of_a_mode_that_png_lacks_loses_little():
    (grey,), (clear,) = (
        collect(Pillow.new(mode, (1, 1), colour)) for mode, colour in (("F", 99.0), ("RGBa", (9, 9, 9, 90)))
    )
    assert Pillow.open(io.BytesIO(grey.read())).mode == "L"
    assert Pillow.open(io.BytesIO(clear.read())).mode == "RGBA"


def test_a_pillow_image_keeps_the_name_of_its_file(tmp_path):
    Pillow.new("RGB", (3, 2)).save(tmp_path / "wall.jpg")
    with Pillow.open(tmp_path / "wall.jpg") as image:
        assert collect(image)[0].name == "wall.png"


def test_a_matplotlib_figure_is_a_png():
    figure = Figure()
    figure.subplots().plot([1, 2])
    (part,) = collect({"chart": figure})
    assert part.text == '{"chart":null}'
    assert part.files[0][1].read().startswith(b"\x89PNG")


def test_numpy_values_are_plain_values():
    assert collect({"a": np.arange(2), "b": np.float32(0.5), "c": np.bool_(True)}) == (
        Json('{"a":[0,1],"b":0.5,"c":true}'),
    )


FILE_BLOCKS = [
    ({"type": "image_url", "image_url": {"url": data_uri(PNG, "image/png"), "detail": "low"}}, IMAGE),
    ({"type": "input_image", "image_url": data_uri(PNG, "image/png"), "detail": "auto"}, IMAGE),
    (
        {"type": "input_file", "filename": "a.pdf", "file_data": data_uri(PDF, "application/pdf")},
        File(PDF, "application/pdf", "a.pdf"),
    ),
    ({"type": "file", "file": {"filename": "a.pdf", "file_data": base64(PDF)}}, File(PDF, None, "a.pdf")),
    ({"type": "input_audio", "input_audio": {"data": base64(mp3()), "format": "mp3"}}, File(mp3(), "audio/mpeg")),
    (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64(PNG)}},
        IMAGE,
    ),
    (
        {
            "type": "document",
            "title": "a.pdf",
            "source": {"type": "base64", "media_type": "application/pdf", "data": base64(PDF)},
            "cache_control": {"type": "ephemeral"},
        },
        File(PDF, "application/pdf", "a.pdf"),
    ),
    (
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "grün"}},
        File("grün".encode(), "text/plain"),
    ),
    ({"type": "audio", "base64": base64(WAV), "mime_type": "audio/wav"}, File(WAV, "audio/wav")),
    ({"type": "image", "data": base64(PNG), "mimeType": "image/png", "_meta": None}, IMAGE),
    (
        {"type": "resource", "resource": {"uri": "x://h/a.pdf", "mimeType": "application/pdf", "blob": base64(PDF)}},
        File(PDF, "application/pdf", "a.pdf"),
    ),
]


@pytest.mark.parametrize(("block", "file"), FILE_BLOCKS)
def test_a_file_block_is_a_file_at_any_place(block, file):
    assert collect(block) == (file,)
    assert collect(["see", block]) == (Text("see"), file)
    assert collect({"chart": block}) == (Json('{"chart":null}', (("/chart", file),)),)


@pytest.mark.parametrize(("block", "_file"), FILE_BLOCKS)
def test_a_dict_with_an_extra_key_is_data(block, _file):
    data = {"type": block["type"], "mine": 1, "x": "y"}
    assert recognize(block | {"mine": 1}) is None
    assert collect(data) == (Json(msgspec.json.encode(data).decode()),)


@pytest.mark.parametrize("kind", ["text", "input_text", "output_text"])
def test_text_blocks_are_text_at_the_top_of_a_value(kind):
    block = {"type": kind, "text": "hi"}
    assert collect(block) == (Text("hi"),)
    assert collect([block, block]) == (Text("hi"), Text("hi"))


def test_nested_text_blocks_are_data_unless_a_file_is_among_them():
    fields = [{"type": "text", "text": "Name"}]
    assert collect({"fields": fields}) == (Json('{"fields":[{"type":"text","text":"Name"}]}'),)
    block, file = FILE_BLOCKS[0]
    assert collect({"content": [*fields, block], "n": 1})[0] == Json(
        '{"content":["Name",null],"n":1}', (("/content/1", file),)
    )


ADDRESS = "https://example.org/a.png"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image_url", "image_url": {"url": ADDRESS}},
        {"type": "input_image", "image_url": ADDRESS},
        {"type": "image", "source": {"type": "url", "url": ADDRESS}},
        {"type": "image", "url": ADDRESS},
        {"type": "input_file", "file_id": ADDRESS},
        {"type": "resource_link", "uri": ADDRESS, "name": "a"},
    ],
)
def test_an_address_in_a_dict_is_text_and_never_a_file(block):
    for value in (block, [block], {"a": block}, {"content": [block], "isError": False}):
        result = ToolResult(value)
        assert result.files == ()
        assert ADDRESS in result.text


def test_an_error_flag_without_content_is_data():
    result = ToolResult({"isError": True, "reason": "no such order"})
    assert (result.text, result.is_error) == ('{"isError":true,"reason":"no such order"}', False)


@pytest.mark.parametrize("data", ["", "???", "aGk", "data:image/png;base64,??"])
def test_broken_base64_in_a_block_is_refused_with_its_place(data):
    with pytest.raises(BadValue, match=r"^/items/0: .*doesn't decode"):
        collect({"items": [{"type": "image", "data": data, "mimeType": "image/png"}]})
    with pytest.raises(BadValue, match=r"^/content/0: .*doesn't decode"):
        ToolResult({"content": [{"type": "image", "data": data, "mimeType": "image/png"}], "isError": True})


@pytest.mark.parametrize("address", ["a://b.[{", "http://[::g]/a.png", "https://[", "//[v1.]"])
def test_a_resource_with_an_invalid_address_has_no_name(address):
    resource = {"type": "resource", "resource": {"uri": address, "blob": base64(PNG), "mimeType": "image/png"}}
    for value in (resource, {"a": resource}, {"content": [resource]}):
        assert [file.name for file in ToolResult(value).files] == [None]


def test_base64_with_line_breaks_is_accepted():
    wrapped = "\r\n".join(base64(PNG)[at : at + 76] for at in range(0, len(base64(PNG)), 76))
    assert collect({"type": "image", "data": wrapped, "mimeType": "image/png"}) == (IMAGE,)


RESERVED = st.sampled_from(["type", "content", "text", "data", "source", "mimeType"])
WORDS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(RESERVED, WORDS | st.integers() | st.sampled_from(["text", "file", "resource"])))
def test_user_dicts_with_reserved_keys_stay_data(value):
    (part,) = collect({"row": value})
    assert part.files == ()
    assert msgspec.json.decode(part.text) == {"row": value}


@given(st.text(st.characters()))
def test_any_text_in_a_block_has_a_utf_8_form_afterwards(text):
    block = {"type": "text", "text": text}
    link = {"type": "image", "url": text}
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text}}
    for part in collect({"content": [block, link, document], "isError": False, "structuredContent": {text: text}}):
        assert part.source is not None if isinstance(part, File) else part.text.encode() is not None


def test_an_mcp_sdk_object_keeps_its_audience():
    image = mcp.ImageContent(
        type="image", data=base64(PNG), mime_type="image/png", annotations=mcp.Annotations(audience=["user"])
    )
    (file,) = collect(mcp.CallToolResult(content=[image]))
    assert file.audience == "user"
