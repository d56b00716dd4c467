"""The hosts that speak Chat Completions in a dialect: what each takes and refuses, and how the real SDKs read them."""

import hashlib
import json
import re
from copy import deepcopy

import groq
import httpx
import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mistralai.client import Mistral
from mistralai.client.errors import SDKError

from showandtell import File, render
from showandtell.core.events.types import StepEnd, ToolInputDelta, ToolInputStart
from showandtell.inspector.openai_chat import dialects
from support.builders import parser_of, tool_history
from support.fixtures import gif, jpeg, mp3, pdf, png
from support.inspector_requests import PLOT, PLOTS, Request, ask, assistant, paper, picture, sound, text, user

PATHS = {
    "azure": "azure/openai/v1",
    "groq": "groq/openai/v1",
    "openrouter": "openrouter/v1",
    "mistral": "mistral/v1",
    "cohere": "cohere/compatibility/v1",
    "ollama": "ollama/v1",
    "vllm": "vllm/v1",
    "llamacpp": "llamacpp/v1",
    "lmstudio": "lmstudio/v1",
    "litellm": "litellm",
}
HOSTS = list(PATHS)
MODELS = {"cohere": "command-a-vision-07-2025", "openrouter": "openai/gpt-5-mini", "litellm": "anthropic/claude-sonnet-4-5"}  # fmt: skip
TOOL = {"type": "function", "function": {"name": "plot", "description": "Draws a chart.", "parameters": PLOT}}
LABEL = "⟦image 2: a.png, from tool plot (call abcdefgh1), 2026-01-01⟧"


def base(host: str) -> str:
    return f"https://inspector.invalid/{PATHS[host]}"


def body(host: str, *messages: dict, **more: object) -> dict:
    return {"model": MODELS.get(host, "some-model"), "messages": list(messages), "tools": [TOOL], **more}


def post(host: str, *messages: dict, **more: object) -> tuple[int, bytes]:
    sent = json.dumps(body(host, *messages, **more)).encode()
    status, chunks = ask(Request(f"{base(host)}/chat/completions", sent))
    return status, b"".join(chunks)


def error_text(answer: tuple[int, bytes]) -> str:
    assert answer[0] == 200, answer
    return json.loads(answer[1])["choices"][0]["message"]["content"]


def chunks_of(answer: tuple[int, bytes]) -> list[dict]:
    assert answer[0] == 200, answer
    lines = answer[1].decode().splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


def called(*call_ids: str) -> dict:
    function = {"name": "plot", "arguments": '{"values":[1]}'}
    made = [{"id": call_id, "type": "function", "function": function} for call_id in call_ids]
    return {"role": "assistant", "content": "", "tool_calls": made}


def returned(content: object = "⟦image 2: shown below⟧", call_id: str = "abcdefgh1") -> dict:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def step(*last: dict, content: object = "⟦image 2: shown below⟧") -> tuple[dict, ...]:
    return user("plot 1"), called("abcdefgh1"), returned(content), *last


OK = {"role": "assistant", "content": "OK"}
LINK = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
DOCUMENT = {"type": "document_url", "document_url": paper(pdf("Total: 7 EUR"))["file"]["file_data"]}


def carry(request: httpx2.Request | httpx.Request, make: type = httpx2.Response) -> httpx2.Response | httpx.Response:
    status, chunks = ask(Request(str(request.url), request.read(), dict(request.headers)))
    kind = "text/event-stream" if chunks[0].startswith((b"data:", b":")) else "application/json"
    return make(status, headers={"content-type": kind}, content=b"".join(chunks))


# What each takes


@pytest.mark.parametrize("host", HOSTS)
def test_a_relocated_picture_is_reported_by_every_host(host: str):
    filler = [OK] if host == "mistral" else []
    answer = post(host, *step(*filler, user(LABEL, picture(png(40, 30)))))
    at = 4 if filler else 3
    assert "image 2: a.png" in error_text(answer)
    assert f"in the user message, at messages[{at}].content[1]" in error_text(answer)
    assert "40 x 30 pixels" in error_text(answer)


