"""A provider of a package on the server: its models are listed, and answer."""

import importlib

import pytest

from fake_provider.server import FakeProvider
from showandtell.core.capabilities import registry
from showandtell.extending import register_provider
from support.extensions import forget_registered, import_from
from support.serving import chat_body, chunks_of, serving, texts

pytestmark = pytest.mark.anyio
EYE = "acme:acme-eye-1"


async def test_a_model_of_a_packages_provider_is_listed_and_answers(tmp_path, monkeypatch):
    import_from(tmp_path, monkeypatch)
    forget_registered(monkeypatch, registry.REGISTRY)
    register_provider(importlib.import_module("acme_provider").ACME)
    async with FakeProvider() as provider:
        monkeypatch.setenv("SHOWANDTELL_ACME_BASE_URL", provider.base("vllm"))  # it has models of any name
        monkeypatch.setenv("ACME_API_KEY", "a key")
        async with serving(tmp_path / "data") as site:
            assert EYE in {model["id"] for model in (await site.get("/api/models"))[1]["models"]}
            assert "acme" in {row["provider"] for row in (await site.get("/api/matrix"))[1]["rows"]}
            async with site.session.post("/api/chat", json=chat_body("Hello", model=EYE)) as answer:
                assert "I am the inspector" in texts(await chunks_of(answer))
            assert provider.ledger[-1].path.endswith("/chat/completions")
