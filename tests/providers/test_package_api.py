"""An API of another package, docs/extending.md's: what its host refuses, cut answers, and mistakes of its code."""

import json
import re
from contextlib import asynccontextmanager
from importlib import import_module

import pytest
from msgspec.structs import replace

from fake_provider.server import FakeProvider
from showandtell import Agent, Connection, File, FilePolicy, ToolError
from showandtell.core.capabilities import apis, registry
from showandtell.core.wire.parsers import parser_of
from showandtell.core.wire.renderers import renderer_of
from showandtell.errors import BadAnswer, BadInput, CannotRender
from showandtell.extending import Api, Provider, register_api, register_provider
from showandtell.testing import FakeConnection, HttpResponse
from support.extensions import forget_registered, import_from
from support.fixtures import png

DONE = b'{"words": "Done."}\n{"end": "done", "read": 3, "wrote": 2}\n'


@pytest.fixture(autouse=True)
def talk(tmp_path, monkeypatch):
    forget_registered(monkeypatch, apis.REGISTRY, registry.REGISTRY)
    import_from(tmp_path, monkeypatch)
    parser_of.cache_clear()
    renderer_of.cache_clear()
    package = import_module("acme_talk")
    register_api(package.API)
    register_provider(package.TALK)


class Host:
    """A host that answers with what `answer` makes of each body: a status and bytes."""

    def __init__(self, answer):
        self.answer, self.bodies = answer, []

    @asynccontextmanager
    async def send(self, request):
        self.bodies.append(json.loads(b"".join([chunk async for chunk in request.body()])))
        status, data = self.answer(self.bodies[-1])
        kind = "application/x-ndjson" if status == 200 else "application/json"
        yield HttpResponse(status, {"content-type": kind}, self.chunks(data))

    async def chunks(self, data):
        for at in range(0, len(data), 7):
            yield data[at : at + 7]


def ask(answer, *files):
    """Ask the provider's model about files. Returns the run and the bodies that its host got."""
    host = Host(answer)
    policy = FilePolicy(on_unsupported="note")
    agent = Agent("acme-talk:acme-eye-2", connection=FakeConnection(send=host.send), file_policy=policy)
    return agent.run_sync("what is it?", files=files), host.bodies


def picture(name):
    return File.from_bytes(png(9, 9), name=name)


def refuse(text):
    return 400, json.dumps({"error": {"message": text}}).encode()


def test_an_answer_in_lines_is_read_with_its_usage():
    run, (body,) = ask(lambda _: (200, DONE), picture("a.png"))
    assert (run.status, run.text) == ("complete", "Done.")
    assert (run.usage.input_tokens, run.usage.output_tokens) == (3, 2)
    assert [sorted(part) for part in body["talk"][0]["says"]] == [["words"], ["words"], ["file"]]


def test_the_hosts_own_words_tell_that_its_model_sees_no_pictures():
    def answer(body):
        return refuse("this model is text-only by nature") if '"file"' in json.dumps(body) else (200, DONE)

    run, bodies = ask(answer, picture("a.png"))
    assert run.status == "complete"
    assert len(bodies) == 2
    assert "text-only by nature" in run.receipts[0].reason


def test_an_error_that_names_a_place_leaves_out_the_file_there():
    def answer(body):
        at = [index for index, part in enumerate(body["talk"][0]["says"]) if "file" in part]
        return refuse(f"talk[0].says[{at[1]}].file: cannot decode this image") if len(at) > 1 else (200, DONE)

    run, _ = ask(answer, picture("a.png"), File.from_bytes(png(5, 5), name="b.png"))
    assert [receipt.place for receipt in run.receipts] == ["user", None]


