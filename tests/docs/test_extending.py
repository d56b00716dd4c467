"""The files of docs/extending.md, as other packages would have them, from outside of the tree."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from support.docs_generator import GENERATOR
from support.extensions import REGISTER, STL, install, write_files
from support.fixtures import png
from support.paths import SRC


def run(folder, *arguments, status=0, **environ):
    """Run Python with the package in its path. Returns what it printed."""
    known = {
        **os.environ,
        "PYTHONPATH": f"{folder}:{SRC.parent}",
        "NO_PROXY": "127.0.0.1",
        "HOME": str(folder),
        "SHOWANDTELL_DATA": str(folder / "data"),
        **environ,
    }
    done = subprocess.run(  # noqa: S603
        [sys.executable, *arguments],
        env=known,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


#: Runs commands that end well, one after the other, in one process.
ALL = """
import json, sys
from showandtell.cli.main import main
for sys.argv[1:] in json.loads(sys.argv[1]):
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise
"""


def run_all(folder, *commands, **environ):
    return run(folder, "-c", ALL, json.dumps(commands), **environ)


def ask(folder, *arguments, **environ):
    return run(folder, "-m", "showandtell", "ask", *arguments, **environ)


@pytest.fixture
def host():
    """The variables of the provider, whose host is the strict one of vLLM, which has models of any name."""
    with GENERATOR.serve() as environ:
        address, key = environ["SHOWANDTELL_VLLM_BASE_URL"], "a key"
        yield {"SHOWANDTELL_ACME_BASE_URL": address, "ACME_API_KEY": key}


def test_a_package_brings_a_provider_to_the_command_line(tmp_path, host):
    install(tmp_path)
    (tmp_path / "red.png").write_bytes(png(12, 7))
    question = ["ask", "what is it?", "--model", "acme:acme-eye-1", "--attach", "red.png"]
    output = run_all(tmp_path, question, ["matrix"], **host)
    assert re.search(r"12 . 7 pixels", output)
    assert "| acme" in output
    assert "asked: acme (2 models)" in run(tmp_path, "-m", "showandtell", "verify", "--all", status=2, **host)
    (tmp_path / "showandtell.toml").write_text("[providers.acme]\napi_key = 'a key'\n")
    assert "providers.acme.api_key" in run(tmp_path, "-m", "showandtell", "config")


def test_a_program_registers_a_provider(tmp_path):
    write_files(tmp_path)
    render = "from showandtell import Draft, Text, render; hello = [Draft('user', (Text('hello'),))]\n"
    render += "import json; print(json.dumps(render(hello, model='acme:acme-eye-1', max_tokens=9).json()))"
    body = json.loads(run(tmp_path, "-c", REGISTER + render))
    assert (body["model"], body["max_completion_tokens"]) == ("acme-eye-1", 9)


@pytest.mark.thorough
def test_a_package_that_brings_something_else_is_named_and_left_out(tmp_path):
    install(tmp_path, [(":ACME", ":WEB_IMAGES")])
    output = run(tmp_path, "-m", "showandtell", "matrix")
    assert (
        "showandtell: acme-showandtell: its entry point 'acme' in showandtell.providers is left out: it names a tuple"
        in output
    )
    assert ".py:" not in output
    assert "| acme:" not in output


def test_a_package_brings_a_whole_api(tmp_path):
    install(tmp_path)
    (tmp_path / "red.png").write_bytes(png(12, 7))
    questions = [["what is it?", "--attach", "red.png"], ["/read_file path=kiwi.jpg"]]
    output = run_all(tmp_path, *(["ask", *question, "--model", "inspector:acme-talk"] for question in questions))
    assert re.search(r"12 . 7 pixels", output)
    assert "from tool read_file" in output


def test_a_package_converts_files_behind_the_walls(tmp_path):
    install(tmp_path)
    (tmp_path / "part.stl").write_text(STL)
    (tmp_path / "flat.stl").write_text("solid nothing\nendsolid\n")
    questions = [["--attach", "part.stl"], ["--attach", "flat.stl", "--json"]]
    output = run_all(tmp_path, *(["ask", "what is it?", *question] for question in questions))
    assert re.search(r"part\.stl: 800 . 800 pixels, mostly", output)
    assert "ValueError: it has no vertices" in output


def test_a_package_brings_tools_that_are_named(tmp_path):
    install(tmp_path)
    output = ask(tmp_path, "/radar town=Ulm", "--tools", "weather")
    assert re.search(r"Ulm\.png: 400 . 300 pixels", output)
    assert "radar" not in ask(tmp_path, "/tools")
    output = run(tmp_path, "-m", "showandtell", "ask", "hi", "--tools", "wether", status=2)
    assert (
        "no installed package has tools of this name; write MODULE:NAME for others. Did you mean 'weather'?" in output
    )


def test_doctor_lists_what_packages_add_and_their_mistakes(tmp_path):
    wrong = '[project.entry-points."showandtell.tool"]\nweather = "acme_weather:TOOLS"\n\n[project.entry-points."showandtell.stores"]'
    install(tmp_path, [("acme_stl:STL", "acme_stl:draw"), ('[project.entry-points."showandtell.stores"]', wrong)])
    (tmp_path / "acme_talk/render.py").write_text("import acme_lost")
    (tmp_path / "acme_talk/parse.py").write_text("")
    (tmp_path / "acme_talk/rules.py").write_text("HOSTS = 3")
    output = run(tmp_path, "-m", "showandtell", "doctor")
    assert "lacks   API acme-talk: the module render of the API acme-talk failed: ModuleNotFoundError: No" in output
    assert (
        "API acme-talk: the module parse of the API acme-talk failed: AttributeError: module 'acme_talk.parse'"
        in output
    )
    assert "API acme-talk: the module rules of the API acme-talk failed: TypeError: 'int' object" in output
    assert re.search(r"ok      package acme-showandtell: declares apis acme-talk; .*tools weather", output)
    assert (
        "lacks   package acme-showandtell: its entry point 'stl' in showandtell.converters is left out: it names"
        in output
    )
    assert "lacks   package acme-showandtell: nothing reads the entry points of showandtell.tool; there are" in output


@pytest.mark.thorough
def test_tools_that_can_not_be_imported_differ_from_unknown_ones(tmp_path):
    install(tmp_path, [("acme_weather:TOOLS", "acme_weather:TOOL")])
    output = run(tmp_path, "-m", "showandtell", "ask", "hi", "--tools", "weather", status=2)
    assert "acme-showandtell: its entry point 'weather' in showandtell.tools can't be loaded: AttributeError" in output
    assert "the package that has these tools can't be loaded" in output


def test_a_package_stores_files(tmp_path):
    install(tmp_path)
    (tmp_path / "red.png").write_bytes(png(12, 7))
    place = {"SHOWANDTELL_BLOBS": f"box://{tmp_path}/files.db"}
    questions = [["what is it?", "--attach", "red.png", "--conversation", "new"]]
    questions.append(["/view_file number=1", "--conversation", "last"])
    output = run_all(tmp_path, *(["ask", *question] for question in questions), **place)
    with closing(sqlite3.connect(tmp_path / "files.db")) as database, database:
        assert (png(12, 7),) in database.execute("SELECT data FROM objects").fetchall()
    assert len(re.findall(r"12 x 7 pixels", output)) == 2
