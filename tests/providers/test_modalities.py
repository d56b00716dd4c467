"""What hosts tell about the files and tokens that a model takes, in the forms of their real answers."""

import asyncio
import json
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.wire.http import HttpResponse
from showandtell.errors import ProviderError
from showandtell.providers.connect import connect
from showandtell.providers.exchange import Exchange
from showandtell.providers.hosts import ROWS
from showandtell.providers.modalities import ask_host

pytestmark = pytest.mark.anyio
KEY = "sk-canary-1234567890"


class Host:
    """A host with JSON answers by method and path; other paths are 404. It records requests and closed bodies."""

    def __init__(self, answers, status=200):
        self.answers, self.status = answers, status
        self.requests, self.bodies, self.closed = [], [], 0

    @asynccontextmanager
    async def send(self, request):
        self.requests.append(request)
        self.bodies.append(b"".join([chunk async for chunk in request.body()]))
        answer = self.answers.get(f"{request.method} {urlsplit(request.url).path}")
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        yield HttpResponse(404 if answer is None else self.status, {}, self.chunks(data))

    async def chunks(self, data):
        try:
            for start in range(0, len(data), 100_000):
                yield data[start : start + 100_000]
        finally:
            self.closed += 1


async def host_modalities(*asked, **options):
    """The kinds that a host tells."""
    return (await ask_host(*asked, **options)).kinds


def exchange(provider, send):
    target = resolve(f"{provider}:m")
    headers = {"authorization": f"Bearer {KEY}"}
    return Exchange(send, connect(target, environ={}, api_key=KEY).base, headers)


async def ask(name, answers, **options):
    host = Host(answers, **options)
    return await host_modalities(exchange(name.partition(":")[0], host.send), resolve(name)), host


def routed(name, *words):
    architecture = {"modality": "text->text", "input_modalities": list(words), "output_modalities": ["text"]}
    return {"id": name, "canonical_slug": f"{name}-20260101", "context_length": 8192, "architecture": architecture}


OPENROUTER = {
    "GET /api/v1/models": {
        "data": [
            routed("openai/gpt-oss-120b", "text"),
            routed("google/gemini-3-flash-preview", "text", "image", "file", "audio", "video"),
            routed("qwen/qwen3-vl-8b-instruct", "image", "text"),
            {"id": "a/new-form", "architecture": "text->text"},
            7,
        ]
    }
}
VLLM_CARD = {"id": "Qwen/Qwen3-VL-8B-Instruct", "object": "model", "owned_by": "vllm", "max_model_len": 32768}
VLLM = {"GET /v1/models": {"object": "list", "data": [VLLM_CARD, routed("served/like-openrouter", "text", "image")]}}
SHOWN = {"details": {"family": "qwen3vl"}, "model_info": {"general.architecture": "qwen3vl"}}
PROPS = {"total_slots": 4, "model_alias": "gemma", "chat_template": "…", "build_info": "b8681"}
GEMMA = {"id": "unsloth/gemma-4:Q4_K_M", "aliases": ["gemma"], "object": "model", "status": {"value": "unloaded"}}
LLAMACPP_ROUTER = {
    "GET /props": {"role": "router", "max_instances": 4, "modalities": {"vision": False}},
    "GET /v1/models": {"data": [{**GEMMA, "architecture": {"input_modalities": ["text", "image", "audio"]}}]},
}


def lmstudio_model(key, *, vision):
    about = {"type": "llm", "publisher": "qwen", "architecture": "qwen3", "format": "gguf"}
    capabilities = {"vision": vision, "trained_for_tool_use": True}
    running = [{"id": f"{key}:2", "config": {"context_length": 4096}}]
    return {**about, "key": key, "variants": [f"{key}@4bit"], "loaded_instances": running, "capabilities": capabilities}


LMSTUDIO = {
    "GET /api/v1/models": {
        "models": [
            lmstudio_model("qwen/qwen3-vl-8b", vision=True),
            lmstudio_model("qwen/qwen3-8b", vision=False),
            {"type": "embedding", "key": "nomic", "loaded_instances": []},
        ]
    }
}
LMSTUDIO_OLD = {
    "GET /api/v1/models": {"error": "Unexpected endpoint or method. (GET /api/v1/models)"},
    "GET /api/v0/models": {
        "object": "list",
        "data": [
            {"id": "qwen2-vl-7b-instruct", "type": "vlm", "arch": "qwen2_vl"},
            {"id": "meta-llama-3.1-8b-instruct", "type": "llm", "arch": "llama"},
            {"id": "nomic", "type": "embeddings"},
        ],
    },
}


