# A union, or JSON whose types the test knows.
# pyright: reportCallIssue=false, reportGeneralTypeIssues=false
"""OpenAI's Chat Completions: tool messages contain text, files follow in a user message."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from showandtell.core.messages.attachments import Address
from showandtell.core.messages.parts import Opaque, ToolCall
from showandtell.core.planning.values import Data
from showandtell.core.wire.openai_chat.render import render_entry, url, with_cache_mark
from showandtell.core.wire.options import Options
from showandtell.errors import CannotRender
from support.sdk_clients import (
    CALL,
    MP4,
    OPTIONS,
    PDF,
    PNG,
    RELOCATED,
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

HOME = aim("openai-chat", max_tokens="max_completion_tokens")
MISTRAL = aim(
    "openai-chat",
    "mistral",
    "mistral-medium-latest",
    document="document_url",
    max_tokens="max_tokens",
    stream_usage=False,
    extra_body=False,
)
MARKED = aim("openai-chat", max_tokens="max_completion_tokens", cache_mark="prompt_cache_breakpoint")
ROUTER = aim("openai-chat", "openrouter", "anthropic/claude-haiku-4.5", cache_mark="cache_control")
GROQ = aim("openai-chat", "groq", "qwen3.6-27b", stream_usage=False)


def messages(*turns, target=HOME):
    return rest(turns, target, Options())["messages"]


def test_files_follow_the_tool_message_in_a_user_message():
    assert check(RELOCATED, HOME) == snapshot(
        {
            "model": "gpt-5-mini",
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "get",
                        "description": "Get the report.",
                        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
                    },
                }
            ],
            "tool_choice": "auto",
            "temperature": 0.5,
            "max_completion_tokens": 100,
            "reasoning_effort": "low",
            "response_format": {
                "type": "json_schema",
                "json_schema": {
                    "name": "answer",
                    "strict": True,
                    "schema": {
                        "type": "object",
                        "properties": {"n": {"type": "integer"}},
                        "required": ["n"],
                        "additionalProperties": False,
                    },
                },
            },
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Show me the report."},
                {
                    "role": "assistant",
                    "content": "One moment.",
                    "tool_calls": [
                        {"id": "call_1", "type": "function", "function": {"name": "get", "arguments": "{}"}}
                    ],
                },
                {
                    "role": "tool",
                    "tool_call_id": "call_1",
                    "content": """\
