"""Other people's SDKs talk to the strict houses over a socket, as ours does: what they send is what we send, and what
they hear is what we hear.

Each SDK's messages are written by hand as its own documents write them.
"""

import base64
import json

import pytest

from fixtures import pdf, png
from showandtell import File, render
from showandtell.content import Draft, Text, ToolCall
from showandtell.events.types import Usage
from showandtell.inspector.seen import Call, Reply
from standin import AWS_KEY, AWS_SECRET, TOKEN
from witness_server import Heard, environ, key, listen, staged

KIWI, REPORT, MAP, GUIDE = png(), pdf("one"), png(9, 9), pdf("two")
SYSTEM, QUESTION, ANSWER, FOUND, NOTHING, NEXT = "Be brief.", "What is in these?", "I look.", "Here:", "Nothing.", "And now?"
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
    Draft("assistant", (Text(ANSWER), ToolCall(ROME, "find", '{"city": "Rome"}'), ToolCall(OSLO, "find", '{"city": "Oslo"}'))),
    Draft("tool", (Text(FOUND), File.from_bytes(MAP, name="map.png"), File.from_bytes(GUIDE, name="guide.pdf")), ROME, "find"),
    Draft("tool", (Text(NOTHING),), OSLO, "find"),
    Draft("user", (Text(NEXT),)),
]


@pytest.fixture(scope="module")
def theatre():
    with staged() as stage:
        yield stage


@pytest.fixture
def stage(theatre, monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in environ(theatre).items():
        monkeypatch.setenv(name, value)
    theatre.rest()
    return theatre


def encode(data):
    return base64.b64encode(data).decode()


# Anthropic: at home, on Bedrock, on Vertex.


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


def anthropic_home(stage):
    from anthropic import Anthropic

    return Anthropic(base_url=stage.base("anthropic"), api_key=key("anthropic"), max_retries=0)


def anthropic_bedrock(stage):
    from anthropic import AnthropicBedrock

    return AnthropicBedrock(
        base_url=stage.base("anthropic-bedrock"),
        aws_access_key=AWS_KEY,
        aws_secret_key=AWS_SECRET,
        aws_region="us-east-1",
        max_retries=0,
    )


def anthropic_vertex(stage):
    from anthropic import AnthropicVertex

    base = stage.base("anthropic-vertex")
    return AnthropicVertex(base_url=base, region="global", project_id="standin", access_token=TOKEN, max_retries=0)


def ask_claude(client, model, stream):
    return hear_claude(send_claude(client, stream, **claude_call(model)))


def send_claude(client, stream, **call):
    if not stream:
        return client.messages.create(**call)
    with client.messages.stream(**call) as answer:
        return answer.get_final_message()


CLAUDE_STOPS = {"end_turn": "end", "tool_use": "tool_calls", "max_tokens": "length"}


def hear_claude(message):
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = tuple((block.id, block.name, block.input) for block in message.content if block.type == "tool_use")
    told = message.usage
    cached, written = told.cache_read_input_tokens or 0, told.cache_creation_input_tokens or 0
    usage = Usage(told.input_tokens + cached + written, told.output_tokens, cached, written)
    return Heard(text, calls, CLAUDE_STOPS[message.stop_reason], usage)


# OpenAI's Responses.


def input_image(data):
    return {"type": "input_image", "image_url": f"data:image/png;base64,{encode(data)}", "detail": "auto"}


def input_file(data, name):
    return {"type": "input_file", "filename": name, "file_data": f"data:application/pdf;base64,{encode(data)}"}


def input_text(words):
    return {"type": "input_text", "text": words}


def function_call(call_id, arguments):
    return {"type": "function_call", "call_id": call_id, "name": "find", "arguments": arguments}


def responses_call(model, *found):
    found = found or (input_text(FOUND), input_image(MAP), input_file(GUIDE, "guide.pdf"))
    asked = [input_text(QUESTION), input_image(KIWI), input_file(REPORT, "report.pdf")]
    return {
        "model": model,
        "instructions": SYSTEM,
        "max_output_tokens": 100,
        "tools": [{"type": "function", "name": "find", "description": "Find a city.", "parameters": SCHEMA, "strict": False}],
        "tool_choice": "auto",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": ANSWER},
            function_call(ROME, '{"city": "Rome"}'),
            function_call(OSLO, '{"city": "Oslo"}'),
            {"type": "function_call_output", "call_id": ROME, "output": [*found]},
            {"type": "function_call_output", "call_id": OSLO, "output": NOTHING},
            {"role": "user", "content": NEXT},
        ],
    }


