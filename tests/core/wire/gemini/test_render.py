"""Gemini's generateContent: media in function responses, results and other parts in two contents."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from showandtell.core.messages.attachments import Address, Facts
from showandtell.core.messages.parts import Opaque, ToolCall
from showandtell.core.planning.values import Data
from showandtell.core.wire.gemini.render import DUMMY_SIGNATURE, render_entry, url, with_cache_mark
from showandtell.core.wire.options import Options
from showandtell.errors import BadInput, CannotRender
from support.sdk_clients import (
    CALL,
    NATIVE,
    OPTIONS,
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

HOME = aim("gemini", needs_signature=True)
OLD = aim("gemini", model="gemini-2.5-flash")
VERTEX = aim("gemini", "vertex", takes_call_ids=False, needs_signature=True)


def contents(*turns, target=HOME):
    return rest(turns, target, Options())["contents"]


def answer(*parts, **more):
    return contents(user(result(*parts, **more)))[0]["parts"][0]["functionResponse"]


def test_a_response_contains_its_image_and_its_pdf():
    assert check(NATIVE, HOME) == snapshot(
        {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [
                {
                    "functionDeclarations": [
                        {
                            "name": "get",
                            "description": "Get the report.",
                            "parametersJsonSchema": {"type": "object", "properties": {}, "additionalProperties": False},
                        }
                    ]
                }
            ],
            "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
            "generationConfig": {
                "temperature": 0.5,
                "maxOutputTokens": 100,
                "thinkingConfig": {"thinkingLevel": "LOW"},
                "responseMimeType": "application/json",
                "responseJsonSchema": {
                    "type": "object",
                    "properties": {"n": {"type": "integer"}},
                    "required": ["n"],
                    "additionalProperties": False,
                },
            },
            "contents": [
                {"role": "user", "parts": [{"text": "Show me the report."}]},
                {
                    "role": "model",
                    "parts": [
                        {"text": "One moment."},
                        {
                            "functionCall": {"id": "call_1", "name": "get", "args": {}},
                            "thoughtSignature": "skip_thought_signature_validator",
                        },
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        {
                            "functionResponse": {
                                "id": "call_1",
                                "name": "get",
                                "response": {"output": "Report and chart:"},
                                "parts": [
                                    {"inlineData": {"mimeType": "image/png", "data": "cG5n"}},
                                    {"inlineData": {"mimeType": "application/pdf", "data": "cGRm"}},
                                ],
                            }
                        }
                    ],
                },
                {"role": "model", "parts": [{"text": "Here they are."}]},
                {"role": "user", "parts": [{"text": "What does image 1 show?"}]},
            ],
        }
    )


def test_the_sdk_gets_snake_case_and_bytes():
    called = arguments(NATIVE, HOME, OPTIONS)
    response = called["contents"][2]["parts"][0]["function_response"]
    assert response["parts"][0] == {"inline_data": {"mime_type": "image/png", "data": b"png"}}
    assert set(called["config"]) == snapshot(
        {
            "max_output_tokens",
            "response_json_schema",
            "response_mime_type",
            "system_instruction",
            "temperature",
            "thinking_config",
            "tool_config",
            "tools",
        }
    )


def test_other_parts_go_into_a_separate_content():
    check(RELOCATED, OLD)
    results, others = contents(RELOCATED[2])
    assert [list(part) for part in results["parts"]] == [["functionResponse"]]
    assert [list(part) for part in others["parts"]] == [["text"], ["inlineData"], ["inlineData"]]


def test_data_is_a_value_unless_it_contains_a_reference():
    assert answer(Data('{"n":[1]}'))["response"] == {"output": {"n": [1]}}
    assert answer(Data('[{"$ref":"a"}]'))["response"] == {"output": '[{"$ref":"a"}]'}
    assert answer(Data('{"\\u0024ref":1}'))["response"] == {"output": '{"\\u0024ref":1}'}
    assert answer("a", Data("1"))["response"] == {"output": ["a", 1]}


def test_an_error_has_its_own_key_and_no_output_is_an_empty_text():
    check((model(CALL), user(result("no", is_error=True))), HOME)
    assert answer("no", is_error=True)["response"] == {"error": "no"}
    assert answer()["response"] == {"output": ""}


@pytest.mark.parametrize(
    ("opaque", "target", "signature"),
    [
        (Opaque("google", "c2ln"), HOME, "c2ln"),
        (Opaque("google", "c2ln"), VERTEX, DUMMY_SIGNATURE),
        (None, HOME, DUMMY_SIGNATURE),
        (Opaque("google", "c2ln"), OLD, "c2ln"),
        (None, OLD, None),
    ],
)
def test_the_first_call_is_signed_by_its_own_host_or_by_the_dummy(opaque, target, signature):
    turn = model(ToolCall("call_1", "get", "{}", opaque), ToolCall("call_2", "get", "{}"))
    check((turn,), target)
    first, second = contents(turn, target=target)[0]["parts"]
    assert (first.get("thoughtSignature"), second.get("thoughtSignature")) == (signature, None)


def test_the_sdk_gets_signatures_as_bytes():
    turn = model(ToolCall("call_1", "get", '{"mimeType":1}', Opaque("google", "+/8=")))
    (part,) = arguments((turn,), HOME, Options())["contents"][0]["parts"]
    assert part["thought_signature"] == b"\xfb\xff"
    assert part["function_call"]["args"] == {"mimeType": 1}


def test_a_stored_part_goes_back_unchanged_and_a_signature_on_an_empty_text():
    turn = model(Opaque("google", '{"text":"Hm.","thought":true}'), Opaque("google", "c2ln"), Opaque("vertex", "x"))
    check((turn,), HOME)
    assert contents(turn)[0]["parts"] == [
        {"text": "Hm.", "thought": True},
        {"text": "", "thoughtSignature": "c2ln"},
    ]


def test_a_host_without_call_ids_gets_names_only():
    turns = (model(CALL), user(result("done")))
    check(turns, VERTEX)
    output, heard = contents(*turns, target=VERTEX)
    assert "id" not in output["parts"][0]["functionCall"]
    assert "id" not in heard["parts"][0]["functionResponse"]


def test_a_remote_file_is_sent_as_its_address_and_audio_inline():
    link = placed(Address("url", "gs://bucket/a.pdf", "application/pdf"))
    check((user(result("See:", link)), user(placed(WAV, place="user"))), VERTEX)
    assert answer("See:", link)["parts"] == [
        {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://bucket/a.pdf"}}
    ]


def test_unsupported_parts_are_rejected():
    with pytest.raises(CannotRender, match="put application/zip into a tool result of gemini"):
        render_entry(user(result(placed(Address("url", "gs://a", "application/zip")))), HOME)
    with pytest.raises(CannotRender, match="a RenderedFile into an assistant message"):
        render_entry(model(placed(PNG)), HOME)
    assert Facts("a", "application/zip", 1).kind == "other"


@given(st.text() | st.just("[" * 100_000))
def test_the_args_of_a_call_are_always_an_object(text):
    (part,) = contents(model(ToolCall("call_1", "get", text)))[0]["parts"]
    assert isinstance(part["functionCall"]["args"], dict)


def test_a_named_tool_is_the_only_one_allowed():
    options = msgspec.structs.replace(OPTIONS, tool_choice="get", extra='{"safetySettings":[]}')
    body = check(NATIVE, HOME, options)
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get"]}}
    assert arguments(NATIVE, HOME, options)["config"]["safety_settings"] == []


def test_the_model_is_part_of_the_url():
    account = msgspec.structs.replace(VERTEX, account="acme/global")
    assert url(HOME, "https://host/", stream=True) == (
        "https://host/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse"
    )
    assert url(account, "https://host", stream=False) == (
        "https://host/v1beta1/projects/acme/locations/global/publishers/google/models/"
        "gemini-3-flash-preview:generateContent"
    )
    assert with_cache_mark(render_entry(user("a"), HOME), HOME) == render_entry(user("a"), HOME)


def test_generation_settings_from_extra_are_merged_with_ours():
    options = msgspec.structs.replace(
        OPTIONS, extra='{"generationConfig":{"responseModalities":["IMAGE"]},"labels":{}}'
    )
    body = rest(NATIVE, HOME, options)
    assert body["generationConfig"]["responseModalities"] == ["IMAGE"]
    assert body["generationConfig"]["temperature"] == OPTIONS.temperature
    assert body["labels"] == {}
    with pytest.raises(BadInput, match="generationConfig is not a JSON object"):
        rest(NATIVE, HOME, msgspec.structs.replace(OPTIONS, extra='{"generationConfig":1}'))
