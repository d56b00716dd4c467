"""Every option of `FetchPolicy`, through an agent: what it allows, and the error without it."""

import asyncio
from dataclasses import replace

import pytest

from showandtell import File
from showandtell.agent.configure import fetcher
from showandtell.network.fetch import FetchPolicy
from support.fake_internet import Certificates, Web, page, redirect, serving
from support.fixtures import png
from support.scripted import CONVERSE, say, scripted, watch

ON = FetchPolicy(fetch=True)
IMAGE = page(png(), b"Content-Type: image/png")


def look(url, policy, answers=None):
    """The receipt of a file by URL with a model that opens none, and the requests to the web."""
    web = Web({"/a.png": IMAGE, **(answers or {})})
    agent, _ = scripted(
        say("A kiwi.", model=CONVERSE), model=CONVERSE, fetch=policy, on_unsupported={"image": "convert"}
    )

    async def go():
        async with serving(web, Certificates()) as dialer:
            agent.sharing = replace(agent.sharing, fetch=fetcher(policy, dialer))
            run = agent.run("Look.", files=[File.from_uri(url, "image/png")])
            await watch(run)
            return run

    run = asyncio.run(go())
    return run.receipts[0].reason if run.error is None else str(run.error), web


@pytest.mark.parametrize(
    ("url", "policy", "named"),
    [
        ("https://pictures.test/a.png", ON, "FetchPolicy(fetch=True)"),
        ("http://pictures.test/a.png", replace(ON, http=True), "http=True"),
        ("https://pictures.test:8443/a.png", replace(ON, ports=(8443,)), "FetchPolicy(ports=…)"),
        ("https://inside.test/a.png", replace(ON, private_hosts=("inside.test",)), "FetchPolicy(private_hosts=…)"),
    ],
)
def test_an_option_is_named_where_it_is_missing_and_works_where_it_is_set(url, policy, named):
    without = FetchPolicy() if policy == ON else ON
    reason, web = look(url, without)
    assert named in reason
    assert web.hits == []
    reason, web = look(url, policy)
    assert "converted" in reason
    assert len(web.hits) == 1


def test_other_hosts_than_the_listed_ones_are_not_asked():
    reason, web = look("https://pictures.test/a.png", replace(ON, hosts=("other.test",)))
    assert "FetchPolicy(hosts=…)" in reason
    assert web.hits == []


def test_a_redirect_from_https_to_http_needs_http():
    answers = {"/go": redirect("http://pictures.test/a.png")}
    assert "FetchPolicy(http=True)" in look("https://pictures.test/go", ON, answers)[0]
    assert "converted" in look("https://pictures.test/go", replace(ON, http=True), answers)[0]


def test_a_server_on_this_machine_is_reached_by_its_address():
    """The system's resolver and sockets, as in a program."""
    web = Web({"/a.png": IMAGE})

    async def go():
        async with serving(web, Certificates()):
            port = web.ports["http"]
            policy = FetchPolicy(fetch=True, http=True, ports=(port,), private_hosts=("127.0.0.1",))
            agent, script = scripted(say("A kiwi.", model=CONVERSE), model=CONVERSE, fetch=policy)
            await watch(agent.run("Look.", files=[File.from_uri(f"http://127.0.0.1:{port}/a.png")]))
            return script.files

    assert asyncio.run(go()) == [1]
