"""The providers' SDKs and our client talk to the strict inspector over a socket: both send the same requests and read
the same responses.

Each SDK's messages are written by hand, following its documentation.
"""

import asyncio
import base64
import hashlib
import json
import re
from collections import Counter
from functools import cache, partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_provider import AWS_KEY, AWS_SECRET, KEYS, TOKEN
from showandtell import File, render
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.events.accumulate import Accumulator
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Text, ToolCall
from showandtell.core.wire.parsers import PARSERS
from showandtell.inspector.request import Call, Reply
from showandtell.network.transport import Transport
from showandtell.providers.connect import connect
from support import scripted
from support.agents import make_agent
from support.cli_runs import SAMPLES, run
from support.fixtures import pdf, png
from support.properties import examples
from support.sdk_formats import URL_SAFE, camel
from support.sdk_server import (
    Recorded,
    environ,
    hear,
    hear_chat,
    hear_chunks,
    hear_claude,
    hear_response,
    key,
    listen,
    sdk_server,
    send_chat,
    send_claude,
    send_converse,
    send_gemini,
    send_responses,
)
from support.streams import anthropic as anthropic_stream
from support.streams import bedrock as bedrock_stream
from support.streams import gemini as gemini_stream
from support.streams import openai_chat as openai_chat_stream
from support.streams import openai_responses as openai_responses_stream

KIWI, REPORT, MAP, GUIDE = png(), pdf("one"), png(9, 9), pdf("two")
SYSTEM, QUESTION, ANSWER, FOUND, NOTHING, NEXT = (
    "Be brief.",
    "What is in these?",
    "I look.",
    "Here:",
    "Nothing.",
    "And now?",
)
ROME, OSLO = "call00001", "call00002"


def find(city: str) -> str:
    """Find a city."""
    return city


SCHEMA = {
    "additionalProperties": False,
    "properties": {"city": {"title": "City", "type": "string"}},
    "required": ["city"],
    "type": "object",
}
TALK = [
    Draft("user", (Text(QUESTION), File.from_bytes(KIWI, name="kiwi.png"), File.from_bytes(REPORT, name="report.pdf"))),
    Draft(
        "assistant",
        (Text(ANSWER), ToolCall(ROME, "find", '{"city": "Rome"}'), ToolCall(OSLO, "find", '{"city": "Oslo"}')),
    ),
    Draft(
        "tool",
        (Text(FOUND), File.from_bytes(MAP, name="map.png"), File.from_bytes(GUIDE, name="guide.pdf")),
        ROME,
        "find",
    ),
    Draft("tool", (Text(NOTHING),), OSLO, "find"),
    Draft("user", (Text(NEXT),)),
]


@pytest.fixture(scope="module")
def shared_stage():
    with sdk_server() as server, pytest.MonkeyPatch.context() as surroundings:
        for name, value in environ(server).items():
            surroundings.setenv(name, value)
        yield server


@pytest.fixture
def server(shared_stage):
    shared_stage.rest()
    return shared_stage


def encode(data):
    return base64.b64encode(data).decode()


# Anthropic: its own API, Bedrock and Vertex.


def claude_image(data):
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encode(data)}}


def claude_document(data, title):
    source = {"type": "base64", "media_type": "application/pdf", "data": encode(data)}
    return {"type": "document", "title": title, "source": source}


def claude_text(words):
    return {"type": "text", "text": words}


def claude_use(call_id, city):
    return {"type": "tool_use", "id": call_id, "name": "find", "input": {"city": city}}


def claude_result(call_id, *content):
    return {"type": "tool_result", "tool_use_id": call_id, "is_error": False, "content": [*content]}


def claude_call(model):
    found = claude_result(ROME, claude_text(FOUND), claude_image(MAP), claude_document(GUIDE, "guide.pdf"))
    asked = [claude_text(QUESTION), claude_image(KIWI), claude_document(REPORT, "report.pdf")]
    return {
        "model": model,
        "max_tokens": 100,
        "system": SYSTEM,
        "tools": [{"name": "find", "description": "Find a city.", "input_schema": SCHEMA}],
        "tool_choice": {"type": "auto"},
        "messages": [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": [claude_text(ANSWER), claude_use(ROME, "Rome"), claude_use(OSLO, "Oslo")]},
            {"role": "user", "content": [found, claude_result(OSLO, claude_text(NOTHING)), claude_text(NEXT)]},
        ],
    }


