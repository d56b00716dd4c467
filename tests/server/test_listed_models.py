"""Lists of models: read once a day from each host, kept in a file, and not asked for again too soon after a failure."""

import json
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from fake_provider.server import FakeProvider
from showandtell.core.capabilities.resolve import resolve
from showandtell.network.transport import Transport
from showandtell.providers.connect import connect
from showandtell.providers.model_lists import MODEL_LISTS, ListedModel
from showandtell.server.listed_models import LIFETIME, PAUSE, ListedModels
from support.model_lists import LISTS, key_of, serve_lists

pytestmark = pytest.mark.anyio
EXAMPLES = {"google": "gemini-2.5-flash", "openrouter": "openai/gpt-5"}


@asynccontextmanager
async def host_of(provider, asked, key=None):
    """The exchange with a provider, whose requests are noted in `asked`."""

    def serve(method, incoming):
        asked.append(incoming.path)
        return serve_lists(method, incoming)

    async with FakeProvider(handlers=[serve]) as fake, Transport(environ={}) as transport:
        target = resolve(f"{provider}:{EXAMPLES.get(provider, 'any-model')}")
        key = key or key_of(provider)
        yield connect(target, base_url=fake.base(provider), api_key=key, transport=transport, environ={})


async def test_a_list_is_read_once_a_day_also_by_other_processes(tmp_path):
    asked, now = [], [1000.0]
    async with host_of("anthropic", asked) as exchange:
        first, second = (ListedModels(tmp_path / "lists.json", lambda: now[0]) for _ in range(2))
        found = await first.of("anthropic", exchange)
        assert await second.of("anthropic", exchange) == found
        assert len(asked) == 1
        now[0] += LIFETIME
        await second.of("anthropic", exchange)
        assert len(asked) == 2
    assert key_of("anthropic") not in (tmp_path / "lists.json").read_text()


async def test_a_host_that_refuses_is_asked_again_after_minutes(tmp_path):
    asked, now = [], [1000.0]
    async with host_of("openai", asked, key="sk-wrong-0123456789") as exchange:
        lists = ListedModels(tmp_path / "lists.json", lambda: now[0])
        assert [await lists.of("openai", exchange) for _ in range(3)] == [None] * 3
        assert len(asked) == 1
        now[0] += PAUSE
        await lists.of("openai", exchange)
        assert len(asked) == 2


@pytest.mark.parametrize("content", [b"", b"{", b'[{"base_url": 1}]', b"\xff"])
async def test_a_damaged_file_counts_as_empty(content, tmp_path):
    (tmp_path / "lists.json").write_bytes(content)
    async with host_of("mistral", []) as exchange:
        found = await ListedModels(tmp_path / "lists.json").of("mistral", exchange)
    assert found is not None
    assert [model.id for model in found] == ["mistral-large-latest"]


def test_each_form_of_a_list_tells_names_windows_and_dates():
    read = {host: list(MODEL_LISTS[host].read(json.dumps(body).encode())) for (host, _), body in LISTS.items()}
    assert read["anthropic"] == [
        ListedModel("claude-opus-4-8", "Claude Opus 4.8", None, 1_000_000, "2026-05-14"),
        ListedModel("claude-old", "Claude Old"),
    ]
    assert read["google"] == [ListedModel("gemini-3-pro", "Gemini 3 Pro", None, 1_048_576)]
    assert read["openai"] == [ListedModel("gpt-5", released="2025-08-05")]
    gpt, deepseek = read["openrouter"]
    assert (gpt.kinds, gpt.window, deepseek.kinds) == (("document", "image"), 400_000, ("document",))
    assert replace(deepseek, kinds=None) == ListedModel(
        "deepseek/deepseek-v3.2", "DeepSeek: V3.2", None, 163_840, "2025-12-01"
    )
    assert read["cohere"] == [ListedModel("command-a-03-2025", window=288_000)]
