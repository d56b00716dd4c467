"""The vision check against the strict readers: what a model is blind for is found, and nothing else is.

The minds here know a probe by the hash of the bytes that reached them, so they say a code only of a file that came.
"""

import asyncio
import hashlib
import io
import json
import re
from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random
from urllib.parse import urlsplit

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some
from typer.testing import CliRunner

from fake_provider import RECORDED_BLINDNESS, blind
from showandtell.agent.render import explain
from showandtell.agent.settings import FilePolicy
from showandtell.cli import commands as cli
from showandtell.cli import verify as command
from showandtell.cli import verify_report
from showandtell.config.user_settings import user_overrides
from showandtell.core.capabilities.cells import Capability
from showandtell.core.capabilities.overrides import read_overrides
from showandtell.core.capabilities.resolve import resolve
from showandtell.errors import BadInput, ProviderError, ProviderUnavailable, UsageError
from showandtell.inspector.request import ApiError, IncomingRequest, Reply, files_of
from showandtell.inspector.send import serve
from showandtell.providers.connect import connect
from showandtell.providers.retry import RetryPolicy
from showandtell.verify.ask import ModelReply, ModelUnderTest, Trial, make_conversation
from showandtell.verify.hosts import find_other_host
from showandtell.verify.judge import capabilities_from, contains_code, judge
from showandtell.verify.probes import ALPHABET, KINDS, WORDS, Probe, make_probe
from showandtell.verify.record import BufferedRequest, Head, read_recording, record, redact_exchange, replay
from showandtell.verify.run import verify
from support.builders import without_body
from support.drawn_probes import share_probes
from support.faulty_provider import serving
from support.fixtures import wav

CLAUDE, CHAT, RESPONSES = "inspector:anthropic-messages", "inspector:openai-chat", "inspector:openai-responses"
GEMINI, BEDROCK = "inspector:gemini", "inspector:bedrock-converse"
MODELS = (CLAUDE, CHAT, RESPONSES, GEMINI, BEDROCK)
MADE = {}
TODAY = "2026-11-22"
PICTURES = ("image", "document")
each_api = pytest.mark.parametrize("model", MODELS)


@pytest.fixture(autouse=True)
def _probes_are_drawn_once(monkeypatch):
    share_probes(monkeypatch, is_read=False)


def make(sort, random):
    """A real probe, remembered by its hash; a sound is a tone here, for nothing speaks."""
    if sort == "audio":
        words = " ".join(random.sample(WORDS, 4))
        probe = Probe(wav(0.05, pitch=300 + random.random()), "audio/wav", "words.wav", (("sound", words),))
    else:
        probe = make_probe(sort, random)
    MADE[hashlib.sha256(probe.data).hexdigest()] = probe
    return probe


def say(asked, is_blind):
    """What came and isn't beyond this mind's eyes: the codes of the tool's files, and of the user's."""
    received = {"tool": [], "mine": []}
    for seen in (seen for turn in asked.turns for seen in files_of(turn)):
        probe = MADE.get(hashlib.sha256(seen.data or b"").hexdigest())
        if probe and not is_blind(seen):
            received["mine" if "uploaded by the user, 2" in seen.label else "tool"] += [code for _, code in probe.codes]
    return "\n".join(f"{who}: {', '.join(codes) or 'none'}" for who, codes in received.items())


def seeded(seed):
    return Random(seed)  # noqa: S311 - nothing is to be kept secret here


def honest(_):
    return False


def answering(is_blind=honest, speak=say):
    """A way to send to the strict readers, whose mind has these eyes."""

    @asynccontextmanager
    async def send(request):
        parts = urlsplit(request.url)
        body = b"".join([piece async for piece in request.body()])
        yield await serve(
            IncomingRequest(parts.path, parts.query, dict(request.headers), body),
            lambda asked: Reply(speak(asked, is_blind), input_tokens=100),
        )

    return send