def anthropic_home(server):
    from anthropic import Anthropic

    return Anthropic(base_url=server.base("anthropic"), api_key=key("anthropic"), max_retries=0)


def anthropic_bedrock(server):
    from anthropic.lib.bedrock import AnthropicBedrock

    return AnthropicBedrock(
        base_url=server.base("anthropic-bedrock"),
        aws_access_key=AWS_KEY,
        aws_secret_key=AWS_SECRET,
        aws_region="us-east-1",
        max_retries=0,
    )


def anthropic_vertex(server):
    from anthropic.lib.vertex import AnthropicVertex

    base = server.base("anthropic-vertex")
    return AnthropicVertex(base_url=base, region="global", project_id="standin", access_token=TOKEN, max_retries=0)


def ask_claude(client, model, stream):
    return hear_claude(send_claude(client, stream, **claude_call(model)))


def ask_claude_on_bedrock(client, model, stream):
    # The SDK's default is the newest version, which this host rejects for some models.
    version = {"anthropic_version": "bedrock-2023-05-31"}
    return hear_claude(send_claude(client, stream, **claude_call(model), extra_body=version))


# OpenAI's Responses.


def input_image(data):
    return {"type": "input_image", "image_url": f"data:image/png;base64,{encode(data)}", "detail": "auto"}


def input_file(data, name):
    return {"type": "input_file", "filename": name, "file_data": f"data:application/pdf;base64,{encode(data)}"}


def input_text(words):
    return {"type": "input_text", "text": words}


def function_call(call_id, arguments):
    return {"type": "function_call", "call_id": call_id, "name": "find", "arguments": arguments}


def responses_call(model, *, native=True):
    files = [input_image(MAP), input_file(GUIDE, "guide.pdf")]
    found, after = ([input_text(FOUND), *files], NEXT) if native else (FOUND, [*files, input_text(NEXT)])
    asked = [input_text(QUESTION), input_image(KIWI), input_file(REPORT, "report.pdf")]
    return {
        "model": model,
        "instructions": SYSTEM,
        "max_output_tokens": 100,
        "tools": [
            {"type": "function", "name": "find", "description": "Find a city.", "parameters": SCHEMA, "strict": False}
        ],
        "tool_choice": "auto",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": ANSWER},
            function_call(ROME, '{"city": "Rome"}'),
            function_call(OSLO, '{"city": "Oslo"}'),
            {"type": "function_call_output", "call_id": ROME, "output": found},
            {"type": "function_call_output", "call_id": OSLO, "output": NOTHING},
            {"role": "user", "content": after},
        ],
    }


def openai(server, host="openai", path=""):
    """Return OpenAI's client, for OpenAI or for a compatible host."""
    from openai import OpenAI

    api_key = KEYS.get(host, ("", "none"))[1]
    headers = {"api-key": api_key} if host == "azure" else None
    return OpenAI(base_url=server.base(host) + path, api_key=api_key, default_headers=headers, max_retries=0)


def ask_responses(client, model, stream):
    return hear_response(send_responses(client, stream, **responses_call(model)))


def ask_azure(client, model, stream):
    """Files follow the results, because Azure is not known to accept files inside them."""
    return hear_response(send_responses(client, stream, **responses_call(model, native=False)))


def ask_responses_event_by_event(client, model, _):
    """Read raw events, because the SDK's accumulator requires that each part is announced."""
    with client.responses.create(**responses_call(model), stream=True) as answer:
        *_, last = answer
    return hear_response(last.response)


# OpenAI's Chat Completions, and compatible hosts.


def image_url(data):
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{encode(data)}"}}


def chat_file(data, name):
    return {"type": "file", "file": {"filename": name, "file_data": f"data:application/pdf;base64,{encode(data)}"}}