@pytest.mark.parametrize("host", ["groq", "openrouter", "mistral", "vllm", "llamacpp", "litellm"])
def test_a_picture_in_a_tool_message_is_reported_there(host: str):
    answer = post(host, *step(content=[text(LABEL), picture(png())]))
    assert "in the tool result of abcdefgh1, at messages[2].content[1]" in error_text(answer)


def test_litellm_moves_files_out_of_results_for_models_that_take_none_there():
    results = returned([text("one"), picture(png(9, 9))]), returned([picture(jpeg(7, 7), "image/jpeg")], "abcdefgh2")
    answer = post("litellm", user("go"), called("abcdefgh1", "abcdefgh2"), *results, model="openai/gpt-5-mini")
    assert "I received 2 files" in error_text(answer)
    assert error_text(answer).index("9 x 9 pixels") < error_text(answer).index("7 x 7 pixels")
    assert "in the tool result" not in error_text(answer)


def test_litellm_listens_with_and_without_v1():
    sent = json.dumps(body("litellm", user("hello"))).encode()
    for path in ("litellm/v1/chat/completions", "litellm/chat/completions"):
        assert ask(Request(f"https://inspector.invalid/{path}", sent))[0] == 200


@pytest.mark.parametrize("host", ["openrouter", "litellm"])
def test_a_pdf_is_read_as_a_file_part(host: str):
    assert "Total: 7 EUR" in error_text(post(host, user("look", paper(pdf("Total: 7 EUR")))))


def test_mistral_reads_its_own_parts():
    image = {"type": "image_url", "image_url": picture(png())["image_url"]["url"]}
    answer = post("mistral", user("look", image, DOCUMENT, {"type": "file", "file_id": "f-7"}))
    assert "I received 3 files" in error_text(answer)
    assert "Total: 7 EUR" in error_text(answer)
    assert "only a reference came: f-7" in error_text(answer)


def test_mistral_takes_what_its_sdk_sends_back():
    call = {
        "id": "abcdefgh1",
        "type": "function",
        "index": 0,
        "function": {"name": "plot", "arguments": {"values": [1]}},
    }
    asked = {"role": "assistant", "content": [], "prefix": False, "tool_calls": [call]}
    assert "shown" in error_text(post("mistral", user("go"), asked, {**returned("shown"), "name": "plot"}))


def test_voxtral_hears_base64_alone():
    data = sound(mp3())["input_audio"]["data"]
    bare = user("listen", {"type": "input_audio", "input_audio": data})
    assert "audio/mpeg" in error_text(post("mistral", bare, model="voxtral-small-latest"))
    assert post("mistral", user("listen", sound(mp3(), "mp3")), model="voxtral-small-latest")[0] == 422