def line_to(model, send=None, **more):
    target = resolve(model)
    exchange = replace(connect(target), send=send or answering(), **more)
    return ModelUnderTest(target, exchange, RetryPolicy(tries=0), clock=lambda: 0.0)


def run(line, sorts=KINDS, seed="a seed"):
    async def gather():
        return [item async for item in verify(line, sorts, make=make, seed=seed)]

    return asyncio.run(gather())


def verdicts(model, send=None, sorts=PICTURES):
    line = line_to(model, send)
    return {
        f"{cell.place} {cell.kind}": cell.verdict for cell in capabilities_from(line.target, run(line, sorts), TODAY)
    }


SEEN = {"user image": "sees", "tool_result image": "sees", "user document": "sees", "tool_result document": "sees"}
REFUSED = {"tool_result image": "rejects", "tool_result document": "rejects"}
#: The reader of Converse is blind by itself, as Claude was recorded there: a PDF in a result, without citations.
NO_PAGES = {**SEEN, "tool_result document": "blind"}


@pytest.mark.parametrize(
    ("model", "expected"),
    [(CLAUDE, SEEN), (CHAT, {**SEEN, **REFUSED}), (RESPONSES, SEEN), (GEMINI, SEEN), (BEDROCK, NO_PAGES)],
)
def test_honest_eyes_see_everything_that_the_api_takes(model, expected):
    assert verdicts(model) == expected


@pytest.mark.parametrize("model", [CLAUDE, RESPONSES, GEMINI, BEDROCK])
def test_blindness_for_pdfs_in_tool_results_is_found_and_nothing_else(model):
    send = answering(lambda seen: seen.place == "tool_result" and seen.media_type == "application/pdf")
    assert verdicts(model, send) == {**SEEN, "tool_result document": "blind"}


@each_api
def test_blindness_for_images_everywhere_is_found_and_nothing_else(model):
    found = verdicts(model, answering(lambda seen: seen.media_type.startswith("image/")))
    by_honest_eyes = {CHAT: {**SEEN, **REFUSED}, BEDROCK: NO_PAGES}.get(model, SEEN)
    changed = {key: verdict for key, verdict in found.items() if verdict != by_honest_eyes[key]}
    assert changed == {key: "blind" for key in SEEN if "image" in key and by_honest_eyes[key] == "sees"}


def test_blindness_for_relocated_files_alone_makes_the_users_place_blind():
    send = answering(lambda seen: seen.place == "user" and "from tool" in seen.label)
    assert verdicts(CLAUDE, send, ["image"]) == {"user image": "blind", "tool_result image": "sees"}


@each_api
def test_what_a_reader_refuses_is_rejected_in_its_own_words(model):
    def refuse(asked, _):
        if any(files_of(turn) for turn in asked.turns):
            raise ApiError("This image is not to my taste.")
        return "none"

    found = run(line_to(model, answering(speak=refuse)), ["image"])
    assert {item.outcome for item in found} == {"rejected"}
    assert found[0].evidence == "This image is not to my taste."


@pytest.mark.smoke
def test_an_unclear_refusal_is_about_the_file_if_the_same_words_without_it_are_answered():
    def refuse(asked, _, *, always):
        if always or [seen for turn in asked.turns for seen in files_of(turn)]:
            raise ApiError("Something is wrong here.")
        return "none"

    for always, outcome in ((False, "rejected"), (True, "failed")):
        send = answering(speak=lambda asked, eyes, always=always: refuse(asked, eyes, always=always))
        assert {item.outcome for item in run(line_to(CLAUDE, send), ["image"])} == {outcome}


def test_sound_and_film_are_tried_where_the_table_has_never_seen_them_tried():
    found = {(item.kind, item.route): (item.before, item.outcome) for item in run(line_to(GEMINI), ["audio", "video"])}
    assert found["audio", "tool result"] == ("unproven", "rejected")
    assert found["audio", "upload"] == found["video", "relocated"] == ("sees", "seen")


