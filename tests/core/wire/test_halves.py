"""A character that a gateway cut in two, or half of one, never ends an answer."""

import asyncio
import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.events.accumulate import Accumulator
from showandtell.core.events.annotations import Thought
from showandtell.core.events.types import ProviderFault, TextDelta
from showandtell.core.messages.parts import Text, ToolCall
from showandtell.core.wire.parsers import PARSERS
from showandtell.providers.refusals import parse_error
from support.builders import parser_of
from support.scripted import MODELS, say, scripted

each_api = pytest.mark.parametrize("api", PARSERS)


def halves(text, cuts):
    """The pieces of a text, cut between UTF-16 units; a lone half is one character of a Python string."""
    units = text.encode("utf-16-le")
    edges = [0, *sorted({2 * cut for cut in cuts if 2 * cut < len(units)}), len(units)]
    return [units[start:stop].decode("utf-16-le", "surrogatepass") for start, stop in pairwise(edges)]


def claude(kind, pieces):
    start, delta, field = {
        "text": ({"type": "text", "text": ""}, "text_delta", "text"),
        "thought": ({"type": "thinking", "thinking": ""}, "thinking_delta", "thinking"),
        "call": ({"type": "tool_use", "id": "c", "name": "f", "input": {}}, "input_json_delta", "partial_json"),
    }[kind]
    yield {"type": "content_block_start", "index": 0, "content_block": start}
    for piece in pieces:
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": delta, field: piece}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    yield {"type": "message_stop"}


def chat(kind, pieces):
    for piece in pieces:
        called = [{"index": 0, "id": "c", "function": {"name": "f", "arguments": piece}}]
        delta = {"text": {"content": piece}, "thought": {"reasoning": piece}, "call": {"tool_calls": called}}[kind]
        yield {"choices": [{"delta": delta}]}
    yield {"choices": [{"finish_reason": "stop"}]}


def responses(kind, pieces):
    item, delta = {
        "text": ({"type": "message"}, "output_text"),
        "thought": ({"type": "reasoning"}, "reasoning_summary_text"),
        "call": ({"type": "function_call", "call_id": "c", "name": "f"}, "function_call_arguments"),
    }[kind]
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    for piece in pieces:
        yield {"type": f"response.{delta}.delta", "output_index": 0, "delta": piece}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": {}}


def gemini(kind, pieces):
    if kind == "call":
        partials = [{"jsonPath": "$.a", "stringValue": json.loads(f'"{piece}"')} for piece in pieces]
        parts = [{"functionCall": {"name": "f", "partialArgs": partials}}]
    else:
        parts = [{"text": piece, "thought": kind == "thought"} for piece in pieces]
    for part in parts:
        yield {"candidates": [{"content": {"parts": [part]}}]}
    yield {"candidates": [{"finishReason": "STOP"}]}


def converse(kind, pieces):
    if kind == "call":
        yield {"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "c", "name": "f"}}}}
    for piece in pieces:
        thought = {"reasoningContent": {"text": piece}}
        delta = {"text": {"text": piece}, "thought": thought, "call": {"toolUse": {"input": piece}}}[kind]
        yield {"contentBlockDelta": {"contentBlockIndex": 0, "delta": delta}}
    yield {"contentBlockStop": {"contentBlockIndex": 0}}
    yield {"messageStop": {"stopReason": "end_turn"}}


SPEAK = dict(zip(PARSERS, (claude, chat, responses, gemini, converse), strict=True))


def read(api, kind, pieces):
    """What a streamed answer says: its text, thought or arguments."""
    parser, folded = parser_of(api), Accumulator("p")
    for event in SPEAK[api](kind, pieces):
        folded.add(parser.feed(b"data: " + json.dumps(event).encode() + b"\n\n"))
    folded.add(parser.finish())
    assert folded.stop in ("end", "tool_calls")
    for item in (*folded.draft().parts, *folded.annotations()):
        match item:
            case Text(text) | Thought(text=text) | ToolCall(arguments=text):
                return text
    return ""


@each_api
@pytest.mark.parametrize("kind", ["text", "thought"])
@given(st.text(st.sampled_from('aé"\\\n😀🇨🇭\ue000'), min_size=1), st.sets(st.integers(1, 60)))
def test_a_text_cut_at_any_unit_is_the_same_text(api, kind, text, cuts):
    assert read(api, kind, halves(text, cuts)) == text


@each_api
@given(st.text(st.sampled_from("aé😀🇨🇭")), st.sets(st.integers(1, 60)))
def test_arguments_cut_at_any_unit_are_the_same_arguments(api, word, cuts):
    text = word if api == "gemini" else json.dumps({"a": word}, ensure_ascii=False)
    assert json.loads(read(api, "call", halves(text, cuts)) or "{}").get("a", "") == word


@each_api
@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["a\ud83d", "b"], "a�b"),
        (["a", "\ude00b"], "a�b"),
        (["a\ud83d"], "a�"),
        (["\ud83d", "\ud83d", "\ude00"], "�😀"),
        (["a\ude00\ud83d", "", "\ude00"], "a�😀"),
    ],
)
def test_a_half_that_stays_alone_is_replaced(api, pieces, text):
    assert read(api, "text", pieces) == read(api, "thought", pieces) == text


