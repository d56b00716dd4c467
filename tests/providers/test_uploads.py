"""Files that stay at a provider: sent once, shown by their id, forgotten when they die, deleted with the conversation."""

import asyncio
import hashlib
import io
import json
import random
from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pytest
from msgspec import structs
from PIL import Image

from fake_provider import FakeProvider
from fake_provider.auth import check_key
from showandtell import File
from showandtell.agent.decide import LoopLimits
from showandtell.agent.loader import Sharing
from showandtell.agent.loop import Loop
from showandtell.agent.memory import Memory
from showandtell.agent.provider_uploads import drop_uploads, read_upload_scope
from showandtell.agent.tools import by_name
from showandtell.core.capabilities.resolve import families, resolve
from showandtell.core.events.types import Finish, Retry
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Link
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Text
from showandtell.core.planning.placement import UPLOAD
from showandtell.core.planning.values import Policy
from showandtell.core.wire.http import HttpResponse
from showandtell.core.wire.options import build_options
from showandtell.errors import BadAnswer, BadInput, UnsupportedFile
from showandtell.inspector.hosts import find_host
from showandtell.providers.retry import RetryPolicy
from showandtell.providers.uploads import RETENTION_SECONDS, FilesAccess, _expiry, _on_same_host, delete, upload
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from support.agents import make_agent
from support.fake_files_api import DAYS_2, PREFIX, Host, Store, draw_until, reply_hashes, serve_files
from support.fake_files_api import resolve as look_up
from support.fixtures import docx, mp4, pdf, png

CLAUDE, GPT, CHAT = "anthropic:claude-sonnet-4-5", "openai:gpt-5-mini", "openai-chat:gpt-5-mini"
GEMINI, GROK = "google:gemini-3-flash-preview", "xai:grok-4-1-fast-non-reasoning"
EACH = pytest.mark.parametrize("model", [CLAUDE, GPT, CHAT, GEMINI, GROK])
#: With this number of requests, even small files are worth an upload.
ALWAYS = Policy(uploads=True, expected_steps=100_000, cache=True)


async def no_time(_):
    """Waiting that takes none."""


PATIENT = RetryPolicy(sleep=no_time, jitter=lambda: 1.0)


def noise(number: int, side: int = 60) -> bytes:
    """A picture of `side * side * 3` bytes that nothing makes smaller."""
    buffer, data = io.BytesIO(), random.Random(number).randbytes(side * side * 3)  # noqa: S311 - a picture, no secret
    Image.frombytes("RGB", (side, side), data).save(buffer, "PNG")
    return buffer.getvalue()


def stored(data: bytes) -> tuple[Folder, Facts]:
    """A picture in a folder of blobs."""
    folder = Folder()
    sha256, size = folder.store(lambda: io.BytesIO(data), "x", 10**7)
    return folder, Facts(sha256, "image/png", size)


def draw(number: int) -> File:
    """Draw."""
    return File.from_bytes(noise(number), name=f"drawn{number}.png")


def hashes(*files: bytes) -> str:
    return " ".join(hashlib.sha256(data).hexdigest()[:8] for data in files)


def play(host, model, *files, conversation=None, policy=ALWAYS, text="look", sharing=None, memory=None, target=None):
    """One run over a host: the loop, its events, its conversation."""
    tools, conversation, events = by_name([draw]), conversation or MemoryConversation(), []
    loop = Loop(
        conversation=conversation,
        target=target or resolve(model),
        connect=lambda: host.exchange(model.partition(":")[0]),
        tools=tools,
        options=build_options(tools=[tool.spec for tool in tools.values()], stream=True),
        limits=LoopLimits(50),
        policy=policy,
        memory=memory or Memory(),
        emit=events.append,
        retry=PATIENT,
        sharing=sharing or Sharing(clock=host.store.clock),
    )
    asyncio.run(loop.run([Draft("user", (Text(text), *(File.from_bytes(data) for data in files)))]))
    return loop, events, conversation


def let_in(store):
    """A handler of the Files APIs that asks for the provider's key."""

    def handler(method, incoming):
        if "/files" in incoming.path:
            check_key(find_host(incoming.path)[0], incoming, datetime.now(UTC))
        return serve_files(incoming, store, method)

    return handler


def fetch_from(store):
    """What gives a request the bytes of stored files."""
    return lambda asked, vendor: look_up(asked, store, vendor) if vendor in PREFIX else asked


def one_call(loop):
    return next(message.text for message in reversed(loop.messages) if message.role == "assistant")