@cache
def page_of(data):
    """Return the single page of a PDF as an image, as sent to models that accept no PDFs."""
    request = render([Draft("user", (File.from_bytes(data, name="a.pdf"),))], model="vllm:Qwen/Qwen3-VL-8B-Instruct")
    (page,) = request.receipts[0].variant.files
    return request.blobs.read(page)


def page_url(data, _):
    return image_url(page_of(data))


def document_url(data, _):
    return {"type": "document_url", "document_url": f"data:application/pdf;base64,{encode(data)}"}


def tool_call(call_id, arguments):
    return {"id": call_id, "type": "function", "function": {"name": "find", "arguments": arguments}}


def chat_messages(document=chat_file, between=()):
    calls = [tool_call(ROME, '{"city": "Rome"}'), tool_call(OSLO, '{"city": "Oslo"}')]
    asked = [image_url(KIWI), document(REPORT, "report.pdf")]
    found = [image_url(MAP), document(GUIDE, "guide.pdf")]
    return [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": [claude_text(QUESTION), *asked]},
        {"role": "assistant", "content": ANSWER, "tool_calls": calls},
        {"role": "tool", "tool_call_id": ROME, "content": FOUND},
        {"role": "tool", "tool_call_id": OSLO, "content": NOTHING},
        *between,
        {"role": "user", "content": [*found, claude_text(NEXT)]},
    ]


def chat_call(model, limit="max_tokens", **messages):
    function = {"name": "find", "description": "Find a city.", "parameters": SCHEMA}
    tools = [{"type": "function", "function": function}]
    return {"model": model, limit: 100, "tools": tools, "tool_choice": "auto", "messages": chat_messages(**messages)}


def ask_chat(client, model, stream):
    return hear_chat(send_chat(client, stream, **chat_call(model, "max_completion_tokens")))


def ask_chat_elsewhere(client, model, stream):
    return hear_chat(send_chat(client, stream, **chat_call(model)))


def ask_openrouter(client, model, stream):
    """Tool messages may contain parts; an image there was seen by the model."""
    call = chat_call(model)
    *_, found, nothing, after = call["messages"]
    found["content"], nothing["content"] = [claude_text(FOUND), after["content"].pop(0)], [claude_text(NOTHING)]
    return hear_chat(send_chat(client, stream, **call))


def ask_chat_without_documents(client, model, stream):
    return hear_chat(send_chat(client, stream, **chat_call(model, document=page_url)))


def groq(server):
    from groq import Groq

    return Groq(base_url=server.base("groq"), api_key=key("groq"), max_retries=0)


def ask_groq(client, model, stream):
    call = chat_call(model, document=page_url)
    if not stream:
        return hear_chat(client.chat.completions.create(**call))
    return hear_chunks(
        [*client.chat.completions.create(**call, stream=True)], lambda chunk: chunk.x_groq and chunk.x_groq.usage
    )


def mistral(server):
    from mistralai.client import Mistral

    return Mistral(server_url=server.base("mistral"), api_key=key("mistral"))


def ask_mistral(client, model, stream):
    call = chat_call(model, document=document_url, between=[{"role": "assistant", "content": "OK"}])
    if not stream:
        return hear_chat(client.chat.complete(**call))
    with client.chat.stream(**call) as answer:
        return hear_chunks([event.data for event in answer], lambda chunk: chunk.usage)


# Gemini, at home and on Vertex.


def genai(server):
    from google import genai

    return genai.Client(api_key=key("google"), http_options={"base_url": server.base("google")})


def genai_vertex(server):
    from google import genai
    from google.oauth2.credentials import Credentials

    return genai.Client(
        vertexai=True,
        project="standin",
        location="global",
        credentials=Credentials(TOKEN),
        http_options={"base_url": server.base("vertex")},
    )


