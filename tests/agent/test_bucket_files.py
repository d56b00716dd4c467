"""Files in Google Cloud Storage: sent by address where the model opens buckets, else fetched with Google's credentials."""

import asyncio
from dataclasses import replace

import pytest
from google.oauth2.credentials import Credentials

from showandtell import File, from_anthropic, from_gemini, from_openai, view_file
from showandtell.agent.configure import fetcher
from showandtell.errors import BadFile
from showandtell.network.fetch import FetchPolicy
from showandtell.providers.google_storage import fetch_object, load_credentials
from support.fake_internet import Certificates, Web, page, serving
from support.fixtures import png
from support.scripted import GEMINI, say, scripted, watch

URI = "gs://acme-files/2026/a kiwi.png"
OBJECT = "/storage/v1/b/acme-files/o/2026%2Fa%20kiwi.png"
FILE = File.from_uri(URI, "image/png")
ON = FetchPolicy(fetch=True)
NEW, OLD = "vertex:gemini-3-flash-preview", "vertex:gemini-2.5-flash"


@pytest.fixture(autouse=True)
def project(monkeypatch):
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "acme-1")


def granted():
    """Google's credentials as the program has them."""
    return Credentials(token="ya29.secret")  # noqa: S106 - of a test


def fetched(model, answer, policy=ON, load=granted, **settings):
    """The run with a file in a bucket, its requests, and those to the storage."""
    web = Web({OBJECT: answer})
    agent, script = scripted(say("A kiwi.", model=GEMINI), model=model, fetch=policy, **settings)

    async def go():
        async with serving(web, Certificates()) as dialer:
            agent.sharing = replace(agent.sharing, fetch=fetcher(policy, dialer, load))
            run = agent.run("Look.", files=[FILE])
            await watch(run)
            return run

    return asyncio.run(go()), script, web


def test_vertex_by_its_credentials_gets_the_address():
    run, script, web = fetched(NEW, page(png()))
    assert (run.receipts[0].delivery, run.receipts[0].converted, web.hits) == ("native", False, [])
    assert {"fileData": {"mimeType": "image/png", "fileUri": URI}} in script.bodies[0]["contents"][-1]["parts"]


@pytest.mark.parametrize(("model", "delivery"), [(NEW, "native"), (OLD, "relocated")])
def test_the_address_of_a_file_that_a_tools_own_code_names_goes_to_vertex(model, delivery):
    def chart():
        """Show the chart."""
        return FILE

    answers = (say("", ("c1", "chart", "{}"), model=GEMINI), say("Seen.", model=GEMINI))
    agent, script = scripted(*answers, model=model, tools=[chart])
    run = agent.run("Chart?")
    asyncio.run(watch(run))
    assert run.receipts[-1].delivery == delivery
    assert URI in str(script.bodies[-1])


@pytest.mark.parametrize(("model", "settings"), [("google:gemini-2.5-flash", {}), (NEW, {"api_key": "AQ.key"})])
def test_others_get_the_bytes_which_are_fetched_with_the_programs_credentials(model, settings):
    run, script, web = fetched(model, page(png(), b"Content-Type: image/png"), **settings)
    assert (run.receipts[0].converted, script.files) == (True, [1])
    assert [head.split()[1] for head in web.hits] == [f"{OBJECT}?alt=media"]
    assert "Authorization: Bearer ya29.secret".lower() in web.hits[0].lower()
    assert "ya29" not in str(script.bodies)


def test_without_the_setting_it_is_named_and_nothing_is_asked():
    run, script, web = fetched("google:gemini-2.5-flash", page(png()), policy=None)
    assert "set FilePolicy(fetch=FetchPolicy(fetch=True)), or download the file" in str(run.error)
    assert (script.bodies, web.hits) == ([], [])


@pytest.mark.parametrize(
    ("answer", "policy", "reason"),
    [
        (page(status=b"403 Forbidden"), ON, "gs://acme-files answers 403: give the program's Google credentials the"),
        (page(png()), replace(ON, hosts=("example.com",)), "storage.googleapis.com is not among the allowed hosts"),
        (page(b"x" * 10_000_001), ON, "sends more than 10000000 bytes"),
    ],
)
def test_an_object_that_could_not_be_fetched_has_a_reason(answer, policy, reason):
    run, *_ = fetched("google:gemini-2.5-flash", answer, policy)
    assert reason in str(run.error)


def test_missing_credentials_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    run, _, web = fetched("google:gemini-2.5-flash", page(png()), load=load_credentials)
    assert "Vertex needs Google's credentials" in str(run.error)
    assert web.hits == []


@pytest.mark.parametrize("uri", ["gs://", "gs://bucket", "gs://bucket/", "gs://../x", "gs://bucket/..", "gs://b@d/x"])
def test_what_names_no_object_is_refused(uri, tmp_path):
    with pytest.raises(BadFile, match="gs://bucket/object"):
        asyncio.run(fetch_object(uri, tmp_path, max_bytes=9, policy=ON, load=Credentials))


RESULTS = {
    "text": URI,
    "OpenAI's block": {"type": "image_url", "image_url": {"url": URI}},
    "Anthropic's block": [{"type": "image", "source": {"type": "url", "url": URI}}],
    "an MCP link": {"content": [{"type": "resource_link", "uri": URI, "name": "kiwi"}]},
    "JSON": {"file": {"file_uri": URI}},
    "Gemini's part as JSON": {"fileData": {"fileUri": URI, "mimeType": "image/png"}},
}


@pytest.mark.parametrize("value", RESULTS.values(), ids=RESULTS)
def test_an_address_in_a_tools_value_stays_text(value):
    def look():
        """Look."""
        return value

    answers = (say("", ("c1", "look", "{}"), model=GEMINI), say("Seen.", model=GEMINI))
    policy = FetchPolicy(fetch=True, from_tools=True)
    agent, script = scripted(*answers, model=NEW, tools=[look], fetch=policy)
    run = agent.run("Look.")
    asyncio.run(watch(run))
    assert (dict(run.conversation.attachments), script.files) == ({}, [0, 0])
    assert URI in str(run.conversation.messages[-2].parts)


HISTORIES = {
    "openai": lambda: from_openai([{"role": "user", "content": [RESULTS["OpenAI's block"]]}]),
    "anthropic": lambda: from_anthropic([{"role": "user", "content": RESULTS["Anthropic's block"]}]),
    "gemini": lambda: from_gemini([{"role": "user", "parts": [RESULTS["Gemini's part as JSON"]]}]),
}


@pytest.mark.parametrize("read", HISTORIES.values(), ids=HISTORIES)
def test_an_address_in_a_history_becomes_text(read):
    (part,) = read()[0].parts
    assert part.text == f"file (not fetched): {URI}"


def test_an_address_as_an_argument_of_view_file_is_refused():
    call = ("c1", "view_file", '{"number": "gs://a/b.png"}')
    agent, _ = scripted(say("", call, model=GEMINI), say("No.", model=GEMINI), model=NEW, tools=[view_file])
    run = agent.run("Look.")
    asyncio.run(watch(run))
    assert run.conversation.messages[-2].is_error
