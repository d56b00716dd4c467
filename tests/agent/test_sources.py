"""Where texts come from: events while the model speaks, `run.sources`, and citations of files of the conversation."""

import asyncio

import pytest

from showandtell import Agent, File, ModelSettings
from showandtell.core.events.types import SourceEvent
from showandtell.errors import BadInput
from showandtell.hosted import Source
from showandtell.samples import folder
from support.scripted import CLAUDE, CONVERSE, framed, scripted, watch
from support.streams import anthropic

INVOICE = File.from_path(folder() / "invoice.pdf")
WEB = {"type": "web_search_result_location", "url": "https://a.example", "title": "A", "cited_text": "A fruit."}


def page(document, number=1):
    return {
        "type": "page_location",
        "document_index": document,
        "document_title": "invoice.pdf",
        "cited_text": "Total",
        "start_page_number": number,
    }


def cited(*citations):
    deltas = [{"type": "text_delta", "text": "It is."}]
    deltas += [{"type": "citations_delta", "citation": citation} for citation in citations]
    block = anthropic.block(0, {"type": "text", "text": ""}, *deltas)
    return anthropic.sse(anthropic.BEGIN, *block, anthropic.end("end_turn"), anthropic.STOP)


def ask(answer, *files, model=CLAUDE, **settings):
    agent, script = scripted(answer, model=model, **settings)
    run = agent.run("what is it?", files=files)
    events = asyncio.run(watch(run))
    return run, [event.source for event in events if isinstance(event, SourceEvent)], script


def test_sources_are_events_and_belong_to_the_run():
    run, sources, _ = ask(cited(WEB))
    assert sources == run.sources == [Source("A", "https://a.example", quote="A fruit.")]
    assert run.messages[-1].sources == tuple(sources)


def test_a_citation_of_a_file_names_its_number_and_page():
    picture = File.from_path(folder() / "kiwi.jpg")
    run, sources, _ = ask(cited(page(1, 2)), INVOICE, picture, File.from_path(folder() / "invoice.pdf", name="b.pdf"))
    assert sources == [Source("invoice.pdf", number=3, quote="Total", page=2)]
    assert run.conversation.attachments[3].name == "b.pdf"


@pytest.mark.parametrize("index", [1, -1, 10**9])
def test_a_citation_of_a_document_that_is_not_there_stays_as_it_came(index):
    _, sources, _ = ask(cited(page(index)), INVOICE)
    assert sources == [Source("invoice.pdf", quote="Total", page=1)]


def test_a_citation_on_bedrock_names_its_file():
    citation = {"title": "a", "location": {"documentPage": {"documentIndex": 0, "start": 2, "end": 3}}}
    frames = [
        framed("messageStart", role="assistant"),
        framed("contentBlockDelta", contentBlockIndex=0, delta={"text": "It is."}),
        framed("contentBlockDelta", contentBlockIndex=0, delta={"citation": citation}),
        framed("contentBlockStop", contentBlockIndex=0),
        framed("messageStop", stopReason="end_turn"),
        framed("metadata", usage={"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}, metrics={"latencyMs": 1}),
    ]
    _, sources, _ = ask(b"".join(frames), INVOICE, model=CONVERSE)
    assert sources == [Source("a", number=1, page=2)]


def test_claude_is_asked_to_cite_where_the_program_wants_it():
    _, _, script = ask(cited(WEB), INVOICE)
    agent = Agent("anthropic:claude-sonnet-5", model_settings=ModelSettings(citations=True))
    assert agent.target.dialect.citations
    documents = [block for block in script.bodies[0]["messages"][0]["content"] if block["type"] == "document"]
    assert "citations" not in documents[0]


def test_a_model_that_cites_nothing_is_refused():
    with pytest.raises(BadInput, match=r"openai:gpt-5\.5 doesn't cite the documents that it gets"):
        Agent("openai:gpt-5.5", model_settings=ModelSettings(citations=True))
    with pytest.raises(BadInput, match="takes either citations or an output_type"):
        Agent("anthropic:claude-sonnet-5", model_settings=ModelSettings(citations=True), output_type=list[int])
