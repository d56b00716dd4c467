"""`showandtell models`: the usable models, the default one, and what was learned about them is listed and forgotten."""

import json

import pytest

from showandtell.cli.learned import OTHERS
from showandtell.config.learned_models import ModelKey, learned_models
from showandtell.core.capabilities.modalities import ListedWindow, MessageField, Modality
from support.cli_runs import run
from support.commandline import call

BLIND = Modality("image", False, "it said: no \x1b[31mimages", "2026-11-23", 1e12)


@pytest.fixture
def known():
    models = learned_models()
    models.learn(ModelKey("https://a.example/v1", "vllm:qwen", "account"), [BLIND])
    models.learn(ModelKey("https://b.example/v1", "ollama:llama"), [BLIND])
    return models


@pytest.mark.usefixtures("known")
def test_models_lists_what_is_known_of_each_model_and_host(tmp_path):
    done = run(tmp_path, "models")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[lines.index(OTHERS) + 1 :][:2] == [
        "vllm:qwen at https://a.example/v1",
        "  image: not taken: it said: no [31mimages",
    ]
    assert "ollama:llama at https://b.example/v1" in done.stdout


def test_models_lists_the_context_window_that_a_host_tells(tmp_path):
    window = ListedWindow(8_192, "its host lists it (2026-11-26)", "2026-11-26", 1e12)
    learned_models().learn(ModelKey("https://a.example/v1", "vllm:qwen"), [], window)
    lines = run(tmp_path, "models").stdout.splitlines()
    assert lines[lines.index(OTHERS) + 1 :] == [
        "vllm:qwen at https://a.example/v1",
        "  context window: 8,192 tokens: its host lists it (2026-11-26)",
    ]


@pytest.mark.usefixtures("known")
def test_models_of_one_name_as_json(tmp_path):
    done = run(tmp_path, "models", "vllm:qwen", "--json")
    (record,) = json.loads(done.stdout)
    assert (record["key"]["model"], record["modalities"][0]["takes"]) == ("vllm:qwen", False)


def test_a_model_of_an_unknown_provider_is_an_error(tmp_path):
    done = run(tmp_path, "models", "olama:llama")
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown provider 'olama'" in done.stderr


def test_clear_forgets_one_model_or_all(known, tmp_path):
    run(tmp_path, "models", "vllm:qwen", "--clear")
    assert [model.key.model for model in known.all] == ["ollama:llama"]
    run(tmp_path, "models", "--clear")
    assert OTHERS not in run(tmp_path, "models").stdout
    assert run(tmp_path, "models", "--clear").stdout == "nothing has been learned\n"


def test_models_marks_the_default_one_and_has_what_was_learned_below_each(tmp_path):
    assert run(tmp_path, "models").stdout.startswith("inspector:anthropic-messages  (default: no provider has a key)\n")
    learned_models().learn(ModelKey("https://a.example/v1", "azure:gpt-5-mini"), [BLIND])
    environ = {
        "AZURE_OPENAI_API_KEY": "k",
        "AZURE_OPENAI_ENDPOINT": "https://a.example",
        "SHOWANDTELL_MODEL": "azure:mine",
    }
    done = call(tmp_path, "models", environ={**environ, "SHOWANDTELL_DATA": str(tmp_path / "data")})
    lines = done.stdout.splitlines()
    assert lines[0] == "azure:mine  (default: it is configured)"
    at = lines.index("azure:gpt-5-mini")
    assert lines[at + 1 : at + 3] == ["  at https://a.example/v1", "    image: not taken: it said: no [31mimages"]


def test_models_lists_the_fields_that_a_host_refuses_or_requires(tmp_path):
    evidence = "it said: property 'mood' is unsupported (2026-11-29)"
    fields = [MessageField("mood", "refused", evidence, "2026-11-29", 1e12)]
    fields += [MessageField("plan", "required", "it said: must be passed back (2026-11-29)", "2026-11-29", 1e12)]
    learned_models().learn(ModelKey("https://a.example/v1", "vllm:qwen"), fields=fields)
    lines = run(tmp_path, "models").stdout.splitlines()
    assert lines[lines.index(OTHERS) + 1 :] == [
        "vllm:qwen at https://a.example/v1",
        f"  mood: not sent back: {evidence}",
        "  plan: always sent: it said: must be passed back (2026-11-29)",
    ]
