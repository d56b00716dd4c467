"""Any Python value becomes ordered parts: nothing is lost or duplicated, and errors name the place."""

import asyncio
import io
import json
import textwrap
from collections import OrderedDict, UserDict, deque
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote
from uuid import UUID

import attrs
import msgspec
import numpy as np
import pybase64
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.collect.entry import collect
from showandtell.core.collect.tool_result import ToolResult
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Json, Shown, Text
from showandtell.errors import BadValue
from support.fixtures import mp3, pdf, png, wav

IMAGE = File.from_bytes(png(), "image/png", "chart.png")
PAPER = File.from_bytes(pdf("hello"), "application/pdf", "paper.pdf")


def data_uri(data: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{pybase64.b64encode(data).decode()}"


def fill(value, pointer, file):
    """Put a file at its JSON pointer."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    for step in steps[:-1]:
        value = value[int(step) if isinstance(value, list) else step]
    last = int(steps[-1]) if isinstance(value, list) else steps[-1]
    assert value[last] is None
    value[last] = file


def read_back(part):
    """The value of a Json part with its files."""
    value = json.loads(part.text)
    for pointer, file in part.files:
        fill(value, pointer, file)
    return value


def list_leaves(value):
    """All files of a structure, in order."""
    match value:
        case File() | Shown():
            return [value]
        case dict():
            return [file for item in value.values() for file in list_leaves(item)]
        case list():
            return [file for item in value for file in list_leaves(item)]
        case _:
            return []


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (None, ()),
        ("", ()),
        ("hi", (Text("hi"),)),
        ("/tmp/chart.png", (Text("/tmp/chart.png"),)),
        ("https://example.org/a.png", (Text("https://example.org/a.png"),)),
        (7, (Json("7"),)),
        (True, (Json("true"),)),
        (1.5, (Json("1.5"),)),
        ({}, (Json("{}"),)),
        ([], (Json("[]"),)),
        ([1, "a", None], (Json('[1,"a",null]'),)),
        ((1, 2), (Json("[1,2]"),)),
        ({"é": [1]}, (Json('{"é":[1]}'),)),
        (10**30, (Json("1" + "0" * 30),)),
        (IMAGE, (IMAGE,)),
        (Shown(3, "a3"), (Shown(3, "a3"),)),
        (Text("x", "user"), (Text("x", "user"),)),
        (Json("[]"), (Json("[]"),)),
    ],
)
def test_ordinary_values_become_one_part(value, parts):
    assert collect(value) == parts


def test_a_list_with_files_keeps_its_order():
    assert collect(["one", IMAGE, {"a": 1}, None, 2, [PAPER, "end"]]) == (
        Text("one"),
        IMAGE,
        Json('{"a":1}'),
        Json("2"),
        PAPER,
        Text("end"),
    )


def test_a_returned_tuple_of_text_and_values_is_several_values():
    assert collect(("two rows", {"rows": 2})) == (Text("two rows"), Json('{"rows":2}'))
    assert collect([("two rows", {"rows": 2})]) == (Json('[["two rows",{"rows":2}]]'),)


def test_a_named_tuple_is_a_list():
    assert collect(Place("a", 1)) == (Json('["a",1]'),)


def test_files_inside_json_leave_null_and_a_pointer():
    (part,) = collect({"items": [{"image": IMAGE}, {"a/b~c": PAPER}], "n": 2})
    assert part.text == '{"items":[{"image":null},{"a/b~c":null}],"n":2}'
    assert part.files == (("/items/0/image", IMAGE), ("/items/1/a~1b~0c", PAPER))


def test_each_dict_of_a_list_with_files_is_its_own_json():
    assert collect([{"image": IMAGE}, {"image": PAPER}]) == (
        Json('{"image":null}', (("/image", IMAGE),)),
        Json('{"image":null}', (("/image", PAPER),)),
    )


def test_parts_inside_a_dict_become_its_values():
    inner = Json('{"x":null}', (("/x", IMAGE),))
    (part,) = collect({"words": Text("hi"), "rows": inner, "result": ToolResult("a", PAPER)})
    assert part.text == '{"words":"hi","rows":{"x":null},"result":["a",null]}'
    assert part.files == (("/rows/x", IMAGE), ("/result/1", PAPER))


@pytest.mark.parametrize("audience", ["user", "assistant"])
def test_a_text_for_one_audience_is_null_in_json_and_comes_after_it(audience):
    first, second = Text("psst", audience), Text("hush", audience)
    assert collect({"a": first, "rows": [1, {"b": second, "c": Text("all")}], "photo": IMAGE}) == (
        Json('{"a":null,"rows":[1,{"b":null,"c":"all"}],"photo":null}', (("/photo", IMAGE),)),
        first,
        second,
    )
    assert collect(["see", first]) == (Text("see"), first)


def test_a_part_that_is_not_json_is_refused():
    with pytest.raises(BadValue, match="isn't JSON"):
        collect({"a": Json("{not json")})


def test_a_data_uri_is_a_file_at_any_place():
    (part,) = collect({"chart": data_uri(png())})
    assert part == Json('{"chart":null}', (("/chart", File(png(), "image/png")),))
    assert collect(data_uri(png())) == (File(png(), "image/png"),)


@pytest.mark.parametrize("text", ["data:", "data:,hi", "data:image/png;base64,???", "data: 1, 2", "data:image/png,x"])
def test_text_that_only_starts_like_a_data_uri_stays_text(text):
    assert collect(text) == (Text(text),)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [(png(), "image/png"), (pdf("x"), "application/pdf"), (wav(), "audio/wav"), (mp3(), "audio/mpeg")],
)
def test_bytes_with_a_signature_are_a_file_of_that_type(data, media_type):
    assert collect(bytearray(data)) == collect(memoryview(data)) == collect(io.BytesIO(data))
    assert collect(data) == (File(data, media_type),)


def test_bytes_of_utf_8_text_are_text():
    assert collect("grün".encode()) == (Text("grün"),)
    assert collect({"log": b"ok"}) == (Json('{"log":"ok"}'),)


def test_bytes_of_unknown_type_are_refused_with_their_place():
    with pytest.raises(BadValue, match=r"^/rows/3: 120 bytes of no known type; return File\.from_bytes"):
        collect({"rows": [1, 2, 3, b"\xfe" * 120]})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf"), np.float64("nan")])
def test_nan_and_infinity_are_refused_with_their_place(number):
    with pytest.raises(BadValue, match=r"^/a~1b/0: .* has no JSON"):
        collect({"a/b": [number]})


def test_an_integer_with_too_many_digits_is_refused_with_its_place():
    (part,) = collect([1 - 10**4299])
    assert msgspec.json.decode(part.text) == [1 - 10**4299]
    for value in ({"a": 10**4299}, {"a": {-(10**5000): 1}}):
        with pytest.raises(BadValue, match=r"^/a.*: a whole number of more than 4,299 digits"):
            collect(value)


@pytest.mark.parametrize("text", ["", "words", '{"a":', "1e999", '"\\ud800"', "[" * 100_000])
def test_a_json_part_whose_text_is_not_json_is_refused(text):
    with pytest.raises(BadValue, match="isn't JSON"):
        collect(Json(text))


def test_errors_and_text_have_a_utf_8_form_whatever_the_names_of_keys_and_files():
    with pytest.raises(BadValue, match=r"^/a\?/0: nan has no JSON"):
        collect({"a\ud800": [float("nan")]})
    assert ToolResult(File(b"x", None, "a\udce8.txt")).text == "[file 1: a\ufffd.txt]"


def test_a_value_that_contains_itself_is_refused():
    loop: list = []
    loop += [loop, loop]
    with pytest.raises(BadValue, match=r"^/0/0/0.*…: nested deeper than 100, or holding itself"):
        collect(loop)


@dataclass
class Linked:
    next: object = None


def test_an_object_that_contains_itself_is_refused():
    loop = Linked()
    loop.next = loop
    with pytest.raises(BadValue, match="nested deeper than 100, or holding itself"):
        collect(loop)


def test_a_depth_of_100_is_accepted():
    value: object = IMAGE
    for _ in range(100):
        value = {"a": value}
    assert collect(value)[0].files == (("/a" * 100, IMAGE),)


async def count_slowly():
    yield 1


@pytest.mark.parametrize("make", [lambda: (n for n in [1]), lambda: iter([1]), lambda: map(str, [1]), count_slowly])
def test_iterators_are_refused_with_advice(make):
    with pytest.raises(BadValue, match="return a list"):
        collect({"rows": make()})


def test_a_future_is_refused_with_advice():
    loop = asyncio.new_event_loop()
    with pytest.raises(BadValue, match="return a list"):
        collect(loop.create_future())
    loop.close()


@pytest.mark.parametrize("value", [object(), lambda: 1, int, ValueError("x"), File])
def test_an_unknown_object_is_refused_with_its_type(value):
    with pytest.raises(BadValue, match=r"^/a: .*return text, JSON values, or a File"):
        collect({"a": value})


class Colour(Enum):
    RED = "red"


class Mood(StrEnum):
    GOOD = "good"


@dataclass
class Chart:
    title: str
    image: File


@attrs.define
class Row:
    place: int
    image: File


class Report(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    image: Any
    key: pydantic.SecretStr = pydantic.SecretStr("hidden")
    inner: str = pydantic.Field("x", exclude=True)
    price: Annotated[float, pydantic.PlainSerializer(lambda price: f"{price} EUR")] = 2.5

    @pydantic.computed_field
    @property
    def double(self) -> float:
        return self.price * 2


class Place(NamedTuple):
    name: str
    at: int


class Point(msgspec.Struct, tag="point", rename="camel"):
    at_x: int
    gone: int | msgspec.UnsetType = msgspec.UNSET


class Numbers(pydantic.RootModel[list[int]]):
    pass


def test_objects_are_read_by_field_and_keep_their_files():
    assert collect(Chart("a", IMAGE)) == (Json('{"title":"a","image":null}', (("/image", IMAGE),)),)
    assert collect(Row(1, IMAGE)) == (Json('{"place":1,"image":null}', (("/image", IMAGE),)),)


def test_a_pydantic_model_keeps_its_files_secrets_and_serializers():
    (part,) = collect(Report(image=IMAGE, more=[1]))  # pyright: ignore[reportCallIssue] - it allows extra fields
    assert json.loads(part.text) == {
        "image": None,
        "key": "**********",
        "price": "2.5 EUR",
        "more": [1],
        "double": 5.0,
    }
    assert part.files == (("/image", IMAGE),)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Colour.RED, '"red"'),
        (Mood.GOOD, '"good"'),
        (date(2026, 1, 2), '"2026-01-02"'),
        (datetime(2026, 1, 2, 3, tzinfo=UTC), '"2026-01-02T03:00:00Z"'),
        (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (Decimal("1.10"), '"1.10"'),
        (Path("/a/b"), '"/a/b"'),
        ({"b", "a"}, '["a","b"]'),
        (deque([1]), "[1]"),
        (range(2), "[0,1]"),
        ({"k": 1}.values(), "[1]"),
        (OrderedDict(a=1), '{"a":1}'),
        (UserDict(a=1), '{"a":1}'),
        (Point(1), '{"type":"point","atX":1}'),
        (Numbers([1]), "[1]"),
        (np.int64(3), "3"),
        (np.ones((1, 2)), "[[1.0,1.0]]"),
        ({1: 2, None: 3, False: 4, 1.5: 5, Mood.GOOD: 6}, '{"1":2,"null":3,"false":4,"1.5":5,"good":6}'),
    ],
)
def test_plain_classes_become_json(value, text):
    assert collect({"v": value}) == (Json('{"v":' + text + "}"),)


@pytest.mark.parametrize("key", [(1, 2), float("nan"), b"\xfe", IMAGE])
def test_a_key_that_is_not_a_scalar_is_refused(key):
    with pytest.raises(BadValue, match=r"^/a/"):
        collect({"a": {key: 1}})


def test_keys_that_are_equal_as_strings_are_refused():
    with pytest.raises(BadValue, match=r"^/a: two keys are the same"):
        collect({"a": {1: "x", "1": "y"}})


def test_surrogate_pairs_are_joined_and_lone_ones_replaced():
    assert collect("\ud83d\ude00 \ud800!") == (Text("😀 \ufffd!"),)
    assert collect({"\udfff": Text("\ud800")}) == (Json('{"\ufffd":"\ufffd"}'),)


def test_a_tool_result_lists_its_files_in_order():
    result = ToolResult("two", IMAGE, {"more": [PAPER, Shown(9, "a9")]}, File(b"%PDF-1.4"))
    assert result.files == (IMAGE, PAPER, Shown(9, "a9"), File(b"%PDF-1.4"))
    assert result.text == ('two\n[file 1: chart.png]\n{"more":[null,null]}\n[file 2: paper.pdf]\n[file 9]\n[file 4]')


def test_a_tool_result_without_files_keeps_text_and_flags():
    result = ToolResult("a", IMAGE, {"x": PAPER}, "b", is_error=True, metadata={"run": 1})
    bare = result.without_files
    assert bare.parts == (Text("a"), Json('{"x":null}'), Text("b"))
    assert (bare.files, bare.is_error, bare.metadata) == ((), True, {"run": 1})


def test_a_tool_result_inside_another_is_flattened_with_its_error_and_metadata():
    inner = ToolResult("boom", IMAGE, is_error=True, metadata="m")
    outer = ToolResult(inner)
    assert outer == inner
    assert outer.metadata == "m"
    assert collect(["see", inner]) == (Text("see"), Text("boom"), IMAGE)


def test_metadata_that_is_given_precedes_that_of_a_value():
    assert ToolResult(ToolResult("a", metadata="inner"), metadata="outer").metadata == "outer"


def test_a_tool_result_is_a_value():
    assert ToolResult("a", IMAGE, metadata=[1]) == ToolResult("a", IMAGE)
    assert len({ToolResult("a", metadata={}), ToolResult("a")}) == 1
    with pytest.raises(AttributeError):
        ToolResult("a").is_error = True


FILES = st.builds(File.from_bytes, st.binary(min_size=1), st.just("image/png"), st.none() | st.just("a.png"))
SHOWN = st.builds(Shown, st.integers(1, 99), st.just("id"))
WORDS = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: not text.startswith("data:"))
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS
VALUES = st.recursive(
    LEAVES | FILES | SHOWN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_every_file_comes_out_once_and_in_document_order(value):
    assert list(ToolResult(value).files) == list_leaves(value)
    assert list(ToolResult({"v": value}, value).files) == list_leaves(value) * 2


@given(st.dictionaries(WORDS, VALUES, max_size=4))
def test_json_with_its_files_put_back_is_the_original_value(value):
    (part,) = collect(value)
    assert read_back(part) == value


@given(st.text(st.characters()) | st.text(st.sampled_from("\ud83d\ude00\ud800a\ufeff\0")))
def test_any_text_has_a_utf_8_form_afterwards(text):
    parts = collect([text, {text: text}, IMAGE]) + collect(text) + collect({"text": text, "type": "text"})
    for part in parts:
        if not isinstance(part, File):
            part.text.encode()


@given(WORDS)
def test_text_without_surrogates_is_never_changed(text):
    assert "".join(part.text for part in collect(text)) == text


PNG = png(64, 64)


URL_HEAD = "data:image/png;base64,"


def base64(data):
    return pybase64.b64encode(data).decode()


def test_text_that_is_the_base64_of_an_image_is_that_image():
    assert [part.read() for part in collect(base64(PNG))] == [PNG]
    assert [part.read() for part in collect(pybase64.urlsafe_b64encode(PNG).decode())] == [PNG]


def test_base64_in_json_of_unknown_shape_becomes_a_file_at_its_place():
    (part,) = collect({"inlineData": {"mimeType": "image/png", "data": base64(PNG)}})
    assert part.text == '{"inlineData":{"mimeType":"image/png","data":null}}'
    assert [(pointer, file.read()) for pointer, file in part.files] == [("/inlineData/data", PNG)]


def test_data_uris_in_text_keep_their_place():
    first, file, last = collect(f"before ![x](data:image/png;base64,{base64(PNG)}) after")
    assert (first.text, file.read(), last.text) == ("before ![x](", PNG, ") after")


def test_a_text_part_keeps_its_audience_around_a_file():
    first, file = collect(Text(f"look: data:image/png;base64,{base64(PNG)}", "assistant"))
    assert (first.audience, file.audience, file.read()) == ("assistant", "assistant", PNG)


URI = f"data:image/png;base64,{base64(PNG)}"
LINES = "\n".join(textwrap.wrap(base64(PNG), 76))
DATA_URIS = {
    "upper case": URL_HEAD.upper() + base64(PNG),
    "spaces": f"data:image/png ; base64, {base64(PNG)}",
    "no padding": URI.rstrip("="),
    "percent signs": URL_HEAD + quote(base64(PNG), safe=""),
    "url-safe": URL_HEAD + pybase64.urlsafe_b64encode(PNG).decode(),
    "JSON": URI.replace("/", "\\/"),
    "MIME lines": URL_HEAD + LINES,
    "MIME lines in JSON": URL_HEAD + LINES.replace("\n", "\\r\\n"),
    "a wrapped message": "\n".join(textwrap.wrap(URI, 76)),
}


@pytest.mark.parametrize("uri", DATA_URIS.values(), ids=DATA_URIS)
def test_a_data_uri_is_a_file_in_every_form(uri):
    first, file, last = collect(f"before (\n{uri}\n) after")
    assert (first.text, file.read(), file.media_type, last.text) == ("before (\n", PNG, "image/png", "\n) after")


@given(st.integers(1, 300), st.sampled_from([64, 76]), st.text("abc dXYZ\n", max_size=20))
def test_base64_in_full_lines_ends_after_its_padding(size, width, words):
    data = (PNG * 2)[:size]
    lines = "\n".join(textwrap.wrap(base64(data), width))
    file, *rest = collect(f"{URL_HEAD}{lines}=\n({words})")
    assert (file.read(), "".join(part.text for part in rest)) == (data, f"\n({words})")


@pytest.mark.parametrize("words", ["\nThis is a boat", " and more", ")", "\n\nnext"])
def test_text_after_a_data_uri_stays_text(words):
    assert [getattr(part, "text", "") for part in collect(f"{URI}{words}")] == ["", words]


def test_only_a_full_line_of_a_data_uri_continues_in_the_next_one():
    file, rest = collect("data:text/plain;base64,aGVs\nbG8h")
    assert file.read() == b"hel"
    assert rest.text == "\nbG8h"


def test_a_data_uri_may_name_its_file():
    (file,) = collect(f'data:image/png; charset=x; Name="a%20b.png";base64,{base64(PNG)}')
    assert file.name == "a b.png"


def test_words_around_a_data_uri_have_a_utf_8_form():
    first, _, last = collect(f"\ud83d\ude00 {URI} \ud800")
    assert first.text == "\U0001f600 "
    assert last.text == " \ufffd"


def test_a_truncated_data_uri_is_a_truncated_file_and_not_text():
    (cut,) = collect(URI[: len(URL_HEAD) + 41])
    assert cut.read() == PNG[:30]


def test_base64_between_whitespace_is_a_file():
    assert [part.read() for part in collect(f" \n{LINES}\n ")] == [PNG]


def test_a_data_uri_as_key_is_refused_with_its_place():
    with pytest.raises(BadValue, match=r"^/rows/0/data:image~1png[^ ]{0,30}…: a key that is a file"):
        collect({"rows": [{URI: 1}]})


def test_a_value_with_too_many_nodes_is_refused():
    value = ["x"] * 10
    for _ in range(20):
        value = [value] * 10
    with pytest.raises(BadValue, match="more than 1,000,000 values"):
        collect(value)


@pytest.mark.parametrize(
    "text", ["a" * 64, "0123456789abcdef" * 8, "A" * 4096, "iVBORw0KGgo" + "A" * 58, "x" * 100_000]
)
def test_long_base64_without_a_signature_stays_text(text):
    assert collect(text) == (Text(text),)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "input_image", "image_url": "https://example.com/a"},
        {"type": "input_file", "file_url": "https://example.com/a"},
        {"type": "audio", "url": "https://example.com/a", "mime_type": "audio/wav"},
        {"type": "document", "source": {"type": "url", "url": "https://example.com/a"}},
    ],
)
def test_the_address_of_a_foreign_block_is_words_and_not_fetched(block):
    (part,) = collect(block)
    assert part.text == f"{block['type']} (not fetched): https://example.com/a"
    assert [link.media_type for link in ToolResult(block).links.values()] == [block.get("mime_type")]


def test_a_foreign_document_of_text_keeps_its_title():
    source = {"type": "text", "media_type": "text/plain", "data": "words"}
    assert collect({"type": "document", "source": source, "title": "a.txt"}) == (File(b"words", "text/plain", "a.txt"),)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "input_file", "file_id": "file-1"},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "document", "source": {"type": "file", "file_id": "file-1"}},
    ],
)
def test_the_id_of_a_file_that_a_provider_has_is_words(block):
    assert collect(block) == (Text(f"{block['type']}: file-1"),)