def test_tokens_by_modality_are_evidence():
    found = run(line_to(GEMINI), ["image"])[0]
    assert found.tokens["image"] == 258
    assert found.evidence.endswith("image 258 tokens")


def test_the_users_upload_is_reported_from_the_tools_file_or_the_report_says_so():
    found = run(line_to(CLAUDE), ["image"])
    assert [item.told_apart for item in found] == [None, True, True]
    swapped = answering(speak=lambda asked, eyes: say(asked, eyes).replace("mine", "x").replace("tool", "mine"))
    taken = run(line_to(CLAUDE, swapped), ["image"])[1]
    assert (taken.outcome, taken.told_apart) == ("seen", False)
    assert "took it for the user's own upload" in taken.evidence


def test_a_pdf_of_which_only_the_text_arrives_is_seen_and_the_evidence_says_so():
    def text_only(asked, eyes):
        pixels = [code for item in MADE.values() for layer, code in item.codes if layer == "pixels"]
        output = say(asked, eyes)
        for code in pixels:
            output = output.replace(code, "")
        return output

    line = line_to(RESPONSES, answering(speak=text_only))
    cells = capabilities_from(line.target, run(line, ["document"], "pages"), TODAY)
    assert {cell.verdict for cell in cells} == {"sees"}
    assert all("text only, its pixels were not read" in cell.evidence for cell in cells)


def test_text_alone_in_a_result_is_blind_where_a_user_message_shows_the_pixels():
    probe = make("document", seeded(1))
    text, pixels = (code for _, code in probe.codes)
    target, answers = resolve(CLAUDE), {"upload": f"{text} {pixels}", "relocated": pixels, "tool result": text}
    found = [
        judge(target, Trial(route, "document", probe), ModelReply(answer, "end")) for route, answer in answers.items()
    ]
    assert [item.outcome for item in found] == ["seen", "seen", "text only"]
    assert {cell.place: cell.verdict for cell in capabilities_from(target, found, TODAY)} == {
        "user": "sees",
        "tool_result": "blind",
    }


def test_an_answer_that_was_cut_before_a_code_proves_nothing():
    trial = Trial("upload", "image", make("image", seeded(2)))
    assert judge(resolve(CLAUDE), trial, ModelReply("I see a", "length")).outcome == "failed"
    assert capabilities_from(resolve(CLAUDE), [judge(resolve(CLAUDE), trial, ModelReply("", "refusal"))], TODAY) == ()


def test_a_kind_that_can_not_be_made_here_is_skipped_with_its_reason():
    def mute(sort, random):
        if sort == "audio":
            raise BadInput("nothing here can speak")
        return make(sort, random)

    async def gather():
        return [item async for item in verify(line_to(GEMINI), ["audio"], make=mute)]

    assert [(item.outcome, item.evidence) for item in asyncio.run(gather())] == [("skipped", "nothing here can speak")]


def test_a_wrong_key_and_a_host_that_is_not_there_end_the_test_at_once():
    def refuse(_, __):
        raise ApiError("invalid x-api-key", status=401)

    @asynccontextmanager
    async def nobody(_):
        raise ConnectionRefusedError
        yield

    with pytest.raises(ProviderError, match="invalid x-api-key"):
        run(line_to(CLAUDE, answering(speak=refuse)), ["image"])
    with pytest.raises(ProviderUnavailable, match="can't be reached"):
        run(line_to(CLAUDE, nobody), ["image"])


@given(
    code=some.text(ALPHABET, min_size=7, max_size=7),
    at=some.integers(0, 6),
    before=some.text("ab .:-"),
    after=some.text(),
)
def test_a_code_is_found_however_it_is_spaced_and_with_one_letter_wrong(code, at, before, after):
    wrong = code[:at] + "?" + code[at + 1 :]
    assert contains_code(before + "-".join(code.lower()) + " " + after, code)
    assert contains_code(before + wrong.replace("?", "Z") + after, code)
    assert not contains_code(before + "Z" * 7, code)