def gemini_call(model, named=True):
    from google.genai import types

    def called(call_id, city, signature=None):
        call = types.FunctionCall(id=call_id if named else None, name="find", args={"city": city})
        return types.Part(function_call=call, thought_signature=signature)

    def returned(call_id, words, *parts):
        answer = types.FunctionResponse(
            id=call_id if named else None, name="find", response={"output": words}, parts=[*parts] or None
        )
        return types.Part(function_response=answer)

    def part(data, media_type):
        return types.FunctionResponsePart.from_bytes(data=data, mime_type=media_type)

    asked = [
        types.Part.from_text(text=QUESTION),
        types.Part.from_bytes(data=KIWI, mime_type="image/png"),
        types.Part.from_bytes(data=REPORT, mime_type="application/pdf"),
    ]
    signature = base64.urlsafe_b64decode("skip_thought_signature_validator")
    declared = types.FunctionDeclaration(name="find", description="Find a city.", parameters_json_schema=SCHEMA)
    calling = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.AUTO)
    return {
        "model": model,
        "contents": [
            types.Content(role="user", parts=asked),
            types.Content(
                role="model",
                parts=[
                    types.Part.from_text(text=ANSWER),
                    called(ROME, "Rome", signature),
                    called(OSLO, "Oslo"),
                ],
            ),
            types.Content(
                role="user",
                parts=[
                    returned(ROME, FOUND, part(MAP, "image/png"), part(GUIDE, "application/pdf")),
                    returned(OSLO, NOTHING),
                ],
            ),
            types.Content(role="user", parts=[types.Part.from_text(text=NEXT)]),
        ],
        "config": types.GenerateContentConfig(
            system_instruction=SYSTEM,
            max_output_tokens=100,
            tools=[types.Tool(function_declarations=[declared])],
            tool_config=types.ToolConfig(function_calling_config=calling),
        ),
    }


def ask_gemini(client, model, stream):
    return send_gemini(client, stream, **gemini_call(model, named=not client.vertexai))


# Bedrock's Converse.


def boto(server):
    import boto3
    from botocore.config import Config

    return boto3.client(
        "bedrock-runtime",
        endpoint_url=server.base("bedrock"),
        region_name="us-east-1",
        aws_access_key_id=AWS_KEY,
        aws_secret_access_key=AWS_SECRET,
        config=Config(retries={"total_max_attempts": 1}),
    )


def converse_image(data):
    return {"image": {"format": "png", "source": {"bytes": data}}}


def converse_document(data, name):
    return {"document": {"format": "pdf", "name": name, "source": {"bytes": data}, "citations": {"enabled": True}}}


def converse_result(call_id, *content):
    return {"toolResult": {"toolUseId": call_id, "content": [*content], "status": "success"}}


def converse_call(model):
    """Claude's PDF follows the results after an assistant message, because it can't see a PDF inside a result."""
    use = (
        {"toolUse": {"toolUseId": at, "name": "find", "input": {"city": city}}}
        for at, city in ((ROME, "Rome"), (OSLO, "Oslo"))
    )
    results = [converse_result(ROME, {"text": FOUND}, converse_image(MAP)), converse_result(OSLO, {"text": NOTHING})]
    spec = {"name": "find", "description": "Find a city.", "inputSchema": {"json": SCHEMA}}
    return {
        "modelId": model,
        "system": [{"text": SYSTEM}],
        "inferenceConfig": {"maxTokens": 100},
        "toolConfig": {"tools": [{"toolSpec": spec}], "toolChoice": {"auto": {}}},
        "messages": [
            {
                "role": "user",
                "content": [{"text": QUESTION}, converse_image(KIWI), converse_document(REPORT, "document 2")],
            },
            {"role": "assistant", "content": [{"text": ANSWER}, *use]},
            {"role": "user", "content": results},
            {"role": "assistant", "content": [{"text": "."}]},
            {"role": "user", "content": [converse_document(GUIDE, "document 4"), {"text": NEXT}]},
        ],
    }


def ask_converse(client, model, stream):
    return send_converse(client, stream, **converse_call(model))


