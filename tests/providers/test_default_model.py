"""The model of somebody who names none: configured, used last, of the first provider with a key, or the inspector."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities import registry
from showandtell.core.capabilities.default_models import CURRENT_MODELS, WITHOUT_MODEL
from showandtell.core.capabilities.family import ANY_MODEL, Family
from showandtell.core.capabilities.provider import ApiKey, Provider
from showandtell.providers.default_model import STORED, DefaultModel, can_reach, choose_default
from showandtell.providers.hosts import ROWS, key_provider
from support.extensions import forget_registered

RANKED = [row.provider for row in CURRENT_MODELS]
MODELS = {row.provider: row.name for row in CURRENT_MODELS}
VARIABLES = {provider: [name for name, _ in ROWS[provider].keys] for provider in RANKED}
keyed = st.sets(st.sampled_from(RANKED))
USED = [None, "inspector", "inspector:gemini", "gone:model", "ollama:llava", *(f"{name}:m" for name in RANKED)]


@given(
    configured=st.lists(st.sampled_from([None, "", "inspector", "vllm:mine"]), max_size=2),
    used=st.sampled_from(USED),
    stored=keyed,
    set_in=keyed,
    data=st.data(),
)
def test_the_first_of_the_stated_order_counts(configured, used, stored, set_in, data):
    environ = {data.draw(st.sampled_from(VARIABLES[name])): f"key of {name}" for name in set_in}
    found = choose_default(configured, used, stored, environ)
    # A variable may belong to several providers, as GOOGLE_API_KEY may.
    having = [name for name in RANKED if name in stored or any(variable in environ for variable in VARIABLES[name])]
    reachable = used is not None and used.partition(":")[0] in {"ollama", "bedrock", *having}
    if any(configured):
        assert found == DefaultModel(next(filter(None, configured)), "configured")
    elif reachable:
        assert found == DefaultModel(used, "used")
    elif having:
        assert (found.model, found.reason) == (MODELS[having[0]], "key")
        assert found.source == STORED if having[0] in stored else found.source in environ
    else:
        assert found == DefaultModel("inspector", "no key")


def test_each_provider_with_a_key_has_a_current_model_or_a_reason_for_none():
    keyed_providers = {key_provider(name) for name, row in ROWS.items() if row.keys}
    assert keyed_providers == {*MODELS, *WITHOUT_MODEL}
    assert not MODELS.keys() & WITHOUT_MODEL.keys()


@pytest.mark.parametrize("blank", ["", "  ", "\n"])
def test_an_empty_variable_is_no_key(blank):
    assert choose_default(environ={"ANTHROPIC_API_KEY": blank}).reason == "no key"


def test_a_model_whose_key_is_gone_is_not_asked_again():
    assert can_reach("openai-chat:gpt-5", ["openai"], {})  # the same host
    assert not can_reach("openai-chat:gpt-5", [], {})
    assert choose_default(used="openai:gpt-5", environ={"MISTRAL_API_KEY": "k"}).model == MODELS["mistral"]


def test_a_provider_of_a_package_comes_after_those_of_the_table(monkeypatch):
    forget_registered(monkeypatch, registry.REGISTRY)
    models = Family("acme", "openai-chat", ANY_MODEL, "acme-1", ())
    host = {"base_url": "https://api.acme.example/v1", "auth": ApiKey("ACME_API_KEY")}
    registry.register_provider(Provider(name="acme", api="openai-chat", families=(models,), **host))
    environ = {"ACME_API_KEY": "k"}
    assert choose_default(environ=environ).model == "acme:acme-1"
    assert choose_default(environ=environ | {"CO_API_KEY": "k"}).model == MODELS["cohere"]
