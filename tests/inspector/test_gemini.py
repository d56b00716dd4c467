"""The embedded model as generateContent, on the Gemini API and on Vertex: what it reads, refuses and answers."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import reduce
from operator import getitem
from pathlib import Path

import httpx
import pytest
from google import genai
from google.genai import errors, types
from google.oauth2.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from showandtell.inspector.gemini import read as reader
from showandtell.inspector.gemini import schema as wire
from showandtell.inspector.gemini.rules import sign, signed_by
from showandtell.inspector.request import IncomingRequest
from showandtell.media import gate
from support.fixtures import gif, jpeg, mp3, mp4, pdf, png, wav
from support.inspector_requests import NOTHING, PLOT, PLOTS, TOOLS, Request, ask, details, encode
from support.paths import SHARED

GOOGLE = "https://inspector.invalid/google/v1beta/models/{}"
VERTEX = "https://inspector.invalid/vertex/v1beta1/projects/p/locations/global/publishers/google/models/{}"
NEW, OLD, DRAWS = "gemini-3-flash-preview", "gemini-2.5-flash", "gemini-3-pro-image-preview"
SIGNED = {"thoughtSignature": "skip_thought_signature_validator"}
RECORDINGS = SHARED / "data" / "accepted_requests.jsonl"


def post(body: dict, model: str = NEW, base: str = GOOGLE, verb: str = "generateContent") -> tuple[int, bytes]:
    status, chunks = ask(Request(base.format(f"{model}:{verb}"), json.dumps(body).encode()))
    return status, b"".join(chunks)


def gemini(*contents: dict, model: str = NEW, base: str = GOOGLE, **more: object) -> tuple[int, dict]:
    declared = [
        {"name": name, "description": received, "parametersJsonSchema": schema} for name, received, schema in TOOLS
    ]
    body = {"contents": contents, "tools": [{"functionDeclarations": declared}], **more}
    status, answer = post(body, model, base)
    return status, json.loads(answer)


def user(*parts: object) -> dict:
    return {"role": "user", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def model(*parts: object) -> dict:
    return {**user(*parts), "role": "model"}


def blob(data: bytes, media_type: str = "image/png", **more: object) -> dict:
    return {"inlineData": {"mimeType": media_type, "data": encode(data), **more}}


def linked(uri: str, media_type: str = "image/png") -> dict:
    return {"fileData": {"mimeType": media_type, "fileUri": uri}}


def call(name: str = "plot", signed: bool = True, **more: object) -> dict:
    return {"functionCall": {"name": name, "args": {}, **more}, **(SIGNED if signed else {})}


def result(output: object = "done", *parts: object, name: str = "plot", key: str = "output", **more: object) -> dict:
    held = {"parts": list(parts)} if parts else {}
    return {"functionResponse": {"name": name, "response": {key: output}, **held, **more}}


def step(*results: object) -> tuple[dict, dict, dict]:
    return user("plot 1, 2"), model(call(id="c1")), user(*(results or (result(id="c1"),)))


def parts(answer: tuple[int, dict]) -> list[dict]:
    assert answer[0] == 200, answer
    return answer[1]["candidates"][0]["content"]["parts"]


def words(answer: tuple[int, dict]) -> str:
    return "".join(part.get("text", "") for part in parts(answer))


def calls(answer: tuple[int, dict]) -> list[tuple[str, dict]]:
    found = [part["functionCall"] for part in parts(answer) if "functionCall" in part]
    return [(item["name"], item["args"]) for item in found]


def refused(answer: tuple[int, dict]) -> str:
    assert answer[0] == 400, answer
    assert (answer[1]["error"]["code"], answer[1]["error"]["status"]) == (400, "INVALID_ARGUMENT")
    return answer[1]["error"]["message"].removeprefix("* GenerateContentRequest.").strip()


def tokens(answer: tuple[int, dict]) -> dict[str, int]:
    details = answer[1]["usageMetadata"]["promptTokensDetails"]
    return {detail["modality"]: detail["tokenCount"] for detail in details if detail["modality"] != "TEXT"}


# What it reads


@pytest.mark.parametrize("base", [GOOGLE, VERTEX])
def test_a_file_in_a_function_response_is_reported_with_its_label(base: str):
    data = png(40, 30, (20, 160, 40))
    label = "⟦image 5: chart.png, from tool plot (call c1), 2026-01-01⟧"
    output = words(gemini(*step(result(["Here:", label], blob(data), id="c1")), base=base))
    assert hashlib.sha256(data).hexdigest() in output
    assert "- image 5: chart.png, from tool plot (call c1), 2026-01-01\n" in output
    assert "in the tool result of c1, at contents[2].parts[0].function_response.parts[0]" in output
    assert "40 x 30 pixels" in output


def test_several_files_of_one_response_get_their_labels_in_order():
    labels = ["⟦image 1: a.png, from tool plot⟧", "⟦image 2: shown below⟧", "⟦document 3: b.pdf, from tool plot⟧"]
    output = words(gemini(*step(result(labels, blob(png()), blob(pdf("Rent: 12 EUR"), "application/pdf")))))
    assert output.index("- image 1: a.png") < output.index("image/png")
    assert output.index("- document 3: b.pdf") < output.index("application/pdf")
    assert "Rent: 12 EUR" in output


def test_files_that_no_label_is_possible_for_get_none():
    labels = ["⟦image 1: a.png, from tool plot⟧", "⟦document 2: b.pdf, from tool plot⟧"]
    output = words(gemini(*step(result(labels, *[blob(png())] * 3))))
    assert "- file 1\n" in output
    assert "- image 1: a.png, from tool plot\n" not in output


def test_pages_behind_one_label_are_its_pieces():
    output = words(gemini(*step(result("⟦document 1: a.pdf, from tool plot⟧", blob(png()), blob(png(9, 9))))))
    assert "- document 1: a.pdf, from tool plot, piece 2" in output


def test_a_relocated_file_is_reported_in_the_user_message():
    data = jpeg(16, 16)
    framed = "⟦image 2: a.jpg, from tool plot, 2026-01-01. Tool output: data⟧", blob(data, "image/jpeg")
    answer = gemini(*step(result("⟦image 2: shown below⟧", id="c1")), user(*framed), model=OLD)
    assert hashlib.sha256(data).hexdigest() in words(answer)
    assert "image 2: a.jpg, from tool plot, 2026-01-01\n  in the user message, at contents[3].parts[1]" in words(answer)


def test_parallel_results_are_distinguished_by_name_and_id():
    turn = model(call("plot", id="a"), call("plot", signed=False, id="b"), call("show_invoice", signed=False, id="c"))
    back = result("third", name="show_invoice", id="c"), result("second", id="b"), result("first", id="a")
    output = words(gemini(user("go"), turn, user(*back)))
    assert [re.search(rf'- (\w+ \(\w\)) said: "{word}"', output)[1] for word in ("first", "second", "third")] == [
        "plot (a)",
        "plot (b)",
        "show_invoice (c)",
    ]


def test_calls_without_ids_are_named_by_their_place():
    answer = gemini(user("go"), model(call(), call(signed=False)), user(result("one"), result("two")), base=VERTEX)
    assert 'plot (plot-1) said: "one"' in words(answer)
    assert 'plot (plot-2) said: "two"' in words(answer)


def test_an_error_in_a_response_is_a_failed_call():
    assert 'plot (c1) failed: "no such column"' in words(gemini(*step(result("no such column", key="error", id="c1"))))


def test_a_response_of_another_shape_is_read_as_json():
    odd = {"functionResponse": {"name": "plot", "response": {"rows": [{"n": 7}], "note": "x"}}}
    assert '{"rows":[{"n":7}],"note":"x"}' in words(gemini(*step(odd)))


@pytest.mark.parametrize(
    ("output", "quoted"), [(["a", {"n": 1}], 'a {"n":1}'), ([1, 2], "[1,2]"), ([{"n": 1}], '[{"n":1}]'), (7, "7")]
)
def test_a_list_with_words_is_parts_and_any_other_a_value(output: object, quoted: str):
    assert f'plot (c1) said: "{quoted}"' in words(gemini(*step(result(output, id="c1"))))


def test_both_spellings_single_objects_and_numbers_as_text_are_read():
    answer = gemini(
        {"role": "user", "parts": {"inline_data": {"mime_type": "image/png", "data": encode(png())}}},
        system_instruction={"parts": {"text": "Be brief."}},
        generation_config={"max_output_tokens": "900", "temperature": 1, "seed": None},
    )
    assert "I received 1 file" in words(answer)


@given(st.binary(min_size=1, max_size=40), st.booleans(), st.booleans())
def test_base64_is_read_in_either_alphabet_padded_or_not(data: bytes, safe: bool, padded: bool):
    text = (base64.urlsafe_b64encode if safe else base64.b64encode)(data).decode()
    assert wire.decode_bytes(text if padded else text.rstrip("=")) == data


def test_older_schemas_and_a_forced_tool_are_read():
    fields = {"values": {"type": "array", "items": {"type": "NUMBER"}}}
    schema = {"type": "OBJECT", "properties": fields, "required": ["values"]}
    tools = [{"functionDeclarations": [{"name": "plot", "description": "Draws.", "parameters": schema}]}]
    forced = {"functionCallingConfig": {"mode": "any", "allowedFunctionNames": ["plot"]}}
    assert calls(gemini(user("plot 4, 5"), tools=tools, toolConfig=forced)) == [("plot", {"values": [4, 5]})]


def test_a_forbidden_tool_is_not_called():
    config = {"functionCallingConfig": {"mode": "NONE"}}
    assert calls(gemini(user("/show_invoice"), toolConfig=config)) == []


# What it does not see


def test_a_reference_in_a_function_response_is_taken_and_never_seen():
    uri = "https://generativelanguage.googleapis.com/v1beta/files/abc"
    answer = gemini(*step(result("⟦image 1: a.png⟧", linked(uri), id="c1")))
    assert f"only a reference came: {uri}" in words(answer)
    assert tokens(answer) == {}


def test_what_was_seen_counts_by_modality():
    files = blob(png()), blob(pdf("one", "two"), "application/pdf"), blob(wav(0.5), "audio/wav")
    assert tokens(gemini(user("look", *files), model=OLD)) == {"IMAGE": 258, "DOCUMENT": 516, "AUDIO": 64}
    assert tokens(gemini(user("look", *files[:2]))) == {"IMAGE": 774}


# What it refuses


PNG = blob(png())
BAD = [
    ({"contents": []}, "contents: contents is not specified"),
    ({"contents": [user("x")], "tempo": 1}, 'Invalid JSON payload received. Unknown name "tempo": Cannot find field.'),
    ({"contents": [user({"foo": 1})]}, "Invalid JSON payload received. Unknown name \"foo\" at 'contents[0].parts[0]': Cannot find field."),
    ({"contents": [user({"text": 5})]}, "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), 5"),
    ({"contents": [user({"text": "a", **PNG})]}, "Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'inlineData'"),
    ({"contents": [user({"inline_data": {"mimeType": "image/png", "data": "*"}})]}, "Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed for \"*\""),
    ({"contents": [user("x")], "generationConfig": {"topK": "many"}}, "Invalid value at 'generation_config.top_k' (TYPE_FLOAT), \"many\""),
    ({"contents": [user("x")], "generationConfig": {"responseModalities": ["SMELL"]}}, "Invalid value at 'generation_config.response_modalities[0]' (TYPE_ENUM), \"SMELL\""),
    ({"contents": ["x"]}, "Invalid value at 'contents[0]' (type.googleapis.com/google.ai.generativelanguage.v1beta.Content), \"x\""),
    ({"contents": [{"role": "tool", "parts": [{"text": "x"}]}]}, "Please use a valid role: user, model."),
    ({"contents": [user()]}, "contents[0].parts: contents.parts must not be empty."),
    ({"contents": [user("")]}, "contents[0].parts[0].data: required oneof field 'data' must have one initialized field"),
    ({"contents": [user({"thought": True})]}, "contents[0].parts[0].data: required oneof field 'data' must have one initialized field"),
    ({"contents": [model("x"), user("y")]}, "Please ensure that the first content has the role user."),
    ({"contents": [user("x"), model("y")]}, "Please ensure that multiturn requests end with a user turn or a function response turn."),
    ({"contents": [user(call())]}, "contents[0].parts[0].function_call: function calls are only allowed in contents of role model"),
    ({"contents": [user("x")], "generationConfig": {"temperature": 3}}, "generation_config.temperature: temperature must be in the range [0.0, 2.0]."),
    ({"contents": [user("x")], "generationConfig": {"maxOutputTokens": 0}}, "generation_config.max_output_tokens: max_output_tokens must be positive."),
    ({"contents": [user("x")], "generationConfig": {"candidateCount": 2}}, "Multiple candidates is not enabled for this model"),
    ({"contents": [user("x")], "generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW", "thinkingBudget": 1}}}, "You can only set only one of thinking budget and thinking level."),
    ({"contents": [user("x")], "generationConfig": {"responseModalities": ["IMAGE"]}}, "Model does not support the requested response modalities: image"),
    ({"contents": [user("x")], "tools": [{"functionDeclarations": [{"name": "a", "parameters": {"type": "OBJECT", "const": 1}}]}]}, "Invalid JSON payload received. Unknown name \"const\" at 'tools[0].function_declarations[0].parameters': Cannot find field."),
    ({"contents": [user("x")], "tools": [{"functionDeclarations": [{"name": "a", "parameters": {"type": "OBJECT", "properties": {"b": {"const": 1}}}}]}]}, "Invalid JSON payload received. Unknown name \"const\" at 'tools[0].function_declarations[0].parameters.properties[0].value': Cannot find field."),
    ({"contents": [user("x")], "tools": [{"functionDeclarations": [{"name": "a", "parametersJsonSchema": {"type": "array"}}]}]}, "tools[0].function_declarations[0].parameters_json_schema: schema at top-level must be of type object"),
    ({"contents": [user("x")], "tools": [{"functionDeclarations": [{"name": "a"}, {"name": "a"}]}]}, "Duplicate function declaration found: a"),
    ({"contents": [user("x")], "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["b"]}}}, "Function calling config names functions that are not declared: b"),
    ({"contents": [user("x", blob(gif(), "image/gif"))]}, "Unsupported MIME type: image/gif"),
    ({"contents": [user("x", linked("gs://b/a.png"))]}, "Invalid or unsupported file uri: gs://b/a.png"),
    ({"contents": [user("x", blob(b"%PNG", "application/pdf"))]}, "The document has no pages."),
    ({"contents": [user("x", blob(b"\xff\xfe", "text/plain"))]}, "Request contains an invalid argument."),
    ({"contents": [user("x", blob(b""))]}, "contents[0].parts[1].inline_data.data: data must not be empty"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "message"), BAD, ids=[message for _, message in BAD])
def test_what_is_wrong_is_refused_in_the_words_of_the_api(body: dict, message: str):
    status, answer = post(body)
    assert refused((status, json.loads(answer))) == message


def test_every_unknown_name_is_complained_about_with_its_field():
    answer = gemini(user({"foo": 1}, {"bar": 2}))
    assert [line.split('"')[1] for line in refused(answer).splitlines()] == ["foo", "bar"]
    assert answer[1]["error"]["details"][0]["fieldViolations"][0]["field"] == "contents[0].parts[0]"


WHOLE = {
    "contents": [*step(result(["⟦image 1: a.png⟧"], blob(png(), displayName="a"), id="c1")), user("look", blob(png()))],
    "systemInstruction": user("Be brief."),
    "tools": [{"functionDeclarations": [{"name": "plot", "description": "Draws.", "parametersJsonSchema": PLOT}]}],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["plot"]}},
    "generationConfig": {"temperature": 1, "maxOutputTokens": 99, "thinkingConfig": {"thinkingLevel": "LOW"}},
    "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
}
SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.just("\ud800")
VALUES = st.recursive(SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))


def places(value: object, path: tuple = ()) -> Iterator[tuple]:
    items = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


@given(data=st.data(), value=VALUES)
def test_a_body_with_anything_anywhere_gets_an_answer_or_a_refusal(data: st.DataObject, value: object):
    body = deepcopy(WHOLE)
    *path, last = data.draw(st.sampled_from(list(places(WHOLE))))
    reduce(getitem, path, body)[last] = value
    status, answer = post(body)
    assert (status == 200) != ("error" in json.loads(answer))
    assert status in {200, 400}


@pytest.mark.parametrize("body", [b"", b"[]", b"5", b'{"contents"', b"\xff", b'{"contents": 1e999}', b"[" * 9000])
def test_what_is_no_json_object_is_refused(body: bytes):
    status, chunks = ask(Request(GOOGLE.format(f"{NEW}:generateContent"), body))
    assert refused((status, json.loads(b"".join(chunks))))


@pytest.mark.parametrize("name", ["1st", "a b", "a" * 65, ""])
def test_a_function_name_that_the_api_does_not_take_is_refused(name: str):
    tools = [{"functionDeclarations": [{"name": name, "parametersJsonSchema": NOTHING}]}]
    assert "Invalid function name. Must start with a letter" in refused(gemini(user("x"), tools=tools))


def test_bytes_that_are_not_what_they_are_declared_to_be_are_refused():
    assert refused(gemini(user("x", blob(jpeg())))).startswith("Unable to process input image.")


UNEQUAL = "Please ensure that the number of function response parts is equal to"
PAIRS = [
    ([user("x"), model(call())], UNEQUAL),
    ([user("x"), model(call()), user("no")], UNEQUAL),
    ([user("x"), model(call(), call(signed=False)), user(result())], UNEQUAL),
    ([user("x"), model(call(), call(signed=False)), user(result()), user(result())], UNEQUAL),
    ([user("x"), model(call()), user(result(), result())], UNEQUAL),
    ([user("x"), model(call()), user(result(name="other"))], "Please ensure that function responses have the names"),
    ([user("x"), model(call(id="a")), user(result(id="b"))], "Please ensure that function responses have the names"),
    ([user("x"), user(result())], "Please ensure that function response turn comes immediately after"),
    ([user("x"), model("y"), model(call()), user(result())], "Please ensure that function call turn comes immediately"),
    ([user("x"), model(call()), user(result(), "and words")], "Please ensure that a content with function responses"),
    ([user("x"), model(call(), result()), user(result())], "Please ensure that a content with function responses"),
]  # fmt: skip


@pytest.mark.parametrize(("contents", "message"), PAIRS)
def test_calls_and_results_that_do_not_pair_are_refused(contents: list, message: str):
    assert refused(gemini(*contents)).startswith(message)


@pytest.mark.parametrize("value", ["words", ["list"], 5])
def test_a_response_must_be_an_object(value: object):
    answer = gemini(*step({"functionResponse": {"name": "plot", "response": value}}))
    assert "Invalid value at 'contents[2].parts[0].function_response.response'" in refused(answer)


def test_a_reference_in_a_response_names_a_part_or_is_refused():
    pointed = result({"$ref": "chart"}, blob(png(), displayName="chart"))
    assert "- chart, after the words" in words(gemini(*step(pointed)))
    assert "$ref" in refused(gemini(*step(result({"deep": [{"$ref": "chart"}]}, blob(png())))))
    assert "$ref" in refused(gemini(*step(result({"$ref": "#/$defs/A"}))))


REJECTS = "function_response.parts is not supported for this model."
CELLS = [
    (NEW, blob(pdf("x"), "application/pdf"), ""),
    (NEW, blob(b"words", "text/plain"), ""),
    (NEW, blob(wav(), "audio/wav"), "Unsupported MIME type: audio/wav"),
    (NEW, blob(b"words", "text/csv"), "Unsupported MIME type: text/csv"),
    (OLD, PNG, REJECTS),
    ("gemma-3-27b-it", PNG, REJECTS),
    ("gemini-2.5-computer-use-preview-10-2025", PNG, ""),
    ("gemini-2.5-computer-use-preview-10-2025", blob(jpeg(), "image/jpeg"), "Unsupported MIME type: image/jpeg"),
]


@pytest.mark.parametrize(("name", "file", "message"), CELLS)
def test_a_model_takes_in_function_responses_what_it_is_known_to_take(name: str, file: dict, message: str):
    answer = gemini(*step(result("x", file)), model=name)
    assert (refused(answer) if message else details(words(answer))[:10]) == (message or "I received")


@pytest.mark.parametrize(
    ("media_type", "build"), [("audio/mpeg", mp3), ("audio/mp3", mp3), ("video/mp4", mp4), ("text/csv", lambda: b"a,b")]
)
def test_a_person_may_send_sound_film_and_text(media_type: str, build: Callable[[], bytes]):
    data = build()
    assert hashlib.sha256(data).hexdigest() in words(gemini(user("look", blob(data, media_type)), model=OLD))


# Hosts


def test_vertex_takes_buckets_and_refuses_large_pictures():
    answer = gemini(*step(result("x", linked("gs://b/a.png"))), base=VERTEX)
    assert "only a reference came: gs://b/a.png" in words(answer)
    large = png() + bytes(7_000_000)
    assert "exceeds the limit of 7000000 bytes" in refused(gemini(user("x", blob(large)), base=VERTEX))


def test_each_host_knows_its_own_fields_alone():
    assert 'Unknown name "routingConfig"' in refused(gemini(user("x"), generationConfig={"routingConfig": {}}))
    assert 'Unknown name "store"' in refused(gemini(user("x"), store=True, base=VERTEX))
    assert words(gemini(user("x"), labels={"team": "a"}, base=VERTEX))


def test_a_role_may_be_left_out_on_the_gemini_api_alone():
    alone = {"parts": [{"text": "hello"}]}
    assert words(gemini(alone))
    assert refused(gemini(alone, base=VERTEX)) == "Please use a valid role: user, model."


@pytest.mark.parametrize("path", ["v1beta/models/m:embedContent", "v1beta/models", "v2/models/m:generateContent"])
def test_another_path_is_404_in_the_form_of_the_api(path: str):
    status, chunks = ask(Request(f"https://x/google/{path}", b"{}"))
    assert (status, json.loads(b"".join(chunks))["error"]["status"]) == (404, "NOT_FOUND")


def test_a_body_over_the_limit_is_refused():
    status, chunks = ask(Request(VERTEX.format(f"{NEW}:generateContent"), b" " * 20_000_001))
    message = json.loads(b"".join(chunks))["error"]["message"]
    assert (status, message) == (400, "Request payload size exceeds the limit: 20000000 bytes.")


# Signatures


def test_the_first_call_of_each_turn_of_a_run_must_be_signed():
    bare = user("x"), model(call(signed=False)), user(result())
    assert refused(gemini(*bare)).startswith("Function call is missing a thought_signature in functionCall parts.")
    assert "`default_api:plot` , position 2." in refused(gemini(*bare))
    assert "function call `plot` in the 2. content block" in refused(gemini(*bare, base=VERTEX))
    assert words(gemini(*bare, model=OLD))
    assert words(gemini(*bare, model("done"), user("and now?")))


def test_relocated_files_do_not_end_a_run():
    bare = user("x"), model(call(signed=False)), user(result()), user("⟦image 1: a.png⟧", PNG)
    assert "missing a thought_signature" in refused(gemini(*bare))


def test_a_host_refuses_the_signatures_of_the_other():
    foreign = base64.urlsafe_b64encode(sign("vertex", "x")).decode()
    turn = model({**call(signed=False), "thoughtSignature": foreign})
    assert refused(gemini(user("x"), turn, user(result()))) == "Corrupted thought signature."
    assert words(gemini(user("x"), turn, user(result()), base=VERTEX))


@given(st.binary())
def test_a_signature_of_somebody_else_has_no_host(signature: bytes):
    assert signed_by(signature) in {None, "google", "vertex"}
    assert signed_by(sign("google", signature.hex())) == "google"


def test_a_signature_that_is_no_base64_is_refused():
    odd = model({**call(signed=False), "thoughtSignature": "not base64!"})
    assert "contents[1].parts[0].thought_signature' (TYPE_BYTES)" in refused(gemini(user("x"), odd, user(result())))


@pytest.mark.parametrize(("base", "ids"), [(GOOGLE, True), (VERTEX, False)])
def test_what_a_model_answered_can_be_sent_back(base: str, ids: bool):
    answered = parts(gemini(user("/plot values=1,2 /show_invoice"), base=base))
    made = [part["functionCall"] for part in answered]
    assert [("thoughtSignature" in part, "id" in part["functionCall"]) for part in answered] == [
        (True, ids),
        (False, ids),
    ]
    back = [result("ok", name=item["name"], **({"id": item["id"]} if ids else {})) for item in made]
    assert 'said: "ok"' in words(gemini(user("go"), model(*answered), user(*back), base=base))


# What it answers


def test_a_stream_is_chunks_that_end_with_a_reason_and_usage():
    body = {"contents": [user("hello there")]}
    status, answer = post(body, verb="streamGenerateContent?alt=sse")
    chunks = [json.loads(event.removeprefix(b"data: ")) for event in answer.split(b"\r\n\r\n")[:-1]]
    texts = [part.get("text") for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
    assert (status, "".join(texts)) == (200, words((200, json.loads(post(body)[1]))))
    assert [chunk["candidates"][0].get("finishReason") for chunk in chunks] == [None] * (len(chunks) - 1) + ["STOP"]
    assert len(chunks) > 2
    assert chunks[-1]["usageMetadata"] == json.loads(post(body)[1])["usageMetadata"]
    assert "thoughtSignature" in chunks[-1]["candidates"][0]["content"]["parts"][0]


def test_a_stream_without_sse_is_one_array():
    status, answer = post({"contents": [user("hello")]}, verb="streamGenerateContent")
    assert status == 200
    assert json.loads(answer)[-1]["candidates"][0]["finishReason"] == "STOP"


@pytest.mark.parametrize(
    ("verb", "query", "form"),
    [
        ("generateContent", "", (False, False)),
        ("streamGenerateContent", "", (False, True)),
        ("streamGenerateContent", "alt=sse", (True, False)),
    ],
)
def test_a_request_says_whether_it_wants_a_stream_or_an_array_and_always_gets_its_tokens(verb, query, form):
    body = json.dumps({"contents": [user("hello")]}).encode()
    asked = reader.HOSTS[0].read(IncomingRequest("", query, {}, body, {"model": "gemini-3", "verb": verb}))
    assert (asked.stream, asked.array) == form
    assert asked.stream_usage


def test_an_answer_over_max_output_tokens_is_cut():
    answer = gemini(user("hello"), generationConfig={"maxOutputTokens": 5})
    assert answer[1]["candidates"][0]["finishReason"] == "MAX_TOKENS"
    assert len(words(answer)) == 20


def test_the_same_request_gets_the_same_bytes():
    assert post({"contents": [user("hello")]}) == post({"contents": [user("hello")]})


def test_a_model_that_draws_gives_a_real_picture(tmp_path: Path):
    answer = gemini(user("Please draw a red kite"), model=DRAWS)
    (picture,) = [part["inlineData"] for part in parts(answer) if "inlineData" in part]
    path = tmp_path / "picture"
    path.write_bytes(base64.b64decode(picture["data"]))
    assert gate.probe(path, claimed="image/png", name="picture.png").media_type == "image/png"
    assert gate.describe(path, "image/png")["pixels"] == [64, 64]
    assert {"modality": "IMAGE", "tokenCount": 1290} in answer[1]["usageMetadata"]["candidatesTokensDetails"]


@pytest.mark.parametrize(("name", "output"), [(NEW, "draw a kite"), (DRAWS, "what is a kite?"), (DRAWS, "plot 1, 2")])
def test_no_picture_is_drawn_for_others(name: str, output: str):
    assert not [part for part in parts(gemini(user(output), model=name)) if "inlineData" in part]


def test_a_picture_that_a_model_drew_may_come_back():
    drawn = parts(gemini(user("draw a kite"), model=DRAWS))
    answer = gemini(user("draw a kite"), model(*drawn), user("thanks"), model=DRAWS)
    assert words(answer)


# Witnesses


def carry(request: httpx.Request) -> httpx.Response:
    status, chunks = ask(Request(str(request.url), request.read(), dict(request.headers)))
    return httpx.Response(status, headers={"content-type": "application/json"}, content=b"".join(chunks))


def client(host: str) -> genai.Client:
    http = httpx.Client(transport=httpx.MockTransport(carry))
    options = types.HttpOptions(base_url=f"https://inspector.invalid/{host}", httpx_client=http)
    if host == "google":
        return genai.Client(api_key="none", http_options=options)
    granted = Credentials(token="none")  # noqa: S106 - no secret, nobody looks at it
    return genai.Client(vertexai=True, project="p", location="global", credentials=granted, http_options=options)


def settings(**more: object) -> types.GenerateContentConfig:
    declared = types.FunctionDeclaration(name="plot", description="Draws.", parameters_json_schema=PLOT)
    tools = [types.Tool(function_declarations=[declared])]
    manual = types.AutomaticFunctionCallingConfig(disable=True)
    return types.GenerateContentConfig(tools=tools, automatic_function_calling=manual, temperature=0.5, **more)


def whole(sdk: genai.Client, contents: list) -> types.GenerateContentResponse:
    return sdk.models.generate_content(model=NEW, contents=contents, config=settings(system_instruction="Be brief."))


def streamed(sdk: genai.Client, contents: list) -> Iterator[types.GenerateContentResponse]:
    return sdk.models.generate_content_stream(model=NEW, contents=contents, config=settings())


@pytest.mark.parametrize("host", ["google", "vertex"])
def test_googles_own_sdk_reads_the_answer_and_shows_a_file_in_the_response(host: str):
    with client(host) as sdk:
        asked = types.Content(role="user", parts=[types.Part.from_text(text="plot 4, 5")])
        answer = whole(sdk, [asked])
        assert answer.function_calls[0].args == {"values": [4, 5]}
        file = types.FunctionResponsePart.from_bytes(data=png(), mime_type="image/png")
        back = types.Part.from_function_response(name="plot", response={"output": "Here:"}, parts=[file])
        last = whole(sdk, [asked, answer.candidates[0].content, types.Content(role="user", parts=[back])])
    assert hashlib.sha256(png()).hexdigest() in last.text
    assert last.usage_metadata.prompt_tokens_details[1].token_count == 258


@pytest.mark.parametrize("host", ["google", "vertex"])
def test_googles_own_sdk_reads_the_stream(host: str):
    with client(host) as sdk:
        chunks = list(streamed(sdk, ["plot 4, 5"]))
    assert "".join(chunk.text or "" for chunk in chunks) == PLOTS
    assert [item.args for chunk in chunks for item in chunk.function_calls or []] == [{"values": [4, 5]}]
    assert chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP


def test_googles_own_sdk_sees_the_refusal():
    broken = types.Part.from_bytes(data=jpeg(), mime_type="image/png")
    with client("google") as sdk, pytest.raises(errors.ClientError, match="Unable to process input image"):
        whole(sdk, [broken])


REAL = {"image/jpeg": jpeg, "image/png": png, "application/pdf": lambda: pdf("x"), "audio/mpeg": mp3, "video/mp4": mp4}


def filled(text: str) -> str:
    """A recorded request with real bytes where its media and its signatures stood."""
    media = re.compile(r"<<media sha256:\w+ len:\d+ kind:([\w/]+) enc:b64url>>")
    real = media.sub(lambda found: base64.urlsafe_b64encode(REAL[found[1]]()).decode(), text)
    return re.sub(r"<<opaque len:\d+>>", "c2lnbmVk", real)


@pytest.mark.skipif(not RECORDINGS.exists(), reason="the recordings are not at hand")
def test_what_the_api_accepted_is_accepted_here():
    cases = [json.loads(line) for line in RECORDINGS.read_text().splitlines() if "generateContent" in line]
    recorded = [case for case in cases if case["provider"] in {"google", "vertex"}]
    for case in recorded:
        body = filled(json.dumps(case["request"])).encode()
        status, chunks = ask(Request(f"https://x/{case['provider']}{case['endpoint']}", body))
        assert status == 200, (case["case"], b"".join(chunks))
    assert len(recorded) > 50
