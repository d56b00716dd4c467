"""Registered providers: what a provider must be, and that a name is taken once."""

import pytest
from msgspec.structs import replace

from showandtell import UnknownModel, resolve
from showandtell.core.capabilities import registry
from showandtell.core.capabilities.cells import LEFT_TO_API
from showandtell.errors import BadInput
from showandtell.extending import (
    ANY_MODEL,
    USER,
    WEB_IMAGES,
    AnswerFormat,
    ApiKey,
    Dialect,
    ErrorWords,
    Family,
    Order,
    Provider,
    TokenCosts,
    Window,
    make_cells,
    register_provider,
)
from support.extensions import forget_registered

MODELS = Family("acme-tests", "openai-chat", ANY_MODEL, "acme-1", ())
ACME = Provider(name="acme-tests", base_url="https://api.acme.example/v1", api="openai-chat", families=(MODELS,))


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch):
    forget_registered(monkeypatch, registry.REGISTRY)


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
        ({"base_url": "api.acme.example/v1"}, "neither http:// nor https://: write one like https://"),
        ({"name": None}, "name is None: give a str"),
        ({"auth": "ACME_KEY"}, "auth is 'ACME_KEY': give an ApiKey, or None"),
        ({"base_url": "https://api.acme.example/v1?version=3"}, "has a query or fragment: write one like"),
        ({"auth": ApiKey("")}, "'' of acme-tests is no name of an environment variable"),
        ({"auth": ApiKey("ACME_KEY", header="X Key")}, "'X Key' of acme-tests is no header for a key: write 'bearer'"),
        ({"auth": ApiKey("ACME_KEY", header="Host")}, "header host of acme-tests carries its key"),
        ({"auth": ApiKey("ACME_KEY"), "headers": {"Authorization": "a"}}, "header authorization of acme-tests carries"),
        ({"headers": {"Host": "evil.example"}}, "header host of acme-tests controls how a request is sent"),
        ({"headers": ["a"]}, r"headers is \['a'\]: give a dict"),
        ({"headers": {"a": "b\n"}}, r"headers\['a'\] is 'b\\n': give a str of the right form"),
        ({"families": (replace(MODELS, patterns=("acme-eye*",)),)}, "'acme-1' is no model of its family: acme-eye"),
    ],
)
def test_a_provider_that_contradicts_itself_is_refused(wrong, words):
    with pytest.raises(BadInput, match=words):
        replace(ACME, **wrong)


def test_only_a_provider_is_registered():
    with pytest.raises(BadInput, match="provider is 'acme': give a Provider"):
        register_provider("acme")


def test_lists_count_as_tuples():
    cells = make_cells("sees", "user", WEB_IMAGES, "docs")
    models = replace(MODELS, cells=[*cells], patterns=["*"])
    given = replace(ACME, families=[models])
    assert given == replace(ACME, families=(replace(MODELS, cells=cells, patterns=("*",)),))
    assert hash(given.families)


@pytest.mark.parametrize("media_types", [(), ("image/png", "application/pdf")])
def test_cells_are_of_one_kind(media_types):
    with pytest.raises(BadInput, match="of one kind, not for"):
        make_cells("sees", USER, media_types, "docs")


@pytest.mark.parametrize(
    ("api", "true"),
    [
        ("openai-chat", {"message_fields"}),
        ("openai-responses", {"flags_errors", "stateless"}),
        ("gemini", {"flags_errors", "named_results", "separate_results"}),
        ("acme-talk", set()),
    ],
)
def test_a_dialect_is_as_the_api_has_it_unless_a_row_says_otherwise(api, true):
    left = Family("acme-tests", api, ANY_MODEL, "acme-1", (), dialect=Dialect(max_tokens="most")).dialect
    assert {name for name in LEFT_TO_API if getattr(left, name)} == true
    assert left.max_tokens == "most"
    own = Family(
        "acme-tests", api, ANY_MODEL, "acme-1", (), dialect=Dialect(flags_errors=True, stateless=False)
    ).dialect
    assert (own.flags_errors, own.stateless) == (True, False)


@pytest.mark.parametrize(
    "wrong",
    [
        {"order": Order(call_ids="[a-z")},
        {"order": Order(call_ids="[a-z]+")},
        {"dialect": Dialect(errors=ErrorWords(too_long="*"))},
    ],
)
def test_expressions_of_a_provider_are_checked(wrong):
    with pytest.raises(BadInput, match=r"regular expression|nine letters and digits"):
        replace(ACME, families=(replace(MODELS, **wrong),))


def test_a_family_says_what_is_known_of_no_model_of_that_name():
    window, hosted = Window(9_000, "Acme docs", "2026-11-28"), (("web_search", "search"),)
    costs, answers = TokenCosts(image_max=7), AnswerFormat("always")
    known = replace(MODELS, window=window, hosted=hosted, costs=costs, answer_format=answers)
    register_provider(replace(ACME, name="acme-known", families=(replace(known, provider="acme-known"),)))
    target = resolve("acme-known:gpt-5")
    assert (target.window, target.hosted) == (window, hosted)
    assert (target.costs, target.answer_format) == (costs, answers)


def test_a_verdict_that_there_is_not_is_refused():
    with pytest.raises(BadInput, match="verdict is 'see': give 'sees', 'blind'"):
        make_cells("see", USER, WEB_IMAGES, "docs")
