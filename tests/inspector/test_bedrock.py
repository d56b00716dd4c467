"""Converse as the embedded model reads it, Claude's Messages on Bedrock and Vertex, and what all three refuse."""

import hashlib
import json
import re
from collections.abc import Iterator
from functools import partial

import anthropic
import boto3
import botocore.exceptions
import pytest
from anthropic.lib.bedrock import AnthropicBedrock
from anthropic.lib.vertex import AnthropicVertex
from botocore.config import Config
from hypothesis import given
from hypothesis import strategies as st

from fake_provider.auth import AWS_KEY, AWS_SECRET, TOKEN
from support.fixtures import docx, gif, jpeg, mp4, pdf, png, webp
from support.inspector_requests import (
    NOTHING,
    PLOT,
    Request,
    ask,
    assistant,
    document,
    encode,
    image,
    people,
    step,
    use,
    user,
)
from support.paths import SHARED
from support.sdk_server import SdkServer, sdk_server

CLAUDE, NOVA = "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.amazon.nova-2-lite-v1:0"
LLAMA, MISTRAL = "us.meta.llama4-maverick-17b-instruct-v1:0", "us.mistral.pixtral-large-2502-v1:0"
QWEN, KIMI, WRITER = "qwen.qwen3-vl-235b-a22b", "moonshotai.kimi-k2.5", "us.writer.palmyra-x5-v1:0"
GPT = "openai.gpt-5.2"
TOOLS = {
    "tools": [
        {"toolSpec": {"name": "plot", "description": "Draws a chart of values.", "inputSchema": {"json": PLOT}}},
        {"toolSpec": {"name": "show_invoice", "inputSchema": {"json": NOTHING}}},
    ]
}
RECORDINGS = SHARED / "data" / "accepted_requests.jsonl"
MODEL_SAYS = "The model returned the following errors: "


def message(*content: object, role: str = "user") -> dict:
    return {"role": role, "content": [{"text": part} if isinstance(part, str) else part for part in content]}


def call(call_id: str = "tooluse_1", name: str = "plot", **more: object) -> dict:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": {}, **more}}


def back(*content: object, call_id: str = "tooluse_1", **more: object) -> dict:
    return {"toolResult": {"toolUseId": call_id, "content": message(*content)["content"], **more}}


def held(kind: str, data: bytes | str, form: str, **more: object) -> dict:
    source = {"s3Location": {"uri": data}} if isinstance(data, str) else {"bytes": encode(data)}
    return {kind: {"format": form, "source": source, **more}}


def picture(data: bytes | str | None = None, form: str = "png") -> dict:
    return held("image", png() if data is None else data, form)


def paper(data: bytes | str | None = None, form: str = "pdf", name: str = "report", **more: object) -> dict:
    return held("document", pdf("Total: 12 EUR") if data is None else data, form, name=name, **more)


def exchange(*messages: dict, model: str = CLAUDE, verb: str = "converse", **more: object) -> tuple[int, bytes]:
    body = {"messages": messages, "toolConfig": TOOLS, **more}
    url = f"https://inspector.invalid/bedrock/model/{model.replace(':', '%3A')}/{verb}"
    status, chunks = ask(Request(url, json.dumps(body).encode()))
    return status, b"".join(chunks)


def words(*messages: dict, **more: object) -> str:
    status, answer = exchange(*messages, **more)
    assert status == 200, answer
    return "".join(block.get("text", "") for block in json.loads(answer)["output"]["message"]["content"])


def refused(*messages: dict, **more: object) -> str:
    status, answer = exchange(*messages, **more)
    assert (status, json.loads(answer)["__type"]) == (400, "ValidationException"), answer[:300]
    return json.loads(answer)["message"]


def after(*results: object, calls: tuple[str, ...] = ("tooluse_1",)) -> tuple[dict, ...]:
    return message("go"), message(*map(call, calls), role="assistant"), message(*results)


# What it reports


