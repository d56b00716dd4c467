"""Blocks of tools that Anthropic runs, and of unknown types: kept whole and in place, and shown to people."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from showandtell.core.events.accumulate import CallIds
from showandtell.core.events.types import BlockRead, HostedCall, SourceEvent, StepEnd
from showandtell.core.messages.parts import HostedBlock, Source, Text, ToolCall
from showandtell.core.wire.anthropic_messages.parse import parse_full
from support.builders import parser_of
from support.next_request import accumulated, hosted_blocks, next_body, output
from support.streams.anthropic import BEGIN, STOP, block, end, sse, text

CALL = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "kiwi"}}
FOUND = [{"type": "web_search_result", "title": "Kiwi", "url": "https://a.example", "encrypted_content": "Eq"}]
RESULT = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": FOUND}
FAILED = {"type": "code_execution_tool_result_error", "error_code": "unavailable"}
BROKEN = {"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_1", "content": FAILED}
MCP = {"type": "mcp_tool_use", "id": "mcp_1", "name": "ask", "server_name": "wiki", "input": {}}
COMPACTION = {"type": "compaction", "content": "They talked of kiwis."}
UNKNOWN = {"type": "hologram", "beam": {"width": 3}}
BLOCKS = (CALL, RESULT, BROKEN, MCP, COMPACTION, UNKNOWN, {"type": "text", "text": "Look."})


def parse(*reads):
    parser = parser_of("anthropic-messages")
    return [event for data in reads for event in parser.feed(data)] + parser.finish()


def body(*blocks, stop="end_turn"):
    return parse_full(json.dumps({"type": "message", "content": list(blocks), "stop_reason": stop}).encode())


def kept(events):
    return accumulated(events, "anthropic")


def streamed(item, index):
    """A block as the API streams it: the input of a call and the text of a compaction come in deltas."""
    match item:
        case {"input": arguments}:
            pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", json.dumps(arguments))]
            return block(index, {**item, "input": {}}, *pieces)
        case {"type": "compaction", "content": summary}:
            pieces = [{"type": "compaction_delta", "content": piece} for piece in (summary[:4], summary[4:])]
            return block(index, {**item, "content": None}, *pieces)
        case {"type": "text", "text": words}:
            return text(index, words)
        case _:
            return block(index, item)


def test_a_search_is_kept_and_shown_with_its_input_and_output():
    events = body(CALL, RESULT)
    shown = [event for event in events if isinstance(event, HostedCall)]
    assert [(call.tool, call.input, call.state) for call in shown] == [
        ("web_search", "", "running"),
        ("web_search", '{"query":"kiwi"}', "running"),
        ("web_search", '{"query":"kiwi"}', "done"),
    ]
    assert json.loads(shown[2].output) == [{key: FOUND[0][key] for key in ("type", "title", "url")}]
    assert hosted_blocks(kept(events)) == [CALL, RESULT]


@given(st.permutations(BLOCKS), st.lists(st.integers(0, 3000), max_size=8))
def test_blocks_streamed_in_any_cut_are_those_of_a_complete_body(items, cuts):
    chunks = [chunk for index, item in enumerate(items) for chunk in streamed(item, index)]
    data = sse(BEGIN, *chunks, end("end_turn"), STOP)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    draft = kept(parse(*(data[start:stop] for start, stop in itertools.pairwise(edges))))
    assert draft == kept(body(*items))
    assert hosted_blocks(draft) == [item for item in items if item["type"] != "text"]


@pytest.mark.parametrize(("pieces", "arguments"), [([""], {}), ([], {}), (['{"q'], {"INVALID_JSON": '{"q'})])
def test_arguments_of_a_stream_go_back_as_an_object(pieces, arguments):
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    chunks = (*block(0, {**CALL, "input": {}}, *deltas), *block(1, RESULT), end("end_turn"))
    events = parse(sse(BEGIN, *chunks, STOP))
    assert next_body(kept(events), "anthropic:claude-sonnet-5")["messages"][1]["content"][0] == {
        **CALL,
        "input": arguments,
    }


def test_a_failed_tool_and_an_unknown_block_are_named():
    shown = [part for part in kept(body(BROKEN, UNKNOWN)).parts if isinstance(part, HostedBlock)]
    assert [(part.tool, part.state) for part in shown] == [("code_execution", "error"), ("hologram", "done")]
    assert json.loads(shown[1].output) == {"beam": {"width": 3}}


def test_blocks_without_an_id_get_ids_that_no_earlier_message_uses():
    ids = CallIds({"compaction_0"})
    (block_read,) = [event for event in ids.rename(body(COMPACTION)) if isinstance(event, BlockRead)]
    assert block_read.part.call_id == "compaction_0_2"


def test_a_result_of_an_earlier_message_keeps_the_id_of_its_call():
    ids = CallIds({"srvtoolu_1"})
    assert [event.part.call_id for event in ids.rename(body(RESULT)) if isinstance(event, BlockRead)] == ["srvtoolu_1"]


def test_a_call_by_code_of_the_provider_names_its_caller():
    caller = {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "draw", "input": {}, "caller": caller}
    (part,) = kept(body(call, stop="tool_use")).parts
    assert isinstance(part, ToolCall)
    assert json.loads(part.opaque.text) == {"caller": caller}


def test_a_paused_turn_keeps_its_blocks():
    draft = kept(parse(sse(BEGIN, *streamed(CALL, 0), end("pause_turn"), STOP)))
    assert (hosted_blocks(draft), draft.stop) == ([CALL], "pause")


def test_a_message_that_only_holds_a_compaction_is_continued():
    events = body(COMPACTION, stop="compaction")
    assert events[-1] == StepEnd("pause", events[-1].usage)
    assert kept(events).parts[0].output == '"They talked of kiwis."'


def test_a_text_beside_blocks_keeps_its_place():
    parts = kept(body(CALL, {"type": "text", "text": "Look."}, RESULT)).parts
    assert [type(part) for part in parts] == [HostedBlock, Text, HostedBlock]


CITED = {"type": "web_search_result_location", "url": "https://a.example", "title": "Kiwi", "cited_text": "A fruit."}
PAGE = {"type": "page_location", "document_index": 1, "document_title": "a.pdf", "start_page_number": 3}


def test_a_citation_is_a_source_of_its_text():
    events = body({"type": "text", "text": "A fruit.", "citations": [CITED, PAGE]})
    sources = [event for event in events if isinstance(event, SourceEvent)]
    assert sources[0].source == Source("Kiwi", "https://a.example", quote="A fruit.")
    assert (sources[1].source, sources[1].document) == (Source("a.pdf", page=3), 1)
    assert kept(events).parts[:3] == (Text("A fruit."), sources[0].source, sources[1].source)


def test_citations_arrive_in_a_stream_before_the_text_ends():
    deltas = [{"type": "text_delta", "text": "A fruit."}, {"type": "citations_delta", "citation": CITED}]
    events = parse(sse(BEGIN, *block(0, {"type": "text", "text": ""}, *deltas), end("end_turn"), STOP))
    assert kept(events) == kept(body({"type": "text", "text": "A fruit.", "citations": [CITED]}))


CALLER = {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}
ANSWER = [
    CALL,
    RESULT,
    {"type": "text", "text": "A fruit.", "citations": [CITED]},
    {"type": "tool_use", "id": "toolu_1", "name": "draw", "input": {}, "caller": CALLER},
]


def test_an_answer_goes_back_to_its_provider_unchanged():
    answer = kept(body(*ANSWER, stop="tool_use"))
    assert next_body(answer, "anthropic:claude-sonnet-5", output("toolu_1"))["messages"][1]["content"] == ANSWER


def test_another_provider_gets_words_in_place_of_blocks():
    sent = next_body(kept(body(CALL, RESULT, BROKEN, UNKNOWN)), "openai-chat:gpt-5.4")["messages"][1]
    assert sent["content"] == snapshot(
        '⟦web_search was run by the provider anthropic with {"query":"kiwi"}⟧'
        '⟦web_search returned: [{"type":"web_search_result","title":"Kiwi","url":"https://a.example"}]⟧'
        '⟦code_execution failed: {"type":"code_execution_tool_result_error","error_code":"unavailable"}⟧'
        '⟦hologram returned: {"beam":{"width":3}}⟧'
    )


def test_a_call_without_result_becomes_words_unless_the_turn_is_paused():
    cut, paused = kept(body(CALL, stop="max_tokens")), kept(body(CALL, stop="pause_turn"))
    assert next_body(cut, "anthropic:claude-sonnet-5")["messages"][1]["content"] == snapshot(
        [{"type": "text", "text": '⟦web_search was run by the provider anthropic with {"query":"kiwi"}⟧'}]
    )
    assert next_body(paused, "anthropic:claude-sonnet-5")["messages"][1]["content"] == [CALL]
