"""Parts of tools that Google runs, and of unknown types: kept whole and in place, and shown to people."""

import base64
import itertools
import json

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from showandtell.core.events.types import HostedCall, SourceEvent
from showandtell.core.messages.parts import HostedBlock, Source
from showandtell.core.wire.gemini.parse import parse_full
from support.builders import parser_of
from support.fixtures import png
from support.next_request import accumulated, hosted_blocks, next_body
from support.streams.gemini import chunk_of, sse, text

CODE = {"executableCode": {"language": "PYTHON", "code": "1+1"}, "thoughtSignature": "Y29kZQ=="}
RESULT = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2\n"}}
FAILED = {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}}
PLOT = {"inlineData": {"mimeType": "image/png", "data": base64.b64encode(png(2, 2)).decode()}}
SEARCH = {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s_1", "args": {"queries": ["kiwi"]}}}
FOUND = {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s_1", "response": {"search_suggestions": "<a>"}}}
UNKNOWN = {"hologram": {"beam": 3}, "thoughtSignature": "aG9s"}
PARTS = (CODE, RESULT, SEARCH, FOUND, UNKNOWN, FAILED)
TARGET = "google:gemini-3-pro"


def parse(*reads):
    parser = parser_of("gemini")
    return [item for data in reads for item in parser.feed(data)] + parser.finish()


def body(*parts, **candidate):
    answer = {"content": {"parts": list(parts)}, "finishReason": "STOP", **candidate}
    return parse_full(json.dumps({"candidates": [answer]}).encode())


def kept(events):
    return accumulated(events, "google")


def parts_sent(answer, *later):
    return next_body(answer, TARGET, *later)["contents"][1]["parts"]


def test_code_and_searches_are_kept_and_shown():
    events = body(*PARTS)
    shown = [(item.call_id, item.tool, item.state, item.output) for item in events if isinstance(item, HostedCall)]
    assert hosted_blocks(kept(events)) == [*PARTS]
    assert shown == snapshot(
        [
            ("code_execution_0", "code_execution", "running", ""),
            ("code_execution_0", "code_execution", "done", '{"outcome":"OUTCOME_OK","output":"2\\n"}'),
            ("s_1", "google_search_web", "running", ""),
            ("s_1", "google_search_web", "done", '{"search_suggestions":"<a>"}'),
            ("hologram_4", "hologram", "done", '{"beam":3}'),
            ("code_execution_5", "code_execution", "error", '{"outcome":"OUTCOME_FAILED","output":"no"}'),
        ]
    )


@given(st.permutations([*PARTS, PLOT, text("Look.")]), st.lists(st.integers(0, 4000), max_size=8))
def test_parts_streamed_in_any_cut_are_those_of_a_complete_body(parts, cuts):
    data = sse(*(chunk_of(part) for part in parts), chunk_of(reason="STOP"))
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    draft = kept(parse(*(data[start:stop] for start, stop in itertools.pairwise(edges))))
    assert draft.parts == kept(body(*parts)).parts


def test_parts_go_back_unchanged_with_the_picture_in_its_place():
    assert parts_sent(kept(body(CODE, RESULT, PLOT, text("Two."), *PARTS[2:]))) == [
        *(CODE, RESULT, PLOT, text("Two.")),
        *PARTS[2:],
    ]


def test_a_picture_after_code_is_made_by_it_and_another_one_by_the_model():
    parts = kept(body(CODE, RESULT, PLOT, PLOT)).parts
    origins = [file.made_by for part in parts if isinstance(part, HostedBlock) for _, file in part.files]
    assert origins == [("code_execution", "code_execution_0"), None]


def test_another_provider_gets_words_and_the_picture():
    answer = kept(body(CODE, RESULT, PLOT))
    _, model, user = next_body(answer, "anthropic:claude-sonnet-5")["messages"]
    assert [block["text"] for block in model["content"]][:2] == [
        '⟦code_execution was run by the provider google with {"language":"PYTHON","code":"1+1"}⟧',
        '⟦code_execution returned: {"outcome":"OUTCOME_OK","output":"2\\n"}⟧',
    ]
    assert [block["type"] for block in user["content"]] == ["text", "image", "text", "text"]


GROUNDING = {
    "webSearchQueries": ["kiwi"],
    "groundingChunks": [
        {"web": {"uri": "https://a.example", "title": "A"}},
        {"retrievedContext": {"uri": "files/1", "title": "b.txt", "text": "A fruit."}},
    ],
    "groundingSupports": [
        {"segment": {"startIndex": 6, "endIndex": 13, "text": "fruité"}, "groundingChunkIndices": [0]}
    ],
}


def test_grounding_becomes_sources_with_places_in_characters_and_a_search():
    pieces = ("Été ", "fruité.")
    whole = body(text("".join(pieces)), groundingMetadata=GROUNDING)
    streamed = parse(
        sse(
            chunk_of(text(pieces[0])),
            {
                "candidates": [
                    {"content": {"parts": [text(pieces[1])]}, "finishReason": "STOP", "groundingMetadata": GROUNDING}
                ]
            },
        )
    )
    assert kept(streamed) == kept(whole)
    assert [item.source for item in whole if isinstance(item, SourceEvent)] == [
        Source("A", "https://a.example", start=4, end=10),
        Source("b.txt", quote="A fruit.", name="files/1"),
    ]
    (search,) = [part for part in kept(whole).parts if isinstance(part, HostedBlock)]
    assert (search.tool, search.input, search.block) == ("google_search", '{"queries":["kiwi"]}', "")
    assert parts_sent(kept(whole)) == [text("Été fruité.")]


def test_pages_that_were_read_are_shown():
    pages = {"urlMetadata": [{"retrievedUrl": "https://a.example", "urlRetrievalStatus": "OK"}]}
    (call, done) = [item for item in body(text("Hi."), urlContextMetadata=pages) if isinstance(item, HostedCall)]
    assert (call.state, done.tool, json.loads(done.output)) == ("running", "url_context", pages["urlMetadata"])


def test_the_parts_of_an_answer_that_is_cut_stay():
    draft = kept(parse(sse(chunk_of(CODE), chunk_of(RESULT))))
    assert (draft.stop, hosted_blocks(draft)) == ("cut", [CODE, RESULT])
    assert parts_sent(draft) == [CODE, RESULT]