def deployed(name, **flags):
    return {"model_name": name, "litellm_params": {"model": "openai/x"}, "model_info": {"id": "1", **flags}}


LITELLM = {
    "GET /model/info": {
        "data": [
            deployed("seeing", supports_vision=True, supports_pdf_input=True, supports_audio_input=None),
            deployed("text", supports_vision=False, supports_pdf_input=None),
            deployed("untold", supports_vision=None),
            deployed("balanced", supports_vision=True, supports_pdf_input=True),
            deployed("balanced", supports_vision=True, supports_pdf_input=False),
            deployed("half-told", supports_vision=True),
            deployed("half-told"),
        ]
    }
}


def shown(*capabilities):
    return {"POST /api/show": {**SHOWN, "capabilities": list(capabilities)}}


def props(**modalities):
    return {"GET /props": {**PROPS, "modalities": modalities}}


ANSWERS = [
    ("openrouter:openai/gpt-oss-120b", OPENROUTER, {"document"}),
    ("openrouter:qwen/qwen3-vl-8b-instruct", OPENROUTER, {"image", "document"}),
    ("openrouter:Qwen/Qwen3-VL-8B-Instruct:nitro", OPENROUTER, {"image", "document"}),
    ("openrouter:google/gemini-3-flash-preview", OPENROUTER, {"image", "document", "audio", "video"}),
    ("openrouter:a/new-form", OPENROUTER, None),
    ("openrouter:nobody/knows", OPENROUTER, None),
    ("vllm:Qwen/Qwen3-VL-8B-Instruct", VLLM, None),
    ("vllm:served/like-openrouter", VLLM, {"image"}),
    ("ollama:qwen3-vl:8b", shown("completion", "vision", "tools"), {"image"}),
    ("ollama:gemma4", shown("completion", "vision", "audio"), {"image", "audio"}),
    ("ollama:gpt-oss:20b", shown("completion", "tools", "thinking"), set()),
    ("ollama:a-painter", shown("image"), set()),
    ("ollama:an-old-server", {"POST /api/show": SHOWN}, None),
    ("ollama:missing", {}, None),
    ("llamacpp:gemma", props(vision=True, audio=False), {"image"}),
    ("llamacpp:gemma", props(vision=True, audio=True, video=True), {"image", "audio", "video"}),
    ("llamacpp:llama", props(vision=False), set()),
    ("llamacpp:llama", {"GET /props": PROPS}, None),
    ("llamacpp:unsloth/gemma-4:Q4_K_M", LLAMACPP_ROUTER, {"image", "audio"}),
    ("llamacpp:gemma", LLAMACPP_ROUTER, {"image", "audio"}),
    ("llamacpp:other", LLAMACPP_ROUTER, None),
    ("lmstudio:qwen/qwen3-vl-8b", LMSTUDIO, {"image"}),
    ("lmstudio:qwen/qwen3-vl-8b@4bit", LMSTUDIO, {"image"}),
    ("lmstudio:qwen/qwen3-vl-8b:2", LMSTUDIO, {"image"}),
    ("lmstudio:qwen/qwen3-8b", LMSTUDIO, set()),
    ("lmstudio:nomic", LMSTUDIO, None),
    ("lmstudio:qwen2-vl-7b-instruct", LMSTUDIO_OLD, {"image"}),
    ("lmstudio:meta-llama-3.1-8b-instruct", LMSTUDIO_OLD, set()),
    ("lmstudio:nomic", LMSTUDIO_OLD, None),
    ("litellm:seeing", LITELLM, {"image", "document"}),
    ("litellm:text", LITELLM, set()),
    ("litellm:untold", LITELLM, None),
    ("litellm:balanced", LITELLM, {"image"}),
    ("litellm:half-told", LITELLM, None),
    ("openai:gpt-5", {}, None),
    ("inspector:openai-chat", {}, None),
]
TELLING = [name for name, row in ROWS.items() if row.modalities]


