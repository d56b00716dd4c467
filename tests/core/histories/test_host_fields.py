"""Histories of Chat Completions: fields that are the host's own are kept for the provider that is named."""

import json

import pytest
from hypothesis import given

from showandtell import BadInput, from_openai
from showandtell.core.messages.parts import Opaque, Text, ToolCall
from support.pieces import call_fields, message_fields

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}


def without_nulls(fields):
    return {name: value for name, value in fields.items() if value is not None}


@given(message_fields, call_fields)
def test_all_fields_of_an_answer_are_kept_for_its_provider(fields, of_call):
    fields = {name: value for name, value in fields.items() if name != "attachments"}
    message = {"role": "assistant", "content": "It", **fields, "tool_calls": [{**CALL, **of_call}]}
    text, call, *kept = from_openai([message], provider="groq")[0].parts
    assert (text, [json.loads(part.text) for part in kept]) == (Text("It"), list(filter(None, [without_nulls(fields)])))
    own = without_nulls(of_call)
    assert (json.loads(call.opaque.text) if call.opaque else {}) == own
    assert {part.provider for part in [*kept, call.opaque] if part} <= {"groq"}
    assert from_openai([message])[0].parts == (Text("It"), ToolCall("c1", "look", "{}"))


def test_thinking_in_a_content_list_keeps_its_place():
    message = {"role": "assistant", "content": [THINKING, {"type": "text", "text": "It"}]}
    own = Opaque("mistral", json.dumps(THINKING, separators=(",", ":")))
    assert from_openai([message], provider="mistral")[0].parts == (own, Text("It"))
    assert from_openai([message])[0].parts == (Text("It"),)


def test_items_of_the_responses_api_go_back_to_the_provider_that_is_named():
    items = [{"type": "reasoning", "id": "rs_1", "summary": []}, {"role": "assistant", "content": "It"}]
    assert [from_openai(items, provider=name)[0].parts[0].provider for name in (None, "xai")] == ["openai", "xai"]


@pytest.mark.parametrize("wrong", ["openai-chat:gpt-5", "nobody", "", 7, ["groq"]])
def test_a_provider_that_does_not_exist_is_an_error(wrong):
    with pytest.raises(BadInput, match=r"give the name of a provider|give a str"):
        from_openai([], provider=wrong)
