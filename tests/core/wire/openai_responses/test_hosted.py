"""Items of tools that a Responses API runs, and of unknown types: kept whole and in place, and shown to people."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from showandtell.core.events.types import FileMade, HostedCall, RemoteFile, SourceEvent
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Approval, Source, Text, ToolCall
from showandtell.core.wire.openai_responses.parse import parse_full
from support.builders import parser_of
from support.next_request import accumulated, hosted_blocks, next_body, output
from support.streams.openai_responses import KIWI, added, answer, done, encode, event, image, last, message, sse

SEARCH = {"type": "search", "query": "kiwi", "sources": [{"type": "url", "url": "https://a.example"}]}
LOGS = [{"type": "logs", "logs": "2"}]
ITEMS = {
    "web_search": {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": SEARCH},
    "file_search": {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["a"], "results": None},
    "code_interpreter": {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "status": "completed",
        "code": "1+1",
        "container_id": "cntr_1",
        "outputs": LOGS,
    },
    "wiki.list_tools": {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "wiki", "tools": [{"name": "ask"}]},
    "wiki.ask": {
        "type": "mcp_call",
        "id": "mcp_1",
        "server_label": "wiki",
        "name": "ask",
        "arguments": '{"q": "kiwi"}',
        "output": "A fruit.",
        "error": None,
    },
    "tool_search": {
        "type": "tool_search_call",
        "id": "tsc_1",
        "execution": "server",
        "call_id": None,
        "status": "completed",
        "arguments": {"paths": ["a"]},
    },
    "compaction": {"type": "compaction", "id": "cmp_1", "encrypted_content": "Zm9v"},
    "hologram": {"type": "hologram", "id": "h_1", "beam": {"width": 3}},
}
PROGRAM = {"type": "program", "id": "p_1", "call_id": "c_1", "code": "await draw()", "fingerprint": "f"}
OUTPUT = {"type": "program_output", "id": "po_1", "call_id": "c_1", "result": "2", "status": "completed"}
CALLS = (PROGRAM, OUTPUT)
TARGET = "openai:gpt-5.5"


def parse(*reads):
    parser = parser_of("openai-responses")
    return [item for data in reads for item in parser.feed(data)] + parser.finish()


def body(*items):
    return parse_full(encode(answer(*items)))


def kept(events):
    return accumulated(events, "openai")


def text(words, *annotations):
    return message({"type": "output_text", "text": words, "annotations": list(annotations)})


@pytest.mark.parametrize("tool", ITEMS)
def test_each_item_is_kept_whole_and_named(tool):
    (part,) = kept(body(ITEMS[tool])).parts
    assert (json.loads(part.block), part.tool, part.state) == (ITEMS[tool], tool, "done")


def test_people_see_what_tools_were_given_and_returned():
    shown = {item.tool: (item.input, item.output) for item in body(*ITEMS.values()) if isinstance(item, HostedCall)}
    assert shown == snapshot(
        {
            "web_search": ('{"type":"search","query":"kiwi"}', '[{"type":"url","url":"https://a.example"}]'),
            "file_search": ('["a"]', ""),
            "code_interpreter": ('{"code":"1+1"}', '[{"type":"logs","logs":"2"}]'),
            "wiki.list_tools": ("", '[{"name":"ask"}]'),
            "wiki.ask": ('{"q":"kiwi"}', '"A fruit."'),
            "tool_search": ('{"paths":["a"]}', ""),
            "compaction": ("", ""),
            "hologram": ("", '{"beam":{"width":3}}'),
        }
    )


@given(st.permutations([*ITEMS.values(), *CALLS, text("Look.")]), st.lists(st.integers(0, 9000), max_size=8))
def test_items_streamed_in_any_cut_are_those_of_a_complete_body(items, cuts):
    data = sse(*(chunk for at, item in enumerate(items) for chunk in (added(at, item), done(at, item))), last(*items))
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    draft = kept(parse(*(data[start:stop] for start, stop in itertools.pairwise(edges))))
    assert draft.parts == kept(body(*items)).parts
    assert hosted_blocks(draft) == [item for item in items if item["type"] != "message"]


def test_an_answer_goes_back_unchanged_with_its_annotations():
    cited = text("A fruit.", {"type": "url_citation", "url": "https://a.example", "start_index": 0, "end_index": 2})
    sent = next_body(kept(body(*ITEMS.values(), *CALLS, cited)), TARGET)["input"][1:-1]
    assert sent[:-1] == [*ITEMS.values(), *CALLS]
    assert sent[-1]["content"] == cited["content"]


def test_an_image_goes_back_in_its_item_with_a_label_after_it():
    answered = kept(body(image()))
    ((_, file),) = answered.parts[0].files
    assert file == File(b"a kiwi", "image/png")
    assert json.loads(answered.parts[0].block) == image(result=None)


def test_pictures_in_outputs_of_code_become_files_with_their_origin():
    outputs = [{"type": "image", "url": f"data:image/png;base64,{KIWI}"}, *LOGS]
    (part,) = kept(body(ITEMS["code_interpreter"] | {"outputs": outputs})).parts
    assert part.files == (("/outputs/0/url", File(b"a kiwi", "image/png", made_by=("code_interpreter", "ci_1"))),)
    assert json.loads(part.block)["outputs"][0] == {"type": "image", "url": "data:image/png;base64,"}
    assert KIWI not in part.output


def test_files_of_containers_are_fetched_later():
    citation = {"type": "container_file_citation", "container_id": "cntr_1", "file_id": "cfile_1", "filename": "a.png"}
    (made,) = [item for item in body(text("See it.", citation)) if isinstance(item, FileMade)]
    assert (made.remote, made.name) == (RemoteFile("cfile_1", "cntr_1"), "a.png")


@pytest.mark.parametrize("is_streamed", [True, False])
def test_sources_come_once_before_their_text_ends(is_streamed):
    citation = {"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0, "end_index": 7}
    named = {"type": "file_citation", "file_id": "file_1", "filename": "a.txt", "index": 7}
    item = text("A fruit.", citation, named)
    note = event("output_text.annotation.added", 0, item_id="m", content_index=0, annotation=citation)
    delta = event("output_text.delta", 0, item_id="m", content_index=0, delta="A fruit.")
    events = parse(sse(added(0, text("")), delta, note, done(0, item), last(item))) if is_streamed else body(item)
    sources = [item.source for item in events if isinstance(item, SourceEvent)]
    assert sources == [Source("A", "https://a.example", start=0, end=7), Source(name="a.txt")]
    assert kept(events).parts[:3] == (Text("A fruit."), *sources)


def test_a_custom_tool_is_a_call_of_ours_and_goes_back_as_it_came():
    call = {"type": "custom_tool_call", "id": "ct_1", "call_id": "c_1", "name": "draw", "input": "a *kiwi*"}
    answered = kept(body(call))
    assert answered.stop == "tool_calls"
    assert isinstance(answered.parts[0], ToolCall)
    assert json.loads(answered.parts[0].arguments) == {"input": "a *kiwi*"}
    _, sent, returned = next_body(answered, TARGET, output("c_1"))["input"]
    assert sent == {key: value for key, value in call.items() if key != "id"}
    assert returned == {"type": "custom_tool_call_output", "call_id": "c_1", "output": "done"}


def test_a_call_by_a_program_of_the_provider_keeps_its_caller():
    caller = {"type": "program", "caller_id": "c_1"}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c_2", "name": "draw", "arguments": "{}"}
    answered = kept(body(PROGRAM, call | {"caller": caller, "namespace": "art"}))
    *_, sent, returned = next_body(answered, TARGET, output("c_2"))["input"]
    assert (sent["caller"], sent["namespace"], returned["caller"]) == (caller, "art", caller)


@pytest.mark.parametrize("kind", ["computer_call", "local_shell_call", "apply_patch_call"])
def test_a_call_that_only_the_program_could_answer_becomes_words(kind):
    answered = kept(body({"type": kind, "id": "x_1", "call_id": "c_1", "status": "completed", "action": {"x": 1}}))
    assert answered.parts[0].state == "running"
    assert "was run by the provider" in next_body(answered, TARGET)["input"][1]["content"]


ASKED = {"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "wiki", "name": "ask", "arguments": "{}"}


def test_a_decision_about_a_tool_of_the_provider_goes_to_it():
    answered = kept(body(ASKED))
    decision = Draft("user", (Approval("mcpr_1", approved=False, reason="not now"),))
    _, asked, response = next_body(answered, TARGET, decision)["input"]
    assert (answered.parts[0].state, asked) == ("waiting", ASKED)
    assert response == snapshot(
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": False, "reason": "not now"}
    )


def test_an_undecided_call_of_the_provider_becomes_words():
    assert (
        "wiki.ask of the provider openai was asked for, and not approved"
        in next_body(kept(body(ASKED)), TARGET)["input"][1]["content"]
    )


def test_other_providers_get_words_in_place_of_items():
    answered = kept(body(ITEMS["web_search"], ITEMS["compaction"], CALLS[0], CALLS[1]))
    content = next_body(answered, "anthropic:claude-sonnet-5")["messages"][1]["content"]
    assert [item["text"] for item in content] == snapshot(
        [
            '⟦web_search was run by the provider openai with {"type":"search","query":"kiwi"}; it returned: [{"type":"url","url":"https://a.example"}]⟧',
            "⟦a block of type compaction, which only openai can read⟧",
            '⟦program was run by the provider openai with {"code":"await draw()"}⟧',
            "⟦program returned: 2⟧",
        ]
    )