def test_codes_are_fresh_for_each_file_and_in_no_name_or_question():
    random = seeded(0)
    probes = [make(sort, random) for sort in PICTURES * 5]
    codes = [code for probe in probes for _, code in probe.codes]
    assert len({*codes}) == len(codes) == 15
    words = str([make_conversation(route, None) for route in ("upload", "tool result")])
    assert not [code for probe in probes for code in codes if code in probe.name or code in words]


def test_the_table_keeps_its_types_and_limits_and_a_wildcard_becomes_the_type_that_was_tried():
    line = line_to("inspector:openai-chat")
    image = next(
        capability
        for capability in capabilities_from(line.target, run(line, ["image"]), TODAY)
        if capability.place == "user"
    )
    assert image.media_types == line.target.cell("user", "image/png", "inline").media_types
    found = msgspec.structs.replace(run(line, ["image"])[0], kind="audio")
    assert capabilities_from(line.target, [found], TODAY)[0].media_types == ("audio/wav",)


def test_a_recording_has_no_key_and_no_file_and_plays_again(tmp_path):
    path, out = tmp_path / "test.jsonl", io.BytesIO()
    send = record(answering(), out, Head(GEMINI, "a seed", TODAY))
    keyed = {"authorization": "Bearer canary-key-0001", "x-goog-api-key": "canary-key-0002"}
    found = run(line_to(GEMINI, send, headers=keyed), PICTURES)
    path.write_bytes(out.getvalue())
    assert b"canary" not in path.read_bytes()
    head, exchanges = read_recording(path)
    assert all("<<media sha256:" in exchange.request for exchange in exchanges)
    assert max(len(exchange.request) for exchange in exchanges) < 5000
    assert run(line_to(GEMINI, replay(path)), PICTURES, head.seed) == found


def test_a_key_that_an_answer_repeats_is_hidden():
    def refuse(_, __):
        raise ApiError("Incorrect API key provided: canary-key-0001", status=401)

    out = io.BytesIO()
    send = record(answering(speak=refuse), out, Head(CLAUDE, "s", TODAY))
    with pytest.raises(ProviderError):
        run(line_to(CLAUDE, send, headers={"authorization": "Bearer canary-key-0001"}), ["image"])
    assert b"Incorrect API key provided: <<key>>" in out.getvalue()
    assert b"canary" not in out.getvalue()


SIGNED = (
    "AWS4-HMAC-SHA256 Credential=AKIACANARY0123456789/20260101/us-east-1/bedrock/aws4_request, "
    "SignedHeaders=host, Signature=canary0123456789"
)


@pytest.mark.parametrize(
    ("authorization", "answer", "kept"),
    [
        ("Bearer canary/key/0001", rb"no canary\/key\/0001", "no <<key>>"),
        ("Bearer canary+key/0001", b"no canary%2Bkey%2F0001", "no <<key>>"),
        (SIGNED, b"no AKIACANARY0123456789 in us-east-1, no canary0123456789", "no <<key>> in us-east-1, no <<key>>"),
    ],
    ids=["JSON", "address", "signature"],
)
def test_a_key_is_hidden_however_an_answer_or_address_writes_it(authorization, answer, kept):
    request = BufferedRequest(f"https://e.test/{answer.decode()}", {"authorization": authorization}, b"{}")
    recorded = redact_exchange(request, without_body(400), answer)
    assert (recorded.answer, recorded.url) == (kept, f"https://e.test/{kept}")