def ids_in(body: bytes) -> int:
    return body.count(b'"file_id"') + body.count(b'"fileUri"')


@EACH
def test_a_file_is_sent_once_and_then_only_its_id_and_the_model_sees_it(model):
    host, data = Host(), pdf("page one")
    loop, events, conversation = play(host, model, data)
    assert (one_call(loop), events[-1].status) == (hashes(data), "complete")
    again, _, _ = play(host, model, conversation=conversation, text="and now?")
    assert (one_call(again), len(host.uploads) - (model == GEMINI), len(host.asked)) == (hashes(data), 1, 2)
    assert [ids_in(body) for body in host.bodies[-1:]] == [1]
    (receipt,) = again.receipts.values()
    assert (receipt.delivery, receipt.bytes, receipt.converted) == ("native", 0, False)
    assert receipt.reason.endswith("in a user message, by upload")


@pytest.mark.parametrize("model", [CLAUDE, GPT])
def test_a_tools_files_go_by_id_in_its_results_and_what_is_sent_grows_linearly(model):
    host = Host(draw_until(8))
    loop, _, _ = play(host, model)
    assert one_call(loop) == hashes(*map(noise, range(8)))
    assert (len(host.uploads), len(host.asked)) == (8, 9)
    growth = [later - before for before, later in zip(host.asked, host.asked[1:], strict=False)]
    assert max(growth) < min(growth) + 100 < 1500 < len(noise(1))
    assert [receipt.place for receipt in loop.receipts.values()] == ["tool_result"] * 8


def test_without_the_setting_nothing_is_ever_uploaded():
    host = Host(draw_until(2))
    loop, _, _ = play(host, CLAUDE, noise(5), policy=Policy(expected_steps=100_000))
    assert (one_call(loop), host.uploads) == (hashes(noise(5), noise(0), noise(1)), [])


def test_a_file_that_saves_little_goes_as_bytes():
    host, large = Host(), noise(1, 640)
    loop, _, _ = play(host, CLAUDE, noise(1), large, policy=Policy(uploads=True))
    assert one_call(loop) == hashes(noise(1), large)
    assert [receipt.reason.endswith("by upload") for receipt in loop.receipts.values()] == [False, True]


def test_gemini_sees_no_id_in_a_function_response_so_tools_files_stay_bytes_there():
    host = Host(draw_until(2))
    loop, _, _ = play(host, GEMINI, noise(9))
    assert one_call(loop) == hashes(noise(9), noise(0), noise(1))
    assert [receipt.reason.endswith("by upload") for receipt in loop.receipts.values()] == [True, False, False]


def test_another_provider_gets_the_bytes_again_and_the_first_its_ids():
    host, data = Host(), noise(3)
    _, _, conversation = play(host, CLAUDE, data)
    other, _, _ = play(host, GPT, conversation=conversation, policy=Policy())
    assert (one_call(other), ids_in(host.bodies[-1]), len(host.uploads)) == (hashes(data), 0, 1)
    back, _, _ = play(host, CLAUDE, conversation=conversation)
    assert (one_call(back), ids_in(host.bodies[-1]), len(host.uploads)) == (hashes(data), 1, 1)


def test_both_apis_of_one_provider_share_an_upload():
    host, data = Host(), pdf("shared")
    _, _, conversation = play(host, GPT, data)
    chat, _, _ = play(host, CHAT, conversation=conversation)
    assert (one_call(chat), len(host.uploads)) == (hashes(data), 1)


@EACH
def test_what_has_expired_is_uploaded_anew_before_anything_is_refused(model):
    now = [1_000_000.0]
    host, data = Host(store=Store(lambda: now[0])), pdf("old")
    _, _, conversation = play(host, model, data)
    now[0] += RETENTION_SECONDS - 200
    once = len(host.uploads)
    loop, events, _ = play(host, model, conversation=conversation)
    assert (one_call(loop), len(host.uploads)) == (hashes(data), 2 * once)
    assert not [event for event in events if isinstance(event, Retry)]


def test_a_clock_of_ours_that_is_wrong_uploads_nothing_twice():
    host, ours, data = Host(), Sharing(clock=lambda: 9e9), noise(3)
    _, _, conversation = play(host, CLAUDE, data, sharing=ours)
    loop, _, _ = play(host, CLAUDE, conversation=conversation, sharing=ours)
    assert (one_call(loop), len(host.uploads)) == (hashes(data), 1)


