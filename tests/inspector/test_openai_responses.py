"""The inspector's reader of openai-responses: what it sees, what it refuses, and that OpenAI's SDK can read it."""

import functools
import hashlib
import json
import re
from itertools import accumulate

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell import File, render
from showandtell.inspector.openai_responses.read import read_body
from showandtell.inspector.openai_responses.rules import OPENAI, XAI
from showandtell.inspector.request import ApiError, Call, ReceivedFile, Result, TextPart
from showandtell.inspector.signatures import sign
from support.builders import tool_history
from support.fixtures import docx, gif, jpeg, mp3, pdf, png, wav, webp
from support.inspector_requests import NOTHING, PLOT, PLOTS, Request, ask, encode
from support.json_paths import VALUES, places, put
from support.paths import SHARED

RECORDINGS = SHARED / "data" / "accepted_requests.jsonl"
BASES = {"openai": "/openai/v1", "azure": "/azure/openai/v1", "xai": "/xai/v1"}
PLOT_TOOL = {"type": "function", "name": "plot", "description": "Draws a chart.", "parameters": PLOT, "strict": False}
INVOICE_TOOL = {**PLOT_TOOL, "name": "show_invoice", "description": "Shows an invoice as a PDF.", "parameters": NOTHING}
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def post(*items: object, base: str = "openai", **more: object) -> tuple[int, dict]:
    body = {"model": "gpt-5-mini", "tools": [PLOT_TOOL, INVOICE_TOOL], "input": items, **more}
    status, chunks = ask(Request(f"https://inspector.invalid{BASES[base]}/responses", json.dumps(body).encode()))
    return status, json.loads(b"".join(chunks))


def refused(answer: tuple[int, dict], status: int = 400) -> str:
    assert answer[0] == status, answer
    assert answer[1]["error"]["type"] == "invalid_request_error"
    return answer[1]["error"]["message"]


def words(answer: tuple[int, dict]) -> str:
    assert answer[0] == 200, answer
    messages = [item for item in answer[1]["output"] if item["type"] == "message"]
    return "".join(part["text"] for message in messages for part in message["content"])


def text(words: str) -> dict:
    return {"type": "input_text", "text": words}


def user(*parts: object) -> dict:
    return {"role": "user", "content": [text(part) if isinstance(part, str) else part for part in parts]}


def input_message(words: str, **more: object) -> dict:
    part = {"type": "output_text", "text": words, "annotations": []}
    return {"type": "message", "role": "assistant", "content": [part], **more}


def call(call_id: str = "call_1", **more: object) -> dict:
    return {"type": "function_call", "call_id": call_id, "name": "plot", "arguments": '{"values":[1]}', **more}


def output(*parts: object, call_id: str = "call_1") -> dict:
    return {"type": "function_call_output", "call_id": call_id, "output": user(*parts)["content"]}


def step(*parts: object) -> tuple[dict, dict, dict]:
    return user("plot 1"), call(), output(*parts)


def data_url(data: bytes, media_type: str) -> str:
    return f"data:{media_type};base64,{encode(data)}"


def image(data: bytes, media_type: str = "image/png") -> dict:
    return {"type": "input_image", "image_url": data_url(data, media_type), "detail": "auto"}


def paper(data: bytes, media_type: str = "application/pdf", name: str = "a.pdf") -> dict:
    return {"type": "input_file", "filename": name, "file_data": data_url(data, media_type)}


def thought(**more: object) -> dict:
    return {"type": "reasoning", "id": "rs_1", "summary": [], **more}


# What it sees


def test_a_file_in_a_tool_output_is_reported_with_place_type_hash_and_label():
    picture, invoice = png(40, 30, (20, 160, 40)), pdf("Total: 12.00 EUR")
    label = "⟦image 1: chart.png, from tool plot (call call_1), 2026-01-01⟧"
    answer = words(post(*step(label, image(picture), "⟦document 2: a.pdf, from tool plot⟧", paper(invoice))))
    assert "image 1: chart.png, from tool plot (call call_1), 2026-01-01\n  in the tool result of call_1" in answer
    assert "at input[2].output[1]" in answer
    assert f"image/png, {len(picture)} bytes, sha256 {hashlib.sha256(picture).hexdigest()}" in answer
    assert "at input[2].output[3]" in answer
    assert hashlib.sha256(invoice).hexdigest() in answer
    assert "Total: 12.00 EUR" in answer


