# A union, or JSON whose types the test knows.
# pyright: reportCallIssue=false, reportGeneralTypeIssues=false
"""Bedrock's Converse API: neutral and unique document names, format names, bytes for boto3."""

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from showandtell.core.messages.attachments import Address
from showandtell.core.messages.parts import Opaque, ToolCall
from showandtell.core.wire.bedrock_converse.render import render_entry, url, with_cache_mark
from showandtell.core.wire.options import Options
from showandtell.core.wire.tree import to_values
from showandtell.errors import CannotRender
from support.sdk_clients import (
    CALL,
    MP4,
    NATIVE,
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

HOME = aim("bedrock-converse")
CITING = aim("bedrock-converse", citations=True, flags_errors=False)


def blocks(turn, target=HOME):
    return rest((turn,), target, Options())["messages"][0]["content"]


def test_a_result_contains_its_image_and_its_pdf():
    assert check(NATIVE, HOME) == snapshot(
        {
            "system": [{"text": "Be brief."}],
            "inferenceConfig": {"maxTokens": 100, "temperature": 0.5},
            "toolConfig": {
                "tools": [
                    {
                        "toolSpec": {
                            "name": "get",
                            "inputSchema": {
                                "json": {"type": "object", "properties": {}, "additionalProperties": False}
                            },
                            "description": "Get the report.",
                        }
                    }
                ],
                "toolChoice": {"auto": {}},
            },
            "outputConfig": {
                "effort": "low",
                "textFormat": {
                    "type": "json_schema",
                    "structure": {
                        "jsonSchema": {
                            "name": "answer",
                            "schema": '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}',
                        }
                    },
                },
            },
            "messages": [
                {"role": "user", "content": [{"text": "Show me the report."}]},
                {
                    "role": "assistant",
                    "content": [
                        {"text": "One moment."},
                        {"toolUse": {"toolUseId": "call_1", "name": "get", "input": {}}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "toolResult": {
                                "toolUseId": "call_1",
                                "content": [
                                    {"text": "Report and chart:"},
                                    {"image": {"format": "png", "source": {"bytes": "cG5n"}}},
                                    {"document": {"format": "pdf", "source": {"bytes": "cGRm"}, "name": "document 2"}},
                                ],
                                "status": "success",
                            }
                        }
                    ],
                },
                {"role": "assistant", "content": [{"text": "Here they are."}]},
                {"role": "user", "content": [{"text": "What does image 1 show?"}]},
            ],
        }
    )


def test_boto_gets_bytes_and_the_model():
    called = arguments(NATIVE, HOME, OPTIONS)
    content = called["messages"][2]["content"][0]["toolResult"]["content"]
    assert content[1] == {"image": {"format": "png", "source": {"bytes": b"png"}}}
    assert called["modelId"] == HOME.model


def test_a_relocated_pdf_has_citations_if_the_host_needs_them():
    check(RELOCATED, CITING)
    answer, _, _, document = blocks(RELOCATED[2], CITING)
    assert document["document"]["citations"] == {"enabled": True}
    assert "status" not in answer["toolResult"]
    assert "citations" not in blocks(RELOCATED[2])[3]["document"]


@given(st.sets(st.tuples(st.integers(1, 200), st.integers(1, 20)), min_size=1))
def test_a_document_name_is_unique_and_neutral(showings):
    turn = user(*(placed(PDF, number, nth=nth, place="user") for number, nth in showings))
    names = [block["document"]["name"] for block in blocks(turn)]
    assert len(set(names)) == len(showings)
    assert all(re.fullmatch(r"[A-Za-z0-9()\[\]-]+( [A-Za-z0-9()\[\]-]+)*", name) for name in names)


def test_an_error_has_its_status_and_an_empty_result_has_content():
    check((model(CALL), user(result())), HOME)
    assert blocks(user(result("no", is_error=True)))[0]["toolResult"]["status"] == "error"
    assert blocks(user(result(" ")))[0]["toolResult"]["content"] == [{"json": {}}]


def test_audio_goes_into_a_user_message_and_not_into_a_result():
    check((user("Listen:", placed(WAV, place="user")), model(CALL), user(result("Look:", placed(MP4)))), HOME)
    with pytest.raises(CannotRender, match="put audio/wav into a tool result of bedrock-converse"):
        render_entry(user(result("Listen:", placed(WAV))), HOME)


def test_a_file_without_a_format_or_in_a_wrong_message_is_rejected():
    with pytest.raises(CannotRender, match="application/zip into a user message"):
        render_entry(user(placed(Address("url", "s3://b/a.zip", "application/zip"), place="user")), HOME)
    with pytest.raises(CannotRender, match="image/png into a assistant message"):
        render_entry(model(placed(PNG)), HOME)


def test_only_s3_addresses_are_sent():
    link = placed(Address("url", "s3://bucket/a.png", "image/png"), place="user")
    check((user(link),), HOME)
    assert blocks(user(link))[0]["image"]["source"] == {"s3Location": {"uri": "s3://bucket/a.png"}}
    with pytest.raises(CannotRender, match="a url that is not on S3"):
        render_entry(user(placed(Address("url", "https://example.org/a.png", "image/png"))), HOME)


@given(st.text() | st.just("[" * 100_000))
def test_the_input_of_a_call_is_always_an_object(text):
    (block,) = blocks(model(ToolCall("call_1", "get", text)))
    assert isinstance(block["toolUse"]["input"], dict)


def test_boto_gets_redacted_reasoning_as_bytes():
    turn = model(
        Opaque("bedrock", '{"reasoningContent":{"redactedContent":"c2ln"}}'), Opaque("anthropic", "{}"), "Done."
    )
    check((turn,), HOME)
    called = arguments((turn,), HOME, Options())
    assert called["messages"][0]["content"][0] == {"reasoningContent": {"redactedContent": b"sig"}}
    assert blocks(turn) == [{"reasoningContent": {"redactedContent": "c2ln"}}, {"text": "Done."}]


def test_reasoning_goes_to_its_own_model_only_and_never_ends_a_message():
    thought = Opaque("bedrock", '{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}}')
    nova = aim("bedrock-converse", model="us.amazon.nova-2-lite-v1:0", takes_reasoning=False)
    assert render_entry(model(thought, "Done."), nova) == [{"role": "assistant", "content": [{"text": "Done."}]}]
    assert blocks(model("Done.", thought)) == [{"text": "Done."}]
    assert render_entry(model(thought), HOME) == []


@pytest.mark.parametrize(
    ("choice", "expected"),
    [("auto", {"auto": {}}), ("none", None), ("required", {"any": {}}), ("get", {"tool": {"name": "get"}})],
)
def test_tools_stay_declared_for_every_tool_choice(choice, expected):
    config = check(NATIVE, HOME, msgspec.structs.replace(OPTIONS, tool_choice=choice))["toolConfig"]
    assert (config.get("toolChoice"), len(config["tools"])) == (expected, 1)


def test_fields_that_converse_does_not_know_go_to_the_model():
    extra = '{"thinking":{"type":"adaptive"},"serviceTier":{"type":"flex"},"additionalModelRequestFields":{"top_k":5}}'
    body = check(NATIVE, HOME, Options(extra=extra))
    assert body["serviceTier"] == {"type": "flex"}
    assert body["additionalModelRequestFields"] == {"top_k": 5, "thinking": {"type": "adaptive"}}


def test_a_cache_point_never_follows_a_document():
    (message,) = with_cache_mark(render_entry(user("Read:", placed(PDF, place="user")), HOME), HOME)
    assert [next(iter(block)) for block in to_values(message, repr)["content"]] == ["text", "cachePoint", "document"]
    alone = render_entry(user(placed(PDF, place="user")), HOME)
    assert with_cache_mark(alone, HOME) == alone


def test_the_model_is_part_of_the_url():
    path = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"
    assert url(HOME, "https://host/", stream=False) == f"https://host{path}"
    assert url(HOME, "https://host", stream=True) == f"https://host{path}-stream"
