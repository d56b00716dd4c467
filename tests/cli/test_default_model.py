"""A key is enough for the commands, too: in the environment, stored by `keys set`, and after that the last model."""

import pytest

from fake_provider.urls import BASES, name_variable
from showandtell.core.capabilities.default_models import CURRENT_MODELS
from support.commandline import call
from support.faulty_provider import serving
from support.model_lists import key_of, serve_lists

MODELS = {row.provider: row.name for row in CURRENT_MODELS}


@pytest.fixture
def provider():
    """A fake provider with lists of models."""
    with serving(handlers=[serve_lists]) as running:
        yield running


@pytest.fixture
def command(provider, tmp_path):
    """Runs a command with data of its own, and hosts of the fake provider; without keys."""
    hosts = {name_variable(host): provider.base(host) for host in BASES}

    def run(*arguments, stdin="", **environ):
        known = {**hosts, "NO_PROXY": "127.0.0.1", "SHOWANDTELL_DATA": str(tmp_path / "data"), **environ}
        return call(tmp_path, *arguments, stdin=stdin, environ=known)

    return run


def default_of(command, **environ):
    return command("models", **environ).stdout.splitlines()[0]


def test_a_variable_before_ask_and_chat_is_enough(command, provider):
    key = {"OPENAI_API_KEY": key_of("openai")}
    assert command("ask", "Hello", "--conversation", "none", **key).returncode == 0
    assert provider.ledger[-1].path.endswith("/responses")
    assert f"You are talking to {MODELS['openai']}." in command("chat", **key).stdout
    assert default_of(command, **key) == f"{MODELS['openai']}  (default: by the key of OPENAI_API_KEY)"


def test_a_key_is_stored_from_standard_input_used_listed_and_removed(command, provider, tmp_path):
    done = command("keys", "set", "mistral", stdin=f"{key_of('mistral')}\n")
    assert (done.stderr, done.stdout) == ("", "The key for mistral works and is stored.\n")
    assert command("ask", "Hello", "--conversation", "none").returncode == 0
    assert provider.ledger[-1].path.startswith("/mistral")
    assert default_of(command) == f"{MODELS['mistral']}  (default: by the stored key)"
    listed = command("keys", "list", OPENAI_API_KEY="sk-1234567890").stdout
    assert f"mistral: stored key, for {provider.base('mistral')}" in listed
    assert "openai: key of OPENAI_API_KEY, for" in listed
    assert "anthropic: no key\n" in listed
    assert key_of("mistral").encode() not in b"".join(path.read_bytes() for path in tmp_path.rglob("*.db*"))
    assert command("keys", "remove", "mistral").returncode == 0
    assert default_of(command).startswith("inspector:anthropic-messages  (default: no provider")


@pytest.mark.parametrize(
    ("arguments", "stdin", "problem"),
    [
        (("set", "openai"), "sk-wrong-0123456789", "Nothing was stored"),
        (("set", "openai"), "  \n", "the key is empty"),
        (("set", "opnai"), "k", "Did you mean 'openai'?"),
        (("set", "openai", "sk-in-an-argument"), "", "unexpected extra argument"),
        (("remove", "openai"), "", "no key is stored for openai"),
    ],
)
def test_what_is_no_key_is_not_stored(arguments, stdin, problem, command):
    done = command("keys", *arguments, stdin=stdin)
    assert done.returncode != 0
    assert problem in done.stderr
    assert "sk-wrong" not in done.stderr
    assert "stored key" not in command("keys", "list").stdout


def test_the_real_model_that_was_used_last_answers_again(command):
    key = {"OPENAI_API_KEY": key_of("openai"), "MISTRAL_API_KEY": key_of("mistral")}
    command("ask", "Hello", "--model", "mistral:mistral-small-latest", **key)
    command("ask", "Hello", "--model", "inspector", **key)
    assert default_of(command, **key) == "mistral:mistral-small-latest  (default: you used it last)"
    assert default_of(command, OPENAI_API_KEY=key["OPENAI_API_KEY"]).startswith(MODELS["openai"])


@pytest.mark.parametrize(("given", "asks"), [("What is in it?", True), ("chatt", False), ("frobnicate", False)])
def test_a_text_with_a_space_is_asked_and_another_word_is_no_command(given, asks, command):
    done = command(given)
    assert (done.returncode == 0, "I am the inspector" in done.stdout) == (asks, asks)
    assert ("Did you mean 'chat'?" in done.stderr) == (given == "chatt")
