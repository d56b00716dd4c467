"""`showandtell ask` over real sockets: the status and exit code of every end, and no key in anything it leaves behind."""

import json
import logging
import re
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from fake_provider import KEYS
from fake_provider.auth import AWS_KEY, AWS_SECRET
from fake_provider.faults import (
    cut,
    echo,
    empty,
    end,
    error_event,
    filtered,
    invalid_json,
    page,
    refused,
    silent,
    status,
)
from showandtell.cli import commands as cli
from support.faulty_provider import serving
from support.fixtures import png

ONE_OF_EACH = [
    "anthropic:claude-opus-5",
    "openai-chat:gpt-5-mini",
    "openai:gpt-5.6",
    "google:gemini-3-flash-preview",
    "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0",
]
each_api = pytest.mark.parametrize("model", ONE_OF_EACH)
SECRETS = [*(key for _, key in KEYS.values()), AWS_KEY, AWS_SECRET]
#: A file in a log, which is never shorter than this in base64.
BASE64 = re.compile(r"[A-Za-z0-9+/_=-]{257}")


def ask(fake_provider, model, *more, **environ):
    known = {**fake_provider.environ(), "NO_PROXY": "127.0.0.1", **environ}
    return CliRunner().invoke(cli.app, ["ask", "hello", "--model", model, *more], env=known)


ENDS = [
    (cut, 3, "[incomplete: length]"),
    (end, 3, "[incomplete: cut]"),
    (silent, 3, "[incomplete: empty]"),
    (refused, 4, "[refused: refusal]"),
    (filtered, 4, "[refused: refusal]"),
    (error_event, 1, "ProviderError: "),
    (invalid_json, 1, "BadAnswer: "),
    (page, 1, "BadAnswer: "),
    (lambda: status(401, message="no such key"), 1, "ProviderError: 401 no such key"),
]


@pytest.mark.parametrize(
    "model", [ONE_OF_EACH[0], *(pytest.param(model, marks=pytest.mark.thorough) for model in ONE_OF_EACH[1:])]
)
@pytest.mark.parametrize(("fault", "code", "received"), ENDS, ids=lambda item: getattr(item, "__name__", ""))
def test_every_end_has_its_status_and_exit_code(model, fault, code, received):
    with serving(fault()) as fake_provider:
        done = ask(fake_provider, model)
    assert (done.exit_code, received in done.output) == (code, True), done.output
    assert "Traceback" not in done.output


@each_api
def test_a_busy_provider_is_asked_again_and_both_are_reported(model):
    with serving(status(429, retry_after=0.01), empty()) as fake_provider:
        done = ask(fake_provider, model)
    assert (done.exit_code, done.output.count("retrying in"), len(fake_provider.ledger)) == (0, 2, 3)


@each_api
def test_with_json_the_last_line_is_the_finish_that_says_the_same(model):
    with serving(end()) as fake_provider:
        lines = [json.loads(line) for line in ask(fake_provider, model, "--json").output.splitlines()]
    assert (lines[-1]["type"], lines[-1]["status"], lines[-1]["reason"]) == ("finish", "incomplete", "cut")


def test_a_clock_that_is_wrong_is_named_as_the_cause():
    with serving(clock=lambda: datetime.now(UTC) + timedelta(hours=1)) as fake_provider:
        done = ask(fake_provider, ONE_OF_EACH[-1])
    assert (done.exit_code, "the clock of this machine is wrong" in done.output) == (1, True), done.output


@pytest.mark.parametrize(
    ("name", "value", "received"),
    [
        ("OPENAI_API_KEY", "sk-canary\nx: y", "OPENAI_API_KEY contains a line break"),
        ("SHOWANDTELL_OPENAI_BASE_URL", "localhost", "SHOWANDTELL_OPENAI_BASE_URL is not a base URL"),
        ("OPENAI_API_KEY", "", "openai needs a key: set OPENAI_API_KEY"),
    ],
)
def test_a_setting_that_is_none_is_named_before_anything_is_sent(name, value, received):
    with serving() as fake_provider:
        done = ask(fake_provider, "openai:gpt-5.6", **{name: value})
    assert (done.exit_code, received in done.output, "canary" in done.output) == (1, True, False), done.output
    assert fake_provider.ledger == []


@each_api
@pytest.mark.parametrize("fault", [lambda: status(401), lambda: status(403), page, error_event, invalid_json])
def test_no_key_stands_in_what_a_failure_leaves_behind(model, fault, caplog):
    caplog.set_level(logging.DEBUG)
    with serving(*[fault() for _ in range(6)]) as fake_provider:
        received = ask(fake_provider, model, "--json").output
    assert not [key for key in SECRETS if key in received + caplog.text]


@each_api
@pytest.mark.parametrize("place", ["refusal", "page", "answer"])
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["words", "json"])
def test_a_key_that_a_provider_repeats_is_hidden(model, place, form, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    picture = tmp_path / "seen.png"
    picture.write_bytes(png(99, 99) + bytes(1000))
    with serving(*[echo(place)] * 6) as fake_provider:
        received = ask(fake_provider, model, "--attach", str(picture), *form).output
    assert re.search(r"You sent .*\[hidden\]", received), received
    assert not [key for key in SECRETS if key in received + caplog.text]
    assert not BASE64.search(caplog.text)


def test_a_key_that_is_refused_says_where_it_came_from():
    with serving() as fake_provider:
        done = ask(fake_provider, "mistral:mistral-medium-latest", MISTRAL_API_KEY="wrong")
    assert (done.exit_code, "(the key is from MISTRAL_API_KEY)" in done.output) == (1, True), done.output


def test_an_address_that_nobody_serves_says_where_it_came_from():
    with serving() as fake_provider:
        done = ask(
            fake_provider,
            "openai:gpt-5.6",
            SHOWANDTELL_OPENAI_BASE_URL=fake_provider.base("openai").removesuffix("/v1"),
        )
    assert "(the base URL is from SHOWANDTELL_OPENAI_BASE_URL)" in done.output


def test_certificates_that_are_not_there_are_named_at_once():
    with serving() as fake_provider:
        done = ask(
            fake_provider, "openai:gpt-5.6", SSL_CERT_FILE="/nope", SHOWANDTELL_OPENAI_BASE_URL="https://127.0.0.1:1"
        )
    assert "SSL_CERT_FILE names /nope, which has no certificates" in done.output
    assert "asking again" not in done.output