def test_an_image_in_a_tool_result_is_reported_with_hash_place_and_label():
    data = png(40, 30, (20, 160, 40))
    output = words(*after(back("⟦image 5: chart.png, from tool plot (call tooluse_1)⟧", picture(data))))
    assert hashlib.sha256(data).hexdigest() in output
    assert "image 5: chart.png" in output
    assert "in the tool result of tooluse_1, at messages.2.content.0.toolResult.content.1" in output
    assert "40 x 30 pixels" in output


def test_a_relocated_pdf_is_read_behind_a_filler():
    framed = message("⟦document 1: a.pdf, from tool plot⟧", paper(citations={"enabled": True}))
    messages = (*after(back("⟦document 1: shown below⟧")), message(".", role="assistant"), framed)
    output = words(*messages)
    assert hashlib.sha256(pdf("Total: 12 EUR")).hexdigest() in output
    assert "in the user message, at messages.4.content.1" in output
    assert "Total: 12 EUR" in output


def test_claude_is_blind_for_a_pdf_in_a_tool_result():
    output = words(*after(back("⟦document 1: a.pdf⟧", paper())))
    assert "only a reference came: blind" in output
    assert "12 EUR" not in output


@pytest.mark.parametrize(("model", "more"), [(CLAUDE, {"citations": {"enabled": True}}), (LLAMA, {})])
def test_a_pdf_in_a_tool_result_is_seen_with_citations_and_by_other_models(model: str, more: dict):
    assert "Total: 12 EUR" in words(*after(back("⟦document 1: a.pdf⟧", paper(**more))), model=model)


def test_every_file_of_parallel_results_is_reported_in_order():
    first, second = png(), jpeg(9, 9)
    results = back("one", picture(first)), back("two", picture(second, "jpeg"), call_id="tooluse_2")
    output = words(*after(*results, calls=("tooluse_1", "tooluse_2")))
    assert output.index(hashlib.sha256(first).hexdigest()) < output.index(hashlib.sha256(second).hexdigest())


def test_words_of_every_kind_are_read():
    found = {"searchResult": {"source": "x", "title": "Kiwis", "content": [{"text": "kiwis are green"}]}}
    output = words(*after(back({"json": {"a": 1}}, found, call_id="tooluse_1")))
    assert '{"a":1}' in output.replace("\\", "")
    assert "kiwis are green" in output


def test_a_document_of_words_is_read():
    of_words = {"document": {"name": "fruit", "source": {"content": [{"text": "Kiwis are green"}]}}}
    assert people(words(message("Which are green?", of_words))).startswith("> Kiwis are green\n")


def test_a_failed_tool_is_reported_as_failed():
    assert 'plot (tooluse_1) failed: "no such column"' in words(*after(back("no such column", status="error")))


def test_nova_takes_a_picture_from_a_bucket():
    output = words(*after(back(picture("s3://some-bucket/kiwi.jpg", "jpeg"))), model=NOVA)
    assert "only a reference came: s3://some-bucket/kiwi.jpg" in output


def test_what_the_system_says_in_between_is_no_turn():
    assert "I received 1 file" in words(message("look", picture()), message("be brief", role="system"))


def test_a_tool_is_called_and_max_tokens_cuts():
    status, answer = exchange(message("plot 4, 5"))
    body = json.loads(answer)
    assert (status, body["stopReason"]) == (200, "tool_use")
    used = body["output"]["message"]["content"][1]["toolUse"]
    assert (used["name"], used["input"], used["type"]) == ("plot", {"values": [4, 5]}, "tool_use")
    cut = json.loads(exchange(message("hello"), inferenceConfig={"maxTokens": 1})[1])
    assert cut["stopReason"] == "max_tokens"
    assert cut["usage"]["totalTokens"] == cut["usage"]["inputTokens"] + cut["usage"]["outputTokens"]


