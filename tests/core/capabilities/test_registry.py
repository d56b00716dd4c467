"""Registered providers: what a provider must be, and that a name is taken once."""

import pytest
from msgspec.structs import replace

from showandtell import UnknownModel, resolve
from showandtell.core.capabilities import registry
from showandtell.errors import BadInput
from showandtell.extending import ANY_MODEL, Family, Provider, register_provider

MODELS = Family("acme-tests", "openai-chat", ANY_MODEL, "acme-1", ())
ACME = Provider(name="acme-tests", base_url="https://api.acme.example/v1", api="openai-chat", families=(MODELS,))


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch):
    monkeypatch.setattr(registry.REGISTRY, "_values", {})


def test_a_registered_provider_is_resolved_and_an_unknown_one_is_not():
    with pytest.raises(UnknownModel, match="unknown provider 'acme-tests'"):
        resolve("acme-tests:acme-1")
    register_provider(ACME)
    assert (resolve("acme-tests:acme-1").provider, resolve("acme-tests:acme-1").api) == ("acme-tests", "openai-chat")


def test_a_name_is_taken_once():
    register_provider(ACME)
    register_provider(ACME)
    taken = Family("openai", "openai-chat", ANY_MODEL, "acme-1", ())
    for other in (replace(ACME, base_url="https://other.example"), replace(ACME, name="openai", families=(taken,))):
        with pytest.raises(BadInput, match="there is another provider"):
            register_provider(other)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": "Acme!"}, "no name of a provider"),
        ({"families": ()}, "no families"),
        ({"api": "gemini"}, "belongs to"),
    ],
)
def test_a_provider_that_contradicts_itself_is_refused(wrong, words):
    with pytest.raises(BadInput, match=words):
        replace(ACME, **wrong)