#: How each SDK creates its client and sends a request, by model.
SDKS = {
    "anthropic:claude-opus-5": (anthropic_home, ask_claude),
    "anthropic-bedrock:anthropic.claude-opus-5-v1:0": (anthropic_bedrock, ask_claude_on_bedrock),
    "anthropic-vertex:claude-opus-5": (anthropic_vertex, ask_claude),
    "openai:gpt-5-mini": (openai, ask_responses),
    "azure:gpt-5-mini": (partial(openai, host="azure", path="/openai/v1"), ask_azure),
    "openai-chat:gpt-5-mini": (openai, ask_chat),
    "google:gemini-3-flash-preview": (genai, ask_gemini),
    "vertex:gemini-3-flash-preview": (genai_vertex, ask_gemini),
    "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0": (boto, ask_converse),
    "groq:meta-llama/llama-4-maverick-17b-128e-instruct": (groq, ask_groq),
    "mistral:mistral-medium-latest": (mistral, ask_mistral),
    "litellm:gpt-5-mini": (partial(openai, host="litellm"), ask_chat_elsewhere),
    "cohere:command-a-vision-07-2025": (
        partial(openai, host="cohere", path="/compatibility/v1"),
        ask_chat_without_documents,
    ),
    **{
        model: (partial(openai, host=model.partition(":")[0]), ask_chat_without_documents)
        for model in ("vllm:Qwen/Qwen3-VL-8B-Instruct", "llamacpp:gemma-3-4b-it", "lmstudio:qwen/qwen3-vl-8b")
    },
    "openrouter:anthropic/claude-sonnet-4.5": (partial(openai, host="openrouter"), ask_openrouter),
}
REPLIES = {
    "calls": Reply(
        "Both are there.", (Call("k00000001", "find", '{"city":"Bern"}'), Call("k00000002", "find", '{"city":"Kyiv"}'))
    ),
    "text": Reply("Ça, c'est un kiwi 🥝. " * 9),
    "cut": Reply("Ça, c'est un", truncated=True),
}
#: A model of each API. Other hosts have its code: `make test` asks them for streams alone.
OF_EACH_API = {
    *("anthropic:claude-opus-5", "openai:gpt-5-mini", "openai-chat:gpt-5-mini", "google:gemini-3-flash-preview"),
    "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}


def each_way(models):
    """A test for each model, with a complete answer and with a stream."""
    ways = [(model, stream) for model in models for stream in (False, True)]
    params = [
        pytest.param(
            *(model, stream),
            id=f"{model}-{'stream' if stream else 'complete'}",
            marks=[pytest.mark.thorough] * (not stream and model not in OF_EACH_API),
        )
        for model, stream in ways
    ]
    return pytest.mark.parametrize(("model", "stream"), params)


def ask_sdk(server, model, stream):
    """Send a request with an SDK and return what it received."""
    make, ask = SDKS[model]
    client = server.client(model, lambda: make(server))
    received = ask(client, model.partition(":")[2], stream)
    assert server.statuses() == [200]
    return received


@pytest.mark.parametrize(
    "reply_name", ["calls", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("text", "cut"))]
)
@each_way(SDKS)
def test_each_sdk_gets_the_same_response_as_our_client(model, reply_name, stream, server):
    server.reply = REPLIES[reply_name]
    received = ask_sdk(server, model, stream)
    assert received == without_missing_ids(listen(resolve(model).api, server.recorded()), received)
    assert received.text == REPLIES[reply_name].text
    assert [call[1:] for call in received.calls] == [
        (call.tool, json.loads(call.arguments)) for call in REPLIES[reply_name].calls
    ]


def without_missing_ids(ours, theirs):
    """Remove our ids of calls that have none in the response, such as Gemini's on Vertex."""
    ids = [call[0] for call in theirs.calls]
    calls = tuple((call[0] if given else "", *call[1:]) for call, given in zip(ours.calls, ids, strict=True))
    return ours._replace(calls=calls)


@each_way(SDKS)
def test_our_request_matches_the_sdks_and_gets_the_same_response(model, stream, server):
    server.reply = REPLIES["calls"]
    theirs = ask_sdk(server, model, stream)
    request = render(TALK, model=model, tools=[find], instructions=SYSTEM, max_tokens=100, stream=stream)
    ours = asyncio.run(ask_ours(request))
    sent_by_sdk, sent_by_us = [normalize(post.body) for post in server.posts]
    assert sent_by_us == sent_by_sdk
    assert without_missing_ids(ours, theirs)[:3] == theirs[:3]


