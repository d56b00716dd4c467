"""Addresses in content blocks of tools: text that says so, or files if the program allows it."""

import asyncio
from dataclasses import replace

import pytest

from showandtell import ToolResult
from showandtell.agent.configure import fetcher
from showandtell.network.fetch import FetchPolicy
from support.fake_internet import Certificates, Web, page, redirect, serving
from support.fixtures import png
from support.scripted import CLAUDE, say, scripted, watch

URL = "https://pictures.test/kiwi.png"
ON = FetchPolicy(fetch=True, from_tools=True)
BLOCKS = {
    "OpenAI": {"type": "image_url", "image_url": {"url": URL}},
    "Responses": {"type": "input_image", "image_url": URL},
    "Anthropic": {"type": "image", "source": {"type": "url", "url": URL}},
    "LangChain": {"type": "image", "url": URL, "mime_type": "image/png"},
    "MCP": {"content": [{"type": "resource_link", "uri": URL, "name": "kiwi", "mimeType": "image/png"}]},
}


def call(value, policy=ON, answers=None):
    """The run of a tool that returns a value, and the requests to the web."""
    web = Web({"/kiwi.png": page(png(), b"Content-Type: image/png"), **(answers or {})})

    def look():
        """Look."""
        return value

    agent, script = scripted(say("", ("c1", "look", "{}")), say("Seen."), tools=[look], fetch=policy)

    async def go():
        async with serving(web, Certificates()) as dialer:
            if agent.sharing.fetch_linked is not None:
                agent.sharing = replace(agent.sharing, fetch_linked=fetcher(policy.for_tools, dialer))
            run = agent.run("Look.")
            await watch(run)
            return run

    run = asyncio.run(go())
    return run, script, web


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
@pytest.mark.parametrize("in_result", [False, True])
def test_an_https_address_becomes_a_file_if_the_policy_allows_it(block, in_result):
    run, script, web = call(ToolResult("See:", block) if in_result else block)
    assert (script.files, len(web.hits), run.receipts[-1].delivery) == ([0, 1], 1, "native")
    assert [(file.name, str(file.origin)) for file in run.conversation.attachments.values()] == [
        ("kiwi.png", "tool look (c1)")
    ]


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
@pytest.mark.parametrize("policy", [None, FetchPolicy(fetch=True), FetchPolicy(from_tools=True)])
def test_without_the_setting_it_stays_text_that_says_so(block, policy):
    run, script, web = call(block, policy)
    assert f"(not fetched): {URL}" in run.conversation.messages[-2].text
    assert (script.files, web.hits) == ([0, 0], [])


@pytest.mark.parametrize(
    "address", ["http://pictures.test/kiwi.png", "gs://a/b.png", "s3://a/b.png", "file:///etc/passwd", "openai:file-1"]
)
def test_no_other_scheme_is_ever_fetched(address):
    policy = replace(ON, http=True, private_hosts=("pictures.test",))
    run, script, web = call([{"type": "image_url", "image_url": {"url": address}}], policy)
    assert run.conversation.messages[-2].text == f"image_url (not fetched): {address}"
    assert (script.files, web.connections) == ([0, 0], 0)


@pytest.mark.parametrize(
    ("location", "problem"),
    [
        ("https://inside.test/x", "redirects to inside.test, which has no public address"),
        ("http://pictures.test/kiwi.png", "redirects to an address without encryption"),
    ],
)
def test_a_redirect_leads_neither_into_a_network_nor_to_http(location, problem):
    policy = replace(ON, http=True, private_hosts=("inside.test",))
    run, _, web = call(BLOCKS["OpenAI"], policy, {"/kiwi.png": redirect(location)})
    assert problem in run.conversation.messages[-2].text
    assert len(web.hits) == 1


def test_what_can_not_be_fetched_stays_text_with_the_reason_beside_the_rest():
    block = {"type": "image_url", "image_url": {"url": "https://inside.test/x.png"}}
    run, script, _ = call([{"type": "text", "text": "Two:"}, block, BLOCKS["OpenAI"]])
    text = run.conversation.messages[-2].text
    assert "Two:" in text
    assert "image_url (not fetched, inside.test has no public address): https://inside.test/x.png" in text
    assert script.files == [0, 1]


def test_at_most_eight_addresses_of_a_result_are_fetched():
    run, _, web = call([BLOCKS["OpenAI"]] * 10)
    assert len(web.hits) == 8
    assert run.conversation.messages[-2].text.count("(not fetched)") == 2


def test_what_only_the_user_may_see_is_not_fetched():
    link = {"type": "resource_link", "uri": URL, "name": "kiwi", "annotations": {"audience": ["user"]}}
    assert call(link)[2].hits == []


def test_blocks_of_a_users_message_stay_text():
    agent, script = scripted(say("Hi."), model=CLAUDE, fetch=ON)
    asyncio.run(watch(agent.run([BLOCKS["OpenAI"]])))
    assert script.files == [0]
