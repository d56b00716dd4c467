# A union, or JSON whose types the test knows.
# pyright: reportCallIssue=false, reportGeneralTypeIssues=false
"""OpenAI's Responses API: flat items, files inside tool outputs, wrapped errors."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from showandtell.core.capabilities.cells import Dialect
from showandtell.core.messages.attachments import Address
from showandtell.core.messages.parts import Opaque, ToolCall
from showandtell.core.planning.values import Data
from showandtell.core.wire.openai_responses.render import render_entry, url, with_cache_mark
from showandtell.core.wire.options import Options
from showandtell.core.wire.tree import to_values
from showandtell.errors import CannotRender
from support.sdk_clients import (
    CALL,
    NATIVE,
    OPTIONS,
    PDF,
    PNG,
    WAV,
    aim,
    arguments,
    check,
    model,
    placed,
    rest,
    result,
    user,
)

HOME = aim("openai-responses", stateless=True)
MARKED = aim("openai-responses", stateless=True, cache_mark="prompt_cache_breakpoint")
XAI = aim("openai-responses", "xai", "grok-4")


def items(*turns, target=HOME):
    return rest(turns, target, Options())["input"]


def test_an_output_contains_its_image_and_its_pdf():
    assert check(NATIVE, HOME) == snapshot(
        {
            "model": "gpt-5-mini",
            "instructions": "Be brief.",
            "tools": [
                {
                    "type": "function",
                    "name": "get",
                    "description": "Get the report.",
                    "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
                    "strict": False,
                }
            ],
            "tool_choice": "auto",
            "temperature": 0.5,
            "max_output_tokens": 100,
            "reasoning": {"effort": "low"},
            "text": {
                "format": {
                    "type": "json_schema",
                    "name": "answer",
                    "strict": True,
                    "schema": {
                        "type": "object",
                        "properties": {"n": {"type": "integer"}},
                        "required": ["n"],
                        "additionalProperties": False,
                    },
                }
            },
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "input": [
                {"type": "message", "role": "user", "content": "Show me the report."},
                {"type": "message", "role": "assistant", "content": "One moment."},
                {"type": "function_call", "call_id": "call_1", "name": "get", "arguments": "{}"},
                {
                    "type": "function_call_output",
                    "call_id": "call_1",
                    "output": [
                        {"type": "input_text", "text": "Report and chart:"},
                        {"type": "input_image", "image_url": "data:image/png;base64,cG5n", "detail": "auto"},
                        {
                            "type": "input_file",
                            "filename": "report.pdf",
                            "file_data": "data:application/pdf;base64,cGRm",
                        },
                    ],
                },
                {"type": "message", "role": "assistant", "content": "Here they are."},
                {"type": "message", "role": "user", "content": "What does image 1 show?"},
            ],
        }
    )


def test_an_output_of_text_alone_is_a_string():
    (item,) = items(user(result("one", Data('{"n":1}'))))
    check((model(CALL), user(result("one"))), HOME)
    assert item["output"] == 'one\n{"n":1}'
    assert items(user(result()))[0]["output"] == ""


def test_an_error_is_wrapped_with_and_without_files():
    (bare,) = items(user(result("no such file", is_error=True)))
    (full,) = items(user(result("half done", placed(PNG), is_error=True)))
    assert json.loads(bare["output"]) == {"error": "no such file"}
    assert json.loads(full["output"][0]["text"]) == {"error": "half done"}
    assert full["output"][1]["type"] == "input_image"


def test_outputs_come_before_the_user_message():
    turn = user("[image 1]", placed(PNG), result("one"), result("two"))
    check((model(CALL), turn), HOME)
    assert [item["type"] for item in items(turn)] == ["function_call_output", "function_call_output", "message"]


def test_a_remote_file_is_sent_as_its_address():
    files = [Address("url", "https://example.org/a", "application/pdf"), Address("file_id", "file-1", "image/png")]
    turn = user(
        *(placed(file, place="user") for file in files), placed(Address("file_id", "file-2", "application/pdf"))
    )
    check((turn,), HOME)
    assert items(turn)[0]["content"] == [
        {"type": "input_file", "file_url": "https://example.org/a"},
        {"type": "input_image", "file_id": "file-1", "detail": "auto"},
        {"type": "input_file", "file_id": "file-2"},
    ]


def test_audio_is_rejected():
    with pytest.raises(CannotRender, match="put audio/wav into a tool result of openai-responses"):
        render_entry(user(result("Listen:", placed(WAV))), HOME)


def test_a_part_in_a_message_of_the_wrong_role_is_rejected():
    with pytest.raises(CannotRender, match="a RenderedFile into an assistant message"):
        render_entry(model(placed(PDF)), HOME)
    with pytest.raises(CannotRender, match="a ToolCall into a user message"):
        render_entry(user(CALL), HOME)


def test_reasoning_goes_back_in_order_and_to_its_own_provider_only():
    thought = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2ln"}'
    turn = model(Opaque("openai", thought), CALL)
    check((turn,), HOME)
    assert [item["type"] for item in items(turn)] == ["reasoning", "function_call"]
    assert [item["type"] for item in items(turn, target=XAI)] == ["function_call"]


@given(st.text() | st.just("[" * 100_000))
def test_the_arguments_of_a_call_are_always_an_object_as_text(text):
    (item,) = items(model(ToolCall("call_1", "get", text)))
    assert isinstance(json.loads(item["arguments"]), dict)


def test_only_hosts_that_store_conversations_get_store_false():
    assert rest(NATIVE, HOME, Options())["store"] is False
    other = msgspec.structs.replace(HOME, dialect=Dialect(stateless=False))
    assert "store" not in rest(NATIVE, other, Options())


def test_fields_from_extra_alone_go_into_extra_body():
    options = msgspec.structs.replace(OPTIONS, stream=True, tool_choice="get", extra='{"top_p":0.9,"store":true}')
    called = arguments(NATIVE, HOME, options)
    assert called["tool_choice"] == {"type": "function", "name": "get"}
    assert (called["extra_body"], called["store"], called["stream"]) == ({"top_p": 0.9}, True, True)


def test_the_url_starts_with_the_base_and_nothing_is_marked():
    turn = render_entry(user("a", placed(PDF)), HOME)
    assert url(HOME, "https://host/v1/", stream=False) == "https://host/v1/responses"
    assert with_cache_mark(turn, HOME) == turn


def test_a_mark_is_on_the_last_part_of_a_message():
    before = render_entry(user(result("one"), "[image 1]", placed(PNG, place="user")), MARKED)
    after = with_cache_mark(before, MARKED)
    assert after[1]["content"][1].pop("prompt_cache_breakpoint") == {"mode": "explicit"}
    assert after == before


def test_a_mark_is_on_the_last_part_of_an_output():
    (item,) = with_cache_mark(render_entry(user(result("Chart:", placed(PNG))), MARKED), MARKED)
    output = to_values(item, repr)["output"]
    assert [part.get("prompt_cache_breakpoint") for part in output] == [None, {"mode": "explicit"}]
    (bare,) = with_cache_mark(render_entry(user(result()), MARKED), MARKED)
    assert bare["output"] == ""


def test_text_that_may_be_marked_is_always_a_part():
    check((user("Hi"), model(CALL), user(result("done"))), MARKED)
    hello, output, failed = items(
        user("Hi"), user(result("done")), user(result("no such file", is_error=True)), target=MARKED
    )
    assert hello["content"] == [{"type": "input_text", "text": "Hi"}]
    assert output["output"] == [{"type": "input_text", "text": "done"}]
    assert failed["output"] == [{"type": "input_text", "text": '{"error":"no such file"}'}]


def test_trailing_reasoning_is_left_out():
    thought = Opaque("openai", '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2ln"}')
    assert [item["type"] for item in items(model(thought, "Hm.", thought))] == ["reasoning", "message"]
    assert render_entry(model(thought), HOME) == []
