"""How the inspector answers a request for JSON, and which requests for JSON the APIs refuse."""

import json

import pytest

from showandtell.inspector.answering.typed_answer import sample
from showandtell.inspector.request import ApiError
from support.inspector_requests import chat, claude, refused, user, words
from support.scripted import read_strictly

CITY = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "size": {"type": "integer"}},
    "required": ["name", "size"],
    "additionalProperties": False,
}
LOOP = CITY | {
    "properties": {"next": {"$ref": "#/$defs/Node"}},
    "$defs": {"Node": CITY | {"properties": {"next": {"$ref": "#/$defs/Node"}}}},
}


def text_of(answer):
    """The text of an answer of either api."""
    return answer[1]["choices"][0]["message"]["content"] if "choices" in answer[1] else words(answer)


def ask_claude(text, schema=CITY):
    return claude(
        user({"type": "text", "text": text}), output_config={"format": {"type": "json_schema", "schema": schema}}
    )


def ask_chat(text, schema=CITY, **more):
    answer = {"name": "answer", "strict": True, "schema": schema} | more
    return chat({"role": "user", "content": text}, response_format={"type": "json_schema", "json_schema": answer})


@pytest.mark.parametrize("ask", [ask_claude, ask_chat])
def test_the_answer_is_a_sample_of_the_schema_or_what_the_user_says(ask):
    assert json.loads(text_of(ask("hello"))) == {"name": "text", "size": 1}
    assert text_of(ask('/answer {"name": 3')) == '{"name": 3'


def test_each_attempt_has_a_line_and_the_last_one_stays():
    lines = {"role": "user", "content": "/answer 1\n/answer 2"}
    again = [{"role": "assistant", "content": "1"}, {"role": "user", "content": "⟦this answer was not accepted: x⟧"}]
    schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": CITY}}
    answers = [text_of(chat(lines, *again * count, response_format=schema)) for count in range(3)]
    assert answers == ["1", "2", "2"]


def test_without_a_schema_answer_is_an_unknown_command():
    assert "/answer" in text_of(chat({"role": "user", "content": "/answer 1"}))


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (CITY | {"additionalProperties": True}, "'additionalProperties' must be explicitly set to false"),
        (CITY | {"properties": {"a": {"type": "integer", "minimum": 1}}}, "properties minimum are not supported"),
        (CITY | {"properties": {"a": {"oneOf": []}}}, "'oneOf' is not supported"),
        (CITY | {"properties": {"a": {}}}, "type is missing"),
        ({"type": "string"}, "must be an object"),
        (LOOP, "Circular reference"),
    ],
)
def test_claude_refuses_schemas_beyond_its_subset(schema, problem):
    assert problem in refused(ask_claude("hello", schema))


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (CITY | {"additionalProperties": True}, "'additionalProperties' is required"),
        (CITY | {"required": ["name"]}, "Missing 'size'"),
        (CITY | {"properties": {"a": {"oneOf": []}}, "required": ["a"]}, "'oneOf' is not permitted"),
        (CITY | {"properties": {"a": {}}, "required": ["a"]}, "must have a 'type' key"),
        ({"type": "array"}, "got 'type: \"array\"'"),
    ],
)
def test_openai_refuses_strict_schemas_beyond_its_subset(schema, problem):
    assert problem in refused(ask_chat("hello", schema))


def test_openai_takes_recursion_and_other_schemas_if_they_are_not_strict():
    assert ask_chat("hello", LOOP | {"required": ["next"]} | {"$defs": {"Node": CITY}})[0] == 200
    assert ask_chat("hello", CITY | {"required": []}, strict=False)[0] == 200


def read_gemini(model, **config):
    declared = {"name": "get", "parametersJsonSchema": {"type": "object"}}
    body = {
        "contents": [{"role": "user", "parts": [{"text": "hello"}]}],
        "tools": [{"functionDeclarations": [declared]}],
        "generationConfig": config,
    }
    url = f"http://inspector/google/v1beta/models/{model}:generateContent"
    return read_strictly(url, json.dumps(body).encode())


def test_only_newer_geminis_take_tools_and_a_schema_together():
    both = {"responseMimeType": "application/json", "responseJsonSchema": CITY}
    assert read_gemini("gemini-3-flash-preview", **both).answer_schema == CITY
    with pytest.raises(ApiError, match="Function calling with a response mime type: 'application/json' is unsupported"):
        read_gemini("gemini-2.5-flash", **both)


def read_converse(schema, *content):
    body = {
        "messages": [{"role": "user", "content": [{"text": "hello"}, *content]}],
        "outputConfig": {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": {"schema": schema}}}},
    }
    model = "qwen.qwen3-32b-v1%3A0" if not content else "anthropic.claude-sonnet-4-5-20250929-v1%3A0"
    return read_strictly(f"http://inspector/bedrock/model/{model}/converse", json.dumps(body).encode())


def test_converse_takes_schemas_as_text_but_not_beside_citations():
    assert read_converse(json.dumps(CITY)).answer_schema == CITY
    with pytest.raises(ApiError, match="is invalid"):
        read_converse("{")
    source = {"bytes": "JVBERi0xLjQK"}
    cited = {"document": {"format": "pdf", "name": "a", "source": source, "citations": {"enabled": True}}}
    with pytest.raises(ApiError, match="Citations"):
        read_converse(json.dumps(CITY), cited)


def test_a_sample_of_a_recursive_schema_ends():
    node = {"type": "object", "properties": {"next": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}
    assert "next" in sample(node, {"Node": node})
