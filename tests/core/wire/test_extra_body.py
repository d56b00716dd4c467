"""The provider's own fields stand beside ours in every API, and can't silently replace them."""

import asyncio

import pytest

from showandtell import Agent, BadInput, Draft, History, ModelSettings, Text, render
from support.scripted import GEMINI, RESPONSES, say, scripted

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
HISTORY = History([Draft("user", (Text("hello"),))], instructions="Be brief.")
SETTINGS = {"temperature": 0.5, "max_tokens": 100, "reasoning_effort": "low", "output_type": SCHEMA, "stream": True}
CLAUDE, CHAT, OPENAI = "anthropic:claude-sonnet-4-5", "openai-chat:gpt-5.5", "openai:gpt-5.5"
GOOGLE, NOVA = "google:gemini-3-pro-preview", "bedrock:amazon.nova-pro-v1:0"


def add(a: int, b: int) -> int:
    return a + b


def body(model, extra, **settings):
    return render(HISTORY, model=model, tools=[add], extra_body=extra, **SETTINGS | settings).json()


def at(place, value):
    for step in reversed(place):
        value = {step: value}
    return value


def find(value, place):
    for step in place:
        value = value[step]
    return value


#: For each API: where its tools are, a tool that the provider runs, and a field beside one of ours with its value.
PLACES = [
    (CLAUDE, ("tools",), {"type": "web_search_20250305", "name": "web_search"}, ("output_config", "task_budget"), 5),
    (CHAT, ("tools",), {"type": "web_search"}, ("stream_options", "include_obfuscation"), False),
    (OPENAI, ("tools",), {"type": "web_search"}, ("text", "verbosity"), "low"),
    (GOOGLE, ("tools",), {"googleSearch": {}}, ("generationConfig", "topK"), 5),
    (NOVA, ("toolConfig", "tools"), {"systemTool": {"name": "nova_grounding"}}, ("inferenceConfig", "topP"), 0.5),
]


@pytest.mark.parametrize(("model", "tools", "tool", "place", "value"), PLACES)
def test_lists_are_appended_and_objects_merged(model, tools, tool, place, value):
    ours, plain = body(model, None), find(body(model, None), tools)
    merged = body(model, at(tools, [tool, plain[0]]) | at(place, value) | {"metadata": {"a": "b"}})
    assert find(merged, tools) == [*plain, tool]  # what is already there is not repeated
    assert find(merged, place) == value
    assert find(merged, place[:-1]) == find(ours, place[:-1]) | {place[-1]: value}
    assert merged.keys() >= ours.keys()


CLASHES = [
    (CLAUDE, "model", "argument model"),
    (CLAUDE, "messages", "the conversation's messages"),
    (CLAUDE, "stream", "setting stream"),
    (CLAUDE, "system", "argument instructions"),
    (CLAUDE, "max_tokens", "setting max_tokens"),
    (CLAUDE, "output_config.effort", "setting reasoning_effort"),
    (CHAT, "model", "argument model"),
    (CHAT, "messages", "the conversation's messages"),
    (CHAT, "stream", "setting stream"),
    (CHAT, "max_completion_tokens", "setting max_tokens"),
    (CHAT, "reasoning_effort", "setting reasoning_effort"),
    (CHAT, "response_format.type", "argument output_type"),
    (OPENAI, "model", "argument model"),
    (OPENAI, "input", "the conversation's messages"),
    (OPENAI, "stream", "setting stream"),
    (OPENAI, "instructions", "argument instructions"),
    (OPENAI, "reasoning.effort", "setting reasoning_effort"),
    (OPENAI, "text.format.name", "argument output_type"),
    (GOOGLE, "model", "argument model"),
    (GOOGLE, "contents", "the conversation's messages"),
    (GOOGLE, "stream", "setting stream"),
    (GOOGLE, "systemInstruction.parts", "argument instructions"),
    (GOOGLE, "generationConfig.maxOutputTokens", "setting max_tokens"),
    (GOOGLE, "generationConfig.thinkingConfig.thinkingLevel", "setting reasoning_effort"),
    (NOVA, "modelId", "argument model"),
    (NOVA, "messages", "the conversation's messages"),
    (NOVA, "stream", "setting stream"),
    (NOVA, "system", "argument instructions"),
    (NOVA, "inferenceConfig.temperature", "setting temperature"),
    (NOVA, "outputConfig.textFormat.type", "argument output_type"),
]


@pytest.mark.parametrize(("model", "place", "instead"), CLASHES)
def test_another_value_of_our_own_field_names_the_setting_to_use(model, place, instead):
    with pytest.raises(BadInput) as caught:
        body(model, at(place.split("."), ["another"]))
    assert str(caught.value).startswith(f"extra_body: {place} differs from the request's own value: use the ")
    assert instead in str(caught.value)


@pytest.mark.parametrize("model", [CLAUDE, CHAT, OPENAI, GOOGLE, NOVA])
def test_the_same_values_again_change_nothing(model):
    ours = body(model, None)
    messages = next(key for key in ("input", "contents", "messages") if key in ours)
    again = {key: value for key, value in ours.items() if key != messages}
    assert body(model, again) == ours


def test_both_spellings_of_google_name_one_field():
    merged = body(GOOGLE, {"generation_config": {"top_k": 5, "temperature": 0.5}, "safety_settings": []})
    assert merged["generationConfig"]["top_k"] == 5
    assert merged["safety_settings"] == []
    assert "generation_config" not in merged


def test_a_field_that_no_setting_names_is_replaced():
    assert body(OPENAI, {"store": True})["store"] is True


def test_a_tool_of_the_provider_may_be_chosen_unless_a_tool_of_ours_is():
    choice = {"tool_choice": {"type": "web_search"}}
    assert body(OPENAI, choice)["tool_choice"] == {"type": "web_search"}
    assert body(OPENAI, choice, tool_choice="none")["tool_choice"] == "none"  # as in the last step of a run
    with pytest.raises(BadInput, match="use the setting tool_choice"):
        body(OPENAI, choice, tool_choice="add")
    assert body(NOVA, at(("toolConfig", "toolChoice"), {"any": {}}))["toolConfig"]["toolChoice"] == {"any": {}}


@pytest.mark.parametrize(("model", "tools"), [(OPENAI, ("tools",)), (NOVA, ("toolConfig",))])
def test_a_value_of_another_type_is_refused(model, tools):
    with pytest.raises(BadInput, match=r"extra_body: \w+ is not a (list|JSON object)"):
        body(model, at(tools, 1))


def test_an_agent_refuses_a_clash_before_it_runs():
    with pytest.raises(BadInput, match="use the setting temperature"):
        Agent("inspector", model_settings=ModelSettings(temperature=0.5, extra_body={"temperature": 1}))


@pytest.mark.parametrize(("model", "tool"), [(RESPONSES, {"type": "web_search"}), (GEMINI, {"googleSearch": {}})])
def test_a_tool_that_the_provider_runs_stands_beside_ours_in_each_step_of_an_agent(model, tool):
    answers = say("", ("c1", "add", '{"a": 1, "b": 2}'), model=model), say("3.", model=model)
    agent, script = scripted(*answers, model=model, tools=[add], extra_body={"tools": [tool]})
    run = asyncio.run(finish(agent))
    assert (run.text, run.messages[2].text) == ("3.", "3")
    for sent in script.bodies:
        assert (sent["tools"][-1], len(sent["tools"])) == (tool, 2)


async def finish(agent):
    return await agent.run("What is 1 + 2?")