def test_an_answer_of_any_bytes_is_recorded_and_plays_again(tmp_path):
    out = io.BytesIO()
    found = run(line_to(BEDROCK, record(answering(), out, Head(BEDROCK, "s", TODAY))), ["document"], "s")
    (tmp_path / "test.jsonl").write_bytes(out.getvalue())
    assert all(item.is_base64 for item in read_recording(tmp_path / "test.jsonl")[1])
    assert run(line_to(BEDROCK, replay(tmp_path / "test.jsonl")), ["document"], "s") == found


def test_a_recording_that_is_over_or_broken_says_so(tmp_path):
    (tmp_path / "empty.jsonl").write_bytes(msgspec.json.encode(Head(CLAUDE, "s", TODAY)) + b"\n")
    with pytest.raises(BadInput, match=r"empty.jsonl has 0 responses"):
        run(line_to(CLAUDE, replay(tmp_path / "empty.jsonl")), ["image"])
    (tmp_path / "broken.jsonl").write_bytes(b"nonsense")
    with pytest.raises(BadInput, match=r"broken.jsonl is not a recording"):
        replay(tmp_path / "broken.jsonl")


def test_the_command_writes_what_the_plan_then_obeys(tmp_path, capsys):
    environ = {"SHOWANDTELL_OVERRIDES": str(tmp_path / "mine.json")}
    status = command.run(BEDROCK, ["document"], None, save=True, json=False, environ=environ)
    output = capsys.readouterr().out
    assert status == 0
    assert "document  tool result" in output
    cells = user_overrides(BEDROCK, environ)
    assert {(cell.place, cell.verdict) for cell in cells} == {("user", "sees"), ("tool_result", "blind")}
    assert all(cell.evidence.startswith("eye test with application/pdf") for cell in cells)


def test_without_save_nothing_is_written_and_json_is_one_finding_a_line(tmp_path, capsys):
    environ = {"SHOWANDTELL_OVERRIDES": str(tmp_path / "mine.json")}
    command.run(CLAUDE, ["document"], None, save=False, json=True, environ=environ)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["route"] for line in lines] == ["upload", "relocated", "tool result"]
    assert not list(tmp_path.iterdir())


def test_a_kind_that_is_none_lists_the_existing_ones():
    assert command.kinds("") == KINDS
    assert command.kinds("image, video") == ("image", "video")
    with pytest.raises(UsageError, match="--kind smell: choose from image, document, audio, video"):
        command.kinds("image,smell")


def test_a_blind_verdict_removes_an_option():
    cell = Capability("tool_result", "image", ("image/png",), "inline", "blind", "eye test", TODAY)
    drafts = make_conversation("tool result", make("image", seeded(3)))
    assert explain(drafts, model=CLAUDE)[0].delivery == "native"
    assert explain(drafts, model=CLAUDE, file_policy=FilePolicy(overrides=[cell]))[0].delivery == "relocated"


@pytest.mark.thorough
def test_the_inspector_itself_reads_what_is_drawn():
    line = line_to(CLAUDE, connect(resolve(CLAUDE)).send)
    assert [item.outcome for item in run(line, ["image"])] == ["seen"] * 3


def test_words_are_spoken_by_a_program_where_there_is_one(tmp_path, monkeypatch):
    (tmp_path / "spoken.wav").write_bytes(wav(0.05))
    program = tmp_path / "espeak-ng"
    program.write_text(f'#!/bin/sh\n/bin/cp {tmp_path / "spoken.wav"} "$6"\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    probe = make_probe("audio", seeded(4))
    assert (probe.data, probe.codes[0][0], len(probe.codes[0][1].split())) == (wav(0.05), "sound", 4)
    program.unlink()
    with pytest.raises(BadInput, match="espeak-ng is not installed"):
        make_probe("audio", seeded(4))


def test_the_command_line_tests_keeps_and_refuses_a_second_recording(tmp_path):
    arguments = ["verify", "inspector", "--kind", "document", "--record", str(tmp_path / "test.jsonl")]
    done = CliRunner().invoke(cli.app, arguments)
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "not written; --save stores them for later plans")
    assert len(read_recording(tmp_path / "test.jsonl")[1]) == 3
    assert "can't be written" in str(CliRunner().invoke(cli.app, arguments).exception)