@pytest.mark.parametrize(
    ("config", "name"),
    [({"any": {}}, "plot"), ({"tool": {"name": "show_invoice"}}, "show_invoice"), ({"auto": {}}, None)],
)
def test_the_choice_of_tools_is_obeyed(config: dict, name: str | None):
    answer = json.loads(exchange(message("hello"), toolConfig={**TOOLS, "toolChoice": config})[1])
    used = [block["toolUse"]["name"] for block in answer["output"]["message"]["content"] if "toolUse" in block]
    assert used == ([name] if name else [])


# What it refuses


SHOULD = "1 validation error detected: Value at "
ODD = [
    ({"surprise": 1}, "Malformed input request: #: extraneous key [surprise] is not permitted"),
    ({"messages": [message({"type": "text", "text": "x"})]}, "#/messages/0/content/0: extraneous key [type] is not permitted"),
    ({"messages": [message({"text": 5})]}, "#/messages/0/content/0/text: expected type: String, found: Integer"),
    ({"messages": [{"role": "user", "content": "x"}]}, "#/messages/0/content: expected type: JSONArray, found: String"),
    ({"messages": [message({})]}, "#/messages/0/content/0: exactly one key must be set"),
    ({"messages": [message({"text": "x", "image": picture()["image"]})]}, "#/messages/0/content/0: exactly one key"),
    ({"messages": [{"role": "user"}]}, f"{SHOULD}'messages.1.member.content' failed to satisfy constraint: Member must not be null"),
    ({"messages": [message("x", role="tool")]}, f"{SHOULD}'messages.1.member.role' failed to satisfy constraint: Member must satisfy enum value set"),
    ({"messages": [message("x", picture(form="jpg"))]}, f"{SHOULD}'messages.1.member.content.2.member.image.format' failed"),
    ({"messages": [message("x", paper(name="x" * 201))]}, "document.name' failed to satisfy constraint: Member must have length less than or equal to 200"),
    ({"inferenceConfig": {"temperature": 1.5}}, f"{SHOULD}'inferenceConfig.temperature' failed to satisfy constraint: Member must have value less than"),
    ({"inferenceConfig": {"maxTokens": 0}}, "Member must have value greater than or equal to 1"),
    ({"system": [{"text": ""}]}, f"{SHOULD}'system.1.member.text' failed"),
    ({"toolConfig": {"tools": []}}, f"{SHOULD}'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1"),
    ({"toolConfig": {"tools": [{"toolSpec": {"name": "a b", "inputSchema": {"json": NOTHING}}}]}}, "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+"),
    ({"toolConfig": {"tools": [{"toolSpec": {"name": "a", "inputSchema": {"json": {}}}}]}}, "The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object."),
    ({"toolConfig": {"tools": TOOLS["tools"] * 2}}, "Tool names must be unique"),
    ({"toolConfig": {**TOOLS, "toolChoice": {"tool": {"name": "x"}}}}, "Tool 'x' not found in provided tools"),
]  # fmt: skip


@pytest.mark.parametrize(("more", "error"), ODD, ids=[message[:60] for _, message in ODD])
def test_wrong_fields_are_errors(more: dict, error: str):
    body = {"messages": [message("x")], **more}
    assert error in refused(*body.pop("messages"), **body)


def test_a_body_without_messages_is_refused():
    status, chunks = ask(Request("https://x/bedrock/model/m/converse", b"{}"))
    assert status == 400
    assert "'messages' failed to satisfy constraint: Member must not be null" in b"".join(chunks).decode()


