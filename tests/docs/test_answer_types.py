"""docs/answer-types.md has every type of an answer that the SDKs define, and what it says of each is true."""

import json
import re
from functools import cache
from typing import Annotated, Any, get_args, get_origin

import anthropic.types as claude
import botocore.session
import groq.types.chat as groq
import pytest
from anthropic.types import beta
from google.genai import types as google
from mistralai.client import models as mistral
from openai.types import chat, responses
from openai.types.responses.response_output_message import Content
from openai.types.responses.response_output_text import Annotation

from showandtell.core.events.types import HostedCall
from showandtell.core.wire.aws_eventstream import encode
from showandtell.core.wire.parsers import PARSERS
from support.builders import parser_of
from support.next_request import accumulated, hosted_blocks, next_body
from support.paths import ROOT
from support.scripted import FRAMED
from support.streams import anthropic, gemini, openai_responses
from support.streams.bedrock import block, end, frames

ROW = re.compile(r"^\| `([^`]+)` \| (.*) \|$")
KEPT = "kept whole and sent back; people see a call"


@cache
def tables() -> dict[tuple[str, str], dict[str, str]]:
    """What becomes of each type, by provider and group."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    api = group = ""
    for line in (ROOT / "docs" / "answer-types.md").read_text().splitlines():
        if line.startswith("## "):
            api = line[3:].partition(":")[0]
        elif line.startswith("### "):
            group = line[4:]
        elif row := ROW.match(line):
            assert row[1] not in found.setdefault((api, group), {}), f"{row[1]} has two rows"
            found[api, group][row[1]] = row[2].strip()
    return found


def types_of(union: Any, key: str = "type") -> set[str]:
    """The literals of a field over all members of a union."""
    members = get_args(get_args(union)[0] if get_origin(union) is Annotated else union)
    return {str(name) for member in members for name in literals(member.model_fields[key].annotation)}


def literals(annotation: Any) -> set[str]:
    """All strings among the arguments of a type, at any depth."""
    if isinstance(annotation, str):
        return {annotation}
    return {name for argument in get_args(annotation) for name in literals(argument)}


def fields_of(*models: Any) -> set[str]:
    return {name for model in models for name in model.model_fields}


def camel(names: set[str]) -> set[str]:
    words = ((first, rest) for first, *rest in (name.split("_") for name in names))
    return {first + "".join(word.capitalize() for word in rest) for first, rest in words}


@cache
def converse() -> Any:
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
    client = botocore.session.get_session().create_client("bedrock-runtime", region_name="us-east-1", **keys)
    return client.meta.service_model


def members(shape: str) -> set[str]:
    return set(converse().shape_for(shape).members)


CHAT = chat.chat_completion.Choice.model_fields["finish_reason"].annotation
SDK = {
    ("Anthropic", "Blocks"): lambda: types_of(claude.ContentBlock) | types_of(beta.BetaContentBlock),
    ("Anthropic", "Events"): lambda: types_of(claude.RawMessageStreamEvent) | types_of(beta.BetaRawMessageStreamEvent),
    ("Anthropic", "Deltas"): lambda: types_of(claude.RawContentBlockDelta) | types_of(beta.BetaRawContentBlockDelta),
    ("Anthropic", "Stop reasons"): lambda: literals(claude.StopReason) | literals(beta.BetaStopReason),
    ("Anthropic", "Citations"): lambda: types_of(claude.TextCitation) | types_of(beta.BetaTextCitation),
    ("OpenAI", "Items"): lambda: types_of(responses.ResponseOutputItem),
    ("OpenAI", "Content of messages"): lambda: types_of(Content),
    ("OpenAI", "Annotations"): lambda: types_of(Annotation),
    ("OpenAI", "Events"): lambda: types_of(responses.ResponseStreamEvent),
    ("OpenAI", "Status"): lambda: literals(responses.ResponseStatus),
    ("OpenAI", "Reasons"): lambda: literals(responses.response.IncompleteDetails.model_fields["reason"].annotation),
    ("OpenAI", "Fields of messages (OpenAI)"): lambda: fields_of(
        chat.ChatCompletionMessage, chat.chat_completion_chunk.ChoiceDelta
    ),
    ("OpenAI", "Fields of messages (Groq)"): lambda: fields_of(
        groq.ChatCompletionMessage, groq.chat_completion_chunk.ChoiceDelta
    ),
    ("OpenAI", "Fields of messages (Mistral)"): lambda: fields_of(mistral.AssistantMessage),
    ("OpenAI", "Items of content (Mistral)"): lambda: {
        name
        for member in get_args(get_args(mistral.ContentChunk)[0])
        if "raw" not in member.model_fields
        for name in literals(member.model_fields["type"].annotation)
    },
    ("OpenAI", "Finish reasons"): lambda: literals(CHAT) | literals(mistral.ChatCompletionChoiceFinishReason),
    ("Google", "Fields of parts"): lambda: camel(fields_of(google.Part)),
    ("Google", "Fields of candidates"): lambda: camel(fields_of(google.Candidate)),
    ("Google", "Finish reasons"): lambda: set(google.FinishReason.__members__),
    ("Google", "Grounding chunks"): lambda: camel(fields_of(google.GroundingChunk)),
    ("Amazon", "Blocks"): lambda: members("ContentBlock"),
    ("Amazon", "Starts of blocks"): lambda: members("ContentBlockStart"),
    ("Amazon", "Deltas"): lambda: members("ContentBlockDelta"),
    ("Amazon", "Citations"): lambda: members("CitationLocation"),
    ("Amazon", "Events"): lambda: members("ConverseStreamOutput"),
    ("Amazon", "Stop reasons"): lambda: set(converse().shape_for("StopReason").enum),
}


@pytest.mark.parametrize("group", SDK, ids=" ".join)
def test_every_type_of_the_sdk_has_a_row_and_every_row_a_type(group):
    names = SDK[group]()
    assert len(names) > 1
    assert names - set(tables()[group]) == set(), "add rows to docs/answer-types.md"
    assert set(tables()[group]) - names == set(), "these types are gone: remove their rows"


def test_no_table_is_forgotten_and_no_row_is_empty():
    assert set(tables()) == set(SDK)
    assert all(outcome for rows in tables().values() for outcome in rows.values())


def anthropic_block(kind):
    """A block with the fields that tell calls from results, and fields that nobody knows."""
    fields = {"server_tool_use": {"name": "web_search", "input": {"a": 1}}, "mcp_tool_use": {"name": "b", "input": {}}}
    named = {"tool_use_id": "srv_1", "content": {"c": [1]}} if kind.endswith("_result") else {"id": "srv_1"}
    return {"type": kind, **named, **fields.get(kind, {}), "deep": {"er": [1, None]}}


def kept(group):
    return [name for name, outcome in tables()[group].items() if outcome.startswith(KEPT)]


#: Signer, model, and where the next request has the parts of an answer, by API.
NEXT = {
    "anthropic-messages": ("anthropic", "anthropic:claude-sonnet-5", lambda sent: sent["messages"][1]["content"]),
    "openai-responses": ("openai", "openai:gpt-5.5", lambda sent: sent["input"]),
    "gemini": ("google", "google:gemini-3-pro", lambda sent: sent["contents"][1]["parts"]),
    "bedrock-converse": ("bedrock", "bedrock:amazon.nova-2-lite-v1:0", lambda sent: sent["messages"][1]["content"]),
    "openai-chat": ("mistral", "mistral:mistral-large-latest", lambda sent: sent["messages"][1]["content"]),
}


def is_kept(item, api, streamed, body):
    """Whether an item is in the message and in the next request, whole, from a stream and a complete body alike."""
    provider, model, read = NEXT[api]
    for events in (streamed, PARSERS[api].parse_full(json.dumps(body).encode())):
        answer = accumulated(events, provider)
        assert hosted_blocks(answer) == [item]
        assert any(isinstance(event, HostedCall) for event in events)
        assert item in read(next_body(answer, model))
    return True


def fed(api, data, kind=""):
    parser = parser_of(api, kind)
    return parser.feed(data) + parser.finish()


@pytest.mark.parametrize("kind", [*kept(("Anthropic", "Blocks")), "hologram"])
def test_a_block_of_anthropic_is_kept(kind):
    item = anthropic_block(kind)
    stop = "pause_turn"  # so that a call may be without its result
    data = anthropic.sse(anthropic.BEGIN, *anthropic.block(0, item), anthropic.end(stop), anthropic.STOP)
    body = {"type": "message", "content": [item], "stop_reason": stop}
    assert is_kept(item, "anthropic-messages", fed("anthropic-messages", data), body)


#: Items with rules of their own: tests/core/wire/openai_responses/test_hosted.py, tests/agent/test_made_files.py.
WAITING = {
    "image_generation_call",
    "computer_call",
    "local_shell_call",
    "apply_patch_call",
    "shell_call",
    "program",
    "mcp_approval_request",
}


@pytest.mark.parametrize("kind", [name for name in kept(("OpenAI", "Items")) if name not in WAITING] + ["hologram"])
def test_an_item_of_openai_is_kept(kind):
    item = {"type": kind, "id": "x_1", "deep": {"er": [1, None]}}
    data = openai_responses.sse(openai_responses.done(0, item), openai_responses.last(item))
    body = openai_responses.answer(item)
    assert is_kept(item, "openai-responses", fed("openai-responses", data), body)


@pytest.mark.parametrize("kind", [*kept(("Google", "Fields of parts")), "hologram"])
def test_a_part_of_google_is_kept(kind):
    item = {kind: {"id": "x_1", "deep": {"er": [1]}}, "thoughtSignature": "c2ln"}
    data = gemini.sse(gemini.chunk_of(item, reason="CONTINUATION"))
    body = {"candidates": [{"content": {"parts": [item]}, "finishReason": "CONTINUATION"}]}
    events = fed("gemini", data)
    if kind in {"executableCode", "toolCall"}:  # a call without its result becomes words
        assert hosted_blocks(accumulated(events, "google")) == [item]
        return
    assert is_kept(item, "gemini", events, body)


@pytest.mark.parametrize("kind", [*kept(("Amazon", "Blocks")), "hologram"])
def test_a_block_of_amazon_is_kept(kind):
    item = {kind: {"deep": {"er": [1]}}}
    data = frames(*block(0, start=item), *end("end_turn"))
    body = {"output": {"message": {"content": [item]}}, "stopReason": "end_turn", "usage": {}}
    assert is_kept(item, "bedrock-converse", fed("bedrock-converse", data, FRAMED), body)


@pytest.mark.parametrize("kind", [*kept(("OpenAI", "Items of content (Mistral)")), "hologram"])
def test_an_item_of_mistral_is_kept(kind):
    item = {"type": kind, "deep": {"er": [1]}}
    body = {"choices": [{"message": {"content": [item]}, "finish_reason": "stop"}]}
    data = b"data: " + json.dumps({"choices": [{"delta": {"content": [item]}, "finish_reason": "stop"}]}).encode()
    assert is_kept(item, "openai-chat", fed("openai-chat", data + b"\n\n"), body)


STOPS = {"end": "end", "length": "length", "refusal": "refusal", "cut": "cut", "error": "error"}
STOPS |= {"pause": "pause", "tool calls": "tool_calls"}


def stops(group):
    rows = ((name, re.split(r"[,:]| or ", outcome)[0]) for name, outcome in tables()[group].items())
    return [(name, STOPS[word]) for name, word in rows if word in STOPS]


def stop_of(events):
    return accumulated(events, "x").stop


@pytest.mark.parametrize(("name", "stop"), stops(("Anthropic", "Stop reasons")))
def test_a_stop_reason_of_anthropic_is_what_its_row_says(name, stop):
    assert stop_of(PARSERS["anthropic-messages"].parse_full(json.dumps({"stop_reason": name}).encode())) == stop


@pytest.mark.parametrize(("name", "stop"), stops(("Google", "Finish reasons")))
def test_a_finish_reason_of_google_is_what_its_row_says(name, stop):
    body = {"candidates": [{"finishReason": name}]}
    assert stop_of(PARSERS["gemini"].parse_full(json.dumps(body).encode())) == stop


@pytest.mark.parametrize(("name", "stop"), stops(("OpenAI", "Reasons")))
def test_a_reason_of_openai_is_what_its_row_says(name, stop):
    body = {"status": "incomplete", "incomplete_details": {"reason": name}, "output": []}
    assert stop_of(PARSERS["openai-responses"].parse_full(json.dumps(body).encode())) == stop


@pytest.mark.parametrize(("name", "stop"), stops(("OpenAI", "Finish reasons")))
def test_a_finish_reason_of_chat_is_what_its_row_says(name, stop):
    body = {"choices": [{"message": {"content": "Hi."}, "finish_reason": name}]}
    assert stop_of(PARSERS["openai-chat"].parse_full(json.dumps(body).encode())) == stop


@pytest.mark.parametrize(("name", "stop"), stops(("Amazon", "Stop reasons")))
def test_a_stop_reason_of_amazon_is_what_its_row_says(name, stop):
    body = {"output": {"message": {"content": []}}, "stopReason": name, "usage": {}}
    assert stop_of(PARSERS["bedrock-converse"].parse_full(json.dumps(body).encode())) == stop


ERRORS = [name for name, outcome in tables()["Amazon", "Events"].items() if outcome == "error"]


@pytest.mark.parametrize("name", ERRORS)
def test_an_exception_of_amazon_is_an_error(name):
    frame = encode(name, b'{"message":"no"}', message_type="exception")
    assert stop_of(fed("bedrock-converse", frame, FRAMED)) == "error"