def test_ollama_drops_unread_what_it_does_not_know():
    answer = post("ollama", user("/plot values=1"), tool_choice="none", max_completion_tokens=1, foo=1)
    assert json.loads(answer[1])["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "plot"


def test_the_limit_of_tokens_has_another_name_at_other_hosts():
    assert len(error_text(post("mistral", user("hello"), max_tokens=5))) == 20
    assert len(error_text(post("groq", user("hello"), max_completion_tokens=5))) == 20
    assert post("mistral", user("hello"), max_completion_tokens=5)[0] == 422


OURS = [
    "azure-chat:gpt-5-mini",
    "groq:qwen/qwen3.6-27b",
    "openrouter:anthropic/claude-haiku-4.5",
    "openrouter:mistralai/mistral-medium-3.1",
    "mistral:mistral-medium-latest",
    "cohere:command-a-vision-07-2025",
    "ollama:qwen3-vl:8b",
    "vllm:some-model",
    "llamacpp:some-model",
    "lmstudio:some-model",
    "litellm:anthropic/claude-sonnet-4-5",
    "litellm:openai/gpt-5-mini",
]


@pytest.mark.parametrize("model", OURS)
def test_what_we_render_for_a_host_is_taken_by_it(model: str):
    data, document = png(40, 30), pdf("Total: 7 EUR")
    history = tool_history("Here:", File.from_bytes(data, name="a.png"), File.from_bytes(document, name="b.pdf"))
    made = render(history, model=model, instructions="Be brief.", temperature=0.5, max_tokens=9000)
    host = model.partition(":")[0].removesuffix("-chat")
    answer = ask(Request(f"{base(host)}/chat/completions", json.dumps(made.json()).encode()))
    assert hashlib.sha256(data).hexdigest() in error_text((answer[0], b"".join(answer[1])))


# What each refuses


SIX = [picture(png())] * 6
ORDER = "Unexpected role 'user' after role 'tool'"
REFUSED = [
    ("azure", {"messages": [user("x", paper(pdf("x")))]}, 400, "Invalid Value: 'file'. This model does not support file content types."),
    ("azure", {"messages": [*step(content=[picture(png())])]}, 400, "Invalid 'messages[2]'. Image URLs are only allowed for messages with role 'user'"),
    ("azure", {"messages": [user(DOCUMENT)]}, 400, "Invalid value: 'document_url'. Supported values are:"),
    ("azure", {"messages": [user("x")], "random_seed": 1}, 400, "Unrecognized request argument supplied: random_seed"),
    ("azure", {"messages": [user({"type": "image_url", "image_url": "https://a/b.png"})]}, 400, "Invalid type for 'messages[0].content[0].image_url': expected an object, but got a string instead."),
    ("groq", {"messages": [user("x")], "verbosity": "low"}, 400, "property 'verbosity' is unsupported"),
    ("groq", {"messages": [{**user("x"), "metadata": {}}]}, 400, "'messages.0' : property 'metadata' is unsupported"),
    ("groq", {"messages": [{**user("x"), "role": "assistant", "refusal": None}, user("y")]}, 400, "'messages.0' : property 'refusal' is unsupported"),
    ("groq", {"messages": [user(*SIX)]}, 400, "Too many images provided. This model supports up to 5 images"),
    ("groq", {"messages": [user(picture(png() + bytes(4_000_000)))]}, 413, "Request Entity Too Large"),
    ("groq", {"messages": [user(picture(png(8000, 5000)))]}, 400, "image too large: 8000x5000"),
    ("groq", {"messages": [user(paper(pdf("x")))]}, 400, "Invalid value: 'file'."),
    ("mistral", {"messages": [*step(user("y"))]}, 400, ORDER),
    ("mistral", {"messages": [user("x"), called("call_1"), returned("y", "call_1")]}, 400, "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."),
    ("mistral", {"messages": [user("x"), called("abcdefgh1"), user("y")]}, 400, "Not the same number of function calls and responses"),
    ("mistral", {"messages": [user("x"), called("abcdefgh1", "abcdefgh2"), returned()]}, 400, "Not the same number of function calls and responses"),
    ("mistral", {"messages": [user("x"), {"role": "assistant", "content": ""}, user("y")]}, 400, "Assistant message must have either content or tool_calls"),
    ("mistral", {"messages": [user("x"), assistant("y")]}, 400, "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"),
    ("openrouter", {"messages": [*step(user("y"))], "model": "mistralai/mistral-medium-3.1"}, 400, ORDER),
    ("openrouter", {"messages": [user(picture(jpeg()))]}, 400, "The image data you provided does not represent a valid image."),
    ("cohere", {"messages": [user(picture(png()))], "model": "command-a-03-2025"}, 400, "Invalid content type. image_url is only supported by certain models."),
    ("cohere", {"messages": [user(paper(pdf("x")))]}, 400, "Invalid value: 'file'."),
    ("ollama", {"messages": [user(LINK)]}, 400, "invalid image input"),
    ("ollama", {"messages": [user(picture(gif(), "image/gif"))]}, 400, "invalid image input"),
    ("ollama", {"messages": [user(paper(pdf("x")))]}, 400, "invalid message format"),
    ("ollama", {"messages": [*step(content=[text("one"), text("two")])]}, 400, "invalid message format: messages[2]: a tool message of parts"),
    ("lmstudio", {"messages": [user(LINK)]}, 400, "'url' field must be a base64 encoded image."),
    ("lmstudio", {"messages": [*step(content=[text("x"), picture(png())])]}, 400, "Invalid 'messages' in payload."),
    ("vllm", {"messages": [user(paper(pdf("x")))]}, 400, "Invalid value: 'file'."),
    ("llamacpp", {"messages": [user(paper(pdf("x")))]}, 400, "Invalid value: 'file'."),
    ("litellm", {"messages": [user("x"), called("call_1"), user("y")]}, 400, "litellm.BadRequestError: OpenAIException - An assistant message with 'tool_calls'"),
]  # fmt: skip


def complaint(answer: bytes) -> str:
    """The words of any host's error form."""
    form = json.loads(answer)
    error = form.get("error", form)
    return error if isinstance(error, str) else error["message"]


@pytest.mark.parametrize(("host", "more", "status", "message"), REFUSED, ids=[str(at) for at in range(len(REFUSED))])
def test_a_host_refuses_what_its_api_refuses(host: str, more: dict, status: int, message: str):
    answer = post(host, **more)
    assert answer[0] == status
    assert complaint(answer[1]).startswith(message)


@pytest.mark.parametrize("host", ["groq", "openrouter", "cohere", "vllm", "llamacpp", "litellm"])
def test_a_host_that_refuses_a_part_lists_those_that_it_takes(host: str):
    listed = re.findall("'([a-z_]+)'", complaint(post(host, user({"type": "smell"}))[1]).partition("values are: ")[2])
    rules = next(row.rules for row in dialects.ROWS if row.base == host)
    assert set(listed) == rules.user_parts | rules.assistant_parts | rules.result_parts
    assert len(listed) == len(set(listed))


FORMS = {
    "azure": {"error": {"message": "W", "type": "invalid_request_error", "param": "messages", "code": "empty_array"}},
    "groq": {"error": {"message": "W", "type": "invalid_request_error", "code": "empty_array"}},
    "openrouter": {"error": {"message": "W", "code": 400}},
    "mistral": {"object": "error", "message": "W", "type": "invalid_request_error", "param": None, "code": "empty_array"},
    "cohere": {"message": "W"},
    "ollama": {"error": {"message": "W", "type": "invalid_request_error", "param": "messages", "code": "empty_array"}},
    "vllm": {"error": {"message": "W", "type": "BadRequestError", "param": None, "code": 400}},
    "llamacpp": {"error": {"message": "W", "type": "invalid_request_error", "code": 400}},
    "lmstudio": {"error": "W"},
    "litellm": {"error": {"message": "W", "type": None, "param": None, "code": "400"}},
}  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_each_host_has_an_error_form_of_its_own(host: str):
    answer = post(host)[1]
    assert json.loads(answer.replace(json.dumps(complaint(answer)).encode(), b'"W"')) == FORMS[host]


def test_mistral_lists_what_does_not_fit_its_schema():
    status, answer = post("mistral", user("x"), stream=True, stream_options={"include_usage": True})
    place = ["body", "stream_options", "include_usage"]
    detail = [{"type": "extra_forbidden", "loc": place, "msg": "Extra inputs are not permitted"}]
    form = {
        "object": "error",
        "message": {"detail": detail},
        "type": "invalid_request_error",
        "param": None,
        "code": None,
    }
    assert (status, json.loads(answer)) == (422, form)


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ({**user("x"), "name": "Jo"}, ["body", "messages", 0, "name"]),
        ({"role": "developer", "content": "x"}, ["body", "messages", 0, "role"]),
        ({"role": "user", "content": 5}, ["body", "messages", 0, "content"]),
        ({"role": "user"}, ["body", "messages", 0, "content"]),
    ],
)
def test_mistral_says_where_a_message_is_wrong(message: dict, place: list):
    status, answer = post("mistral", message)
    assert status == 422
    assert json.loads(answer)["message"]["detail"][0]["loc"] == place


