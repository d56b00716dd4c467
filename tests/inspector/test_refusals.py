"""What the embedded model refuses, in the words of each api."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.inspector.signatures import sign
from support.fixtures import jpeg, mp3, pdf, png, wav
from support.inspector_requests import (
    CHAT,
    MESSAGES,
    NOTHING,
    PLOT,
    Request,
    ask,
    assistant,
    called,
    chat,
    claude,
    document,
    image,
    paper,
    picture,
    refused,
    result,
    returned,
    sound,
    source,
    step,
    text,
    use,
    user,
)
from support.json_paths import VALUES, places, put

# What Anthropic refuses


ODD = [
    ({"messages": [user("x")], "temprature": 1}, "temprature: Extra inputs are not permitted"),
    ({"messages": [user({"type": "text", "text": "x", "foo": 1})]}, "messages.0.content.0.text.foo: Extra inputs are not permitted"),
    ({"messages": [user({"type": "text"})]}, "messages.0.content.0.text.text: Field required"),
    ({"messages": [user({"type": "text", "text": 5})]}, "messages.0.content.0.text.text: Input should be a valid string"),
    ({"messages": [user({"type": "video"})]}, "messages.0.content.0: Input tag 'video' found using 'type' does not match any of the expected tags"),
    ({"messages": []}, "messages: at least one message is required"),
    ({"messages": [user("x")], "temperature": 2}, "temperature: range: 0..1"),
    ({"messages": [user("x")], "max_tokens": 0}, "max_tokens: Input should be greater than or equal to 1"),
    ({"messages": [user("x")], "max_tokens": "9"}, "max_tokens: Input should be a valid integer"),
    ({"messages": [user("x")], "tools": [], "tool_choice": {"type": "any"}}, "tool_choice: tool_choice may only be specified while providing tools."),
    ({"messages": [user("x")], "tool_choice": {"type": "tool", "name": "x"}}, "tool_choice: Tool 'x' not found in provided tools"),
    ({"messages": [user("x")], "tools": [{"name": "a b", "input_schema": NOTHING}]}, "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    ({"messages": [user("x")], "tools": [{"name": "a", "input_schema": {}}]}, "tools.0.custom.input_schema.type: Field required"),
    ({"messages": [user("x")], "tools": [{"name": "a", "input_schema": {"type": "array"}}]}, "tools.0.custom.input_schema.type: Input should be 'object'"),
    ({"messages": [user("x")], "tools": [{"name": "a", "input_schema": NOTHING}] * 2}, "tools: Tool names must be unique."),
]  # fmt: skip


@pytest.mark.parametrize(("more", "message"), ODD, ids=[message for _, message in ODD])
def test_anthropic_refuses_fields_that_are_wrong(more: dict, message: str):
    assert refused(claude(**more)) == message


def test_anthropic_requires_max_tokens():
    status, chunks = ask(Request(MESSAGES, json.dumps({"model": "m", "messages": [user("x")]}).encode()))
    assert refused((status, json.loads(b"".join(chunks)))) == "max_tokens: Field required"


def test_anthropic_says_its_error_form():
    status, answer = claude()
    assert (status, answer["type"]) == (400, "error")
    assert set(answer["error"]) == {"type", "message"}


def search(call_id: str = "srvtoolu_1") -> dict:
    return {"type": "server_tool_use", "id": call_id, "name": "web_search", "input": {"query": "kiwi"}}


def found(call_id: str = "srvtoolu_1") -> dict:
    return {"type": "web_search_tool_result", "tool_use_id": call_id, "content": []}


THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": sign("anthropic", "Hm.")}
UNPAIRED = "`tool_use` ids were found without `tool_result` blocks immediately after"
PLACES = [
    ([assistant("x"), user("y")], 'messages: first message must use the "user" role'),
    ([user("x"), assistant("y ")], "messages: final assistant content cannot end with trailing whitespace"),
    ([user()], "messages.0: all messages must have non-empty content"),
    ([user("")], "messages.0: text content blocks must be non-empty"),
    ([user(" \n")], "messages.0: text content blocks must contain non-whitespace text"),
    ([user("x"), assistant(image(png())), user("y")], "messages.1: `image` blocks can only be in `user` messages"),
    ([user("x"), assistant(document(pdf("x"))), user("y")], "messages.1: `document` blocks can only be in `user` messages"),
    ([user(use())], "messages.0: `tool_use` blocks can only be in `assistant` messages"),
    ([user("x"), assistant(use()), user("y")], f"messages.1: {UNPAIRED}: toolu_1."),
    ([user("x"), assistant(use()), user("y", result("z"))], f"messages.1: {UNPAIRED}: toolu_1."),
    ([user("x"), assistant(use(), use("b")), user(result("z"), "words", result("z", call_id="b"))], f"messages.1: {UNPAIRED}: b."),
    ([user(result("x"))], "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1."),
    ([user("x"), assistant(use()), user(result("z"), result("z"))], "messages.2.content.1: each tool_use must have a single result."),
    ([*step("x"), assistant(use()), user(result("y"))], "messages: `tool_use` ids must be unique"),
    ([user("x"), assistant(use("a.b")), user(result("y", call_id="a.b"))], "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"),
    ([*step(image(png()), is_error=True)], "messages.2.content.0.tool_result: all content must be type `text` if `is_error` is true"),
    ([*step()], "messages.2.content.0.tool_result.content: List should have at least 1 item"),
    ([user("x"), assistant(search("toolu_1"), found("toolu_1"))], "messages.1.content.0.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"),
    ([user("x"), assistant(found())], "messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1. Each `web_search_tool_result` block must have a corresponding `server_tool_use` block before it."),
    ([user("x"), assistant(search(), {**found(), "type": "web_fetch_tool_result"})], "messages.1.content.1: unexpected `tool_use_id` found in `web_fetch_tool_result` blocks: srvtoolu_1."),
    ([user("x"), assistant(search()), user("y")], "messages.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block"),
    ([user("x"), assistant({**THOUGHT, "thinking": "Other."}, "y"), user("z")], "messages.1.content.0: Invalid `signature` in `thinking` block"),
    ([user("x"), assistant({**THOUGHT, "signature": ""}, "y"), user("z")], "messages.1.content.0: Invalid `signature` in `thinking` block"),
    ([user(*({**text("x"), "cache_control": {"type": "ephemeral"}} for _ in range(5)))], "A maximum of 4 blocks with cache_control may be provided. Found 5."),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "message"), PLACES, ids=[message for _, message in PLACES])
def test_anthropic_refuses_what_stands_in_the_wrong_place(messages: list[dict], message: str):
    assert refused(claude(*messages)).startswith(message)


@pytest.mark.parametrize(("model", "is_refused"), [("claude-opus-4-6", True), ("claude-sonnet-4-5", False)])
def test_newer_models_do_not_continue_an_assistant_message(model: str, is_refused: bool):
    status, answer = claude(user("x"), assistant("y"), model=model)
    assert status == (400 if is_refused else 200)
    assert ("does not support assistant message prefill" in str(answer)) == is_refused


THINKING = {"type": "enabled", "budget_tokens": 1024}


def test_with_thinking_the_calls_of_the_last_answer_come_with_their_thinking():
    forgotten = (user("x"), assistant(use()), user(result("z")))
    options = {"thinking": THINKING, "max_tokens": 2000}
    assert claude(user("x"), assistant(THOUGHT, use()), user(result("z")), **options)[0] == 200
    assert refused(claude(*forgotten, **options)).startswith("messages.1.content.0.type: Expected `thinking` or")
    assert claude(*forgotten, **{**options, "thinking": {"type": "adaptive"}})[0] == 200


def test_thinking_has_a_budget_below_the_limit_and_forces_no_tool():
    assert refused(claude(user("x"), thinking=THINKING, max_tokens=1024)).startswith("`max_tokens` must be greater")
    options = {"thinking": THINKING, "max_tokens": 2000, "tool_choice": {"type": "any"}}
    assert refused(claude(user("x"), **options)) == "Thinking may not be enabled when tool_choice forces tool use."


BASE64 = "messages.0.content.0.image.source.base64"
PAPER = "messages.0.content.0.document.source.base64"
BAD_MEDIA = [
    (image(jpeg()), f"{BASE64}.data: Image does not match the provided media type image/png"),
    (image(png(), "image/tiff"), f"{BASE64}.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"),
    (image(png(), "image/jpg"), f"{BASE64}.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"),
    ({"type": "image", "source": {**source(png(), "image/png"), "data": "_-8="}}, f"{BASE64}.data: Invalid base64 data"),
    ({"type": "image", "source": {**source(png(), "image/png"), "data": ""}}, f"{BASE64}.data: Invalid base64 data"),
    (image(png() + bytes(4_000_000)), f"{BASE64}: image exceeds 5 MB maximum: 53334"),
    (image(png(8001, 1)), f"{BASE64}.data: At least one of the image dimensions exceed max allowed size: 8000 pixels"),
    ({"type": "image", "source": {"type": "url", "url": "http://a/b.png"}}, "messages.0.content.0.image.source.url.url: Only HTTPS URLs are supported."),
    (document(png()), f"{PAPER}.data: The PDF specified was not valid."),
    (document(b"a,b", "text/csv"), f"{PAPER}.media_type: Input should be 'application/pdf'"),
]  # fmt: skip


@pytest.mark.parametrize(("block", "message"), BAD_MEDIA, ids=[message for _, message in BAD_MEDIA])
def test_anthropic_refuses_media_that_are_not_what_they_say(block: dict, message: str):
    assert refused(claude(user(block))).startswith(message)


def test_anthropic_names_the_place_of_a_file_in_a_tool_result():
    place = "messages.2.content.0.tool_result.content.1.image.source.base64.data"
    assert (
        refused(claude(*step("x", image(jpeg())))) == f"{place}: Image does not match the provided media type image/png"
    )


def test_anthropic_takes_a_hundred_images_and_no_more():
    assert claude(user(*[image(png(1, 1))] * 100))[0] == 200
    assert refused(claude(user(*[image(png(1, 1))] * 101))) == "too many images and documents: 101 + 0 > 100"


def test_anthropic_takes_smaller_pictures_where_there_are_many():
    pictures = [image(png())] * 20 + [image(png(2001, 1))]
    assert "many-image requests: 2000 pixels" in refused(claude(user(*pictures)))


# What OpenAI refuses


WRONG = [
    ({"messages": [user("x")], "foo": 1}, "Unrecognized request argument supplied: foo"),
    ({"messages": [{**user("x"), "foo": 1}]}, "Unknown parameter: 'messages[0].foo'."),
    ({"messages": [{"role": "user"}]}, "Missing required parameter: 'messages[0].content'."),
    ({"messages": [{"role": "user", "content": 5}]}, "Invalid type for 'messages[0].content': expected one of a string or an array, but got an integer instead."),
    ({"messages": [{"role": "robot", "content": "x"}]}, "Invalid value: 'robot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'."),
    ({"messages": []}, "Invalid 'messages': empty array."),
    ({"messages": [user()]}, "Invalid 'messages[0].content': empty array."),
    ({"messages": [{"role": "assistant", "content": None}]}, "Invalid value for 'content': expected a string, got null."),
    ({"messages": [user("x")], "stream_options": {"include_usage": True}}, "The 'stream_options' parameter is only allowed when 'stream' is enabled."),
    ({"messages": [user("x")], "tools": [{"type": "function", "function": {"name": "a", "parameters": {"type": "array"}}}]}, "Invalid schema for function 'a': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"array\"'."),
    ({"messages": [user("x")], "tools": [{"type": "function", "function": {"name": "a b"}}]}, "Invalid 'tools[0].function.name': string does not match pattern."),
    ({"messages": [user("x")], "tool_choice": "any"}, "Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'."),
    ({"messages": [user("x")], "tool_choice": {"type": "function", "function": {"name": "x"}}}, "Tool choice 'x' not found in 'tools' parameter."),
    ({"messages": [user("x"), called("call_1"), user("y")]}, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1"),
    ({"messages": [user("x"), called("call_1", "b"), returned("y"), user("y"), returned("y", "b")]}, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: b"),
    ({"messages": [user("x"), called("c" * 41), returned("y", "c" * 41)]}, "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead."),
    ({"messages": [user("x"), returned("y")]}, "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."),
    ({"messages": [user("x"), called("call_1"), returned([picture(png())])]}, "Invalid 'messages[2]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL."),
    ({"messages": [user("x"), called("call_1"), returned([paper(pdf("x"))])]}, "Invalid 'messages[2]'. Content blocks of type 'file' are not allowed"),
    ({"messages": [user("x"), assistant(picture(png())), user("y")]}, "Invalid 'messages[1]'. Image URLs are only allowed for messages with role 'user', but this message with role 'assistant' contains an image URL."),
    ({"messages": [user("x", sound(wav()))], "model": "gpt-5-mini"}, "Invalid 'messages[0]'. Content blocks are expected to be either text or image_url type."),
    ({"messages": [user(sound(mp3()))], "model": "gpt-audio"}, "Invalid value: 'messages[0].content[0].input_audio.data'."),
    ({"messages": [user(picture(png(), "image/tiff"))]}, "You uploaded an unsupported image."),
    ({"messages": [user(picture(jpeg()))]}, "The image data you provided does not represent a valid image."),
    ({"messages": [user({"type": "image_url", "image_url": {"url": "data:image/png;base64,_-8="}})]}, "Invalid base64 image_url."),
    ({"messages": [user({"type": "image_url", "image_url": {"url": "cat.png"}})]}, "Invalid 'messages[0].content[0].image_url.url'. Expected a valid URL"),
    ({"messages": [user(paper(mp3(), "audio/mpeg"))]}, "Invalid file data: 'messages[0].content[0].file.file_data'. Expected a base64-encoded data URL"),
    ({"messages": [user(paper(png()))]}, "Invalid file data: 'messages[0].content[0].file.file_data'."),
]  # fmt: skip


@pytest.mark.parametrize(("more", "message"), WRONG, ids=[str(at) for at in range(len(WRONG))])
def test_openai_refuses_what_its_api_refuses(more: dict, message: str):
    assert refused(chat(**more)).startswith(message)


def test_openai_says_its_error_form():
    _, answer = chat(user("x"), called("call_1"), returned([picture(png())]))
    assert set(answer["error"]) == {"message", "type", "param", "code"}
    assert answer["error"]["param"] == "messages[2]"


# What both refuse


def tool_of(form: str) -> dict:
    declared = {"name": "plot", "description": "Draws."}
    function = {"type": "function", "function": {**declared, "parameters": PLOT}}
    return {"anthropic": {**declared, "input_schema": PLOT}, "openai": function}[form]


WHOLE = {
    MESSAGES: {"model": "m", "max_tokens": 99, "tools": [tool_of("anthropic")], "messages": [*step("x"), assistant("y"), user("plot 3 in image 1")]},
    CHAT: {"model": "m", "tools": [tool_of("openai")], "messages": [user("x"), called("call_1"), returned("y"), user("plot 3 in image 1")]},
}  # fmt: skip


@pytest.mark.parametrize("url", [MESSAGES, CHAT])
@given(data=st.data(), value=VALUES)
def test_a_body_with_anything_anywhere_gets_an_answer_or_a_refusal(url: str, data: st.DataObject, value: object):
    body = put(WHOLE[url], data.draw(st.sampled_from(places(WHOLE[url]))), value)
    status, _ = ask(Request(url, json.dumps(body).encode()))
    assert status == 200 or 400 <= status < 500


@pytest.mark.parametrize("url", [MESSAGES, CHAT])
@pytest.mark.parametrize("value", ["1e999", "-1e999", "[1e999]", "9" * 5000, "[" * 9000, "[" * 9000 + "]" * 9000])
@pytest.mark.parametrize("field", ["max_tokens", "temperature", "metadata", "response_format", "tools"])
def test_numbers_and_depths_that_fit_no_type_are_refused(url: str, value: str, field: str):
    rest = {key: item for key, item in WHOLE[url].items() if key != field}
    raw = f'{json.dumps(rest)[:-1]}, "{field}": {value}}}'
    status, chunks = ask(Request(url, raw.encode()))
    assert refused((status, json.loads(b"".join(chunks))))


@pytest.mark.parametrize("value", ['"\\ud800"', "1e999", "[" * 9000])
def test_words_that_json_can_not_say_again_stay_words(value: str):
    status, answer = claude(user(f"/plot values={value}"))
    assert status == 200
    assert all(isinstance(item, str) for item in answer["content"][0]["input"]["values"])


@pytest.mark.parametrize("length", ["x", "-1", "1e3", ""])
def test_a_length_that_is_no_number_is_refused(length: str):
    status, _ = ask(Request(CHAT, b"{}", {"content-length": length}))
    assert status == 400
