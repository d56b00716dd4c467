"""Configuration files and commands: which setting counts, where it comes from, and messages about files."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.cli.configured import IGNORED, complete_model
from showandtell.cli.show_settings import hide
from showandtell.config.settings import keys
from support.cli_runs import run
from support.commandline import call, spawn

SECRETS = """
[providers.openai]
base_url = "https://me:sk-1@gateway.example/v1"
api_key = "sk-2"
headers = {X-Team = "sk-3"}
[model_settings]
extra_body = {key = "sk-4"}
[storage]
database = "postgresql://me:sk-5@db.example/chat?password=sk-6"
blobs = "az://container?sig=sk-7"
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The user's own file."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = tmp_path / "config" / "showandtell" / "showandtell.toml"
    file.parent.mkdir(parents=True)
    return file


def settings(folder, *options, before=(), **environ):
    """What `config` prints: value and origin by key."""
    done = call(folder, *before, "config", "--json", *options, environ=environ)
    assert done.returncode == 0, done.stderr
    return {line["key"]: (line["value"], line["origin"]) for line in json.loads(done.stdout)["settings"]}


def test_an_option_beats_a_variable_that_beats_the_nearest_file_that_beats_the_users_own(own, tmp_path):
    (nearest := tmp_path / "showandtell.toml").write_text("[limits]\nsteps = 2")
    (inside := tmp_path / "inside").mkdir()
    own.write_text("[limits]\nsteps = 3")
    variable = {"SHOWANDTELL_MAX_STEPS": "4"}
    assert settings(inside, "--max-steps", "5", **variable)["limits.steps"] == (5, "--max-steps")
    assert settings(inside, **variable)["limits.steps"] == (4, "SHOWANDTELL_MAX_STEPS")
    assert settings(inside)["limits.steps"] == (2, str(nearest))
    nearest.unlink()
    assert settings(inside)["limits.steps"] == (3, str(own))
    own.unlink()
    assert settings(inside)["limits.steps"] == (20, "default")


@pytest.mark.parametrize("by_variable", [True, False])
def test_a_named_file_stands_in_place_of_the_nearest(tmp_path, by_variable):
    (tmp_path / "showandtell.toml").write_text("nonsense = 1")
    (named := tmp_path / "named.toml").write_text('tools = "mytools:TOOLS"')
    environ = {"SHOWANDTELL_CONFIG": str(named)} if by_variable else {}
    found = settings(tmp_path, before=() if by_variable else ("--config", str(named)), **environ)
    assert found["tools"] == (str(tmp_path / "mytools:TOOLS"), str(named))


def test_what_a_found_file_may_not_set_is_named_once_and_does_not_count(tmp_path):
    (tmp_path / "showandtell.toml").write_text('tools = "evil:TOOLS"\n[storage]\ndata = "elsewhere"')
    (tmp_path / "evil.py").write_text("open('ran', 'w')")
    done = run(tmp_path, "ask", "hello")
    words = IGNORED.format(path=tmp_path / "showandtell.toml", names="storage.data, tools")
    assert (done.returncode, done.stderr) == (0, f"showandtell: {words}\n")
    assert not (tmp_path / "elsewhere").exists()
    assert not (tmp_path / "ran").exists()


def test_tools_of_a_named_file_are_imported_from_its_folder(tmp_path):
    (place := tmp_path / "place").mkdir()
    (place / "mytools.py").write_text("def hello(): return 'from the file'\nTOOLS = [hello]")
    (place / "c.toml").write_text('tools = "mytools:TOOLS"')
    (tmp_path / "mytools.py").write_text("open('ran', 'w')")
    done = call(tmp_path, "--config", "place/c.toml", "ask", "/hello", "-c", "none")
    assert "from the file" in done.stdout
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("command", [("ask", "hello"), ("list",), ("config",), ("serve",), ("chat",)])
def test_a_wrong_key_ends_each_command_that_takes_settings_but_not_its_help(tmp_path, command):
    (tmp_path / "showandtell.toml").write_text("[limits]\nstep = 1")
    done = call(tmp_path, *command)
    error = f"showandtell: {tmp_path}/showandtell.toml: unknown key limits.step; did you mean limits.steps?\n"
    assert (done.returncode, done.stderr) == (2, error)
    assert call(tmp_path, command[0], "-h").returncode == call(tmp_path, "matrix").returncode == 0


def test_an_empty_variable_is_an_error_unless_an_option_is_given(tmp_path):
    environ = {"SHOWANDTELL_DATA": ""}
    done = call(tmp_path, "list", environ=environ)
    error = "showandtell: SHOWANDTELL_DATA is set, but empty: give it a value, or unset it\n"
    assert (done.returncode, done.stderr) == (2, error)
    assert call(tmp_path, "ask", "hi", "--data", "data", environ=environ).returncode == 0


