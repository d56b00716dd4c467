"""The files of docs/extending.md, as another package would have them, from outside of the tree."""

import json
import os
import re
import subprocess
import sys

import pytest

from support.docs_generator import GENERATOR, ROOT
from support.fixtures import png
from support.paths import SRC

PAGE = (ROOT / "docs/extending.md").read_text()
BLOCKS = re.findall(r"^```(\w+).*?\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
(PROVIDER, REGISTER), (ENTRY,) = ([text for kind, text in BLOCKS if kind == wanted] for wanted in ("python", "toml"))
EYE = "acme:gpt-5-mini"  # the strict host knows the models of OpenAI


def install(folder, entry=ENTRY):
    """Put the provider's module and what an installer writes of its package into a folder."""
    (folder / "acme_provider.py").write_text(PROVIDER.replace('"acme-eye*"', '"acme-eye*", "gpt*"'))
    (folder / "acme-1.0.dist-info").mkdir()
    (folder / "acme-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    group, line = entry.split('"')[1], entry.splitlines()[1].replace('"', "")
    (folder / "acme-1.0.dist-info/entry_points.txt").write_text(f"[{group}]\n{line}\n")


def run(folder, *arguments, **environ):
    """Run Python with the package in its path. Returns what it printed."""
    known = {
        **os.environ,
        "PYTHONPATH": f"{folder}:{SRC.parent}",
        "NO_PROXY": "127.0.0.1",
        "HOME": str(folder),
        **environ,
    }
    done = subprocess.run(  # noqa: S603
        [sys.executable, *arguments], env=known, capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def host():
    """The variables of the provider, whose host is the strict one of OpenAI."""
    with GENERATOR.serve() as environ:
        address, key = environ["SHOWANDTELL_OPENAI_BASE_URL"], environ["OPENAI_API_KEY"]
        yield {"SHOWANDTELL_ACME_BASE_URL": address, "ACME_API_KEY": key}


def test_a_package_brings_a_provider_to_the_command_line(tmp_path, host):
    install(tmp_path)
    (tmp_path / "red.png").write_bytes(png(12, 7))
    output = run(tmp_path, "-m", "showandtell", "ask", "what is it?", "--model", EYE, "--attach", "red.png", **host)
    assert re.search(r"12 . 7 pixels", output)
    assert "acme" in run(tmp_path, "-m", "showandtell", "matrix")
    (tmp_path / "showandtell.toml").write_text("[providers.acme]\napi_key = 'a key'\n")
    assert "providers.acme.api_key" in run(tmp_path, "-m", "showandtell", "config")


def test_a_program_registers_a_provider(tmp_path):
    (tmp_path / "acme_provider.py").write_text(PROVIDER)
    render = "from showandtell import Draft, Text, render; hello = [Draft('user', (Text('hello'),))]\n"
    render += "import json; print(json.dumps(render(hello, model='acme:acme-eye-1', max_tokens=9).json()))"
    body = json.loads(run(tmp_path, "-c", REGISTER + render))
    assert (body["model"], body["max_completion_tokens"]) == ("acme-eye-1", 9)


def test_a_package_that_brings_none_is_named_and_left_out(tmp_path):
    install(tmp_path, ENTRY.replace(":ACME", ":WEB_IMAGES"))
    output = run(tmp_path, "-m", "showandtell", "matrix")
    assert "showandtell.providers is left out: it names tuple, not a Provider" in output
    assert "acme" not in output.partition("|")[2]