def paths(value: object, path: tuple = ()) -> list[tuple]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    return [path, *(place for key, item in inner for place in paths(item, (*path, key)))]


def put(whole: object, path: tuple, value: object) -> object:
    if not path:
        return value
    changed = deepcopy(whole)
    changed[path[0]] = put(changed[path[0]], path[1:], value)
    return changed


WHOLE = body("mistral", *step(OK, user(LABEL, picture(png()), DOCUMENT)))
VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just([]) | st.just({}) | st.just([{"type": "image_url", "image_url": "x"}])  # fmt: skip


@given(host=st.sampled_from(HOSTS), path=st.sampled_from(paths(WHOLE)), value=VALUES)
def test_a_body_with_anything_anywhere_gets_an_answer_or_a_refusal(host: str, path: tuple, value: object):
    sent = json.dumps(put(WHOLE, path, value)).encode()
    status, _ = ask(Request(f"{base(host)}/chat/completions", sent))
    assert status == 200 or 400 <= status < 500


# How each answers


@pytest.mark.parametrize("host", HOSTS)
def test_two_calls_stay_two_in_every_hosts_stream(host: str):
    answer = post(host, user("/plot values=1 /plot values=2"), stream=True)
    parser = parser_of("openai-chat")
    events = [*parser.feed(answer[1]), *parser.finish()]
    started = [event.call_id for event in events if isinstance(event, ToolInputStart)]
    words = {
        call: "".join(e.text for e in events if isinstance(e, ToolInputDelta) and e.call_id == call) for call in started
    }
    assert [json.loads(given) for given in words.values()] == [{"values": [1]}, {"values": [2]}]
    assert [event.stop for event in events if isinstance(event, StepEnd)] == ["tool_calls"]


