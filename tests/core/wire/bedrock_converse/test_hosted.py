"""Blocks of tools that Bedrock runs, and of unknown types: kept whole and in place, and shown to people."""

import itertools
import json

from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.events.types import HostedCall, SourceEvent
from showandtell.core.messages.parts import HostedBlock, Source, Text
from showandtell.core.wire.bedrock_converse.parse import parse_full
from showandtell.hosted import CodeExecution, WebSearch
from support.builders import parser_of
from support.next_request import accumulated, hosted_blocks, next_body, output
from support.scripted import FRAMED
from support.streams.bedrock import block, body, call, end, frames, text

CALL = {"toolUse": {"toolUseId": "s", "name": "nova_code_interpreter", "type": "server_tool_use", "input": {"n": 1}}}
OUTPUT = [{"json": {"stdOut": "2", "exitCode": 0}}]
RESULT = {
    "toolResult": {"toolUseId": "s", "type": "nova_code_interpreter_result", "status": "success", "content": OUTPUT}
}
FAILED = {
    "toolResult": {"toolUseId": "t", "type": "nova_grounding_result", "status": "error", "content": [{"text": "no"}]}
}
UNKNOWN = {"hologram": {"beam": "wide"}}
BLOCKS = (CALL, RESULT, FAILED, UNKNOWN)
MODEL = "bedrock:amazon.nova-2-lite-v1:0"
TOOLS = (CodeExecution(), WebSearch())
CITED = {"title": "a.pdf", "location": {"documentPage": {"documentIndex": 0, "start": 3, "end": 4}}}
WEB = {"title": "A", "location": {"web": {"url": "https://a.example"}}, "sourceContent": [{"text": "A fruit."}]}


def parse(*reads):
    parser = parser_of("bedrock-converse", FRAMED)
    return [item for data in reads for item in parser.feed(data)] + parser.finish()


def whole(*blocks, reason="end_turn"):
    return parse_full(body(*blocks, reason=reason))


def kept(events):
    return accumulated(events, "bedrock")


def streamed(index, item):
    """A block as the API streams it: arguments, content and fields come in deltas."""
    match item:
        case {"toolUse": fields}:
            arguments = json.dumps(fields["input"])
            deltas = [{"toolUse": {"input": piece}} for piece in (arguments[:3], arguments[3:])]
            return block(index, *deltas, start={"toolUse": {name: fields[name] for name in fields if name != "input"}})
        case {"toolResult": fields}:
            start = {"toolResult": {name: fields[name] for name in fields if name != "content"}}
            return block(index, *({"toolResult": [part]} for part in fields["content"]), start=start)
        case {"text": words}:
            return text(index, words)
        case _:
            return block(index, {"hologram": {"beam": "wi"}}, {"hologram": {"beam": "de"}})


@given(st.permutations([*BLOCKS, {"text": "Look."}]), st.lists(st.integers(0, 4000), max_size=8))
def test_blocks_streamed_in_any_cut_are_those_of_a_complete_body(items, cuts):
    data = frames(*(chunk for index, item in enumerate(items) for chunk in streamed(index, item)), *end("end_turn"))
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    draft = kept(parse(*(data[start:stop] for start, stop in itertools.pairwise(edges))))
    assert draft.parts == kept(whole(*items)).parts
    assert hosted_blocks(draft) == [item for item in items if item != {"text": "Look."}]


def test_people_see_each_tool_with_its_input_and_output():
    shown = [(item.tool, item.state, item.output) for item in whole(*BLOCKS) if isinstance(item, HostedCall)]
    assert shown == [
        ("nova_code_interpreter", "running", ""),
        ("nova_code_interpreter", "running", ""),
        ("nova_code_interpreter", "done", '[{"json":{"stdOut":"2","exitCode":0}}]'),
        ("nova_grounding_result", "error", '[{"text":"no"}]'),
        ("hologram", "running", ""),
        ("hologram", "done", '{"beam":"wide"}'),
    ]


def test_an_answer_goes_back_unchanged_beside_a_call_of_ours():
    own = {"toolUse": {"toolUseId": "c_1", "name": "draw", "input": {}}}
    answer = kept(whole(*BLOCKS, {"text": "Look."}, own, reason="tool_use"))
    assert next_body(answer, MODEL, output("c_1"), tools=TOOLS)["messages"][1]["content"] == [
        *BLOCKS,
        {"text": "Look."},
        own,
    ]


def test_citations_are_sources_and_go_back_with_their_text():
    cited = {"citationsContent": {"content": [{"text": "A fruit."}], "citations": [CITED, WEB]}}
    events = whole(cited)
    sources = [(item.source, item.document) for item in events if isinstance(item, SourceEvent)]
    assert sources == [
        (Source("a.pdf", page=3), 0),
        (Source("A", "https://a.example", quote="A fruit."), None),
    ]
    assert next_body(kept(events), MODEL)["messages"][1]["content"] == [cited]


def test_citations_of_a_stream_are_those_of_a_complete_body():
    deltas = [{"text": "A fruit."}, {"citation": CITED}, {"citation": WEB}]
    cited = {"citationsContent": {"content": [{"text": "A fruit."}], "citations": [CITED, WEB]}}
    assert kept(parse(frames(*block(0, *deltas), *end("end_turn")))).parts == kept(whole(cited)).parts


def test_an_unknown_delta_after_text_is_kept_beside_it():
    parts = kept(parse(frames(*block(0, {"text": "Look."}, {"hologram": {"beam": "on"}}), *end("end_turn")))).parts
    assert parts[0] == Text("Look.")
    assert isinstance(parts[1], HostedBlock)


def test_a_call_of_the_provider_cut_by_the_limit_is_no_call_of_ours():
    answer = kept(parse(frames(*call(0, "a", "{}"), *streamed(1, CALL), *end("max_tokens"))))
    assert answer.stop == "length"
    assert hosted_blocks(answer) == [CALL]


def test_a_model_that_does_not_run_the_tool_gets_words():
    answer = kept(whole(CALL, RESULT))
    for model in (MODEL, "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0"):
        content = next_body(answer, model)["messages"][1]["content"]
        assert [list(block) for block in content] == [["text"], ["text"]]
        assert "nova_code_interpreter was run by the provider bedrock" in content[0]["text"]