@pytest.mark.parametrize(("name", "answers", "kinds"), ANSWERS)
async def test_a_model_takes_what_its_host_tells(name, answers, kinds):
    host = Host(answers)
    known = exchange(resolve(name).provider, host.send) if answers else Exchange(host.send, "http://host/v1", {})
    assert await host_modalities(known, resolve(name)) == kinds


async def test_ollama_is_asked_for_one_model_by_post():
    _, host = await ask("ollama:qwen3-vl:8b", shown("completion"))
    assert json.loads(host.bodies[0]) == {"model": "qwen3-vl:8b"}
    assert host.requests[0].url == "http://localhost:11434/api/show"
    assert host.requests[0].headers["content-type"] == "application/json"


@pytest.mark.parametrize("provider", TELLING)
async def test_the_key_goes_only_to_the_configured_host(provider):
    host = Host({})
    base = "https://gateway.example:8443/team/v1"
    assert await host_modalities(Exchange(host.send, base, {"authorization": KEY}), resolve(f"{provider}:m")) is None
    assert len(host.requests) == len(ROWS[provider].modalities)
    for request in host.requests:
        assert request.url.startswith("https://gateway.example:8443/team/")
        assert request.headers["authorization"] == KEY
        assert KEY not in repr(request)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "inspector"])
async def test_hosts_that_do_not_tell_are_not_asked(provider):
    host = Host({})
    name = "inspector" if provider == "inspector" else f"{provider}:m"
    assert await host_modalities(Exchange(host.send, "http://host", {}), resolve(name)) is None
    assert not host.requests


BROKEN = {
    "half a JSON": b'{"data": [{"id": "m"',
    "another encoding": b'{"data": "\xff"}',
    "a page": b"<html>",
    "nothing": b"",
    "a list": b"[1, 2]",
    "no list": b'{"data": 7, "models": {}, "modalities": [], "capabilities": "vision"}',
    "deep": b'{"data": ' + b"[" * 100_000,
}


@pytest.mark.parametrize("provider", TELLING)
@pytest.mark.parametrize("broken", BROKEN)
async def test_an_unreadable_answer_tells_nothing(provider, broken):
    paths = ("GET /v1/models", "GET /api/v1/models", "POST /api/show", "GET /props", "GET /model/info")
    kinds, host = await ask(f"{provider}:m", dict.fromkeys([*paths, "GET /api/v0/models"], BROKEN[broken]))
    assert kinds is None
    assert host.closed == len(host.requests) > 0


@pytest.mark.parametrize("status", [302, 401, 403, 404, 429, 500])
async def test_a_refusal_tells_nothing(status):
    assert (await ask("ollama:qwen3-vl:8b", shown("completion", "vision"), status=status))[0] is None


@pytest.mark.parametrize("error", [ConnectionRefusedError, TimeoutError, ProviderError("redirects"), ValueError])
async def test_an_unreachable_host_tells_nothing(error):
    @asynccontextmanager
    async def send(_):
        raise error
        yield

    assert await host_modalities(exchange("lmstudio", send), resolve("lmstudio:m")) is None


async def test_an_answer_that_breaks_off_tells_nothing():
    async def cut():
        yield b'{"data": ['
        raise ConnectionResetError

    @asynccontextmanager
    async def send(_):
        yield HttpResponse(200, {}, cut())

    assert await host_modalities(exchange("openrouter", send), resolve("openrouter:a/b")) is None


async def test_a_huge_answer_is_not_read_to_its_end():
    read = []

    async def endless():
        while True:
            read.append(1_000_000)
            yield b" " * 1_000_000

    @asynccontextmanager
    async def send(_):
        yield HttpResponse(200, {}, endless())

    assert await host_modalities(exchange("openrouter", send), resolve("openrouter:a/b")) is None
    assert sum(read) <= 10_000_000


@pytest.mark.parametrize("stage", ["head", "body"])
async def test_a_slow_host_is_not_waited_for(stage):
    never, asked = asyncio.Event(), []

    async def silent():
        await never.wait()
        yield b""

    @asynccontextmanager
    async def send(request):
        asked.append(request.url)
        if stage == "head":
            await never.wait()
        yield HttpResponse(200, {}, silent())

    assert await host_modalities(exchange("lmstudio", send), resolve("lmstudio:m"), seconds=0.01) is None
    assert len(asked) == 1, "the time holds for all questions together"


