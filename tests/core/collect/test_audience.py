"""MCP's `audience` of files and texts: what is for the user alone never becomes a file or a text for the model."""

import json

import pybase64
import pytest

from showandtell import File, Text
from showandtell.core.collect.entry import collect
from support.fixtures import png, wav


def base64(data):
    return pybase64.b64encode(data).decode()


PNG = png(3, 2)
DATA_URI = f"data:image/png;base64,{base64(PNG)}"
BLOB = {"uri": "file:///secret.png", "mimeType": "image/png", "blob": base64(PNG)}
BLOCKS = {
    "image": {"type": "image", "data": base64(PNG), "mimeType": "image/png"},
    "audio": {"type": "audio", "data": base64(wav()), "mimeType": "audio/wav"},
    "blob": {"type": "resource", "resource": BLOB},
    "text resource": {"type": "resource", "resource": {"uri": "note://1", "text": "words"}},
    "link": {"type": "resource_link", "uri": "https://example.com/a.png", "name": "a.png"},
    "data URI in a text": {"type": "text", "text": DATA_URI},
    "text with a data URI": {"type": "text", "text": f"Look: {DATA_URI} there."},
    "OpenAI's image": {"type": "input_image", "image_url": DATA_URI},
    "Anthropic's image": {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": base64(PNG)},
    },
}
each_block = pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)


def annotated(roles):
    return {"annotations": {"audience": roles}}


@each_block
@pytest.mark.parametrize(("roles", "audience"), [(["user"], "user"), (["assistant"], "assistant"), ([], "both")])
@pytest.mark.parametrize("shape", [lambda block: {"content": [block]}, lambda block: [block, block]])
def test_the_annotation_of_a_block_is_the_audience_of_its_parts(block, roles, audience, shape):
    parts = collect(shape({**block, **annotated(roles)}))
    assert {part.audience for part in parts if isinstance(part, File | Text)} <= {audience}
    if roles:
        assert all(isinstance(part, File | Text) for part in parts)


@pytest.mark.parametrize(("inner", "outer", "audience"), [(["user"], None, "user"), (["assistant"], ["user"], "user")])
def test_an_annotation_inside_a_resource_counts_and_the_stricter_one_wins(inner, outer, audience):
    block = {"type": "resource", "resource": {**BLOB, **annotated(inner)}, **(annotated(outer) if outer else {})}
    (file,) = collect({"content": [block]})
    assert (file.audience, file.read()) == (audience, PNG)


@pytest.mark.parametrize("block", [BLOCKS["image"], BLOCKS["blob"]])
def test_a_block_alone_and_one_in_json_keep_their_audience(block):
    (file,) = collect({**block, **annotated(["user"])})
    (value,) = collect({"chart": {**block, **annotated(["user"])}})
    assert file.audience == value.files[0][1].audience == "user"
    assert json.loads(value.text) == {"chart": None}
