"""`Agent.from_config`: an agent with the settings of files and variables, as commands have them."""

import pytest

from showandtell import Agent, BadInput, RunLimits
from showandtell.agent.from_settings import connection_of
from showandtell.config.read import build_settings


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_agent_has_the_settings_of_files_and_variables_and_those_of_the_call(folder, monkeypatch):
    (folder / "showandtell.toml").write_text(
        'model = "inspector:gemini"\n[limits]\nsteps = 3\n[file_policy]\nuploads = true'
    )
    monkeypatch.setenv("SHOWANDTELL_TEMPERATURE", "0.5")
    agent = Agent.from_config(instructions="Be brief.")
    assert (agent.target.name, agent.configured.instructions) == ("inspector:gemini", "Be brief.")
    assert (agent.configured.limits, agent.configured.model.temperature) == (RunLimits(steps=3), 0.5)
    assert agent.configured.files.uploads is False  # a file that is only found doesn't widen


def test_a_named_file_may_set_everything_and_a_wrong_key_is_an_error(folder):
    (folder / "mine.toml").write_text("[file_policy]\nuploads = true")
    assert Agent.from_config("mine.toml").configured.files.uploads is True
    (folder / "mine.toml").write_text("[file_polcy]\nuploads = true")
    with pytest.raises(BadInput, match=r"unknown key file_polcy; did you mean \[file_policy\]"):
        Agent.from_config("mine.toml")


NAMED = """
tools = "module_of_config:TOOLS"
folder = "shown"
builtin = ["read_file", "chart"]
[file_policy]
transcribe = "module_of_config:hear"
"""
MODULE = """
def weather(city: str): "Tell the weather."
def hear(path): return "words"
TOOLS = [weather]
"""


def test_tools_folder_and_functions_of_a_file_are_those_of_the_agent_unless_it_gets_its_own(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    (folder / "shown").mkdir()
    (folder / "shown" / "kiwi.txt").write_text("green")
    (folder / "module_of_config.py").write_text(MODULE)
    (folder / "mine.toml").write_text(NAMED)
    agent = Agent.from_config("mine.toml")
    assert sorted(agent.tools) == ["chart", "read_file", "weather"]
    assert "green" in agent.run_sync("/read_file path=kiwi.txt").text
    hear = agent.configured.files.transcribe
    assert hear is not None
    assert hear(folder) == "words"
    assert not Agent.from_config("mine.toml", tools=[]).tools


@pytest.mark.usefixtures("folder")
def test_without_a_folder_there_is_no_tool_that_reads_files():
    assert sorted(Agent.from_config().tools) == ["chart", "get_document", "list_files", "view_file"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('tools = "nowhere_at_all:TOOLS"', "tools: no module named 'nowhere_at_all'"),
        ('folder = "nowhere"', "folder: .*nowhere is not a folder"),
        ('file_policy.transcribe = "string:digits"', "file_policy.transcribe .*string:digits is a str"),
    ],
)
def test_what_a_file_names_and_is_not_there_is_an_error_of_that_key(folder, line, problem):
    (folder / "mine.toml").write_text(line)
    with pytest.raises(BadInput, match=problem):
        Agent.from_config("mine.toml")


def test_a_key_of_a_file_goes_to_its_own_provider_alone_and_below_its_variable():
    keys = {"providers.openai.api_key": "sk-1", "providers.openai.base_url": "https://gateway.example/v1"}
    own = build_settings(keys)
    assert connection_of(own, "openai:gpt-5", {}).api_key == "sk-1"
    assert connection_of(own, "openai:gpt-5", {"OPENAI_API_KEY": "sk-2"}).api_key is None
    assert connection_of(own, "anthropic:claude-opus-5", {}).api_key is None


def test_headers_of_a_file_go_to_its_own_provider_also_with_its_base_url():
    own = build_settings({"providers.vllm.headers": {"X-Team": "blue"}, "providers.vllm.base_url": "http://a.test/v1"})
    variable = {"SHOWANDTELL_VLLM_HEADERS": "X-Team: red"}
    assert connection_of(own, "vllm:m", {}).headers == {"X-Team": "blue"}
    assert connection_of(own, "vllm:m", variable).headers == {"x-team": "red"}
    assert connection_of(own, "vllm:m", variable | {"SHOWANDTELL_VLLM_BASE_URL": "http://b.test"}).headers is None
    assert connection_of(own, "openai:m", {}).headers is None