async def ask_ours(request):
    """Send a request with our own client, over the same socket."""
    fold = Accumulator("witness")
    async with Transport() as transport:
        exchange = connect(request.target, transport=transport)
        async for batch in exchange.ask(request):
            fold.add(batch)
    return hear(fold)


#: Fields that may be absent: the type of a message of Responses, and defaults that SDKs write.
DEFAULTS = [("type", "message"), ("stream", False), ("prefix", False), ("index", 0)]
LABEL = re.compile(r"⟦[^⟦]*⟧")
EMPTY_TEXTS = ["", {"text": ""}, {"type": "text", "text": ""}, {"type": "input_text", "text": ""}]


def normalize(value):
    """Normalize a body: drop our labels and `DEFAULTS`, and convert the SDK's snake case and URL-safe base64 of Google."""
    match value:
        case dict():
            fields = {camel(key): normalize(item) for key, item in value.items() if (key, item) not in DEFAULTS}
            return {key: normalize_field(key, item) for key, item in fields.items() if key != "anthropicVersion"}
        case list():
            return [item for item in map(normalize, value) if item not in EMPTY_TEXTS]
        case str():
            return LABEL.sub("", value).strip()
        case _:
            return value


def normalize_field(key, item):
    """Normalize Google's fields: labels turn a result's text into a list, and the SDK adds a role to instructions."""
    match key, item:
        case ("data" | "thoughtSignature", str()):
            return item.translate(URL_SAFE)
        case ("output", [str() as only]):
            return only
        case ("systemInstruction", {"role": "user", **rest}):
            return rest
        case _:
            return item


# Our own client with every host.


def show(city: str) -> list[object]:
    """Show a city."""
    return [f"This is {city}:", File.from_bytes(MAP, name="map.png"), File.from_bytes(GUIDE, name="guide.pdf")]


#: A model of every row, and the media types that it accepts without conversion.
ROWS = {
    **dict.fromkeys(SDKS, ("image/png", "application/pdf")),
    **dict.fromkeys(
        [model for model, (_, ask) in SDKS.items() if ask in {ask_groq, ask_chat_without_documents}], ("image/png",)
    ),
    **dict.fromkeys(["xai:grok-4", "ollama:qwen3-vl:8b", "azure-chat:gpt-5-mini"], ("image/png",)),
}


def expected_files(model):
    """Return type and hash of the files of one call of `show`, with a PDF as an image if the model accepts no PDFs."""
    guide = ("application/pdf", GUIDE) if "application/pdf" in ROWS[model] else ("image/png", page_of(GUIDE))
    return {(media_type, hashlib.sha256(data).hexdigest()) for media_type, data in [("image/png", MAP), guide]}


def received_files(server):
    """Count the files of the last request by type and hash."""
    return Counter((sight.media_type, sight.sha256) for sight in server.fake_provider.ledger[-1].seen)