def test_a_recording_answers_in_the_models_place_without_a_key(tmp_path, capsys):
    path, environ = tmp_path / "test.jsonl", {"SHOWANDTELL_OVERRIDES": str(tmp_path / "mine.json")}
    command.run(BEDROCK, ["document"], path, save=False, json=False, environ=environ)
    learnt = path.read_bytes().replace(BEDROCK.encode(), b"bedrock:amazon.nova-pro-v1:0", 1)
    path.write_bytes(re.sub(rb'"date":"[^"]*"', b'"date":"2026-01-31"', learnt, count=1))
    arguments = "bedrock:amazon.nova-pro-v1:0", ["document"], None, path
    assert command.run(*arguments, save=True, json=False, environ=environ) == 0
    assert "document  tool result" in capsys.readouterr().out
    assert {cell.date for cell in user_overrides(arguments[0], environ)} == {"2026-01-31"}


def test_a_recording_of_another_model_or_other_files_answers_nothing(tmp_path):
    start, path = ["verify", "inspector", "--kind"], str(tmp_path / "test.jsonl")
    CliRunner().invoke(cli.app, [*start, "document", "--record", path])
    assert CliRunner().invoke(cli.app, [*start, "document", "--replay", path]).exit_code == 0
    other = CliRunner().invoke(cli.app, [*start, "image", "--replay", path]).exception
    assert "was recorded with other files" in str(other)
    both = CliRunner().invoke(cli.app, [*start, "document", "--replay", path, "--record", path])
    assert "--record and --replay" in str(both.exception)
    with pytest.raises(BadInput, match=f"is of {CLAUDE}, not of {GEMINI}"):
        command.run(GEMINI, ["document"], None, tmp_path / "test.jsonl", save=False, json=False)


def test_a_slip_of_the_tongue_is_asked_for_again():
    asked_for = []

    def slip(asked, eyes):
        asked_for.append(asked)
        return "none" if len(asked_for) == 1 else say(asked, eyes)

    assert run(line_to(CLAUDE, answering(speak=slip)), ["image"])[0].outcome == "seen"
    assert len(asked_for) == 4


OPUS, CONVERSE = "anthropic:claude-opus-5", "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0"
PLANTED = blind(kinds=["document"], places=["tool_result"])


def verify_over_network(model, *options, path, blindness=(), kinds="image,document"):
    with serving(blind=blindness) as fake_provider:
        environ = {**fake_provider.environ(), "NO_PROXY": "127.0.0.1", "SHOWANDTELL_OVERRIDES": str(path)}
        done = CliRunner().invoke(cli.app, ["verify", model, "--kind", kinds, *options], env=environ)
    return done, {
        f"{override.place} {override.kind}": override
        for override in user_overrides(model, {"SHOWANDTELL_OVERRIDES": str(path)})
    }


@pytest.mark.parametrize(
    ("model", "blindness", "expected"),
    [
        (OPUS, [], SEEN),
        (OPUS, [PLANTED], {**SEEN, "tool_result document": "blind"}),
        (CONVERSE, [RECORDED_BLINDNESS["bedrock-claude-pdf-in-result"]], NO_PAGES),
    ],
    ids=["honest", "planted", "recorded"],
)
def test_blindness_is_found_over_the_network_and_the_rest_is_seen(tmp_path, monkeypatch, model, blindness, expected):
    share_probes(monkeypatch, is_read=True)
    done, cells = verify_over_network(model, "--save", path=tmp_path / "mine.json", blindness=blindness)
    assert (done.exit_code, "6 routes, 4 verdicts; " in done.output) == (0, True), done.output
    assert {key: cell.verdict for key, cell in cells.items()} == expected
    assert {cell.evidence[:21] for cell in cells.values()} == {"eye test at 127.0.0.1"}
    receipt = explain(
        make_conversation("tool result", make("document", seeded(5))),
        model=model,
        file_policy=FilePolicy(overrides=[*cells.values()]),
    )[0]
    assert receipt.delivery == ("native" if expected == SEEN else "relocated")


