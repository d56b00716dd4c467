"""A long result becomes its start, its end and a file with all of it: nothing is lost, and nothing is torn."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell import Draft, File, Json, Text, ToolResult
from showandtell.core.collect.bounds import bound_text, count_characters, find_cuts
from showandtell.core.collect.tool_result import list_files, result_draft
from showandtell.core.messages.parts import ToolCall
from support.fixtures import png

LINE = re.compile(r"\[([\d,]+) of ([\d,]+) characters are left out here; (.+) has all of them\]")
CALL = ToolCall("c1", "find", "{}")
PICTURE = File.from_bytes(png(), "image/png", "red.png")
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
pieces = st.sampled_from(["a", "b", " ", "\n", "é", "e\u0301", "\U0001f600", FAMILY, "\r\n"])
texts = st.lists(pieces, min_size=1).map("".join)
values = st.recursive(st.integers() | texts | st.none(), lambda inner: st.lists(inner) | st.dictionaries(texts, inner))


def bounded(*parts, limit):
    return bound_text(result_draft(CALL, ToolResult(*parts)), limit)


def split(draft):
    """The text before the line, the number left out, the text after it, and all text as the file has it."""
    at = next(at for at, part in enumerate(draft.parts) if isinstance(part, Text) and LINE.fullmatch(part.text))
    before, after = (
        "\n".join(part.text for part in parts if isinstance(part, Text | Json))
        for parts in (draft.parts[:at], draft.parts[at + 1 :])
    )
    omitted, total, _ = LINE.fullmatch(draft.parts[at].text).groups()
    whole = draft.parts[at + 1].read().decode()
    assert len(whole) == int(total.replace(",", ""))
    return before, int(omitted.replace(",", "")), after, whole


def files_of(draft):
    return [file for part in draft.parts for file in list_files(part)]


@given(texts, st.integers(2, 100))
def test_start_line_end_and_file_add_up(text, limit):
    draft = bounded(Text(text), limit=limit)
    if len(text) <= limit:
        assert draft.parts == (Text(text),)
        return
    before, omitted, after, whole = split(draft)
    assert whole == text
    assert text.startswith(before)
    assert text.endswith(after)
    assert len(before) + omitted + len(after) == len(text)
    assert len(before) + len(after) <= limit


@given(st.lists(texts | st.just(PICTURE), min_size=1), st.integers(2, 200))
def test_several_texts_are_bounded_together_and_files_stay_in_order(items, limit):
    parts = [Text(item) if isinstance(item, str) else item for item in items]
    draft = bounded(*parts, limit=limit)
    words = [part.text for part in parts if isinstance(part, Text)]
    if sum(map(len, words)) <= limit:
        assert draft.parts == tuple(parts)
        return
    before, omitted, after, whole = split(draft)
    assert whole == "\n".join(words)
    assert omitted >= len(whole) - limit - len(words)
    kept = [part.text for part in draft.parts if isinstance(part, Text) and not LINE.fullmatch(part.text)]
    assert sum(map(len, kept)) <= limit
    assert whole.startswith(before)
    assert whole.endswith(after)
    assert [file for file in files_of(draft) if file.in_context] == [PICTURE] * parts.count(PICTURE)


@pytest.mark.parametrize("joined", ["e\u0301", "\r\n", FAMILY, "\u2764\ufe0f", "\U0001f44b\U0001f3fd"])
@given(st.integers(200, 220))
def test_no_cut_is_within_a_character(joined, limit):
    text = f"x{joined}" * 400
    head, tail = find_cuts(text, limit)
    assert (head % (len(joined) + 1), tail % (len(joined) + 1)) in {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_a_cut_is_at_the_end_of_a_line_if_one_is_near():
    text = "".join(f"line {at} of the log\n" for at in range(1000))
    before, _, after, _ = split(bounded(Text(text), limit=1000))
    assert before.endswith(" of the log\n")
    assert after.startswith("line ")


@given(values, st.integers(20, 100))
def test_json_is_cut_in_lines_and_its_file_is_json(value, limit):
    draft = bounded({"value": value}, limit=limit)
    if count_characters(result_draft(CALL, ToolResult({"value": value}))) <= limit:
        assert [type(part) for part in draft.parts] == [Json]
        return
    before, omitted, after, whole = split(draft)
    assert json.loads(whole) == json.loads(json.dumps({"value": value}))
    assert len(before) + omitted + len(after) == len(whole)
    assert files_of(draft)[-1].media_type == "application/json"
    assert files_of(draft)[-1].name == "find.json"
    assert {part.audience for part in (*files_of(draft), *draft.parts) if isinstance(part, Text | File)} == {"both"}


def test_json_with_a_file_that_is_cut_names_the_place_of_the_file():
    draft = bounded({"rows": ["x" * 500] * 20, "picture": PICTURE, "more": list(range(1000))}, limit=1000)
    at = draft.parts.index(PICTURE)
    assert draft.parts[at - 1] == Text("/picture:")
    assert not any(isinstance(part, Json) for part in draft.parts)


def test_json_with_a_file_stays_as_it_is_beside_a_long_text():
    value = {"picture": PICTURE}
    draft = bounded(value, "x" * 5000, limit=1000)
    assert draft.parts[0] == Json('{"picture":null}', (("/picture", PICTURE),))


@pytest.mark.parametrize("audience", ["both", "assistant", "user"])
def test_the_file_is_for_those_who_may_read_the_text(audience):
    draft = bounded(Text("word " * 1000, audience), limit=1000)
    assert len(files_of(draft)) == 1
    assert {part.audience for part in draft.parts if isinstance(part, Text | File)} == {audience}


def test_the_file_of_a_result_without_a_tool_is_called_result():
    draft = bound_text(Draft("tool", (Text("word " * 1000),), "c1"), 1000)
    assert [file.name for file in files_of(draft)] == ["result.txt"]


def test_text_for_the_user_takes_nothing_of_the_models_bound():
    own = Text("for you " * 100, "user")
    draft = bounded(own, "x" * 900, limit=1000)
    assert draft == Draft("tool", (own, Text("x" * 900)), "c1", "find")


def test_metadata_is_kept_if_it_is_json():
    assert result_draft(CALL, ToolResult("a", metadata={"rows": 3})).metadata == {"rows": 3}
    assert result_draft(CALL, ToolResult("a", metadata=object())).metadata is None


def test_errors_stay_errors():
    failed = result_draft(CALL, ToolResult("no " * 10_000, is_error=True))
    assert bound_text(failed, 1000).is_error