def test_a_body_is_read_into_turns_calls_results_and_files():
    items = {"role": "developer", "content": "Be exact."}, *step("Here:", image(png())), input_message("Done.")
    asked = read(*items, instructions="Be brief.", max_output_tokens=99, parallel_tool_calls=False)
    first, model, results, last = asked.turns
    file = ReceivedFile("tool_result", "image/png", "input[3].output[1]", png(), call_id="call_1", label="Here:")
    assert asked.system == "Be brief.\nBe exact."
    assert first.parts == (TextPart("plot 1"),)
    assert model.parts == (Call("call_1", "plot", '{"values":[1]}'),)
    assert results.parts == (Result("call_1", (TextPart("Here:"), file)),)
    assert last.parts == (TextPart("Done."),)
    assert (asked.max_tokens, asked.parallel, asked.tool_choice, asked.stream) == (99, False, "auto", False)


def read(*items: object, rules: object = OPENAI, **more: object):
    body = {"model": "m", "tools": [PLOT_TOOL, INVOICE_TOOL], "input": items, **more}
    return read_body(json.dumps(body).encode(), rules)


def test_a_file_by_reference_is_known_by_its_reference():
    by_url = {"type": "input_file", "file_url": "https://a.b/c.csv?x=1"}
    by_id = {"type": "input_image", "file_id": "file-7", "detail": "low"}
    first, second = read(user(by_url, by_id)).turns[0].parts
    assert (first.media_type, first.reference) == ("text/csv", "https://a.b/c.csv?x=1")
    assert (second.media_type, second.reference, second.piece) == ("image/*", "file-7", 2)


@pytest.mark.parametrize(
    ("received", "failed"), [('{"error":"no"}', True), ('{"error":1,"a":2}', False), ('{"error', False)]
)
def test_an_output_that_is_an_error_object_is_a_failed_call(received: str, failed: bool):
    (result,) = read(*step(received)).turns[-1].parts
    assert result == Result("call_1", (TextPart(received),), is_error=failed)
    assert ("plot (call_1) failed: " in words(post(*step(received)))) == failed


TAKEN = [
    image(jpeg(), "image/jpeg"), image(gif(), "image/gif"), image(webp(), "image/webp"),
    {"type": "input_image", "image_url": "https://a.b/c.png"},
    paper(b"a,b", "text/csv", "a.csv"), paper(b"{}", "application/json", "a.json"), paper(docx(), WORD, "a.docx"),
    {**text("x"), "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}},
    {**image(png()), "prompt_cache_breakpoint": {"mode": "explicit"}},
    {**paper(pdf("x")), "detail": "high"},
]  # fmt: skip


@pytest.mark.parametrize("part", TAKEN, ids=[str(at) for at in range(len(TAKEN))])
def test_a_part_that_the_api_takes_is_taken_in_both_places(part: dict):
    assert post(user("look", part))[0] == 200
    assert post(*step("x", part))[0] == 200


HOSTED = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}}
ITEMS = [
    [{"type": "message", "role": "system", "content": [text("x")]}],
    [user("x"), input_message("y", id="msg_1", status="completed", phase="final_answer"), user("z")],
    [user("x"), {"role": "assistant", "content": "y"}],
    [user("x"), {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}],
    [user("x"), thought(encrypted_content="gAAA"), call(id="fc_1", status="completed"), output("y"), user("z")],
    [user("x"), thought(content=None, encrypted_content=None), HOSTED, input_message("y")],
    [user("x"), call("a"), call("b"), output("y", call_id="b"), output("y", call_id="a")],
    [user("x"), {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "select"}, {"type": "custom_tool_call_output", "call_id": "c", "output": "1"}],
]  # fmt: skip


@pytest.mark.parametrize("items", ITEMS, ids=[str(at) for at in range(len(ITEMS))])
def test_items_of_the_sdk_are_taken(items: list[dict]):
    assert post(*items)[0] == 200


