"""What Chat Completions hosts run and add: executed tools, annotations, audio, custom tools, parts of unknown types."""

import base64
import io
import json
import wave

import pytest

from showandtell.core.events.types import FileMade, HostedCall, SourceEvent
from showandtell.core.messages.parts import HostedBlock, Source, Text, ToolCall
from showandtell.core.wire.openai_chat.parse import parse_full
from support.builders import parser_of
from support.next_request import accumulated, next_body, output
from support.streams.openai_chat import delta, sse

TOOL = {"index": 0, "type": "search", "arguments": '{"query": "kiwi"}'}
FOUND = {"results": [{"title": "Kiwi", "url": "https://a.example", "content": "A fruit."}]}
CITATION = {"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A", "start_index": 0}}
FILE = {"type": "file", "file": {"hash": "a1", "name": "a.pdf", "content": [{"type": "text", "text": "Dummy"}]}}
REFERENCE = {"type": "reference", "reference_ids": [1, 2]}
SAMPLES = bytes(range(200))


def parse(*chunks):
    parser = parser_of("openai-chat")
    return parser.feed(sse(*chunks)) + parser.finish()


def body(reason="stop", **message):
    choice = {"message": {"role": "assistant", **message}, "finish_reason": reason}
    return parse_full(json.dumps({"choices": [choice]}).encode())


def kept(events, provider="openai-chat"):
    return accumulated(events, provider)


def sent(answer, model, *later):
    return next_body(answer, model, *later)["messages"][1]


def test_a_tool_that_groq_ran_is_shown_while_it_runs_and_with_its_output():
    done = {**TOOL, "output": "Title: Kiwi", "search_results": FOUND}
    events = parse(delta(executed_tools=[TOOL]), delta(executed_tools=[done]), delta(content="A fruit."), delta("stop"))
    shown = [(item.tool, item.input, item.output, item.state) for item in events if isinstance(item, HostedCall)]
    assert shown == [
        ("search", "", "", "running"),
        ("search", '{"query":"kiwi"}', '"Title: Kiwi"', "done"),
    ]
    assert sent(kept(events, "groq"), "groq:compound") == {"role": "assistant", "content": "A fruit."}


def test_a_complete_answer_has_the_tools_of_its_stream():
    done = {**TOOL, "output": "Title: Kiwi"}
    streamed = parse(delta(executed_tools=[TOOL]), delta(executed_tools=[done]), delta(content="Hi."), delta("stop"))
    blocks = [
        [part for part in kept(events).parts if isinstance(part, HostedBlock)]
        for events in (streamed, body(content="Hi.", executed_tools=[done]))
    ]
    assert blocks[0] == blocks[1]


@pytest.mark.parametrize("is_early", [True, False])
def test_citations_are_sources_of_the_text_before_or_after_it(is_early):
    words, cited = delta(content="A fruit."), delta(content="", annotations=[CITATION])
    events = parse(*([cited, words] if is_early else [words, cited]), delta("stop"))
    assert [item.source for item in events if isinstance(item, SourceEvent)] == [Source("A", "https://a.example")]
    assert kept(events).parts == (Text("A fruit."), Source("A", "https://a.example"))


def test_what_openrouter_read_in_a_file_goes_back_to_it_alone():
    events = body(content="A dummy.", annotations=[FILE])
    answer = kept(events, "openrouter")
    assert sent(answer, "openrouter:openai/gpt-5-mini")["annotations"] == [FILE]
    assert "annotations" not in sent(kept(events), "openai-chat:gpt-5.4")
    assert "file_annotation" in [item.tool for item in events if isinstance(item, HostedCall)]


def test_sound_is_a_file_and_its_words_are_the_text():
    audio = {"id": "audio_1", "expires_at": 9, "transcript": "Hello.", "data": base64.b64encode(b"RIFF1234").decode()}
    events = body(content=None, audio=audio)
    assert [item.data for item in events if isinstance(item, FileMade)] == [b"RIFF1234"]
    assert kept(events).parts[0] == Text("Hello.")


def test_streamed_samples_become_a_wave_file():
    pieces = [base64.b64encode(SAMPLES[:100]).decode(), base64.b64encode(SAMPLES[100:]).decode()]
    chunks = [delta(audio={"id": "a", "transcript": "Hel"}), delta(audio={"data": pieces[0]})]
    events = parse(*chunks, delta(audio={"data": pieces[1]}), delta(audio={"transcript": "lo."}), delta("stop"))
    (made,) = [item for item in events if isinstance(item, FileMade)]
    with wave.open(io.BytesIO(made.data)) as sound:
        assert (sound.getframerate(), sound.getnchannels(), sound.readframes(100)) == (24_000, 1, SAMPLES)
    assert kept(events).text == "Hello."


def test_a_custom_tool_is_a_call_of_ours_and_goes_back_as_it_came():
    call = {"id": "c_1", "type": "custom", "custom": {"name": "draw", "input": "a *kiwi*"}}
    answer = kept(body("tool_calls", content=None, tool_calls=[call]))
    assert [(part.tool, json.loads(part.arguments)) for part in answer.parts if isinstance(part, ToolCall)] == [
        ("draw", {"input": "a *kiwi*"})
    ]
    assert sent(answer, "openai-chat:gpt-5.4", output("c_1"))["tool_calls"] == [call]


def test_the_input_of_a_custom_tool_streams_in_pieces():
    first = {"index": 0, "id": "c_1", "type": "custom", "custom": {"name": "draw", "input": "a "}}
    more = {"index": 0, "custom": {"input": "kiwi"}}
    answer = kept(parse(delta(tool_calls=[first]), delta(tool_calls=[more]), delta("tool_calls")))
    assert json.loads(answer.parts[0].arguments) == {"input": "a kiwi"}


def test_an_item_of_unknown_type_goes_back_in_its_place():
    content = [{"type": "text", "text": "A fruit."}, REFERENCE, {"type": "text", "text": "Green."}]
    answer = kept(body(content=content), "mistral")
    assert sent(answer, "mistral:mistral-large-latest")["content"] == content
    assert "reference" in sent(answer, "openai-chat:gpt-5.4")["content"]
