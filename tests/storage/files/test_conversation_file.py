"""The portable conversation file: every field, its numbers, and the errors for invalid ones."""

import base64
import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell import BadConversation, explain, load, render
from showandtell.core.messages import conversation_file
from showandtell.core.messages.conversation_file import parse
from showandtell.core.messages.message import Draft, History
from showandtell.core.messages.parts import Text, ToolCall
from showandtell.core.messages.tool_pairs import check_tool_pairs
from showandtell.storage.files import numbering
from support.conversation_files import example
from support.fixtures import jpeg, png

CLAUDE = "anthropic:claude-sonnet-4-5"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.png").write_bytes(png())
    (tmp_path / "kiwi.jpg").write_bytes(jpeg())
    return tmp_path


def written(folder, value):
    path = folder / "talk.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def with_file(folder, **file):
    return written(folder, {"version": 1, "messages": [{"role": "user", "parts": [{"type": "file", **file}]}]})


def test_the_documented_file_is_read_whole(folder):
    body = render(load(written(folder, example())), model=CLAUDE).json()
    assert body["system"] == "Be brief."
    assert [block["type"] for block in body["messages"][2]["content"][0]["content"]] == [
        "text",
        "text",
        "image",
        "text",
    ]
    assert body["messages"][2]["content"][0]["content"][3]["text"] == '{"rows":3}'


def test_files_come_by_path_data_or_uri_with_what_is_known_of_them(folder):
    data = base64.b64encode(png()).decode()
    assert explain(load(with_file(folder, path="plan.png")), model=CLAUDE)[0].name == "plan.png"
    assert explain(load(with_file(folder, data=data, name="x.png")), model=CLAUDE)[0].name == "x.png"
    assert explain(load(with_file(folder, uri="https://e.com/a.png")), model=CLAUDE)[0].cell.form == "url"
    label = render(load(with_file(folder, path="plan.png", description="the plan")), model=CLAUDE).json()
    assert "described as: the plan" in label["messages"][0]["content"][0]["text"]


def test_numbers_follow_position_unless_given(folder):
    talk = example()
    talk["messages"][0]["parts"][1]["number"] = 7
    assert [receipt.number for receipt in explain(load(written(folder, talk)), model=CLAUDE)] == [7, 8]


def test_a_number_that_two_files_want_is_an_error(folder):
    talk = example()
    talk["messages"][2]["parts"][1]["number"] = 1
    with pytest.raises(BadConversation, match=r"number 1 of kiwi\.jpg is taken by plan\.png"):
        explain(load(written(folder, talk)), model=CLAUDE)


def test_a_number_alone_shows_a_file_again(folder):
    talk = example()
    talk["messages"][2]["parts"].append({"type": "file", "number": 1})
    request = render(load(written(folder, talk)), model=CLAUDE)
    assert [receipt.number for receipt in request.receipts] == [1, 2]
    assert json.dumps(request.json()).count(base64.b64encode(png()).decode()) == 2


def test_files_inside_json_are_named_by_pointer(folder):
    talk = example()
    talk["messages"][2]["parts"] = [
        {"type": "json", "value": {"chart": None}, "files": {"/chart": {"type": "file", "path": "kiwi.jpg"}}}
    ]
    body = render(load(written(folder, talk)), model=CLAUDE).json()
    assert body["messages"][2]["content"][0]["content"][0]["text"] == '{"chart":"image 2: kiwi.jpg"}'


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ({"path": "../outside.png"}, "outside the folder"),
        ({"path": "a.png", "uri": "https://e.com/a.png"}, "one of path, data, uri and problem, not path and uri"),
        ({}, "not none"),
        ({"data": "no base64!"}, "is not base64"),
        ({"uri": "file:///etc/passwd"}, "scheme"),
        ({"number": 3}, r"messages\[0\]: file 3 is shown, but no file has that number"),
        ({"path": "plan.png", "number": 0}, ">= 1"),
        ({"path": "plan.png", "colour": "red"}, "colour"),
        ({"path": 5}, "Expected"),
        ({"path": "plan.png", "number": 1_000_000_001}, "<= 1000000000"),
        ({"path": "a\0b"}, r"messages\[0\].*null"),
        ({"path": "circle"}, r"messages\[0\].*leads in a circle"),
        ({"uri": "https://["}, r"messages\[0\].*is not a valid URI"),
        ({"path": "plan.png", "date": "yesterday"}, "date"),
        ({"path": "plan.png", "date": "2026-02-30"}, "date"),
        ({"path": "plan.png", "date": 5}, "Expected `date | null`|Expected `str"),
        ({"problem": ""}, "length >= 1"),
        ({"problem": "x" * 2001}, "length <= 2000"),
        ({"path": "plan.png", "problem": "gone"}, "not path and problem"),
        ({"path": "plan.png", "view": {"pages": [1]}}, "is new and has a view"),
        ({"number": 1, "view": {"pages": []}}, "pages count from 1"),
        ({"number": 1, "view": {"pages": [0, 2]}}, "pages count from 1"),
        ({"number": 1, "view": {"crop": [5, 5, 5, 9]}}, "left, top, right, bottom"),
        ({"number": 1, "view": {"crop": [-1, 0, 5, 9]}}, "left, top, right, bottom"),
        ({"number": 1, "view": {"crop": [0, 1, 5]}}, "crop"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(folder, file, problem):
    (folder / "circle").symlink_to(folder / "circle")
    with pytest.raises(BadConversation, match=problem):
        explain(load(with_file(folder, **file)), model=CLAUDE)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("{", "not a conversation file"),
        ("\xff", "not a conversation file"),
        ({"version": 2, "messages": []}, "version 2"),
        ({"version": 1}, "messages"),
        ({"version": 1, "messages": [{"role": "system", "parts": []}]}, "system"),
        ({"version": 1, "messages": [{"role": "user", "parts": [{"type": "video"}]}]}, "video"),
        ({"version": 1, "messages": [{"role": "user", "parts": [], "parent": 0}]}, "parent 0 isn't an earlier message"),
        ({"version": 1, "messages": [{"role": "user", "parts": [], "parent": -2}]}, ">= -1"),
        ({"version": 1, "messages": [{"role": "user", "parts": [], "parent": "0"}]}, "parent"),
        ({"version": 1, "messages": [], "head": 0}, "head is 0, and there are 0 messages"),
        ({"version": 1, "messages": [], "head": -2}, ">= -1"),
        ({"version": 1, "messages": [{"role": "user", "parts": []}] * 100_001}, "length <= 100000"),
    ],
)
def test_a_file_that_is_no_conversation_says_so(folder, value, problem):
    with pytest.raises(BadConversation, match=problem):
        load(written(folder, value))


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ({"type": "text", "text": "x", "audience": "nobody"}, "nobody"),
        ({"type": "json", "value": {"a": 1}, "files": {"/a": {"path": "plan.png"}}}, "must lead to null"),
        ({"type": "json", "value": {}, "files": {"/b": {"path": "plan.png"}}}, "must lead to null"),
        ({"type": "opaque", "provider": "x", "text": "y", "more": 1}, "more"),
        ({"type": "tool_call", "call_id": "c", "tool": "t", "arguments": {}}, "role user, not assistant"),
    ],
)
def test_a_wrong_part_says_what_is_wrong(folder, part, problem):
    with pytest.raises(BadConversation, match=problem):
        explain(load(written(folder, {"version": 1, "messages": [{"role": "user", "parts": [part]}]})), model=CLAUDE)