@EACH
def test_an_id_that_is_gone_is_forgotten_and_uploaded_anew_once_and_reported(model):
    host, data = Host(), pdf("gone")
    _, _, conversation = play(host, model, data)
    host.store.files.clear()
    loop, events, _ = play(host, model, conversation=conversation)
    assert (one_call(loop), events[-1].status, len(host.asked)) == (hashes(data), "complete", 3)
    (received,) = [event for event in events if isinstance(event, Retry)]
    assert received.reason.endswith("(uploading the missing files again)")
    assert received.files == ()


def test_a_provider_that_loses_every_upload_gets_the_bytes():
    host, data = Host(), noise(2)
    host.store.clock = iter(range(0, 10**9, 10_000_000)).__next__  # each look at the clock is months later
    loop, events, _ = play(host, CLAUDE, data, sharing=Sharing(clock=lambda: 0.0))
    assert (one_call(loop), len(host.uploads), ids_in(host.bodies[-1])) == (hashes(data), 2, 0)
    assert [type(event) for event in events if isinstance(event, Retry)] == [Retry, Retry]
    assert events[-1] == Finish("complete", None, loop.usage)


@pytest.mark.parametrize("model", [CLAUDE, GPT, GEMINI, GROK])
def test_a_file_whose_upload_fails_goes_as_bytes_and_the_receipt_says_why(model):
    host, data = Host(broken=500), noise(4)
    loop, events, conversation = play(host, model, data)
    assert (one_call(loop), events[-1].status, ids_in(host.bodies[-1])) == (hashes(data), "complete", 0)
    (receipt,) = loop.receipts.values()
    assert "not by upload: the upload to" in receipt.reason
    assert "no uploads today" in receipt.reason
    host.broken = 0
    play(host, model, conversation=conversation)
    assert (ids_in(host.bodies[-1]), len(host.uploads)) == (0, PATIENT.tries + 1)


def test_a_pdf_for_xai_goes_as_an_upload_where_uploads_are_allowed():
    host, data = Host(), pdf("read by its search")
    loop, events, _ = play(host, GROK, data, policy=Policy(uploads=True))
    (receipt,) = loop.receipts.values()
    assert (events[-1].status, receipt.delivery, receipt.converted) == ("complete", "native", False)
    assert (len(host.uploads), ids_in(host.bodies[-1]), one_call(loop)) == (1, 1, hashes(data))


def test_a_file_that_can_only_go_by_upload_is_converted_where_that_fails_and_keeps_that_form():
    host, data = Host(broken=400), pdf("for search only")
    loop, events, conversation = play(host, GROK, data)
    (receipt,) = loop.receipts.values()
    assert (events[-1].status, receipt.converted, ids_in(host.bodies[-1])) == ("complete", True, 0)
    assert "not by upload: the upload to" in receipt.reason
    assert one_call(loop) == hashes(*map(conversation.blobs.read, receipt.variant.files))
    host.broken = 0
    again, _, _ = play(host, GROK, conversation=conversation)
    assert (one_call(again), again.receipts[1].converted) == (one_call(loop), True)


def test_a_file_that_can_only_go_by_upload_and_not_be_converted_is_tried_again_in_the_next_run():
    host, data = Host(broken=400), docx()
    by_id_alone = [cell for cell in resolve(GPT).cells if not (cell.kind == "document" and cell.form == "inline")]
    target = structs.replace(resolve(GPT), cells=tuple(by_id_alone))
    loop, events, conversation = play(host, GPT, data, target=target)
    assert (events[-1].status, type(loop.error)) == ("refused", UnsupportedFile)
    host.broken = 0
    again, _, _ = play(host, GPT, conversation=conversation, target=target)
    assert one_call(again) == hashes(data)


def test_the_uploads_of_one_file_are_deleted_alone():
    host = Host(draw_until(3))
    _, _, conversation = play(host, CLAUDE)
    before, own = len(host.store.files), (resolve(CLAUDE), lambda: host.exchange("anthropic"))
    assert asyncio.run(drop_uploads(conversation, *own, PATIENT, numbers=[2])) == ()
    assert len(host.store.files) == before - 1