@pytest.mark.parametrize("host", ["mistral", "groq", "lmstudio"])
def test_call_ids_of_some_hosts_have_nine_characters(host: str):
    made = json.loads(post(host, user("/plot values=1"))[1])["choices"][0]["message"]["tool_calls"]
    assert all(call["id"].isalnum() and len(call["id"]) == 9 for call in made)


def test_groq_tells_tokens_in_a_field_of_its_own():
    *_, last = chunks_of(post("groq", user("hello"), stream=True))
    assert "usage" not in last
    assert last["x_groq"]["usage"]["total_tokens"] > 0


def test_mistral_tells_calls_and_tokens_in_the_last_chunk():
    *before, last = chunks_of(post("mistral", user("/plot values=1"), stream=True))
    assert last["choices"][0]["finish_reason"] == "tool_calls"
    assert [call["index"] for call in last["choices"][0]["delta"]["tool_calls"]] == [0]
    assert last["usage"]["total_tokens"] > 0
    assert not any("usage" in chunk for chunk in before)


def test_openrouter_comments_names_the_upstream_and_tells_the_cost():
    answer = post("openrouter", user("hello"), stream=True)
    *_, finish, last = chunks_of(answer)
    assert answer[1].startswith(b": OPENROUTER PROCESSING\n\n")
    assert finish["choices"][0]["finish_reason"] == "stop"
    assert last["provider"] == "Openai"
    assert last["usage"]["cost"] == round(last["usage"]["total_tokens"] * 1e-6, 9)


@pytest.mark.parametrize("stream", [False, True])
def test_openrouters_image_models_show_what_they_drew(stream: bool):
    model = "google/gemini-2.5-flash-image"
    answer = post("openrouter", user("paint a red kiwi"), model=model, tools=[], stream=stream)
    choices = [c["choices"][0] for c in chunks_of(answer)] if stream else json.loads(answer[1])["choices"]
    shown = [item for choice in choices for item in choice["delta" if stream else "message"].get("images", ())]
    assert len(shown) == 1
    assert "8 x 8 pixels" in error_text(
        post("openrouter", user("look", {"type": "image_url", "image_url": shown[0]["image_url"]}))
    )


def test_ollama_gives_every_call_the_index_0_and_stops():
    *calls, last = chunks_of(post("ollama", user("/plot values=1 /plot values=2"), stream=True))
    deltas = [chunk["choices"][0]["delta"] for chunk in calls]
    assert [call["index"] for delta in deltas for call in delta.get("tool_calls", ())] == [0, 0]
    assert last["choices"][0]["finish_reason"] == "stop"