image 1: shown below
document 2: shown below\
""",
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "[image 1]"},
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
                        {
                            "type": "file",
                            "file": {"filename": "report.pdf", "file_data": "data:application/pdf;base64,cGRm"},
                        },
                    ],
                },
                {"role": "assistant", "content": "Here they are."},
                {"role": "user", "content": "What does image 1 show?"},
            ],
        }
    )


def test_every_result_comes_before_the_user_message():
    turn = user(placed(PNG, place="user"), result("one", Data('{"n":1}')), result("two"))
    check((model(CALL), turn), HOME)
    assert [message["role"] for message in messages(turn)] == ["tool", "tool", "user"]
    assert messages(turn)[0]["content"] == 'one\n{"n":1}'


def test_a_tool_message_contains_parts_if_the_host_accepts_files_there():
    content = messages(user(result("Chart:", placed(PNG))))[0]["content"]
    assert [part["type"] for part in content] == ["text", "image_url"]


def test_an_image_known_by_id_is_rejected():
    with pytest.raises(CannotRender, match=r"image/png \(file_id\)"):
        render_entry(user(placed(Address("file_id", "file-1", "image/png"), place="user")), HOME)


def test_a_file_in_a_wrong_message_is_rejected():
    with pytest.raises(CannotRender, match="a RenderedFile into an assistant message"):
        render_entry(model(placed(PNG)), HOME)
    with pytest.raises(CannotRender, match="a ToolCall into a user message"):
        render_entry(user(CALL), HOME)


def test_audio_and_video_have_their_own_parts():
    check((user(placed(WAV, place="user")),), HOME)
    sound, film = messages(user(placed(WAV, place="user"), placed(MP4, place="user")))[0]["content"]
    assert sound == {"type": "input_audio", "input_audio": {"data": "d2F2", "format": "wav"}}
    assert film == {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,bXA0"}}


def test_mistral_gets_a_pdf_by_url_and_every_field_as_an_argument():
    options = msgspec.structs.replace(OPTIONS, extra='{"safe_prompt":true}', stream=True)
    body = check(RELOCATED, MISTRAL, options)
    assert body["messages"][4]["content"][2] == {
        "type": "document_url",
        "document_url": "data:application/pdf;base64,cGRm",
    }
    assert arguments(RELOCATED, MISTRAL, options)["safe_prompt"] is True
    assert body["max_tokens"] == 100
    assert body["stream"] is True
    assert "stream_options" not in body


def test_a_pdf_known_by_id_is_written_in_the_format_of_the_host():
    turn = user(placed(Address("file_id", "file-1", "application/pdf"), place="user"))
    assert check((turn,), HOME)["messages"][1]["content"] == [{"type": "file", "file": {"file_id": "file-1"}}]
    assert check((turn,), MISTRAL)["messages"][1]["content"] == [{"type": "file", "file_id": "file-1"}]


def test_groq_gets_an_image_in_a_user_message():
    turn = user(result("image 1: shown below"), "[image 1]", placed(PNG, place="user"))
    body = check((user("Show me."), model(CALL), turn), GROQ)
    assert body["messages"][-1]["content"][1]["type"] == "image_url"


def test_a_call_without_text_has_null_content():
    check((model(CALL),), HOME)
    assert messages(model(CALL))[0]["content"] is None
    assert messages(model("a", "b"))[0]["content"] == "ab"
    assert render_entry(model(Opaque("elsewhere", "{}")), HOME) == []


@given(st.text() | st.just("[" * 100_000))
def test_the_arguments_of_a_call_are_always_an_object_as_text(text):
    (message,) = messages(model(ToolCall("call_1", "get", text)))
    assert isinstance(json.loads(message["tool_calls"][0]["function"]["arguments"]), dict)


def test_fields_that_a_host_needs_back_are_part_of_the_message():
    (message,) = messages(model(Opaque("openai", '{"reasoning_content":"Hm."}'), "Done."))
    assert message == {"role": "assistant", "content": "Done.", "reasoning_content": "Hm."}


def test_a_stream_requests_usage_and_extra_fields_go_into_extra_body():
    options = msgspec.structs.replace(OPTIONS, stream=True, tool_choice="get", extra='{"top_p":0.9}')
    called = arguments(RELOCATED, HOME, options)
    assert called["stream_options"] == {"include_usage": True}
    assert called["tool_choice"] == {"type": "function", "function": {"name": "get"}}
    assert (called["extra_body"], called["max_completion_tokens"]) == ({"top_p": 0.9}, 100)


def test_the_url_starts_with_the_base_and_nothing_is_marked():
    items = render_entry(user("a", placed(PDF, place="user")), HOME)
    assert url(HOME, "https://host/v1/", stream=True) == "https://host/v1/chat/completions"
    assert with_cache_mark(items, HOME) == items


def test_a_mark_is_on_the_last_part_of_a_user_message():
    turn = user(result("image 1: shown below"), "[image 1]", placed(PNG, place="user"))
    before = render_entry(turn, MARKED)
    after = with_cache_mark(before, MARKED)
    assert after[1]["content"][1].pop("prompt_cache_breakpoint") == {"mode": "explicit"}
    assert after == before


def test_openrouters_mark_is_on_the_last_text_never_on_a_file():
    before = render_entry(user("[image 1]", placed(PNG, place="user"), placed(PDF, place="user")), ROUTER)
    (message,) = with_cache_mark(before, ROUTER)
    assert message["content"][0].pop("cache_control") == {"type": "ephemeral"}
    assert [message] == before
    bare = render_entry(user(placed(PNG, place="user")), ROUTER)
    assert with_cache_mark(bare, ROUTER) == bare


def test_a_mark_is_on_the_last_text_of_a_tool_message():
    (message,) = with_cache_mark(render_entry(user(result("one", Data('{"n":1}'))), ROUTER), ROUTER)
    assert message["content"] == [
        {"type": "text", "text": "one"},
        {"type": "text", "text": '{"n":1}', "cache_control": {"type": "ephemeral"}},
    ]


def test_text_that_may_be_marked_is_always_a_part():
    check((user("Hi"), model(CALL), user(result("done"))), MARKED)
    assert messages(user("Hi"), target=MARKED)[0]["content"] == [{"type": "text", "text": "Hi"}]
    assert messages(user(result("done")), target=MARKED)[0]["content"] == [{"type": "text", "text": "done"}]
    assert with_cache_mark(render_entry(user(result()), MARKED), MARKED)[0]["content"] == ""