def openai(stage, house="openai"):
    from openai import OpenAI

    api_key = key(house) if house != "azure" else "unused"
    headers = {"api-key": key("azure")} if house == "azure" else None
    base = stage.base(house) + ("/openai/v1" if house == "azure" else "")
    return OpenAI(base_url=base, api_key=api_key, default_headers=headers, max_retries=0)


def ask_responses(client, model, stream):
    return hear_response(send_responses(client, stream, **responses_call(model)))


def send_responses(client, stream, **call):
    if not stream:
        return client.responses.create(**call)
    with client.responses.stream(**call) as answer:
        return answer.get_final_response()


def hear_response(response):
    calls = tuple(
        (item.call_id, item.name, json.loads(item.arguments)) for item in response.output if item.type == "function_call"
    )
    told = response.usage
    cached, written = told.input_tokens_details.cached_tokens, getattr(told.input_tokens_details, "cache_write_tokens", 0)
    usage = Usage(told.input_tokens, told.output_tokens, cached, written, told.output_tokens_details.reasoning_tokens)
    stop = "length" if response.status == "incomplete" else "tool_calls" if calls else "end"
    return Heard(response.output_text, calls, stop, usage)


# OpenAI's Chat Completions, and who speaks as it does.


def image_url(data):
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{encode(data)}"}}


def chat_file(data, name):
    return {"type": "file", "file": {"filename": name, "file_data": f"data:application/pdf;base64,{encode(data)}"}}


def document_url(data, _):
    return {"type": "document_url", "document_url": f"data:application/pdf;base64,{encode(data)}"}


def tool_call(call_id, arguments):
    return {"id": call_id, "type": "function", "function": {"name": "find", "arguments": arguments}}