@pytest.mark.anyio
async def test_requests_over_http_pass_the_rules_of_the_package_with_files_from_tool_and_user():
    def radar() -> File:
        """Show the rain."""
        return picture("rain.png")

    async with FakeProvider() as provider:
        reach = Connection(base_url=f"{provider.url}/acme-talk", api_key="a key")
        run = await Agent("acme-talk:acme-eye-2", [radar], connection=reach).run("/radar", files=[picture("a.png")])
    assert run.status == "complete"
    assert [(receipt.name, receipt.place) for receipt in run.receipts] == [
        ("a.png", "user"),
        ("rain.png", "tool_result"),
    ]
    assert [len(entry.seen) for entry in provider.ledger] == [1, 2]


def test_a_stream_without_an_end_is_incomplete():
    run, _ = ask(lambda _: (200, DONE.splitlines()[0] + b"\n"))
    assert (run.status, run.text) == ("incomplete", "Done.")


@pytest.mark.parametrize("line", [b'{"words": 5}\n', b"{}}\n", b'{"end": "done", "read": "many"}\n'])
def test_an_answer_that_is_not_the_apis_is_an_error(line):
    run, _ = ask(lambda _: (200, line))
    assert run.status == "error"
    assert isinstance(run.error, BadAnswer)


def test_a_mistake_in_the_packages_parser_is_an_error_of_the_run(monkeypatch):
    def add(_self, chunk, _events):
        raise KeyError(chunk.words)

    monkeypatch.setattr(import_module("acme_talk.parse").Reader, "add", add)
    run, _ = ask(lambda _: (200, DONE))
    assert "the parser of acme-talk failed: KeyError" in str(run.error)
    with pytest.raises(BadAnswer, match="KeyError"):
        parser_of("acme-talk").parse_full(b"{}")


def test_a_mistake_in_the_packages_renderer_is_an_error_that_names_the_line(monkeypatch):
    monkeypatch.delattr(import_module("acme_talk.render"), "write_part")
    run, _ = ask(lambda _: (200, DONE))
    assert isinstance(run.error, CannotRender)
    assert re.search(r"render of the API acme-talk failed: NameError: .+ \(render\.py, line \d+\)", str(run.error))


def test_a_mistake_in_the_packages_rules_is_an_error_that_names_the_line(monkeypatch):
    monkeypatch.delattr(import_module("acme_talk.rules"), "check_order")
    run = Agent("inspector:acme-talk").run_sync("hi")
    assert re.search(r"rules of the API acme-talk failed: NameError: .+ \(rules\.py, line \d+\)", str(run.error))


@pytest.mark.parametrize(
    ("function", "value", "words"),
    [
        ("head", None, "head returned a NoneType, not a dict"),
        ("head", {"when": object()}, "object can't be part of a tree"),
        ("render_entry", {}, "render_entry returned a dict, not a list"),
        ("render_entry", [{"who": object()}], "object can't be part of a tree"),
        ("url", 5, "url returned an int, not a str"),
    ],
)
def test_what_the_packages_renderer_may_not_return_is_an_error_of_the_run(function, value, words, monkeypatch):
    render = import_module("acme_talk.render")
    original = getattr(render, function)
    monkeypatch.setattr(render, function, lambda *args, **kwargs: original(*args, **kwargs) and value)
    with pytest.raises(CannotRender, match=f"render of the API acme-talk failed: TypeError: {words}"):
        # What `head` returns is seen when the agent is made.
        raise ask(lambda _: (200, DONE))[0].error or AssertionError("it is complete")


@pytest.mark.parametrize(
    ("events", "words"), [(["an event"], "'an event' is no event"), ([None], "None is no event"), (None, "TypeError")]
)
def test_what_the_packages_parser_may_not_return_is_an_error_of_the_run(events, words, monkeypatch):
    reader = import_module("acme_talk.parse").Reader
    monkeypatch.setattr(reader, "read", lambda _self, _text, found: found.extend(events))
    run, _ = ask(lambda _: (200, DONE))
    assert isinstance(run.error, BadAnswer)
    assert words in str(run.error)


