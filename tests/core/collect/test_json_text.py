"""JSON text is read like its value if there is a file in it, and stays the text it was if there is none."""

import json

import pybase64
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.collect.entry import collect
from showandtell.core.collect.tool_result import ToolResult
from showandtell.core.messages.parts import Text
from showandtell.samples import folder
from support.fixtures import bmp, docx, flac, heic, jpeg, mp3, mp4, pdf, png, tiff, wav
from support.properties import examples

PNG = png(64, 64)


def base64(data):
    return pybase64.b64encode(data).decode()


BLOCK = {"type": "image", "data": base64(PNG), "mimeType": "image/png"}
MCP_RESULT = {"content": [{"type": "text", "text": "a chart"}, BLOCK], "isError": False}


def bytes_of(value):
    return [file.read() for file in ToolResult(value).files]


@pytest.mark.parametrize(
    "value",
    [
        BLOCK,
        [BLOCK, {"type": "text", "text": "a chart"}],
        MCP_RESULT,
        {"chart": f"data:image/png;base64,{base64(PNG)}"},
        {"rows": [1, 2.5, None], "image": {"b64_json": base64(PNG)}},
        f"data:image/png;base64,{base64(PNG)}",
        {"bytea": "\\x" + PNG.hex()},
        {
            "short": {
                "type": "resource",
                "resource": {"uri": "file:///a.txt", "blob": "aGVsbG8=", "mimeType": "text/plain"},
            }
        },
    ],
)
def test_json_text_with_a_file_gives_what_its_value_gives(value):
    parts = collect(value)
    assert ToolResult(value).files
    assert collect(json.dumps(value)) == parts
    assert collect(f"\n {json.dumps(value, indent=2)}\n") == parts
    assert collect(Text(json.dumps(value))) == parts
    assert bytes_of({"result": [json.dumps(value)]}) == bytes_of(value)


def test_json_text_inside_json_text_is_read_too():
    text = json.dumps({"output": json.dumps(MCP_RESULT), "status": "ok"})
    (part,) = collect(text)
    assert part.text == '{"output":["a chart",null],"status":"ok"}'
    assert [(pointer, file.read()) for pointer, file in part.files] == [("/output/1", PNG)]


def test_the_json_of_php_which_escapes_slashes_is_read():
    jpeg = (folder() / "kiwi.jpg").read_bytes()
    assert bytes_of(json.dumps({"photo": base64(jpeg)}).replace("/", "\\/")) == [jpeg]


MEDIA = [PNG, bmp(), docx(), flac(), heic() + bytes(100), jpeg(), mp3(), mp4(), pdf("hello"), tiff(), wav()]


@pytest.mark.parametrize("data", MEDIA)
@pytest.mark.parametrize("write", [base64, bytes.hex, lambda data: data.hex().upper(), lambda data: "0x" + data.hex()])
def test_base64_and_hex_of_a_known_signature_are_files(data, write):
    assert bytes_of(write(data)) == [data]
    assert bytes_of(json.dumps({"rows": [{"data": write(data)}]})) == [data]


@pytest.mark.parametrize("digits", ["89504e470d0a1a0a" * 8, PNG.hex() + "0", PNG.hex() + "zz", "ab" * 500])
def test_short_and_other_hex_stays_text(digits):
    assert collect(digits) == (Text(digits),)


def test_addresses_and_paths_in_json_text_stay_text():
    link = {"type": "resource_link", "uri": "https://example.org/a.png", "name": "a.png"}
    result = ToolResult(json.dumps({"content": [link, BLOCK], "isError": False}))
    assert result.links == {}
    assert [part.text for part in result.parts[:-1]] == ["a.png (not fetched): https://example.org/a.png"]
    (part,) = collect(json.dumps({"file_path": "/etc/passwd", "path": "file:///etc/passwd", "image": base64(PNG)}))
    assert part.text == '{"file_path":"/etc/passwd","path":"file:///etc/passwd","image":null}'


@pytest.mark.parametrize(
    "text",
    [
        f'{{"a": "{base64(PNG)}", "a": 1}}',  # one of them would be lost
        f'{{"a": "{base64(PNG)}", "b": NaN}}',
        f'{{"a": "{base64(PNG)}", "b": 1e999}}',
        f'{{"a": "{base64(PNG)}", }}',
        f'["{base64(PNG)}", {"[" * 200}{"]" * 200}]',
        f'["{base64(PNG)}", {"[" * 100_000}{"]" * 100_000}]',
        f'["{base64(PNG)}", {"0," * 1_000_001}0]',
        json.dumps({"type": "image", "data": "not base64!", "mimeType": "image/png"}),
        json.dumps({"content": [{"type": "text", "text": "hi"}], "isError": False}),
    ],
)
def test_text_that_is_no_json_of_bounded_size_stays_the_text_it_was(text):
    assert collect(text) == (Text(text),)


WORDS = st.text(max_size=20) | st.sampled_from(
    ["data:", "base64,", "iVBORw0KGgo" + "A" * 58, "/9j/" + "!" * 70, "ff" * 70]
)
KEYS = st.text(max_size=8) | st.sampled_from(["type", "data", "content", "text", "source", "mimeType", "url"])
TYPES = st.sampled_from(["image", "text", "file", "resource", "resource_link"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS | TYPES
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=15
)


@examples(300)
@given(VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_json_without_files_stays_the_same_text(value, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    kept = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # the text itself but for lone surrogates
    assert collect(text) == (Text(kept),)
    assert json.loads(collect({"output": text})[0].text) == {"output": kept}


FORMS = [base64, bytes.hex, lambda data: f"data:application/octet-stream;base64,{base64(data)}"]
FILES = st.builds(lambda data, write: (data, write(data)), st.sampled_from(MEDIA), st.sampled_from(FORMS))
PLAIN = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)


@examples(200)
@given(FILES, st.lists(st.tuples(PLAIN, PLAIN) | st.tuples(st.text(max_size=5), PLAIN), max_size=6), st.booleans())
def test_a_file_at_any_place_of_json_text_is_found_with_its_bytes(file, around, twice):
    data, value = file
    for before, after in around:
        value = {before: value, "after": after} if isinstance(before, str) else [before, value, after]
    text = json.dumps({"value": value})
    parts = collect(json.dumps(text) if twice else text)
    assert bytes_of(text) == [data]
    assert parts == collect({"value": value})