BLANK = "The text field in the ContentBlock object at messages.0.content.0 is blank."
PLACES = [
    ([], "A conversation must start with a user message."),
    ([message("x"), message("y", role="assistant")], "A conversation must end with a user message."),
    ([message()], "The content field in the Message object at messages.0 is empty."),
    ([message("")], BLANK),
    ([message(" \n")], BLANK),
    ([message("x", call())], "messages.0.content.1: toolUse content blocks can only be in messages of the assistant role"),
    ([message("x"), message("y", picture(), role="assistant"), message("z")], "messages.1.content.1: image content blocks"),
    ([message(paper())], "A text block must be included when using documents."),
    ([*after(back("x", call_id="a b"))], "Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+"),
    ([*after(back("x", call_id="x" * 65))], "Member must have length less than or equal to 64"),
    ([*after("x")], "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_1"),
    ([*after(back("x", call_id="tooluse_9"))], "for the following Ids: tooluse_1"),
    ([*after(back("x"), calls=("tooluse_1", "b"))], "Expected toolResult blocks at messages.2.content for the following Ids: b"),
    ([*after(back("x"), back("y", call_id="b"))], "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn."),
    ([message(back("x"))], "The number of toolResult blocks at messages.0.content exceeds"),
    ([*after(back("x"), back("y"), calls=("tooluse_1", "b"))], "The toolResult blocks at messages.2.content contain duplicate Ids: tooluse_1"),
    ([*after(back("x")), message("y", role="assistant"), *after(back("x"))], "`tool_use` ids must be unique"),
    ([*after("x", back("y"))], "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after"),
    ([*after(back(status="error"))], "The content field at messages.2.content.0.toolResult cannot be empty when status value is error."),
    ([*after(back({"json": [1]}))], "The format of the value at messages.2.content.0.toolResult.content.0.json is invalid."),
    ([message("x"), message(call(input="{}"), role="assistant"), message(back("x"))], "messages.1.content.0.toolUse.input is invalid"),
    ([message("x", *[picture()] * 21)], "You can't include more than 20 images in a request."),
    ([message("x", *[paper(name=f"d {at}") for at in range(6)])], "You can't include more than 5 documents in a request."),
    ([message("x", paper(), paper())], "Messages can't contain duplicate document names."),
    ([*after(back("x", paper())), message("y", role="assistant"), message("z", paper())], "Messages can't contain duplicate document names."),
    ([message({"cachePoint": {"type": "default"}}, "x")], "There is nothing available to cache."),
    ([message("x", *[{"cachePoint": {"type": "default"}}] * 5)], "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    ([message("x", paper(b"hi", "md"), {"cachePoint": {"type": "default"}})], f"{MODEL_SAYS}messages.0.content.2.type: Field required"),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "message"), PLACES, ids=[f"{at}" for at in range(len(PLACES))])
def test_roles_order_and_pairs_are_checked(messages: list[dict], message: str):
    assert message in refused(*messages)


def test_tools_must_come_along_while_the_history_has_calls():
    status, chunks = ask(
        Request("https://x/bedrock/model/m/converse", json.dumps({"messages": after(back("x"))}).encode())
    )
    assert status == 400
    assert b"The toolConfig field must be defined when using toolUse and toolResult content blocks." in b"".join(chunks)


BAD_NAME = "The document file name can only contain alphanumeric characters"


@given(st.text(min_size=1, max_size=12))
def test_a_document_name_with_any_other_character_is_an_error(name: str):
    fine = re.fullmatch(r"[\w()\[\]-]+( [\w()\[\]-]+)*", name.strip(" ") or "?", re.ASCII) and "  " not in name
    status, answer = exchange(message("x", paper(name=name)))
    assert status == (200 if fine else 400)
    assert fine or BAD_NAME in answer.decode()


FILES = [
    (picture(jpeg()), f"{MODEL_SAYS}messages.0.content.1.image.source.base64.data: Image does not match the provided media type image/png"),
    (picture(b"GIF89a", "webp"), "Image does not match the provided media type image/webp"),
    (picture(png(8001, 1)), "At least one of the image dimensions exceed max allowed size: 8000 pixels"),
    (picture(png() + bytes(3_750_000)), "'messages.1.member.content.2.member.image.source.bytes' failed to satisfy constraint: Member must have length less than or equal to 3750000"),
    (paper(b"no pdf"), "messages.0.content.1.document.source.base64.data: The PDF specified was not valid."),
    (paper(pdf("x") + bytes(4_500_000)), "Member must have length less than or equal to 4500000"),
    (paper(pdf("x"), "docx"), "The provided document does not match the specified document format."),
    (paper(b"\x00\xff", "txt"), "The provided document does not match"),
    ({"image": {"format": "png", "source": {"bytes": "not base64"}}}, "#/messages/0/content/1/image/source/bytes: the value is not valid base64"),
    ({"document": {"name": "a", "source": {"bytes": encode(pdf("x"))}}}, "document.format' failed to satisfy constraint: Member must not be null"),
    (held("video", mp4(), "mp4"), "This model doesn't support the video content block that you provided."),
    (picture("s3://some-bucket/a.png"), "This model doesn't support the s3Uri field. Remove s3Uri and try again."),
    (picture("http://some-bucket/a.png"), "Member must satisfy regular expression pattern: s3://"),
    (paper("s3://some-bucket/a.pdf"), f"{MODEL_SAYS}messages.0.content.1.document.source.type: Field required"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "error"), FILES, ids=[message[:50] for _, message in FILES])
def test_files_match_their_type_and_size_limits(file: dict, error: str):
    assert error in refused(message("look", file))


def test_beyond_twenty_images_claude_takes_2000_pixels_a_side():
    many = [message(*[picture()] * 20), message(picture(png(2001, 1)))]
    assert "exceed max allowed size for many-image requests: 2000 pixels" in refused(*many)
    assert "I received 21 files" in words(*many, model=NOVA)


def test_another_vendor_says_about_a_wrong_picture_what_it_says():
    output = refused(message("x", picture(jpeg())), model=LLAMA)
    assert output == f"{MODEL_SAYS}The provided image does not match the specified image format."


EXTRANEOUS = "Malformed input request: #/messages/2/content/0: extraneous key [toolResult] is not permitted"
TOGETHER = "messages.2.content: Conversation blocks and tool result blocks cannot be provided in the same turn."
VENDORS = [
    (NOVA, [back("x", paper())], EXTRANEOUS),
    (NOVA, [back("x", paper(docx(), "docx"))], EXTRANEOUS),
    (NOVA, [back("x", paper("s3://some-bucket/a.csv", "csv"))], EXTRANEOUS),
    (NOVA, [back("x", held("video", "s3://some-bucket/a.mp4", "mp4"))], EXTRANEOUS),
    (NOVA, [back()], "expected minimum item count: 1"),
    (LLAMA, [back("x"), "y"], TOGETHER),
    (MISTRAL, [back("x"), "y"], TOGETHER),
    (WRITER, [back("x"), "y"], TOGETHER),
    (CLAUDE, [back("x"), "y", paper()], TOGETHER),
    (MISTRAL, [back("x", picture())], "This model doesn't support the image content block"),
    (QWEN, [back("x", picture())], "This model doesn't support the image content block"),
    (KIMI, [back("x", paper())], "This model doesn't support the document content block"),
    (GPT, [back("x", picture())], "This model doesn't support the image content block"),
    (WRITER, [back("x", status="success")], "This model doesn't support the status field."),
    (LLAMA, [back("x", picture("s3://some-bucket/a.png"))], "This model doesn't support the s3Uri field."),
]  # fmt: skip


@pytest.mark.parametrize(("model", "results", "message"), VENDORS, ids=[f"{at}" for at in range(len(VENDORS))])
def test_each_family_of_models_refuses_what_it_does_not_take(model: str, results: list, message: str):
    assert message in refused(*after(*results), model=model)


TAKEN = [
    (NOVA, [back("x"), "y", paper()]),
    (NOVA, [back("x"), held("video", mp4(), "mp4")]),
    (NOVA, [back("x", paper(b"a,b", "csv"))]),
    (CLAUDE, [back("x"), "y", picture()]),
    (CLAUDE, [back("")]),
    (CLAUDE, [back()]),
    (LLAMA, [back("x", picture(), paper())]),
    (MISTRAL, [back("x", paper())]),
    (QWEN, [back("x"), "y", picture(webp(), "webp")]),
    (WRITER, [back("x")]),
    ("some.new-model", [back("x", held("video", mp4(), "mp4"), picture(gif(), "gif"))]),
]


@pytest.mark.parametrize(("model", "results"), TAKEN, ids=[f"{at}" for at in range(len(TAKEN))])
def test_each_family_of_models_takes_what_it_takes(model: str, results: list):
    assert exchange(*after(*results), model=model)[0] == 200


@pytest.mark.parametrize(("model", "status"), [(CLAUDE, 200), (QWEN, 200), (NOVA, 400), (LLAMA, 400)])
def test_the_assistant_may_open_where_the_model_lets_it(model: str, status: int):
    assert exchange(message("hi", role="assistant"), message("x"), model=model)[0] == status


def test_neighbours_of_one_role_are_merged_and_bound_by_the_rules_of_one_turn():
    split = (*after(back("x")), message("y", paper()))
    assert refused(*split) == TOGETHER
    two = (
        message("go"),
        message(call(), call("b"), role="assistant"),
        message(back("x")),
        message(back("y", call_id="b")),
    )
    assert exchange(*two)[0] == 200


def test_an_unknown_path_is_404_and_a_model_must_be_named():
    status, chunks = ask(Request("https://x/bedrock/model/m/embed", b"{}"))
    assert (status, json.loads(b"".join(chunks))["__type"]) == (404, "UnknownOperationException")
    assert refused(message("x"), model="a b") == "The provided model identifier is invalid."


# What real clients sent, and say


def filled(value: object) -> object:
    """A recorded body with real files where its media were."""
    match value:
        case str() if found := re.fullmatch(r"<<media .* kind:(\S+) .*>>", value):
            made = {"image/png": png, "image/jpeg": jpeg, "application/pdf": lambda: pdf("x"), "video/mp4": mp4}
            return encode(made[found[1]]())
        case dict():
            return {key: filled(item) for key, item in value.items()}
        case list():
            return [filled(item) for item in value]
        case _:
            return value


def recorded() -> Iterator[dict]:
    lines = RECORDINGS.read_text().splitlines() if RECORDINGS.exists() else []
    return (case for case in map(json.loads, lines) if case["endpoint"].endswith("/converse"))


@pytest.mark.skipif(not RECORDINGS.exists(), reason="the recordings are not at hand")
def test_what_the_service_accepted_is_accepted_but_for_a_rule_that_is_younger():
    # Of 2026-02 are Claude's documents beside a tool result; since 2026-07 that is refused.
    for case in recorded():
        status, chunks = ask(
            Request(f"https://x/bedrock{case['endpoint']}", json.dumps(filled(case["request"])).encode())
        )
        younger = "claude" in case["model"] and case["media"][0]["where"] == "user" and "document" in case["case"]
        assert status == (400 if younger else 200), (case["case"], b"".join(chunks)[:300])
        assert not younger or b"cannot be provided in the same turn" in b"".join(chunks)


@pytest.fixture(scope="module")
def server() -> Iterator[SdkServer]:
    with sdk_server() as made:
        yield made


@pytest.fixture
def bedrock(server: SdkServer) -> object:
    keys = {"aws_access_key_id": AWS_KEY, "aws_secret_access_key": AWS_SECRET}
    config = Config(retries={"total_max_attempts": 1}, region_name="us-east-1")
    make = partial(boto3.client, "bedrock-runtime", endpoint_url=server.base("bedrock"), config=config, **keys)
    return server.client("boto3", make)


def raw(kind: str, data: bytes, form: str, **more: object) -> dict:
    return {kind: {"format": form, "source": {"bytes": data}, **more}}


def test_botos_own_client_shows_a_pdf_and_an_image(bedrock):
    image_data, pdf_data = png(20, 10), pdf("Total: 12 EUR")
    content = "look", raw("image", image_data, "png"), raw("document", pdf_data, "pdf", name="report")
    answer = bedrock.converse(modelId=CLAUDE, messages=[message(*content)])
    output = answer["output"]["message"]["content"][0]["text"]
    assert answer["stopReason"] == "end_turn"
    assert hashlib.sha256(image_data).hexdigest() in output
    assert hashlib.sha256(pdf_data).hexdigest() in output


def test_botos_own_client_reads_the_stream(bedrock):
    content = "/plot values=4,5", raw("image", png(), "png")
    answer = bedrock.converse_stream(modelId=CLAUDE, messages=[message(*content)], toolConfig=TOOLS)
    events = [(name, event) for whole in answer["stream"] for name, event in whole.items()]
    starts = [event["start"]["toolUse"] for name, event in events if name == "contentBlockStart"]
    pieces = [event["delta"]["toolUse"]["input"] for name, event in events if name == "contentBlockDelta"]
    assert [events[0][0], *(name for name, _ in events[-3:])] == [
        "messageStart",
        "contentBlockStop",
        "messageStop",
        "metadata",
    ]
    assert (starts[0]["name"], starts[0]["type"]) == ("plot", "tool_use")
    assert json.loads("".join(pieces)) == {"values": [4, 5]}
    assert events[-1][1]["usage"]["totalTokens"] > 0


def test_a_streamed_answer_says_what_the_whole_one_says(bedrock):
    content = "look", raw("image", png(), "png")
    whole = bedrock.converse(modelId=CLAUDE, messages=[message(*content)])
    stream = bedrock.converse_stream(modelId=CLAUDE, messages=[message(*content)])["stream"]
    pieces = [event["contentBlockDelta"]["delta"]["text"] for event in stream if "contentBlockDelta" in event]
    assert len(pieces) > 1
    assert "".join(pieces) == whole["output"]["message"]["content"][0]["text"]


def test_botos_own_client_sees_the_refusal(bedrock):
    with pytest.raises(botocore.exceptions.ClientError, match="must be included") as caught:
        bedrock.converse(modelId=CLAUDE, messages=[message(raw("document", pdf("x"), "pdf", name="report"))])
    assert caught.value.response["Error"]["Code"] == "ValidationException"


# Claude's Messages on two other hosts


def open_partner(server: SdkServer, name: str) -> AnthropicBedrock | AnthropicVertex:
    base = server.base(f"anthropic-{name}")
    if name == "bedrock":
        keys = {"aws_access_key": AWS_KEY, "aws_secret_key": AWS_SECRET, "aws_region": "us-east-1"}
        return server.client(name, partial(AnthropicBedrock, base_url=base, max_retries=0, **keys))
    where = {"region": "global", "project_id": "p", "access_token": TOKEN}
    return server.client(name, partial(AnthropicVertex, base_url=base, max_retries=0, **where))


PARTNERS = pytest.mark.parametrize("name", ["bedrock", "vertex"])
MODEL = "claude-sonnet-4-5@20250929"
#: The SDK's own version is refused by Bedrock; the caller has to say the host's.
VERSION = {"bedrock": {"extra_body": {"anthropic_version": "bedrock-2023-05-31"}}, "vertex": {}}
DRAW = {"name": "plot", "description": "Draws.", "input_schema": PLOT}


@PARTNERS
def test_a_partners_own_client_shows_a_pdf_and_an_image(server, name: str):
    data = pdf("Total: 12 EUR")
    claude = open_partner(server, name)
    message = claude.messages.create(  # pyright: ignore[reportCallIssue] - plain dictionaries
        model=MODEL,
        max_tokens=9000,
        messages=[*step(image(png()), document(data))],
        tools=[DRAW],
        **VERSION[name],
    )
    assert hashlib.sha256(data).hexdigest() in message.content[0].text
    assert message.model == MODEL


@PARTNERS
def test_a_partners_own_client_reads_the_stream(server, name: str):
    asked = {"model": MODEL, "max_tokens": 99, "messages": [user("plot 4, 5")], "tools": [DRAW]}
    asked |= VERSION[name]
    with open_partner(server, name).messages.stream(**asked) as stream:
        message = stream.get_final_message()
    assert message.content[1].input == {"values": [4, 5]}
    assert message.stop_reason == "tool_use"


def test_the_version_that_the_sdk_writes_is_refused_by_bedrock_alone(server):
    asked = {"model": MODEL, "max_tokens": 9, "messages": [user("hello")]}
    assert open_partner(server, "vertex").messages.create(**asked).content
    with pytest.raises(anthropic.BadRequestError, match="Invalid API version"):
        open_partner(server, "bedrock").messages.create(**asked)


LINK = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
UPLOAD = {"type": "document", "source": {"type": "file", "file_id": "file_7"}}


@PARTNERS
@pytest.mark.parametrize(
    ("file", "message"),
    [
        (LINK, "messages.0.content.1.image.source.base64.data: URL sources are not supported"),
        (UPLOAD, "messages.0.content.1.document.source.base64.data: File sources are not supported"),
        (image(jpeg()), "Image does not match the provided media type image/png"),
    ],
)
def test_a_partner_takes_base64_alone(server, name: str, file: dict, message: str):
    with pytest.raises(anthropic.BadRequestError, match=re.escape(message)):
        open_partner(server, name).messages.create(  # pyright: ignore[reportCallIssue] - plain dictionaries
            model=MODEL, max_tokens=9, messages=[user("look", file)], **VERSION[name]
        )


INVOKE = "http://x/anthropic-bedrock/model/claude/invoke"
PREDICT = "http://x/anthropic-vertex/v1/projects/p/locations/global/publishers/anthropic/models/claude:rawPredict"
WRONG = [
    (INVOKE, {}, "anthropic_version: Field required"),
    (INVOKE, {"anthropic_version": "vertex-2023-10-16"}, "Invalid API version"),
    (INVOKE, {"anthropic_version": "bedrock-2023-05-31", "model": "x"}, "model: Extra inputs are not permitted"),
    (INVOKE, {"anthropic_version": "bedrock-2023-05-31", "stream": True}, "stream: Extra inputs are not permitted"),
    (INVOKE, {"anthropic_version": "bedrock-2023-05-31", "anthropic_beta": "a"}, "anthropic_beta: Input should be"),
    (INVOKE, {"anthropic_version": "bedrock-2023-05-31", "surprise": 1}, "surprise: Extra inputs are not permitted"),
    (PREDICT, {"anthropic_version": "vertex-2023-10-16", "model": "x"}, "model: Extra inputs are not permitted"),
    (PREDICT, {"anthropic_version": "vertex-2023-10-16", "max_tokens": "9"}, "max_tokens: Input should be a valid integer"),
]  # fmt: skip


@pytest.mark.parametrize(("url", "more", "message"), WRONG, ids=[message for _, _, message in WRONG])
def test_a_partner_refuses_in_its_own_form(url: str, more: dict, message: str):
    status, chunks = ask(Request(url, json.dumps({"messages": [user("x")], "max_tokens": 9, **more}).encode()))
    answer = json.loads(b"".join(chunks))
    assert status == 400
    assert message in (answer["message"] if url == INVOKE else answer["error"]["message"])


def test_a_partner_pairs_calls_with_results():
    body = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 9, "messages": [user("x"), assistant(use()), user("y")]}  # fmt: skip
    _, chunks = ask(Request(INVOKE, json.dumps(body).encode()))
    assert b"`tool_use` ids were found without `tool_result` blocks" in b"".join(chunks)


def test_the_model_of_an_arn_is_read_from_the_path(bedrock):
    arn = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5"
    with pytest.raises(botocore.exceptions.ClientError, match="doesn't support the video"):
        bedrock.converse(modelId=arn, messages=[message("x", raw("video", mp4(), "mp4"))])