def chat_messages(document=chat_file, role="system", between=()):
    calls = [tool_call(ROME, '{"city": "Rome"}'), tool_call(OSLO, '{"city": "Oslo"}')]
    asked, found = [image_url(KIWI)], [image_url(MAP)]
    if document:
        asked, found = [*asked, document(REPORT, "report.pdf")], [*found, document(GUIDE, "guide.pdf")]
    return [
        {"role": role, "content": SYSTEM},
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


def send_chat(client, stream, **call):
    from openai.lib.streaming.chat import ChatCompletionStreamState

    if not stream:
        return client.chat.completions.create(**call)
    state = ChatCompletionStreamState()
    with client.chat.completions.create(**call, stream=True, stream_options={"include_usage": True}) as answer:
        for chunk in answer:
            state.handle_chunk(chunk)
    return state.current_completion_snapshot


CHAT_STOPS = {"stop": "end", "tool_calls": "tool_calls", "length": "length"}


def hear_chat(completion):
    choice, told = completion.choices[0], completion.usage
    calls = tuple(
        (call.id, call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls or ()
    )
    prompt, answer = getattr(told, "prompt_tokens_details", None), getattr(told, "completion_tokens_details", None)
    cached, reasoning = getattr(prompt, "cached_tokens", 0) or 0, getattr(answer, "reasoning_tokens", 0) or 0
    usage = Usage(told.prompt_tokens, told.completion_tokens, cached, reasoning_tokens=reasoning)
    return Heard(choice.message.content or "", calls, CHAT_STOPS[choice.finish_reason], usage)


def groq(stage):
    from groq import Groq

    return Groq(base_url=stage.base("groq"), api_key=key("groq"), max_retries=0)


def ask_groq(client, model, stream):
    call = chat_call(model, document=None)
    if not stream:
        return hear_chat(client.chat.completions.create(**call))
    return hear_chunks([*client.chat.completions.create(**call, stream=True)], lambda chunk: chunk.x_groq and chunk.x_groq.usage)


def hear_chunks(chunks, usage_of):
    """For SDKs that leave it to their caller to gather the chunks."""
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    calls = {}
    for piece in (piece for choice in choices for piece in choice.delta.tool_calls or ()):
        call = calls.setdefault(piece.index, ["", "", ""])
        call[0] = call[0] or piece.id or ""
        call[1] += piece.function.name or ""
        call[2] += piece.function.arguments or ""
    text = "".join(choice.delta.content or "" for choice in choices)
    told = next(usage for chunk in reversed(chunks) if (usage := usage_of(chunk)))
    stop = next(choice.finish_reason for choice in choices if choice.finish_reason)
    told_calls = tuple((call_id, tool, json.loads(arguments)) for call_id, tool, arguments in calls.values())
    return Heard(text, told_calls, CHAT_STOPS[stop], Usage(told.prompt_tokens, told.completion_tokens))


def mistral(stage):
    from mistralai.client import Mistral

    return Mistral(server_url=stage.base("mistral"), api_key=key("mistral"))


def ask_mistral(client, model, stream):
    call = chat_call(model, document=document_url, between=[{"role": "assistant", "content": "OK"}])
    if not stream:
        return hear_chat(client.chat.complete(**call))
    with client.chat.stream(**call) as answer:
        return hear_chunks([event.data for event in answer], lambda chunk: chunk.usage)


# Gemini, at home and on Vertex.


def genai(stage):
    from google import genai

    return genai.Client(api_key=key("google"), http_options={"base_url": stage.base("google")})


def genai_vertex(stage):
    from google import genai
    from google.oauth2.credentials import Credentials

    return genai.Client(
        vertexai=True,
        project="standin",
        location="global",
        credentials=Credentials(TOKEN),
        http_options={"base_url": stage.base("vertex")},
    )


def gemini_call(model, named=True):
    from google.genai import types

    def identity(call_id):
        return {"id": call_id} if named else {}

    def called(call_id, city, **more):
        return types.Part(function_call=types.FunctionCall(**identity(call_id), name="find", args={"city": city}), **more)

    def returned(call_id, words, *parts):
        files = {"parts": [*parts]} if parts else {}
        answer = types.FunctionResponse(**identity(call_id), name="find", response={"output": words}, **files)
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
                    called(ROME, "Rome", thought_signature=signature),
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


def send_gemini(client, stream, **call):
    if not stream:
        return hear_gemini([client.models.generate_content(**call)])
    return hear_gemini([*client.models.generate_content_stream(**call)])


GEMINI_STOPS = {"STOP": "end", "MAX_TOKENS": "length"}


def hear_gemini(chunks):
    candidates = [candidate for chunk in chunks for candidate in chunk.candidates or ()]
    parts = [part for one in candidates if one.content for part in one.content.parts or ()]
    text = "".join(part.text for part in parts if part.text and not part.thought)
    made = [part.function_call for part in parts if part.function_call]
    calls = tuple((call.id or "", call.name, call.args or {}) for call in made)
    told = next(chunk.usage_metadata for chunk in reversed(chunks) if chunk.usage_metadata)
    reason = next(one.finish_reason.name for one in reversed(candidates) if one.finish_reason)
    thoughts = told.thoughts_token_count or 0
    modalities = {one.modality.value.lower(): one.token_count or 0 for one in told.prompt_tokens_details or ()}
    usage = Usage(
        told.prompt_token_count or 0,
        (told.candidates_token_count or 0) + thoughts,
        told.cached_content_token_count or 0,
        reasoning_tokens=thoughts,
        modalities=modalities,
    )
    stop = GEMINI_STOPS[reason]
    return Heard(text, calls, "tool_calls" if calls and stop == "end" else stop, usage)


# Bedrock's Converse.


def boto(stage):
    import boto3
    from botocore.config import Config

    return boto3.client(
        "bedrock-runtime",
        endpoint_url=stage.base("bedrock"),
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
    """Claude's PDF follows the results, and a word of the assistant stands between: it is blind to one inside them."""
    use = ({"toolUse": {"toolUseId": at, "name": "find", "input": {"city": city}}} for at, city in ((ROME, "Rome"), (OSLO, "Oslo")))
    results = [converse_result(ROME, {"text": FOUND}, converse_image(MAP)), converse_result(OSLO, {"text": NOTHING})]
    spec = {"name": "find", "description": "Find a city.", "inputSchema": {"json": SCHEMA}}
    return {
        "modelId": model,
        "system": [{"text": SYSTEM}],
        "inferenceConfig": {"maxTokens": 100},
        "toolConfig": {"tools": [{"toolSpec": spec}], "toolChoice": {"auto": {}}},
        "messages": [
            {"role": "user", "content": [{"text": QUESTION}, converse_image(KIWI), converse_document(REPORT, "document 2")]},
            {"role": "assistant", "content": [{"text": ANSWER}, *use]},
            {"role": "user", "content": results},
            {"role": "assistant", "content": [{"text": "."}]},
            {"role": "user", "content": [converse_document(GUIDE, "document 4"), {"text": NEXT}]},
        ],
    }


def ask_converse(client, model, stream):
    return send_converse(client, stream, **converse_call(model))


def send_converse(client, stream, **call):
    if not stream:
        return hear_converse(client.converse(**call))
    return hear_converse(gather_converse(client.converse_stream(**call)["stream"]))


CONVERSE_STOPS = {"end_turn": "end", "tool_use": "tool_calls", "max_tokens": "length"}


def gather_converse(events):
    """botocore leaves it to its caller to gather the events."""
    blocks, told = {}, {}
    for event in events:
        match event:
            case {"contentBlockStart": {"contentBlockIndex": at, "start": {"toolUse": use}}}:
                blocks[at] = {"toolUse": {**use, "input": ""}}
            case {"contentBlockDelta": {"contentBlockIndex": at, "delta": {"text": words}}}:
                blocks[at] = {"text": blocks.get(at, {"text": ""})["text"] + words}
            case {"contentBlockDelta": {"contentBlockIndex": at, "delta": {"toolUse": {"input": piece}}}}:
                blocks[at]["toolUse"]["input"] += piece
            case {"messageStop": ending} | {"metadata": ending}:
                told |= ending
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"] or "{}")
    return {**told, "output": {"message": {"content": [blocks[at] for at in sorted(blocks)]}}}


def hear_converse(answer):
    content = answer["output"]["message"]["content"]
    text = "".join(block.get("text", "") for block in content)
    uses = [block["toolUse"] for block in content if "toolUse" in block]
    calls = tuple((use["toolUseId"], use["name"], use["input"]) for use in uses)
    told = answer["usage"]
    cached, written = told.get("cacheReadInputTokens", 0), told.get("cacheWriteInputTokens", 0)
    usage = Usage(told["inputTokens"] + cached + written, told["outputTokens"], cached, written)
    return Heard(text, calls, CONVERSE_STOPS[answer["stopReason"]], usage)


#: Every SDK by the model that it asks: how its client is made, and how it asks.
SDKS = {
    "anthropic:claude-opus-5": (anthropic_home, ask_claude),
    "anthropic-bedrock:anthropic.claude-opus-5-v1:0": (anthropic_bedrock, ask_claude),
    "anthropic-vertex:claude-opus-5": (anthropic_vertex, ask_claude),
    "openai:gpt-5-mini": (openai, ask_responses),
    "azure:gpt-5-mini": (lambda stage: openai(stage, "azure"), ask_responses),
    "openai-chat:gpt-5-mini": (openai, ask_chat),
    "google:gemini-3-flash-preview": (genai, ask_gemini),
    "vertex:gemini-3-flash-preview": (genai_vertex, ask_gemini),
    "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0": (boto, ask_converse),
    "groq:meta-llama/llama-4-maverick-17b-128e-instruct": (groq, ask_groq),
    "mistral:mistral-medium-latest": (mistral, ask_mistral),
}
SAID = {
    "calls": Reply("Both are there.", (Call("k00000001", "find", '{"city":"Bern"}'), Call("k00000002", "find", '{"city":"Kyiv"}'))),
    "words": Reply("Ça, c'est un kiwi 🥝. " * 9),
    "cut": Reply("Ça, c'est un", cut=True),
}
STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def perform(stage, model, stream):
    """Let an SDK ask; what it heard."""
    make, ask = SDKS[model]
    client = stage.client(model, lambda: make(stage))
    heard = ask(client, model.partition(":")[2], stream)
    assert stage.statuses() == [200]
    return heard


@STREAMED
@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("model", SDKS)
def test_an_sdk_is_understood_and_hears_what_we_hear(model, said, stream, stage):
    from showandtell.capabilities.resolve import resolve

    stage.reply = SAID[said]
    heard = perform(stage, model, stream)
    assert heard == listen(resolve(model).api, stage.said())
    assert heard.text == SAID[said].text
    assert [call[1:] for call in heard.calls] == [(call.tool, json.loads(call.arguments)) for call in SAID[said].calls]