# The real SDKs


@pytest.mark.parametrize("host", [host for host in HOSTS if host != "ollama"])
def test_openais_sdk_reads_every_hosts_stream(host: str):
    with (
        httpx2.Client(transport=httpx2.MockTransport(carry)) as http,
        openai.OpenAI(api_key="none", base_url=base(host), http_client=http) as client,
        client.chat.completions.stream(**body(host, user("plot 4, 5"))) as stream,
    ):
        choice = stream.get_final_completion().choices[0]
    assert choice.message.content == PLOTS
    assert json.loads(choice.message.tool_calls[0].function.arguments) == {"values": [4, 5]}
    assert choice.finish_reason == "tool_calls"


@pytest.mark.parametrize("host", HOSTS)
def test_openais_sdk_reads_every_hosts_whole_answer(host: str):
    with (
        httpx2.Client(transport=httpx2.MockTransport(carry)) as http,
        openai.OpenAI(api_key="none", base_url=base(host), http_client=http) as client,
    ):
        answer = client.chat.completions.create(**body(host, user("plot 4, 5")))
    assert answer.choices[0].message.tool_calls[0].function.name == "plot"
    assert answer.usage.total_tokens > 0


@pytest.mark.parametrize("stream", [False, True])
def test_groqs_own_sdk_reads_its_answers(stream: bool):
    transport = httpx.MockTransport(lambda request: carry(request, httpx.Response))
    with (
        httpx.Client(transport=transport) as http,
        groq.Groq(api_key="none", base_url="https://inspector.invalid/groq", http_client=http) as client,
    ):
        answer = client.chat.completions.create(**body("groq", user("plot 4, 5")), stream=stream)
        messages = [chunk.choices[0].delta for chunk in answer] if stream else [answer.choices[0].message]
    made = [call for message in messages for call in message.tool_calls or ()]
    assert [json.loads(call.function.arguments) for call in made] == [{"values": [4, 5]}]


def test_groqs_own_sdk_finds_the_tokens():
    transport = httpx.MockTransport(lambda request: carry(request, httpx.Response))
    with (
        httpx.Client(transport=transport) as http,
        groq.Groq(api_key="none", base_url="https://inspector.invalid/groq", http_client=http) as client,
    ):
        *_, last = client.chat.completions.create(**body("groq", user("hello")), stream=True)
    assert last.x_groq.usage.total_tokens > 0


def test_mistrals_own_sdk_reads_its_stream():
    with httpx2.Client(transport=httpx2.MockTransport(carry)) as http:
        client = Mistral(api_key="none", server_url="https://inspector.invalid/mistral", client=http)
        *_, last = client.chat.stream(**body("mistral", user("plot 4, 5")))
    choice = last.data.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert json.loads(choice.delta.tool_calls[0].function.arguments) == {"values": [4, 5]}
    assert last.data.usage.total_tokens


def test_mistrals_own_sdk_gives_back_what_it_got():
    with httpx2.Client(transport=httpx2.MockTransport(carry)) as http:
        client = Mistral(api_key="none", server_url="https://inspector.invalid/mistral", client=http)
        first = client.chat.complete(**body("mistral", user("plot 4, 5"))).choices[0].message
        result = returned("shown", first.tool_calls[0].id)
        seen = user(text(LABEL), {"type": "image_url", "image_url": picture(png())["image_url"]["url"]})
        again = client.chat.complete(model="m", messages=[user("plot 4, 5"), first, result, OK, seen])
    assert "I received 1 file" in again.choices[0].message.content


def test_mistrals_own_sdk_sees_the_refusal():
    with httpx2.Client(transport=httpx2.MockTransport(carry)) as http:
        client = Mistral(api_key="none", server_url="https://inspector.invalid/mistral", client=http)
        with pytest.raises(SDKError, match=ORDER) as caught:
            client.chat.complete(model="m", messages=[*step(user("y"))])
    assert json.loads(caught.value.body)["code"] == "3230"