WHOLE = {
    "anthropic-messages": {
        "content": [
            {"type": "text", "text": "TEXT"},
            {"type": "tool_use", "id": "c", "name": "f", "input": {"a": "TEXT"}},
        ],
        "stop_reason": "tool_use",
    },
    "openai-chat": {
        "choices": [
            {
                "message": {
                    "content": "TEXT",
                    "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"a": "TEXT"}'}}],
                },
                "finish_reason": "stop",
            }
        ]
    },
    "openai-responses": {
        "status": "completed",
        "output": [
            {"type": "message", "content": [{"type": "output_text", "text": "TEXT"}]},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": "TEXT"}'},
        ],
    },
    "gemini": {
        "candidates": [
            {
                "content": {"parts": [{"text": "TEXT"}, {"functionCall": {"name": "f", "args": {"a": "TEXT"}}}]},
                "finishReason": "STOP",
            }
        ]
    },
    "bedrock-converse": {
        "output": {
            "message": {
                "content": [{"text": "TEXT"}, {"toolUse": {"toolUseId": "c", "name": "f", "input": {"a": "TEXT"}}}]
            }
        },
        "stopReason": "tool_use",
    },
}


@each_api
def test_a_whole_answer_with_half_a_character_is_read(api):
    folded = Accumulator("p")
    folded.add(PARSERS[api].parse_full(json.dumps(WHOLE[api]).replace("TEXT", r"a\ud83d 😀").encode()))
    text, called = folded.draft().parts
    assert (text, json.loads(called.arguments)) == (Text("a� 😀"), {"a": "a� 😀"})


@pytest.mark.parametrize("api", sorted({*PARSERS} - {"gemini"}))  # whose arguments come parsed
def test_half_a_character_that_the_model_itself_escaped_in_its_arguments_is_replaced(api):
    assert json.loads(read(api, "call", ['{"a": "\\ud8', '3d x"}'])) == {"a": "� x"}


@pytest.mark.parametrize("model", MODELS)
def test_an_agent_reads_an_answer_and_a_call_with_halves(model):
    def echo(word: str) -> str:
        return word

    call = say("", ("c1", "echo", '{"word": "\ud83d"}'), model=model)
    agent, _ = scripted(call, say("Look: \ud83d", model=model), model=model, tools=[echo])
    run = asyncio.run(finish(agent))
    assert (run.text, run.messages[2].text) == ("Look: �", "�")


async def finish(agent):
    return await agent.run("hi")


def test_an_error_text_with_half_a_character_is_read():
    assert parse_error(rb'{"error": {"message": "No \ud83d."}}').message == "No �."
    parser = parser_of("anthropic-messages")
    (fault,) = parser.feed(b'data: {"type":"error","error":{"type":"e","message":"No \\ude00."}}\n\n')
    assert fault == ProviderFault("e: No �.")


def test_text_that_looks_like_an_escape_is_left_alone():
    assert read("openai-chat", "text", [r"\ud83d \\ud83d", "😀"]) == r"\ud83d \\ud83d😀"


def test_the_first_half_waits_for_the_second():
    parser = parser_of("openai-chat")
    first = parser.feed(b'data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n')
    second = parser.feed(b'data: {"choices":[{"delta":{"content":"\\ude00"}}]}\n\n')
    assert [event.text for event in (*first, *second) if isinstance(event, TextDelta)] == ["a", "😀"]
