"""How each host is found: base URLs, keys and accounts from arguments and variables, and what is refused before it is sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities import registry
from showandtell.core.capabilities.resolve import families, resolve
from showandtell.core.capabilities.table import PROVIDERS
from showandtell.core.wire.renderers import renderer_of
from showandtell.errors import BadInput, MissingKey
from showandtell.extending import ANY_MODEL, ApiKey, Family, Provider, register_provider
from showandtell.providers.connect import connect, locate
from showandtell.providers.hosts import ROWS
from support.extensions import forget_registered

KEY = "sk-canary-1234567890"
HOSTED = {
    "GOOGLE_CLOUD_PROJECT": "acme-1",
    "AWS_REGION": "eu-west-1",
    "AZURE_OPENAI_ENDPOINT": "https://acme.openai.azure.com/",
}

#: provider → (variable of the key, its header, where a streamed request goes), written by hand.
WAYS = {
    "anthropic": ("ANTHROPIC_API_KEY", "x-api-key", "https://api.anthropic.com/v1/messages"),
    "openai": ("OPENAI_API_KEY", "authorization", "https://api.openai.com/v1/responses"),
    "openai-chat": ("OPENAI_API_KEY", "authorization", "https://api.openai.com/v1/chat/completions"),
    "azure": ("AZURE_OPENAI_API_KEY", "api-key", "https://acme.openai.azure.com/openai/v1/responses"),
    "azure-chat": ("AZURE_OPENAI_API_KEY", "api-key", "https://acme.openai.azure.com/openai/v1/chat/completions"),
    "google": (
        "GEMINI_API_KEY",
        "x-goog-api-key",
        "https://generativelanguage.googleapis.com/v1beta/models/m-1:streamGenerateContent?alt=sse",
    ),
    "vertex": (
        None,
        None,
        "https://aiplatform.googleapis.com/v1beta1/projects/acme-1/locations/global/publishers/google/models/m-1:streamGenerateContent?alt=sse",
    ),
    "anthropic-vertex": (
        None,
        None,
        "https://aiplatform.googleapis.com/v1/projects/acme-1/locations/global/publishers/anthropic/models/m-1:streamRawPredict",
    ),
    "bedrock": (
        "AWS_BEARER_TOKEN_BEDROCK",
        "authorization",
        "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m-1/converse-stream",
    ),
    "anthropic-bedrock": (
        "AWS_BEARER_TOKEN_BEDROCK",
        "authorization",
        "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m-1/invoke-with-response-stream",
    ),
    "xai": ("XAI_API_KEY", "authorization", "https://api.x.ai/v1/responses"),
    "groq": ("GROQ_API_KEY", "authorization", "https://api.groq.com/openai/v1/chat/completions"),
    "openrouter": ("OPENROUTER_API_KEY", "authorization", "https://openrouter.ai/api/v1/chat/completions"),
    "mistral": ("MISTRAL_API_KEY", "authorization", "https://api.mistral.ai/v1/chat/completions"),
    "cohere": ("CO_API_KEY", "authorization", "https://api.cohere.ai/compatibility/v1/chat/completions"),
    "ollama": ("OLLAMA_API_KEY", "authorization", "http://localhost:11434/v1/chat/completions"),
    "vllm": ("VLLM_API_KEY", "authorization", "http://localhost:8000/v1/chat/completions"),
    "llamacpp": ("LLAMA_API_KEY", "authorization", "http://localhost:8080/v1/chat/completions"),
    "lmstudio": ("LM_API_TOKEN", "authorization", "http://localhost:1234/v1/chat/completions"),
    "litellm": ("LITELLM_PROXY_API_KEY", "authorization", "http://localhost:4000/chat/completions"),
}
each_provider = pytest.mark.parametrize("provider", WAYS)


def target(provider, environ=HOSTED):
    return locate(resolve(f"{provider}:m-1"), environ)


def url_of(provider, **settings):
    found = target(provider, settings.get("environ", HOSTED))
    return renderer_of(found.api).url(found, connect(found, **settings).base, stream=True)


def test_every_provider_has_its_row():
    assert set(ROWS) == set(WAYS) == set(PROVIDERS) - {"inspector"}


@each_provider
def test_a_request_goes_where_the_provider_is_with_its_key(provider):
    variable, header, url = WAYS[provider]
    environ = {**HOSTED, **({variable: f" {KEY}\n"} if variable else {})}
    exchange = connect(target(provider), environ=environ)
    assert url_of(provider, environ=environ) == url
    expected = {"authorization": f"Bearer {KEY}"}.get(header, KEY)
    assert exchange.headers.get(header or "") == (expected if header else None)
    assert (exchange.authorize is None) == bool(header)
    assert KEY not in repr(exchange)


@each_provider
def test_a_base_url_of_ones_own_is_what_the_sdk_takes(provider):
    theirs = "http://127.0.0.1:9/gate" + ("/v1" if ".com/v1" in str(ROWS[provider].base) else "")
    ours = f"SHOWANDTELL_{provider.upper().replace('-', '_')}_BASE_URL"
    expected = url_of(provider, environ={**HOSTED, ours: theirs}, api_key=KEY)
    assert expected.startswith("http://127.0.0.1:9/gate/")
    assert url_of(provider, environ=HOSTED, api_key=KEY, base_url=theirs + "/") == expected
    for variable in ROWS[provider].variables:
        assert url_of(provider, environ={**HOSTED, variable: theirs}, api_key=KEY) == expected


@pytest.mark.parametrize("provider", [name for name, row in ROWS.items() if row.needs_key and not row.authorize])
def test_a_missing_key_names_its_variable(provider):
    with pytest.raises(MissingKey, match=WAYS[provider][0]):
        connect(target(provider), environ=HOSTED)


@pytest.mark.parametrize("provider", ["ollama", "vllm", "llamacpp", "lmstudio", "litellm"])
def test_a_server_of_ones_own_needs_no_key(provider):
    assert connect(target(provider), environ={}).headers == {}


@pytest.mark.parametrize(
    ("provider", "words"),
    [
        ("azure", "AZURE_OPENAI_ENDPOINT"),
        ("anthropic-vertex", "GOOGLE_CLOUD_PROJECT"),
    ],
)
def test_a_host_without_a_common_address_names_the_variable(provider, words):
    with pytest.raises(MissingKey, match=words):
        connect(target(provider, {}), api_key=KEY, environ={})


def test_claude_on_vertex_needs_its_project_behind_a_gateway_too():
    with pytest.raises(MissingKey, match="GOOGLE_CLOUD_PROJECT"):
        connect(target("anthropic-vertex", {}), api_key=KEY, base_url="http://gate.test", environ={})


def test_chat_and_responses_of_one_provider_share_a_base_url_unless_reported_otherwise():
    environ = {"OPENAI_API_KEY": KEY, "SHOWANDTELL_OPENAI_BASE_URL": "http://a.test/v1"}
    assert connect(target("openai-chat"), environ=environ).base == "http://a.test/v1"
    environ["SHOWANDTELL_OPENAI_CHAT_BASE_URL"] = "http://b.test/v1"
    assert connect(target("openai-chat"), environ=environ).base == "http://b.test/v1"
    assert connect(target("openai"), environ=environ).base == "http://a.test/v1"


@pytest.mark.parametrize(
    ("host", "base"),
    [
        ("0.0.0.0", "http://localhost:11434/v1"),  # noqa: S104 - where a server listens
        ("box:8000", "http://box:8000/v1"),
        ("https://box/", "https://box/v1"),
        ("http://box:1/v1", "http://box:1/v1"),
    ],
)
def test_ollamas_own_variable_may_be_no_url(host, base):
    assert connect(target("ollama"), environ={"OLLAMA_HOST": host}).base == base


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("api.openai.com/v1", "neither http:// nor https://"),
        ("ftp://a.test", "neither http:// nor https://"),
        ("https://", "has no host"),
        ("https://user:hidden@a.test/v1", "pass a key instead"),
        ("https://a.test/v1?key=hidden", "query or fragment"),
        ("https://a.test/v1#hidden", "query or fragment"),
        ("https://a.test:port/v1", "can't be parsed"),
        ("https://a.test/v1\nhidden", "spaces or line breaks"),
        ("", "neither"),
    ],
)
def test_an_invalid_base_url_is_refused_by_its_source_and_not_shown(value, problem):
    with pytest.raises(BadInput, match=f"^base_url is not a base URL: .*{problem}.* use a URL like https://") as caught:
        connect(target("openai"), base_url=value, api_key=KEY, environ={})
    assert "hidden" not in str(caught.value)


def test_a_wrong_base_url_of_a_variable_is_named():
    with pytest.raises(BadInput, match=r"^OPENAI_BASE_URL is not a base URL"):
        connect(target("openai"), api_key=KEY, environ={"OPENAI_BASE_URL": "localhost"})


@pytest.mark.parametrize("key", [f"{KEY}\nx: y", f"{KEY}\0", f"{KEY}é", f"{KEY}\u2028x"])
def test_an_invalid_key_is_refused_by_its_variable_and_not_shown(key):
    with pytest.raises(BadInput, match=r"^OPENAI_API_KEY contains a line break or characters") as caught:
        connect(target("openai"), environ={"OPENAI_API_KEY": key})
    assert KEY not in str(caught.value)
    with pytest.raises(BadInput, match=r"^api_key contains"):
        connect(target("openai"), api_key=key, environ={})


@given(st.text())
def test_no_key_breaks_a_header(key):
    try:
        (value,) = connect(target("mistral"), api_key=key, environ={}).headers.values()
    except BadInput:
        return
    assert value.isascii()
    assert value.isprintable()
    assert value.removeprefix("Bearer ") == key.strip() != ""


def test_a_key_goes_before_a_token_at_anthropic_and_behind_it_at_azure():
    both = {"ANTHROPIC_API_KEY": "key", "ANTHROPIC_AUTH_TOKEN": "token"}
    assert connect(target("anthropic"), environ=both).headers["x-api-key"] == "key"
    del both["ANTHROPIC_API_KEY"]
    assert connect(target("anthropic"), environ=both).headers["authorization"] == "Bearer token"
    both = {**HOSTED, "AZURE_OPENAI_API_KEY": "key", "AZURE_OPENAI_AD_TOKEN": "token"}
    assert connect(target("azure"), environ=both).headers == {"authorization": "Bearer token"}


@pytest.mark.parametrize(
    ("header", "sent"),
    [
        ("bearer", ("authorization", f"Bearer {KEY}")),
        ("X-Acme-Key", ("x-acme-key", KEY)),
        ("Authorization: Token", ("authorization", f"Token {KEY}")),
    ],
)
def test_a_registered_providers_key_is_in_its_header_beside_those_of_its_api(header, sent, monkeypatch):
    forget_registered(monkeypatch, registry.REGISTRY)
    models = Family("acme", "anthropic-messages", ANY_MODEL, "acme-1", ())
    auth = ApiKey("ACME_KEY", header=header)
    at = {"base_url": "https://acme.example", "api": "anthropic-messages", "headers": {"X-Tenant": "7"}}
    register_provider(Provider(name="acme", families=(models,), auth=auth, **at))
    headers = connect(target("acme"), environ={"ACME_KEY": KEY}).headers
    assert (sent[0], headers[sent[0]]) == sent
    assert (headers["anthropic-version"], headers["x-tenant"]) == ("2023-06-01", "7")


def test_headers_lie_over_ours():
    environ = {"OPENAI_API_KEY": KEY, "OPENAI_ORG_ID": "org", "OPENAI_PROJECT_ID": "proj"}
    exchange = connect(target("openai"), headers={"X-Team": "red", "Authorization": "none"}, environ=environ)
    assert dict(exchange.headers) == {
        "openai-organization": "org",
        "openai-project": "proj",
        "authorization": "none",
        "x-team": "red",
    }
    for headers in ({"x y": "a"}, {"x": "a\r\nb"}):
        with pytest.raises(BadInput, match="header"):
            connect(target("openai"), headers=headers, environ=environ)


@pytest.mark.parametrize(
    ("provider", "environ", "account"),
    [
        ("openai", HOSTED, ""),
        ("vertex", HOSTED, "acme-1/global"),
        ("vertex", {**HOSTED, "GOOGLE_CLOUD_LOCATION": "us-central1"}, "acme-1/us-central1"),
        ("anthropic-vertex", {**HOSTED, "CLOUD_ML_REGION": "eu", "ANTHROPIC_VERTEX_PROJECT_ID": "own"}, "own/eu"),
        ("vertex", {"GOOGLE_CLOUD_LOCATION": "us"}, ""),
        ("bedrock", {"AWS_DEFAULT_REGION": "us-east-1"}, "us-east-1"),
    ],
)
def test_a_target_is_reported_its_account(provider, environ, account):
    found = target(provider, environ)
    assert found.account == account
    if account:
        assert locate(found, {"GOOGLE_CLOUD_PROJECT": "other", "AWS_REGION": "other"}) is found


@pytest.mark.parametrize(
    ("location", "host"),
    [
        ("global", "aiplatform.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
        ("us-east5", "us-east5-aiplatform.googleapis.com"),
    ],
)
def test_a_location_of_vertex_has_its_host(location, host):
    environ = {**HOSTED, "GOOGLE_CLOUD_LOCATION": location}
    assert connect(target("vertex", environ), environ=environ).base == f"https://{host}"


@pytest.mark.parametrize(
    ("provider", "environ"),
    [
        ("vertex", {"GOOGLE_CLOUD_PROJECT": "a/b"}),
        ("vertex", {"GOOGLE_CLOUD_PROJECT": "a", "GOOGLE_CLOUD_LOCATION": "evil.test#"}),
        ("bedrock", {"AWS_REGION": "evil.test/"}),
    ],
)
def test_a_name_that_would_change_the_host_is_refused(provider, environ):
    with pytest.raises(BadInput, match="which is no"):
        target(provider, environ)


def test_the_inspector_needs_nothing():
    exchange = connect(resolve("inspector:gemini"), environ={})
    assert (exchange.base, exchange.headers, exchange.authorize) == ("http://inspector/google", {}, None)


def test_a_server_of_ones_own_that_is_not_there_says_what_to_do():
    exchange = connect(resolve("ollama:qwen3-vl:8b"), environ={})
    assert exchange.explain(0, "no connection") == "no connection; start it, or set SHOWANDTELL_OLLAMA_BASE_URL"


def test_the_openai_client_reaches_every_host_with_one_of_its_apis():
    by_table = {family.provider for family in families() if family.api in {"openai-chat", "openai-responses"}}
    assert {provider for provider, row in ROWS.items() if row.openai_client} == by_table & set(ROWS)


def test_headers_of_a_variable_go_with_each_request_but_to_no_other_base_url():
    environ = {"OPENAI_API_KEY": KEY, "SHOWANDTELL_OPENAI_HEADERS": "X-Team: blue\n\nauthorization:Basic a:b\n"}
    headers = connect(target("openai"), environ=environ).headers
    assert (headers["x-team"], headers["authorization"]) == ("blue", "Basic a:b")
    assert connect(target("openai-chat"), environ=environ).headers["x-team"] == "blue"
    assert connect(target("openai"), headers={"X-Team": "red"}, environ=environ).headers["x-team"] == "red"
    assert "x-team" not in connect(target("openai"), base_url="https://other.test/v1", environ=environ).headers


@pytest.mark.parametrize("text", ["sk-secret", "Host: sk-secret", "X: sk-secret\x00", "X Y: sk-secret"])
def test_headers_that_are_none_are_refused_without_their_values(text):
    with pytest.raises(BadInput) as error:
        connect(target("openai"), environ={"OPENAI_API_KEY": KEY, "SHOWANDTELL_OPENAI_HEADERS": text})
    assert "sk-secret" not in str(error.value)