def test_every_upload_is_deleted_where_it_lies_and_what_cannot_be_reached_is_reported(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    host = Host(draw_until(3))
    _, _, conversation = play(host, CLAUDE)
    play(host, GPT, noise(7), conversation=conversation)
    own = resolve(CLAUDE), lambda: host.exchange("anthropic")
    kept = asyncio.run(drop_uploads(conversation, *own, PATIENT))
    assert {file.startswith("file-") for file in host.store.files} == {True}
    assert ["OPENAI_API_KEY" in item for item in kept] == [True] * 4
    others = resolve(GPT), lambda: host.exchange("openai")
    assert asyncio.run(drop_uploads(conversation, *others, PATIENT)) == ()
    assert (host.store.files, [*conversation.known()]) == ({}, [])


@pytest.mark.parametrize("account", ["", "theirs", "project/europe west"])
def test_an_upload_scope_names_its_host_provider_and_account(account):
    for family in families():
        target = structs.replace(resolve(f"{family.provider}:{family.example}"), account=account)
        there = read_upload_scope(target.upload_scope)
        assert there.provider.removesuffix("-chat") == target.provider.removesuffix("-chat")
        assert (there.upload_scope, there.vendor, there.account) == (target.upload_scope, target.vendor, account)


@pytest.mark.parametrize("api", ["anthropic-messages", "openai-chat", "openai-responses", "gemini"])
def test_a_file_of_another_account_is_not_deleted_with_what_the_environment_says(api):
    host, conversation, target = Host(), MemoryConversation(), resolve(f"inspector:{api}")
    theirs, ours = (
        DerivationRequest("0" * 64, UPLOAD, structs.replace(target, account=item).upload_scope)
        for item in ("theirs", "")
    )
    asyncio.run(conversation.learn({theirs: Derivative(file_id="id-1"), ours: Derivative(file_id="id-2")}))
    own = resolve(CLAUDE), lambda: host.exchange("anthropic")
    reason = f"id-1 is still there: it is of {target.vendor}'s account 'theirs', the environment's is ''"
    assert asyncio.run(drop_uploads(conversation, *own, PATIENT)) == (reason,)
    assert (host.requests, [*conversation.known()]) == ([], [theirs])


@pytest.mark.parametrize("model", [CLAUDE, GPT, GEMINI, GROK])
def test_a_file_is_uploaded_seen_and_deleted_over_a_socket(model, monkeypatch):
    store, data = Store(looks=1), noise(1, 200)

    async def run():
        async with FakeProvider(
            handlers=[let_in(store)], fetch=fetch_from(store), answerer=reply_hashes
        ) as fake_provider:
            for name, value in fake_provider.environ().items():
                monkeypatch.setenv(name, value)
            agent = make_agent(model, uploads=True, expected_steps=50, retry=PATIENT)
            conversation = agent.conversation()
            asked = await agent.run("look", files=[File.from_bytes(data)], conversation=conversation)
            kept = [file.data for file in store.files.values()]
            return asked, kept, await agent.delete_uploads(conversation)

    asked, kept, left = asyncio.run(run())
    assert (asked.status, asked.text) == ("complete", hashes(data))
    assert asked.receipts[0].reason.endswith("by upload")
    assert (kept, left, store.files) == ([data], (), {})


@EACH
def test_deleting_what_is_gone_is_no_error_and_what_stays_is_reported(model):
    host = Host()
    there = FilesAccess(host.exchange(model.partition(":")[0]), PATIENT)
    assert asyncio.run(delete(there, resolve(model), "file_0111")) is None
    host.answer = busy
    assert "keeps file_0111: 503 busy" in asyncio.run(delete(there, resolve(model), "file_0111")).reason


def test_a_video_is_shown_when_gemini_has_read_it():
    host = Host(store=Store(looks=3))
    loop, _, _ = play(host, GEMINI, mp4())
    assert one_call(loop) == hashes(mp4())
    assert [method for method, _, _ in host.requests] == ["POST", "POST", "GET", "GET", "GET", "POST"]


def test_the_form_is_streamed_with_its_exact_length_and_tells_nothing_of_the_files_name():
    host, (folder, kept) = Host(), stored(noise(1, 600))
    found = asyncio.run(upload(FilesAccess(host.exchange("openai"), PATIENT, lambda: 50.0), resolve(GPT), kept, folder))
    ((file_id, file),) = host.store.files.items()
    assert found == Derivative(file_id=file_id, expires=50.0 + RETENTION_SECONDS)
    assert (file.data, file.media_type, file.name) == (noise(1, 600), "image/png", kept.sha256[:16] + ".png")


def test_claude_is_reported_of_the_beta_where_a_request_names_ids_and_nowhere_else():
    host, beta = Host(), "anthropic-beta"
    play(host, CLAUDE, noise(1))
    assert [headers[beta] for headers in host.headers] == ["files-api-2025-04-14"] * 2
    play(host, CLAUDE, noise(1), policy=Policy())
    assert beta not in host.headers[-1]
    exchange = replace(host.exchange("anthropic"), headers={beta: "context-1m"})
    stranger = Host()
    stranger.exchange = lambda _: replace(exchange, send=stranger.send)
    play(stranger, CLAUDE, noise(1))
    assert [headers[beta] for headers in stranger.headers] == ["context-1m,files-api-2025-04-14"] * 2


def test_a_link_of_the_program_is_kept_while_it_lives():
    now, made = [0.0], []

    def link(of: Facts) -> Link:
        made.append(of.sha256)
        return Link(f"https://store.example/{of.sha256}?signed={len(made)}", now[0] + 3600)

    host, sharing = Host(), Sharing(link, lambda: now[0])
    policy = Policy(signed_urls=True, expected_steps=100_000)
    _, _, conversation = play(host, CLAUDE, noise(1), policy=policy, sharing=sharing)
    for seconds, count in ((0.0, 1), (3000.0, 1), (3400.0, 2)):
        now[0] = seconds
        loop, _, _ = play(host, CLAUDE, conversation=conversation, policy=policy, sharing=sharing)
        assert len(made) == count
        assert f"signed={count}" in host.bodies[-1].decode()
    assert [receipt.reason.endswith("by link") for receipt in loop.receipts.values()] == [True]


@pytest.mark.parametrize("bad", [lambda _: "http://store.example/canary", lambda _: {}["canary"]])
def test_a_link_that_is_none_leaves_the_bytes_and_says_nothing_of_the_programs_own_words(bad):
    host, policy = Host(), Policy(signed_urls=True, expected_steps=100_000)
    loop, _, _ = play(host, CLAUDE, noise(1), policy=policy, sharing=Sharing(bad))
    assert one_call(loop) == hashes(noise(1))
    (receipt,) = loop.receipts.values()
    assert "not by link" in receipt.reason
    assert "canary" not in receipt.reason
    assert b"canary" not in b"".join(host.bodies)


@pytest.mark.parametrize(
    ("at", "where", "number"), [(1, "0.content.1.image", 1), (3, "4.content.0.tool_result.content.1.image", 3)]
)
def test_an_answer_that_refuses_a_file_for_itself_notes_it_and_uploads_nothing_anew(at, where, number):
    host, words = Host(draw_until(3)), f"messages.{where}.source.file.file_id: the image is broken"
    real = host.answer

    async def picky(incoming, method):
        if incoming.path.endswith("/messages") and len(host.asked) == at:
            return HttpResponse(400, {}, one(json.dumps({"error": {"message": words}}).encode()))
        return await real(incoming, method)

    host.answer = picky
    loop, events, conversation = play(host, CLAUDE, noise(9))
    kept = [noise(9), noise(0), noise(1), noise(2)]
    del kept[number - 1]
    assert (one_call(loop), len(host.uploads), len(host.asked)) == (hashes(*kept), 4, 5)
    assert [event.files for event in events if isinstance(event, Retry)] == [(number,)]
    host.store.files.clear()
    again, _, _ = play(host, CLAUDE, conversation=conversation, text="look again")
    assert one_call(again) == hashes(*kept)


async def one(data):
    yield data


async def busy(_incoming, _method):
    return HttpResponse(503, {}, one(b'{"error": {"message": "busy"}}'))


def test_gemini_keeps_what_is_uploaded_for_two_days():
    host, (folder, kept) = Host(), stored(png())
    found = asyncio.run(
        upload(FilesAccess(host.exchange("google"), PATIENT, lambda: 7.0), resolve(GEMINI), kept, folder)
    )
    assert found == Derivative(file_id=next(iter(host.store.files)), expires=7.0 + DAYS_2)
    assert json.loads(host.bodies[0])["file"]["mimeType"] == "image/png"


def test_times_and_addresses_that_are_none_are_bad_answers():
    for moment in (msgspec.json.decode(b'"0001-01-01T00:00:00"', type=datetime), 10**400):
        with pytest.raises(BadAnswer):
            _expiry(moment, moment, lambda: 0.0)
    with pytest.raises(BadAnswer):
        _on_same_host("http://[", "https://host")


def test_what_keeps_a_provider_from_being_asked_is_reported_as_it_is():
    host = Host(draw_until(3))

    async def refuse(_):
        raise BadInput("HTTP_PROXY names no proxy")

    exchange = replace(host.exchange("anthropic"), authorize=refuse)
    agent = make_agent(CLAUDE, uploads=True, expected_steps=10_000, exchange=exchange)
    with pytest.raises(BadInput, match="names no proxy"):
        agent.run_sync("look", files=[File.from_bytes(noise(1))])