@each_way(ROWS)
def test_our_agent_runs_its_tools_with_every_host(model, stream, server):
    agent = make_agent(model, [show], SYSTEM, stream=stream)
    finished = agent.run_sync("/show city=Rome /show city=Oslo")
    assert (finished.status, finished.error) == ("complete", None)
    assert [message.role for message in finished.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [status for status in server.statuses() if status != 404] == [200, 200]  # no host tells its modalities
    assert received_files(server) == dict.fromkeys(expected_files(model), 2)
    assert finished.messages[1].stop == "tool_calls"
    assert finished.text == listen(resolve(model).api, server.recorded()).text


# The parsers' test streams, read by the SDKs.


def complete_stream(stream):
    """Add the initial content that Claude's SDK requires to a stream."""
    return stream.replace(
        b'"type": "message_start", "message": {', b'"type": "message_start", "message": {"content": [], '
    )


SSE, FRAMES = "text/event-stream", "application/vnd.amazon.eventstream"
#: For each API the SDK that reads its streams, their content type, and the test stream of our parser.
READERS = {
    scripted.CLAUDE: ("anthropic:claude-opus-5", ask_claude, SSE, anthropic_stream.STREAM),
    scripted.RESPONSES: ("openai:gpt-5-mini", ask_responses_event_by_event, SSE, openai_responses_stream.STREAM),
    scripted.GPT: ("openai-chat:gpt-5-mini", ask_chat, SSE, openai_chat_stream.STREAM),
    scripted.GEMINI: ("google:gemini-3-flash-preview", ask_gemini, SSE, gemini_stream.STREAM),
    scripted.CONVERSE: (
        "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ask_converse,
        FRAMES,
        bedrock_stream.STREAM,
    ),
}


def check_stream(server, at, data):
    """Read one stream with the SDK over the socket and with our parser."""
    model, ask, media_type, _ = READERS[at]
    server.rest()
    server.canned = Recorded(media_type, complete_stream(data))
    theirs = ask(server.client(model, lambda: SDKS[model][0](server)), model.partition(":")[2], True)
    assert theirs == without_missing_ids(listen(resolve(model).api, server.canned), theirs)
    return theirs


@pytest.mark.parametrize("at", READERS)
def test_the_sdk_reads_our_parsers_test_stream_like_our_parser(at, server):
    received = check_stream(server, at, READERS[at][3])
    assert received.calls[0][1:2] == ("draw",)
    assert "kiwi 🥝" in received.text


@pytest.mark.parametrize("why", ["end", "length", "filtered"])
@pytest.mark.parametrize("at", READERS)
def test_each_stop_reason_is_read_by_both(at, why, server):
    data = scripted.say("Hi", stop=getattr(scripted.STOPS[at], why), model=at, thought="Hm.")
    assert check_stream(server, at, data).stop == {"filtered": "refusal"}.get(why, why)


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
GIVEN = st.dictionaries(
    WORDS, st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | WORDS, st.lists, max_leaves=4)
)
CALLS = st.lists(st.tuples(st.sampled_from(["find", "draw_2"]), GIVEN.map(json.dumps)), max_size=3)


def number(calls):
    return [(f"call{at:05}", *call) for at, call in enumerate(calls)]


@examples(15)
@given(text=WORDS.filter(str.strip), calls=CALLS, at=st.sampled_from([*READERS]))
def test_any_script_is_read_alike(shared_stage, text, calls, at):
    check_stream(shared_stage, at, scripted.say(text, *number(calls), model=at))


@examples(15)
@given(
    text=WORDS.filter(str.strip),
    calls=CALLS,
    cut=st.booleans(),
    asked=st.tuples(st.sampled_from([*SDKS]), st.booleans()),
)
def test_any_reply_of_a_host_is_read_alike(shared_stage, text, calls, cut, asked):
    shared_stage.rest()
    shared_stage.reply = Reply(text, () if cut else tuple(Call(*call) for call in number(calls)), truncated=cut)
    received = ask_sdk(shared_stage, *asked)
    assert received == without_missing_ids(listen(resolve(asked[0]).api, shared_stage.recorded()), received)


# The command line, with the five APIs of the inspector in process.


@pytest.mark.parametrize("api", PARSERS)
def test_ask_prints_number_place_and_hash_of_a_pdf_for_every_api(api, tmp_path):
    done = run(tmp_path, "ask", "/read_file path=invoice.pdf", "-m", f"inspector:{api}")
    digest = hashlib.sha256((SAMPLES / "invoice.pdf").read_bytes()).hexdigest()
    assert (done.returncode, done.stderr) == (0, "")
    assert "- document 1: invoice.pdf, from tool read_file (call " in done.stdout
    assert PLACES[api] in done.stdout
    assert f"application/pdf, 1,795 bytes, sha256 {digest}\n" in done.stdout


PLACES = {
    "anthropic-messages": ", at messages.2.content.0.content.1\n",
    "openai-chat": "in the user message, at messages[3].content[1]\n",
    "openai-responses": ", at input[2].output[1]\n",
    "gemini": ", at contents[2].parts[0].function_response.parts[0]\n",
    "bedrock-converse": "in the user message, at messages.4.content.1\n",
}