async def test_cancelling_the_question_cancels_the_caller():
    begun = asyncio.Event()

    @asynccontextmanager
    async def send(_):
        begun.set()
        await asyncio.Event().wait()
        yield

    task = asyncio.create_task(host_modalities(exchange("ollama", send), resolve("ollama:m"), seconds=60))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def one_of(**fields):
    return {"GET /v1/models": {"object": "list", "data": [{"id": "m", "object": "model", **fields}]}}


def loaded(*windows):
    instances = [{"id": f"m:{at}", "config": {"context_length": window}} for at, window in enumerate(windows)]
    local = {"key": "m", "capabilities": {"vision": True}, "max_context_length": 131072, "loaded_instances": instances}
    return {"GET /api/v1/models": {"models": [local]}}


def deployments(*windows):
    entries = [{"model_name": "m", "model_info": {"max_input_tokens": window}} for window in windows]
    return {"GET /model/info": {"data": entries}}


def with_parameters(text):
    model_info = {"qwen3.context_length": 262144}
    return {"POST /api/show": {"capabilities": ["vision"], "parameters": text, "model_info": model_info}}


def of_llama(settings, **more):
    return {"GET /props": {"modalities": {"vision": True}, "default_generation_settings": settings, **more}}


def of_old_lmstudio(**fields):
    return {"GET /api/v0/models": {"data": [{"id": "m", "type": "vlm", "max_context_length": 131072, **fields}]}}


OPEN = {"architecture": {"input_modalities": ["text"]}}
WINDOWS = [
    ("vllm", one_of(max_model_len=8192), 8192),
    ("openrouter", {"GET /api/v1/models": one_of(context_length=262144, **OPEN)["GET /v1/models"]}, 262144),
    (
        "openrouter",
        {"GET /api/v1/models": one_of(context_length=262144, top_provider={"context_length": 65536}, **OPEN)["GET /v1/models"]},
        65536,
    ),
    ("llamacpp", of_llama({"n_ctx": 16384}), 16384),
    ("llamacpp", of_llama({"n_ctx": 16384}, role="router"), None),
    ("lmstudio", loaded(4096), 4096),
    ("lmstudio", loaded(32768, 4096), 4096),
    ("lmstudio", loaded(), None),
    ("lmstudio:m:0", loaded(32768, 4096), 32768),
    ("lmstudio", of_old_lmstudio(loaded_context_length=4096), 4096),
    ("lmstudio", of_old_lmstudio(state="not-loaded"), None),
    ("litellm", deployments(128000, None, 32000), 32000),
    ("ollama", with_parameters("stop "), None),
    ("ollama", with_parameters('stop "<|end|>"\nnum_ctx      16384'), 16384),
    *(("vllm", one_of(max_model_len=value), None) for value in (True, -1, 0, 12, "8192", 10**30, 8192.0, [8192], None)),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "answers", "window"), WINDOWS)
async def test_a_host_tells_the_window_with_the_kinds(provider, answers, window):
    host, name = Host(answers), provider if ":" in provider else f"{provider}:m"
    provider = provider.partition(":")[0]
    facts = await ask_host(exchange(provider, host.send), resolve(name))
    assert facts.window == window
    assert len(host.requests) <= len(ROWS[provider].modalities)


@pytest.mark.parametrize("value", [True, -8192, "8192", 10**30, [8192], {}])
async def test_a_number_that_is_no_window_hides_no_kinds(value):
    entry = {"context_length": value, "max_model_len": value, "top_provider": value, **OPEN}
    listed = Host(
        {"GET /api/v1/models": one_of(**entry)["GET /v1/models"], **one_of(**entry), **of_llama({"n_ctx": value})}
    )
    for provider in ("openrouter", "vllm", "llamacpp"):
        facts = await ask_host(exchange(provider, listed.send), resolve(f"{provider}:m"))
        assert (facts.window) is None
        assert facts.kinds is not None


async def test_no_host_is_asked_for_the_window_alone():
    host = Host({**of_llama(None), **one_of(max_model_len=8192)})
    facts = await ask_host(exchange("llamacpp", host.send), resolve("llamacpp:m"))
    assert (facts.window, facts.kinds, len(host.requests)) == (None, {"image"}, 1)
