# A union, or JSON whose types the test knows.
# pyright: reportCallIssue=false
"""Anthropic's Messages API: files go into tool results, but never into errors."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from showandtell.core.messages.attachments import Address
from showandtell.core.messages.parts import Opaque, ToolCall
from showandtell.core.wire.anthropic_messages.render import render_entry, url, with_cache_mark
from showandtell.core.wire.options import Options
from showandtell.errors import CannotRender
from support.sdk_clients import (
    CALL,
    NATIVE,
    OPTIONS,
    PDF,
    PNG,
    WAV,
    WORDS,
    aim,
    arguments,
    check,
    model,
    placed,
    rest,
    result,
    user,
)

HOME = aim("anthropic-messages")
VERTEX = aim("anthropic-messages", "anthropic-vertex")
BEDROCK = aim("anthropic-messages", "anthropic-bedrock", "us.anthropic.claude:0")


def blocks(turn, target=HOME):
    return rest((turn,), target, Options())["messages"][0]["content"]


def test_a_result_contains_its_image_and_its_pdf():
    assert check(NATIVE, HOME) == snapshot(
        {
            "model": "claude-sonnet-4-5",
            "max_tokens": 100,
            "system": "Be brief.",
            "tools": [
                {
                    "name": "get",
                    "description": "Get the report.",
                    "input_schema": {"type": "object", "properties": {}, "additionalProperties": False},
                }
            ],
            "tool_choice": {"type": "auto"},
            "temperature": 0.5,
            "output_config": {
                "effort": "low",
                "format": {
                    "type": "json_schema",
                    "schema": {
                        "type": "object",
                        "properties": {"n": {"type": "integer"}},
                        "required": ["n"],
                        "additionalProperties": False,
                    },
                },
            },
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Show me the report."}]},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "One moment."},
                        {"type": "tool_use", "id": "call_1", "name": "get", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "call_1",
                            "is_error": False,
                            "content": [
                                {"type": "text", "text": "Report and chart:"},
                                {
                                    "type": "image",
                                    "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"},
                                },
                                {
                                    "type": "document",
                                    "title": "report.pdf",
                                    "source": {"type": "base64", "media_type": "application/pdf", "data": "cGRm"},
                                },
                            ],
                        }
                    ],
                },
                {"role": "assistant", "content": [{"type": "text", "text": "Here they are."}]},
                {"role": "user", "content": [{"type": "text", "text": "What does image 1 show?"}]},
            ],
        }
    )


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ("get", {"type": "tool", "name": "get"}),
    ],
)
def test_each_tool_choice_has_its_own_type(choice, expected):
    body = check(NATIVE, HOME, msgspec.structs.replace(OPTIONS, tool_choice=choice))
    assert body["tool_choice"] == expected


@pytest.mark.parametrize("file", [WAV, WORDS], ids=["audio", "text"])
def test_a_kind_without_a_block_is_rejected(file):
    with pytest.raises(CannotRender, match=f"put {file.media_type} into a tool result of anthropic-messages"):
        render_entry(user(result("Listen:", placed(file))), HOME)


def test_an_error_result_accepts_no_files():
    with pytest.raises(CannotRender, match="image/png into a error result"):
        render_entry(user(result("Failed", placed(PNG), is_error=True)), HOME)


def test_an_assistant_message_accepts_no_files():
    with pytest.raises(CannotRender, match="image/png into a assistant message"):
        render_entry(model(placed(PNG)), HOME)


def test_a_remote_file_is_sent_as_its_address():
    link = placed(Address("url", "https://example.org/a.png", "image/png"), place="user")
    known = placed(Address("file_id", "file_011", "application/pdf"), place="user")
    check((user(link, known),), HOME)
    assert [block["source"] for block in blocks(user(link, known))] == [
        {"type": "url", "url": "https://example.org/a.png"},
        {"type": "file", "file_id": "file_011"},
    ]


def test_an_empty_result_has_no_content_and_blank_text_no_block():
    check((model(CALL), user(result())), HOME)
    assert blocks(user(result())) == [{"type": "tool_result", "tool_use_id": "call_1", "is_error": False}]
    assert render_entry(user(" \n"), HOME) == []


@given(st.text() | st.just("[" * 100_000))
def test_the_input_of_a_call_is_always_an_object(text):
    (block,) = blocks(model(ToolCall("call_1", "get", text)))
    assert isinstance(block["input"], dict)


def test_arguments_that_are_not_an_object_are_sent_as_text():
    (block,) = blocks(model(ToolCall("call_1", "get", '{"number": 5')))
    assert block["input"] == {"INVALID_JSON": '{"number": 5'}


def test_reasoning_goes_back_to_its_own_provider_only():
    thought = '{"type":"thinking","thinking":"Hm.","signature":"c2ln"}'
    turn = model(Opaque("anthropic", thought), "Done.")
    check((turn,), HOME)
    assert blocks(turn)[0]["signature"] == "c2ln"
    assert blocks(turn, VERTEX) == [{"type": "text", "text": "Done."}]


def test_trailing_reasoning_is_left_out():
    thought = Opaque("anthropic", '{"type":"thinking","thinking":"Hm.","signature":"c2ln"}')
    hidden = Opaque("anthropic", '{"type":"redacted_thinking","data":"c2ln"}')
    search = Opaque("anthropic", '{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}')
    assert render_entry(model(thought, hidden), HOME) == []
    assert len(render_entry(model(thought, "Done.", thought, hidden), HOME)[0]["content"]) == 2
    assert len(render_entry(model(thought, search), HOME)[0]["content"]) == 2


def test_a_cache_mark_is_on_the_result_and_not_inside_it():
    turn = user(result("Chart:", placed(PNG), placed(PDF, 2)))
    (message,) = with_cache_mark(render_entry(turn, HOME), HOME)
    assert message["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in message["content"][0]["content"][-1]


def test_fields_that_the_sdk_lacks_go_into_extra_body():
    options = msgspec.structs.replace(OPTIONS, extra='{"top_k":5,"max_tokens":100}')
    called = arguments(NATIVE, HOME, options)
    check(NATIVE, HOME, options)
    assert (called["extra_body"], called["max_tokens"]) == ({"temperature": 0.5, "top_k": 5}, 100)
    assert called["extra_headers"] == {"anthropic-version": "2023-06-01"}  # the next version has no temperature


@pytest.mark.parametrize("target", [VERTEX, BEDROCK], ids=["vertex", "bedrock"])
def test_other_hosts_have_the_model_in_the_url_and_in_the_sdks_arguments(target):
    options = Options(stream=True)
    body, called = rest(NATIVE, target, options), arguments(NATIVE, target, options)
    check(NATIVE, target, msgspec.structs.replace(OPTIONS, stream=False))
    assert "model" not in body
    assert body["anthropic_version"].endswith(("2023-10-16", "2023-05-31"))
    assert (called["model"], called["stream"]) == (target.model, True)
    assert called["extra_body"] == {"anthropic_version": body["anthropic_version"]}


def test_every_host_has_its_url():
    assert url(HOME, "https://host/", stream=True) == "https://host/v1/messages"
    assert url(BEDROCK, "https://host", stream=True) == (
        "https://host/model/us.anthropic.claude%3A0/invoke-with-response-stream"
    )
    assert url(VERTEX, "https://host", stream=False) == (
        "https://host/v1/projects/PROJECT/locations/LOCATION/publishers/anthropic/models/claude-sonnet-4-5:rawPredict"
    )