def test_verdicts_are_not_stored_unless_asked_to_and_a_gateway_is_named(tmp_path):
    done, cells = verify_over_network(OPUS, path=tmp_path / "mine.json", kinds="document")
    assert (done.exit_code, cells, [*tmp_path.iterdir()]) == (0, {}, [])
    assert "is not anthropic's own address" in done.output
    last = done.output.splitlines()[-1]
    assert last.startswith("not written: 127.0.0.1:")
    assert last.endswith("; --save stores them for later plans")


@pytest.mark.parametrize(
    ("model", "base", "host"),
    [
        ("openai:gpt-5", "https://api.openai.com/v1", ""),
        ("openai:gpt-5", "https://gate.example:8443/v1", "gate.example:8443"),
        ("azure:mine", "https://resource.openai.azure.com/openai/v1", ""),
        ("azure:mine", "https://gate.example/openai/v1", "gate.example"),
        (CLAUDE, "http://inspector/anthropic", ""),
    ],
)
def test_any_client_that_answers_in_the_providers_place_is_named(model, base, host):
    assert find_other_host(resolve(model), base) == host


def test_a_region_has_an_address_of_its_own():
    target = msgspec.structs.replace(resolve(CONVERSE), account="eu-west-1")
    assert find_other_host(target, "https://bedrock-runtime.eu-west-1.amazonaws.com") == ""
    assert find_other_host(target, "https://vpc.example") == find_other_host(resolve(CONVERSE), "https://vpc.example")


def test_a_file_that_can_not_be_written_is_reported_before_the_first_request(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    environ = {"SHOWANDTELL_OVERRIDES": str(tmp_path / "file" / "mine.json")}
    with pytest.raises(BadInput, match=r"mine\.json can't be"):
        command.run(CLAUDE, ["document"], save=True, json=False, environ=environ)
    assert capsys.readouterr().out == ""
    assert command.run(CLAUDE, ["document"], save=False, json=False, environ=environ) == 0


def test_verdicts_that_can_not_be_written_in_the_end_are_printed(tmp_path, capsys):
    target = resolve(CLAUDE)
    cells = (Capability("user", "image", ("image/png",), "inline", "sees", "eye test", TODAY),)
    with pytest.raises(BadInput, match=r"can't be"):
        command.store(cells, target, {"SHOWANDTELL_OVERRIDES": str(tmp_path)})
    received = capsys.readouterr().err.partition("\n")[2]
    assert read_overrides(received, CLAUDE) == cells


def test_the_summary_counts_routes_and_places_and_names_what_differs():
    target = resolve(GEMINI)
    found = run(line_to(GEMINI), ["image", "audio"])
    cells = capabilities_from(target, found, TODAY)
    assert [*verify_report.conclude(target, cells, found)] == [
        "6 routes, 4 verdicts; 1 differs from our table:",
        "  audio in a tool result: rejects, our table says unproven",
    ]
    image, skipped = found[0], msgspec.structs.replace(found[0], outcome="skipped")
    received = [*verify_report.conclude(target, capabilities_from(target, [image], TODAY), [image, skipped])]
    assert received == ["2 routes, 1 verdict; as in our table", "1 route without a verdict"]
    assert [*verify_report.conclude(target, (), [skipped])] == ["1 route, no verdicts"]


def test_the_report_says_what_is_not_tried():
    assert "only bytes are checked, not uploads and links" in [*verify_report.head(resolve(CLAUDE), 3)]
    assert any("in a separate content" in line for line in verify_report.head(resolve(GEMINI), 3))