def test_config_names_the_folder_of_data_also_if_nobody_set_it(tmp_path):
    assert settings(tmp_path)["storage.data"][0].endswith("showandtell")
    assert settings(tmp_path, SHOWANDTELL_DATA="here")["storage.data"] == ("here", "SHOWANDTELL_DATA")


def test_config_prints_no_secret(own, tmp_path):
    own.write_text(SECRETS)
    environ = {
        "ANTHROPIC_API_KEY": "sk-8",
        "SHOWANDTELL_TOKEN": "sk-9",
        "SHOWANDTELL_OLLAMA_BASE_URL": "http://a:sk-0@b",
    }
    for more in ((), ("--json",)):
        done = call(tmp_path, "config", *more, environ=environ)
        assert done.returncode == 0
        assert "sk-" not in done.stdout + done.stderr
    found = settings(tmp_path, **environ)
    assert found["storage.database"] == ("postgresql://…@db.example/chat?…", str(own))
    assert found["providers.openai.headers"] == ("(hidden)", str(own))
    assert found["providers.anthropic.api_key"] == ("(hidden)", "ANTHROPIC_API_KEY")
    assert found["token"] == ("(hidden)", "SHOWANDTELL_TOKEN")


def test_a_file_gives_keys_and_addresses_of_providers_unless_a_variable_does(own, tmp_path):
    own.write_text('[providers.openai]\napi_key = "sk-1"\nbase_url = "http://127.0.0.1:9/v1"')
    done = call(tmp_path, "ask", "hello", "-m", "openai:gpt-5", "-c", "none", environ={"OPENAI_API_KEY": None})
    assert done.returncode == 1
    assert "127.0.0.1:9" in done.stdout + done.stderr
    assert settings(tmp_path)["providers.openai.api_key"] == ("(hidden)", str(own))
    found = settings(tmp_path, OPENAI_API_KEY="sk-2", OPENAI_BASE_URL="http://127.0.0.1:8/v1")
    assert found["providers.openai.api_key"][1] == "OPENAI_API_KEY"
    assert found["providers.openai.base_url"] == ("http://127.0.0.1:8/v1", "OPENAI_BASE_URL")


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        pytest.param(
            "bash", {"COMP_WORDS": "showandtell ask --on-full s", "COMP_CWORD": "3"}, marks=pytest.mark.thorough
        ),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "showandtell ask --on-full s"}),
        pytest.param(
            "fish",
            {"_TYPER_COMPLETE_ARGS": "showandtell ask --on-full s", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_shells_complete_values_also_beside_a_broken_file(tmp_path, shell, words):
    (tmp_path / "showandtell.toml").write_text("broken")
    program = (str(Path(sys.executable).with_name("showandtell")),)
    environ = {"_SHOWANDTELL_COMPLETE": f"complete_{shell}", **words}
    done = spawn(tmp_path, environ=environ, program=program)
    assert "summarize" in done.stdout
    assert "drop_oldest" not in done.stdout
    assert done.stderr == ""


def test_models_are_completed():
    assert {"inspector", "anthropic:claude-sonnet-4-5"} <= {*complete_model("")}
    assert all(name.startswith("openai:") for name in complete_model("openai:"))


@given(st.text("ab:/@?#% ", max_size=20), st.sampled_from(["postgresql://me:", "postgresql:/me:", "me:", "//me:"]))
def test_no_password_is_shown_however_a_url_is_written(rest, start):
    assert "Hunter2" not in hide(keys()["storage.database"], f"{start}{rest}Hunter2{rest}@db.example/x")


def test_every_option_takes_what_its_variable_takes(tmp_path):
    texts = {"builtin": "chart", "file_policy.on_unsupported": "document=error", "server.hosts": "a.example,b.example"}
    by_option = settings(tmp_path, *(word for name in texts for word in (keys()[name].option, texts[name])))
    by_variable = settings(tmp_path, **{keys()[name].variable: text for name, text in texts.items()})
    assert [by_option[name][0] for name in texts] == [by_variable[name][0] for name in texts]
    assert by_option["file_policy.on_unsupported"][0] == {"document": "error"}


def test_a_switch_of_a_file_is_turned_off_by_an_option(own, tmp_path):
    own.write_text("[file_policy]\nuploads = true\n[file_policy.fetch]\nports = [80, 443]")
    assert settings(tmp_path)["file_policy.uploads"] == (True, str(own))
    assert settings(tmp_path)["file_policy.fetch.ports"] == ([80, 443], str(own))
    assert settings(tmp_path, "--no-uploads")["file_policy.uploads"] == (False, "--uploads")


@pytest.mark.parametrize("option", ["--data", "--database", "--blobs", "--folder"])
def test_an_option_with_an_unset_variable_of_the_shell_stores_and_reads_nowhere_else(tmp_path, option):
    done = call(tmp_path, "ask", "hello", option, "")
    assert (done.returncode, done.stderr) == (2, f"showandtell: {option}: expected str of length >= 1\n")
    assert not [*tmp_path.glob("*.db")]