def test_a_bare_string_is_a_persons_message():
    status, answer = post(tool_choice="required", input="plot 4, 5")
    assert status == 200
    called = [item for item in answer["output"] if item["type"] == "function_call"]
    assert [(item["name"], json.loads(item["arguments"])) for item in called] == [("plot", {"values": [4, 5]})]


CHOICES = [
    ("none", "none", 2),
    ({"type": "function", "name": "plot"}, "plot", 2),
    ({"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "plot"}]}, "required", 1),
    ({"type": "web_search"}, "auto", 2),
]


@pytest.mark.parametrize(("given", "choice", "count"), CHOICES, ids=[str(given) for given, _, _ in CHOICES])
def test_every_form_of_tool_choice_is_understood(given: object, choice: str, count: int):
    asked = read(user("x"), tool_choice=given)
    assert (asked.tool_choice, len(asked.tools)) == (choice, count)


def test_tools_of_the_host_are_let_be():
    asked = read(user("x"), tools=[{"type": "web_search", "filters": {}}], tool_choice="required")
    assert (asked.tools, asked.tool_choice) == ((), "auto")


# What it refuses

IMAGE_URL = "Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got"
FILE_DATA = "Invalid file data: 'input[0].content[0].file_data'. Expected a base64-encoded data URL with an application/pdf MIME type (e.g. 'data:application/pdf;base64,aW1nIGJ5dGVzIGhlcmU='), but got"
PERSISTED = "not found. Items are not persisted when `store` is set to false."
LOOSE = {
    **PLOT_TOOL,
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"a": {"type": "object"}},
        "required": ["a"],
        "additionalProperties": False,
    },
}
PARTIAL = {
    **PLOT_TOOL,
    "strict": True,
    "parameters": {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
}
WRONG = [
    ({"foo": 1}, "Unknown parameter: 'foo'."),
    ({"messages": []}, "Unknown parameter: 'messages'."),
    ({"input": [{**user("x"), "foo": 1}]}, "Unknown parameter: 'input[0].foo'."),
    ({"input": [user({**text("x"), "foo": 1})]}, "Unknown parameter: 'input[0].content[0].foo'."),
    ({"input": [user("x"), call(), {**output("y"), "is_error": True}]}, "Unknown parameter: 'input[2].is_error'."),
    ({"tools": [{**PLOT_TOOL, "foo": 1}]}, "Unknown parameter: 'tools[0].foo'."),
    ({"model": None}, "Invalid type for 'model': expected a string, but got null instead."),
    ({"input": 5}, "Invalid type for 'input': expected one of a string or array of objects, but got an integer instead."),
    ({"input": [5]}, "Invalid type for 'input[0]': expected an object, but got an integer instead."),
    ({"input": [{"role": "user", "content": 5}]}, "Invalid type for 'input[0].content': expected one of a string or array of objects, but got an integer instead."),
    ({"input": [{"role": "user"}]}, "Missing required parameter: 'input[0].content'."),
    ({"input": [{"type": "function_call_output", "output": "x"}]}, "Missing required parameter: 'input[0].call_id'."),
    ({"input": [{"role": "tool", "content": "x"}]}, "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'."),
    ({"input": [{"type": "tool_result"}]}, "Invalid value: 'tool_result'. Supported values are: "),
    ({"input": []}, "Invalid 'input': empty array."),
    ({"input": [user()]}, "Invalid 'input[0].content': empty array."),
    ({"input": [*step()]}, "Invalid 'input[2].output': empty array."),
    ({"input": [user({"type": "image_url"})]}, "Invalid value: 'image_url'. Supported values are: 'input_text', 'input_image', 'output_text', 'refusal', 'input_file', 'computer_screenshot', 'summary_text', and 'encrypted_content'."),
    ({"input": [{"role": "assistant", "content": [text("x")]}]}, "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."),
    ({"input": [*step(input_message("x")["content"][0])]}, "Invalid value: 'output_text'. Supported values are: 'input_text', 'input_image', and 'input_file'."),
    ({"input": [user({**image(png()), "detail": "huge"})]}, "Invalid value: 'huge'."),
    ({"input": [user("x"), output("y")]}, "No tool call found for function call output with call_id call_1."),
    ({"input": [user("x"), output("y"), call()]}, "No tool call found for function call output with call_id call_1."),
    ({"input": [*step("x"), output("y")]}, "No tool call found for function call output with call_id call_1."),
    ({"input": [user("x"), call()]}, "No tool output found for function call call_1."),
    ({"input": [user("x"), call(), call("b"), output("y")]}, "No tool output found for function call b."),
    ({"input": [user("x"), call("c" * 65), output("y", call_id="c" * 65)]}, "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead."),
    ({"input": [user("x"), call(id="call_1"), output("y")]}, "Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'."),
    ({"input": [user("x"), input_message("y", id="msg_1"), input_message("z", id="msg_1")]}, "Duplicate item found with id msg_1."),
    ({"input": [user("x"), thought(encrypted_content="gAAA"), user("y")]}, "Item 'rs_1' of type 'reasoning' was provided without its required following item."),
    ({"input": [user("x"), thought(encrypted_content="gAAA")]}, "Item 'rs_1' of type 'reasoning' was provided without its required following item."),
    ({"input": [user("x"), thought(encrypted_content=sign("openai", "rs_2")), input_message("y")]}, "The encrypted content for item rs_1 could not be verified."),
    ({"input": [user("x"), {"type": "web_search_call", "id": "fc_1", "status": "completed"}]}, "Invalid 'input[1].id': 'fc_1'. Expected an ID that begins with 'ws'."),
    ({"input": [user("x"), input_message("y", id="msg 1")]}, "Invalid 'input[1].id': 'msg 1'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters."),
    ({"input": [user("x"), thought(id=None), input_message("y")]}, "Missing required parameter: 'input[1].id'."),
    ({"previous_response_id": "resp_1"}, "Previous response with id 'resp_1' not found."),
    ({"max_output_tokens": 9}, "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 9 instead."),
    ({"temperature": 3}, "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead."),
    ({"stream_options": {}}, "The 'stream_options' parameter is only allowed when 'stream' is enabled."),
    ({"include": ["everything"]}, "Invalid value: 'everything'."),
    ({"tools": [{**PLOT_TOOL, "name": "a b"}]}, "Invalid 'tools[0].name': string does not match pattern."),
    ({"tools": [{**PLOT_TOOL, "parameters": {"type": "array"}}]}, "Invalid schema for function 'plot': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"array\"'."),
    ({"tools": [LOOSE]}, "Invalid schema for function 'plot': In context=('properties', 'a'), 'additionalProperties' is required to be supplied and to be false."),
    ({"tools": [PARTIAL]}, "Invalid schema for function 'plot': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'a'."),
    ({"tools": [{"type": "search"}]}, "Invalid value: 'search'. Supported values are: "),
    ({"text": {"format": {"type": "json_schema", "name": "a", "strict": True, "schema": PLOT}}}, "Invalid schema for response_format 'a': In context=(), 'additionalProperties' is required"),
    ({"tool_choice": "any"}, "Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'."),
    ({"tool_choice": {"type": "function", "name": "x"}}, "Tool choice 'x' not found in 'tools' parameter."),
    ({"tool_choice": "required", "tools": []}, "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."),
]  # fmt: skip


@pytest.mark.parametrize(("more", "message"), WRONG, ids=[str(at) for at in range(len(WRONG))])
def test_what_the_api_refuses_is_refused_in_its_words(more: dict, message: str):
    assert refused(post(**{"input": "x", **more})).startswith(message)


def test_a_format_that_nobody_knows_is_not_compared_with_parts():
    assert refused(post(user("x"), text={"format": {"type": "xml"}})) == "Invalid value: 'xml'."


BAD_MEDIA = [
    (image(mp3(), "audio/mpeg"), f"Invalid 'input[0].content[0].image_url'. {IMAGE_URL} unsupported MIME type 'audio/mpeg'."),
    (image(png(), "image/tiff"), f"Invalid 'input[0].content[0].image_url'. {IMAGE_URL} unsupported MIME type 'image/tiff'."),
    ({"type": "input_image", "image_url": "data:image/png;base64,"}, f"Invalid 'input[0].content[0].image_url'. {IMAGE_URL} empty base64-encoded bytes."),
    ({"type": "input_image", "image_url": "data:image/png;base64,_-8="}, f"Invalid 'input[0].content[0].image_url'. {IMAGE_URL} an invalid base64-encoded value."),
    ({"type": "input_image", "image_url": "cat.png"}, "Invalid 'input[0].content[0].image_url'. Expected a valid URL"),
    ({"type": "input_image"}, "Missing required parameter: 'input[0].content[0].image_url'."),
    ({**image(png()), "file_id": "file-1"}, "Mutually exclusive parameters: "),
    (image(jpeg()), "The image data you provided does not represent a valid image."),
    (paper(wav(), "audio/wav"), f"{FILE_DATA} unsupported MIME type 'audio/wav'."),
    (paper(mp3(), "audio/mpeg"), f"{FILE_DATA} unsupported MIME type 'audio/mpeg'."),
    (paper(png()), f"{FILE_DATA} data that is not of type 'application/pdf'."),
    (paper(png(), "text/plain"), f"{FILE_DATA} data that is not of type 'text/plain'."),
    (paper(pdf("x"), WORD), f"{FILE_DATA} data that is not of type '{WORD}'."),
    ({**paper(pdf("x")), "file_data": encode(pdf("x"))}, f"{FILE_DATA} a value without the 'data:' prefix."),
    ({**paper(pdf("x")), "filename": None}, "Missing required parameter: 'input[0].content[0].filename'."),
    ({"type": "input_file", "file_url": "https://a.b/c.mp3"}, "The file type you uploaded is not supported. Please try again with a pdf"),
]  # fmt: skip


@pytest.mark.parametrize(("part", "message"), BAD_MEDIA, ids=[str(at) for at in range(len(BAD_MEDIA))])
def test_media_that_the_api_refuses_are_refused_in_both_places(part: dict, message: str):
    assert refused(post(user(part))).startswith(message)
    there = message.replace("input[0].content[0]", "input[2].output[0]")
    assert refused(post(*step(part))).startswith(there)


def test_a_thought_that_was_not_stored_needs_its_encrypted_content():
    items = user("x"), thought(), input_message("y")
    assert post(*items)[0] == 200
    assert refused(post(*items, store=False), 404).startswith(f"Item with id 'rs_1' {PERSISTED}")


def test_an_item_that_nobody_keeps_is_not_found():
    assert refused(post({"id": "msg_1"}), 404).startswith(f"Item with id 'msg_1' {PERSISTED}")
    assert refused(post(user("x"), conversation="conv_1"), 404) == "Conversation with id 'conv_1' not found."


def test_a_refusal_has_the_error_form_of_openai():
    _, answer = post(user({**image(png()), "foo": 1}))
    error = {"param": "input[0].content[0].foo", "code": "unknown_parameter", "type": "invalid_request_error"}
    assert answer == {"error": {"message": "Unknown parameter: 'input[0].content[0].foo'.", **error}}


def test_a_body_over_fifty_megabytes_is_too_large():
    body = Request("https://inspector.invalid/openai/v1/responses", bytes(50 * 1024 * 1024 + 1))
    status, chunks = ask(body)
    assert status == 413
    assert "too large" in json.loads(b"".join(chunks))["error"]["message"]


# What xAI does otherwise


LARGE = png() + bytes(10 * 1024 * 1024)
BY_XAI = [
    ([user(image(gif(), "image/gif"))], "unsupported MIME type 'image/gif'."),
    ([*step(image(LARGE))], f"but got {len(LARGE)} bytes."),
    ([user(paper(pdf("x")))], "Inline file data is not supported. Use file_id or file_url."),
    ([user("x"), call("a"), call("b"), output("y", call_id="b"), output("y", call_id="a")], "Tool results must be in the order"),
    ([user("x"), {"role": "system", "content": "y"}], "A system message must be the first message."),
]  # fmt: skip


@pytest.mark.parametrize(("items", "message"), BY_XAI, ids=[message for _, message in BY_XAI])
def test_xai_refuses_what_openai_takes(items: list[dict], message: str):
    read(*items)
    with pytest.raises(ApiError, match=re.escape(message)):
        read(*items, rules=XAI)


def test_xai_takes_pictures_in_tool_output_and_files_by_reference():
    by_id = {"type": "input_file", "file_id": "file_1"}
    answer = words(post(*step("x", image(png())), user("look", by_id), base="xai", instructions="Be brief."))
    assert hashlib.sha256(png()).hexdigest() in answer


def test_xai_has_an_error_form_of_its_own():
    assert post(user("x"), base="xai", foo=1) == (400, {"code": "400", "error": "Argument not supported: foo"})


def test_azure_listens_below_its_own_path():
    assert "Nothing arrived" not in words(post(*step("x", image(png())), base="azure"))


# What it answers


def events(*items: object, **more: object) -> list[tuple[str, dict]]:
    body = {"model": "m", "tools": [PLOT_TOOL], "input": items, "stream": True, **more}
    status, chunks = ask(Request("https://inspector.invalid/openai/v1/responses", json.dumps(body).encode()))
    assert status == 200
    blocks = [block.split("\n") for block in b"".join(chunks).decode().removesuffix("\n\n").split("\n\n")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


def test_a_stream_names_and_numbers_every_event():
    received = events(user("plot 4, 5"))
    names = [name for name, _ in received]
    once = [name for at, name in enumerate(names) if names[at - 1 : at] != [name]]
    assert [data["type"] for _, data in received] == names
    assert [data["sequence_number"] for _, data in received] == list(range(len(received)))
    assert [name.removeprefix("response.") for name in once] == [
        "created", "in_progress", "output_item.added", "content_part.added", "output_text.delta", "output_text.done",
        "content_part.done", "output_item.done", "output_item.added", "function_call_arguments.delta",
        "function_call_arguments.done", "output_item.done", "completed",
    ]  # fmt: skip


def test_the_pieces_of_a_stream_are_its_whole_answer():
    received = events(user("plot 4, 5"))
    deltas = {kind: "".join(d["delta"] for name, d in received if name.endswith(f"{kind}.delta")) for kind in ("text", "arguments")}  # fmt: skip
    message, called = received[-1][1]["response"]["output"]
    assert message["content"][0]["text"] == deltas["text"] == PLOTS
    assert called["arguments"] == deltas["arguments"]
    assert received[-1][1]["response"]["usage"]["input_tokens_details"] == {"cached_tokens": 0, "cache_write_tokens": 0}


def test_a_stream_that_max_output_tokens_cuts_is_incomplete():
    name, data = events(user("hello"), max_output_tokens=16)[-1]
    assert name == "response.incomplete"
    assert data["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    assert data["response"]["output"][0]["status"] == "incomplete"


# Witnesses


def carry(request: httpx2.Request) -> httpx2.Response:
    status, chunks = ask(Request(str(request.url), request.read(), dict(request.headers)))
    kind = "text/event-stream" if b'"stream":true' in request.content else "application/json"
    return httpx2.Response(status, headers={"content-type": kind}, content=iter(chunks))


@pytest.fixture
def client():
    with (
        httpx2.Client(transport=httpx2.MockTransport(carry)) as http,
        openai.OpenAI(api_key="none", base_url="https://x/openai/v1", http_client=http, max_retries=0) as made,
    ):
        yield made


def test_openais_own_sdk_reads_the_stream(client: openai.OpenAI):
    with client.responses.stream(model="m", input="plot 4, 5", tools=[PLOT_TOOL]) as stream:
        response = stream.get_final_response()
    assert response.output_text == PLOTS
    assert json.loads(response.output[1].arguments) == {"values": [4, 5]}
    assert (response.status, response.usage.output_tokens_details.reasoning_tokens) == ("completed", 0)


def test_openais_own_sdk_can_go_on_with_what_it_was_answered(client: openai.OpenAI):
    first = client.responses.create(model="m", input="plot 4, 5", tools=[PLOT_TOOL])
    asked = [user("plot 4, 5"), *first.output, output("Here:", image(png()), call_id=first.output[1].call_id)]
    second = client.responses.create(model="m", input=asked, tools=[PLOT_TOOL])
    type(second).model_validate(second.model_dump(), strict=True)
    assert hashlib.sha256(png()).hexdigest() in second.output_text


def test_openais_own_sdk_sees_the_refusal(client: openai.OpenAI):
    with pytest.raises(openai.BadRequestError, match="No tool output found for function call call_1") as caught:
        client.responses.create(model="m", input=[user("x"), call()])
    assert (caught.value.param, caught.value.code) == ("input", None)


MODELS = {"openai:gpt-5-mini": "openai", "azure:mine": "azure", "xai:grok-4-1-fast-non-reasoning": "xai"}


@pytest.mark.parametrize(("model", "base"), MODELS.items(), ids=MODELS)
def test_our_own_requests_are_taken_with_files(model: str, base: str):
    history = tool_history("Here:", File.from_bytes(png(), name="kiwi.png"))
    body = render(history, model=model, instructions="Be brief.", max_tokens=2000).json()
    assert hashlib.sha256(png()).hexdigest() in words(post(base=base, **body))


def recorded() -> list[dict]:
    lines = RECORDINGS.read_text().splitlines() if RECORDINGS.exists() else []
    return [case for case in map(json.loads, lines) if case["endpoint"].endswith("/v1/responses")]


def filled(value: object) -> object:
    """A recorded body with small real files where the recording left media out."""
    match value:
        case str() if value.startswith("<<media"):
            kind = re.search(r"kind:(\S+)", value)[1]
            data = {"image/jpeg": jpeg, "image/png": png, "application/pdf": functools.partial(pdf, "x")}[kind]()
            return data_url(data, kind)
        case dict():
            return {key: filled(item) for key, item in value.items()}
        case list():
            return [filled(item) for item in value]
        case _:
            return value


@pytest.mark.skipif(not RECORDINGS.exists(), reason="the recordings are not at hand")
def test_every_request_that_openai_accepted_is_taken_with_all_its_files():
    cases = recorded()
    assert len(cases) > 10
    for case in cases:
        asked = read_body(json.dumps(filled(case["request"])).encode())
        files = [item for turn in asked.turns for part in turn.parts for item in getattr(part, "parts", [part])]
        seen = [file.place for file in files if isinstance(file, ReceivedFile)]
        assert seen == [media["where"] for media in case["media"]], case["case"]


WHOLE = {"model": "m", "tools": [LOOSE | {"strict": False}], "input": [*step("x", image(png())), thought(), input_message("y"), user("plot 3")]}  # fmt: skip


@given(data=st.data(), value=VALUES)
def test_a_body_with_anything_anywhere_gets_an_answer_or_a_refusal(data: st.DataObject, value: object):
    body = put(WHOLE, data.draw(st.sampled_from(places(WHOLE))), value)
    status, _ = ask(Request("https://inspector.invalid/openai/v1/responses", json.dumps(body).encode()))
    assert status == 200 or 400 <= status < 500


@pytest.mark.parametrize("value", ["1e999", "[1e999]", "9" * 5000, "[" * 9000, "[" * 9000 + "]" * 9000, '"\\ud800"'])
@pytest.mark.parametrize("field", ["max_output_tokens", "temperature", "metadata", "text", "tools", "input"])
def test_values_that_fit_no_type_are_refused(value: str, field: str):
    rest = {key: item for key, item in WHOLE.items() if key != field}
    raw = f'{json.dumps(rest)[:-1]}, "{field}": {value}}}'
    status, chunks = ask(Request("https://inspector.invalid/openai/v1/responses", raw.encode()))
    assert refused((status, json.loads(b"".join(chunks))))


@given(st.lists(st.integers(0, 2), min_size=1, max_size=6))
def test_every_file_is_seen_once_and_in_order(counts: list[int]):
    starts = [0, *accumulate(counts)]
    parts = [[image(png(8 + at, 8)) for at in range(start, start + count)] for start, count in zip(starts, counts, strict=False)]  # fmt: skip
    items = [item for at, some in enumerate(parts) for item in (call(str(at)), output("x", *some, call_id=str(at)))]
    results = [part for turn in read(user("x"), *items).turns for part in turn.parts if isinstance(part, Result)]
    seen = [entry.data for result in results for entry in result.parts if isinstance(entry, ReceivedFile)]
    assert seen == [png(8 + at, 8) for at in range(sum(counts))]