DEEP = b"[" * 6000 + b"]" * 6000
CALL = b'{"type":"tool_call","call_id":"c","tool":"t","arguments":%s}'


@pytest.mark.parametrize("value", [DEEP, b"[" * 101 + b"1" + b"]" * 101, b"1e999", b'"\xff"'])
@pytest.mark.parametrize("part", [b'{"type":"json","value":%s}', CALL], ids=["value", "arguments"])
def test_a_value_that_nobody_can_read_is_reported(tmp_path, part, value):
    data = b'{"version":1,"messages":[{"role":"assistant","parts":[%s]}]}' % (part % value)
    with pytest.raises(BadConversation, match=r"messages\[0\]|the conversation is not a conversation file"):
        parse(data, tmp_path)


@given(st.binary(max_size=40))
def test_whatever_stands_for_a_value_is_read_or_reported(value):
    data = b'{"version":1,"messages":[{"role":"assistant","parts":[%s]}]}' % (CALL % value)
    with suppress(BadConversation):
        assert isinstance(parse(data, Path("/nowhere")), History)


def test_a_path_stays_bound_to_the_folder_of_its_conversation(folder):
    (draft,) = load(with_file(folder, path="plan.png", name="x.png"))
    assert draft.parts[0].within == folder.resolve()


def test_an_approval_may_stand_between_a_call_and_its_result(folder):
    talk = example()
    talk["messages"].insert(2, {"role": "user", "parts": [{"type": "approval", "call_id": "call_1", "approved": True}]})
    assert [message["role"] for message in render(load(written(folder, talk)), model=CLAUDE).json()["messages"]] == [
        "user",
        "assistant",
        "user",
    ]


def test_base64_in_a_text_becomes_a_file(folder):
    text = f"see data:image/png;base64,{base64.b64encode(png()).decode()}"
    talk = written(folder, {"version": 1, "messages": [{"role": "user", "parts": [{"type": "text", "text": text}]}]})
    assert [receipt.kind for receipt in explain(load(talk), model=CLAUDE)] == ["image"]


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(BadConversation, match=r"nix\.json can't be read"):
        load(tmp_path / "nix.json")


class Counted(History):
    """A history that counts how often a message of it is looked at."""

    looked = 0

    def __getitem__(self, index):
        self.looked += 1
        return super().__getitem__(index)


def test_each_message_is_checked_once_however_many_branches_lead_through_it():
    trunk, leaves = 300, 300
    parents = [None, *range(trunk - 1), *[trunk - 1] * leaves]
    history = Counted([Draft("user", (Text("x"),))] * (trunk + leaves), parents=parents)
    check_tool_pairs(history)
    assert history.looked == trunk + leaves


CALLS = Draft("assistant", (ToolCall("c", "t", "{}"),))
RESULT = Draft("tool", (Text("x"),), "c", "t")


def test_each_branch_answers_its_calls_alone():
    ask = Draft("user", (Text("x"),))
    check_tool_pairs(History([ask, CALLS, RESULT, RESULT, ask], parents=[None, 0, 1, 1, 2]))
    check_tool_pairs(History([ask, CALLS, RESULT, CALLS, RESULT], parents=[None, 0, 1, 0, 3]))
    with pytest.raises(BadConversation, match=r"messages\[3\]: result 'c' answers no call"):
        check_tool_pairs(History([ask, CALLS, RESULT, RESULT], parents=[None, 0, 1, 2]))
    with pytest.raises(BadConversation, match=r"messages\[1\]: call 'c' has no result"):
        check_tool_pairs(History([ask, CALLS, RESULT, ask], parents=[None, 0, 1, 1]))
    with pytest.raises(BadConversation, match=r"messages\[3\]: call_id 'c' is used twice"):
        check_tool_pairs(History([ask, CALLS, RESULT, CALLS, RESULT], parents=[None, 0, 1, 2, 3]))


def test_a_file_may_have_the_highest_number_that_a_conversation_gives():
    assert conversation_file.MAX_NUMBER == numbering.MAX_NUMBER
