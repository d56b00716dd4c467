"""Tools that a provider runs: declared once, written as each API has them, and refused in words where it hasn't."""

import pytest
from inline_snapshot import snapshot

from showandtell import Agent, ModelSettings
from showandtell.core.capabilities.provider_tools import ROWS
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.wire.hosted_tools import NAMES, host_name
from showandtell.core.wire.options import Options
from showandtell.errors import BadInput
from showandtell.hosted import CodeExecution, FileSearch, ImageGeneration, UrlContext, WebSearch
from support.sdk_clients import ADD, check, user

TOOLS = {
    "web_search": WebSearch(),
    "code_execution": CodeExecution(),
    "image_generation": ImageGeneration(size="1024x1024", quality="low"),
    "file_search": FileSearch(("store_1",), max_results=3),
    "url_context": UrlContext(),
}
MODELS = {
    "anthropic": "anthropic:claude-sonnet-5",
    "anthropic-vertex": "anthropic-vertex:claude-sonnet-4-5",
    "openai": "openai:gpt-5.5",
    "azure": "azure:gpt-5.5",
    "xai": "xai:grok-4",
    "google": "google:gemini-3-pro",
    "vertex": "vertex:gemini-3-pro",
    "bedrock": "bedrock:us.amazon.nova-2-lite-v1:0",
    "openai-chat": "openai-chat:gpt-4o-search-preview",
    "groq": "groq:groq/compound",
    "openrouter": "openrouter:openai/gpt-5-mini",
}
EVERYWHERE = [(model, name) for model in MODELS.values() for name in TOOLS]


def head(model, *hosted, tools=(ADD,)):
    """The body of a request with these tools, which the SDK's own types accept."""
    return check((user("Hello."),), resolve(model), Options(tools=tools, hosted=hosted))


def runs(model, name):
    return name in dict(resolve(model).hosted)


@pytest.mark.parametrize(("model", "name"), [case for case in EVERYWHERE if runs(*case)])
def test_the_sdk_accepts_each_tool_beside_a_function(model, name):
    assert head(model, TOOLS[name])


@pytest.mark.parametrize(("model", "name"), [case for case in EVERYWHERE if not runs(*case)])
def test_a_tool_that_the_host_does_not_run_is_refused_in_words(model, name):
    tool = TOOLS[name]
    with pytest.raises(
        BadInput, match=f"{resolve(model).name} runs no {type(tool).__name__} of its own; what it runs: "
    ):
        host_name(tool, resolve(model))


def test_an_agent_refuses_it_when_it_is_created():
    with pytest.raises(
        BadInput, match="runs no FileSearch of its own; what it runs: WebSearch, CodeExecution, UrlContext"
    ):
        Agent("anthropic:claude-sonnet-5", tools=[FileSearch(("a",))])
    with pytest.raises(BadInput, match="tools has WebSearch twice"):
        Agent("anthropic:claude-sonnet-5", tools=[WebSearch(), WebSearch(max_uses=1)])
    with pytest.raises(BadInput, match="takes either functions or tools that Google runs"):
        Agent("google:gemini-2.5-flash", tools=[WebSearch(), lambda_tool])


def lambda_tool(city: str) -> str:
    """Tell the weather."""
    return city


def test_every_provider_with_a_row_is_tried():
    assert {provider for provider, _, _ in ROWS} == set(MODELS)
    assert {name for _, _, names in ROWS for name, _ in names} <= set(NAMES.values()) == set(TOOLS)


def test_anthropic_writes_versions_and_limits():
    tools = head("anthropic:claude-sonnet-5", WebSearch(max_uses=2, allowed_domains=("a.example",)), CodeExecution())[
        "tools"
    ]
    assert tools[:2] == snapshot(
        [
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 2, "allowed_domains": ["a.example"]},
            {"type": "code_execution_20250825", "name": "code_execution"},
        ]
    )
    assert tools[2]["name"] == "get"


def test_responses_ask_for_what_the_tools_returned():
    body = head("openai:gpt-5.5", WebSearch(allowed_domains=("a.example",)), CodeExecution(), FileSearch(("vs_1",)))
    assert body["tools"][:3] == snapshot(
        [
            {"type": "web_search", "filters": {"allowed_domains": ["a.example"]}},
            {"type": "code_interpreter", "container": {"type": "auto"}},
            {"type": "file_search", "vector_store_ids": ["vs_1"]},
        ]
    )
    assert body["include"] == snapshot(
        [
            "reasoning.encrypted_content",
            "web_search_call.action.sources",
            "code_interpreter_call.outputs",
            "file_search_call.results",
        ]
    )


def test_gemini_tells_that_functions_stand_beside_hosted_tools():
    body = head("google:gemini-3-pro", WebSearch(blocked_domains=("a.example",)), CodeExecution())
    assert body["tools"][:2] == snapshot([{"googleSearch": {"excludeDomains": ["a.example"]}}, {"codeExecution": {}}])
    assert body["toolConfig"]["includeServerSideToolInvocations"] is True
    assert "toolConfig" not in head("google:gemini-3-pro", WebSearch(), tools=())


def test_a_gemini_model_for_pictures_answers_in_both():
    body = head("google:gemini-2.5-flash-image", ImageGeneration(), tools=())
    assert body["generationConfig"] == {"responseModalities": ["TEXT", "IMAGE"]}
    assert "tools" not in body


def test_converse_and_chat_hosts_have_places_of_their_own():
    assert head(MODELS["bedrock"], CodeExecution())["toolConfig"]["tools"][0] == snapshot(
        {"systemTool": {"name": "nova_code_interpreter"}}
    )
    assert head(MODELS["openai-chat"], WebSearch())["web_search_options"] == {}
    assert head(MODELS["groq"], WebSearch(), UrlContext())["compound_custom"] == snapshot(
        {"tools": {"enabled_tools": ["web_search", "visit_website"]}}
    )
    assert head(MODELS["openrouter"], WebSearch())["plugins"] == [{"id": "web"}]


def test_the_last_step_forbids_functions_and_keeps_hosted_tools():
    agent = Agent("anthropic:claude-sonnet-5", tools=[WebSearch()], model_settings=ModelSettings(tool_choice="none"))
    assert agent.settings.options.hosted == (WebSearch(),)


@pytest.mark.parametrize(
    ("model", "tool"),
    [("openai:gpt-5.5", WebSearch(blocked_domains=("a",))), ("google:gemini-3-pro", WebSearch(allowed_domains=("a",)))],
)
def test_domains_that_the_host_cannot_filter_are_refused(model, tool):
    with pytest.raises(BadInput, match=r"takes no (blocked|allowed)_domains of WebSearch: give"):
        Agent(model, tools=[tool])