def test_mistakes_in_splitting_an_answer_are_errors_of_the_run(monkeypatch):
    parse = import_module("acme_talk.parse")
    monkeypatch.setattr(parse.Lines, "feed", lambda _self, _data: 1 // 0)
    run, _ = ask(lambda _: (200, DONE))
    assert "the parser of acme-talk failed: ZeroDivisionError" in str(run.error)
    monkeypatch.setattr(parse, "SPLITTERS", 3)
    parser_of.cache_clear()
    run, _ = ask(lambda _: (200, DONE))
    assert "the module parse of the API acme-talk failed: AttributeError" in str(run.error)


def test_the_model_learns_that_a_call_failed():
    def radar() -> str:
        """Show the rain."""
        raise ToolError("no such town")

    answers = iter(
        [b'{"asks": [{"id": "c1", "tool": "radar", "with": {}}], "end": "asks", "read": 1, "wrote": 1}\n', DONE]
    )
    host = Host(lambda _: (200, next(answers)))
    agent = Agent("acme-talk:acme-eye-2", [radar], connection=FakeConnection(send=host.send))
    assert agent.run_sync("rain?").status == "complete"
    assert "this call failed" in json.dumps(host.bodies[1], ensure_ascii=False)


def test_an_api_whose_package_is_missing_leaves_the_rest_as_it_is():
    register_api(Api(name="acme-lost", package="acme_lost"))
    lost = replace(import_module("acme_talk").TALK.families[0], provider="acme-lost", api="acme-lost")
    register_provider(Provider(name="acme-lost", base_url="https://acme.example", api="acme-lost", families=(lost,)))
    assert {"anthropic", "acme-talk", "acme-lost"} <= {family.provider for family in registry.families()}
    with pytest.raises(CannotRender, match="No module named 'acme_lost'"):
        Agent("acme-lost:acme-1")
    with pytest.raises(CannotRender, match="No module named 'acme_lost'"):
        parser_of("acme-lost").new_reader()


def test_an_answer_at_once_gives_the_same_events():
    whole = b'{"words": "Done.", "asks": [{"id": "c1", "tool": "look", "with": {"at": 1}}], "end": "asks"}'
    events = parser_of("acme-talk").parse_full(whole)
    assert [type(event).__name__ for event in events][-4:] == [
        "ToolInputStart",
        "ToolInputDelta",
        "ToolInputEnd",
        "StepEnd",
    ]
    assert events[-1].stop == "tool_calls"


def test_the_rules_refuse_what_the_host_refuses():
    rules = import_module("acme_talk.rules")
    body = {"model": "m", "talk": [{"who": "person", "says": [{"words": "hi"}]}]}
    wrong = [
        ({"surprise": 1}, "body: unknown surprise"),
        ({"talk": []}, "the last word"),
        ({"talk": [{"who": "tool", "answers": "c1", "says": []}]}, "nobody asked c1"),
        ({"talk": [{"who": "person", "says": [{"file": {"type": "image/png", "base64": "AAAA"}}]}]}, "no image/png"),
    ]
    for change, words in wrong:
        request = rules.IncomingRequest("/talk", "", {}, json.dumps(body | change).encode())
        with pytest.raises(rules.ApiError, match=re.escape(words)):
            rules.read(request)


def test_an_api_that_nobody_registered_is_named():
    with pytest.raises(BadInput, match=r"the API 'nowhere' is not known\. Register it, or install the package"):
        parser_of("nowhere")
    with pytest.raises(BadInput, match=r"the API 'openai-chats' is not known\. Did you mean 'openai-chat'\?"):
        parser_of("openai-chats")
    for taken in ("openai-chat", "acme-talk", "groq"):
        with pytest.raises(BadInput, match="there is another API"):
            register_api(Api(name=taken, package="acme_other"))
    with pytest.raises(BadInput, match="api is 'acme_talk': give an Api"):
        register_api("acme_talk")
