"""The package in environments of its own, without this checkout: its commands, and what each extra is for."""

import os
import re
import subprocess

import pytest

from support.extras import LACKS, TRIALS, write_files
from support.packages import UV, built, install

#: The extras that `make test` tries: a library for files, and the page, whose conversations are stored.
FIRST = {"images", "server"}
#: Imports what programs may import. Modules that need an extra are imported on first use of a name.
PUBLIC = """
import importlib, pkgutil, showandtell
for module in pkgutil.iter_modules(showandtell.__path__, "showandtell."):
    if module.name != "showandtell.__main__":
        importlib.import_module(module.name)
for name in dir(showandtell):
    try:
        getattr(showandtell, name)
    except ModuleNotFoundError as error:
        print(error)
"""


@pytest.fixture
def home(tmp_path):
    return write_files(tmp_path)


def test_all_public_modules_can_be_imported(installed, home):
    done = installed.run(home, "python", "-c", PUBLIC)
    assert done.returncode == 0, done.stderr
    assert all("showandtell[history] @ file:///" in line for line in done.stdout.splitlines())


def test_the_commands_work_and_say_what_is_missing(installed, home):
    version = installed.run(home, "showandtell", "--version")
    report = installed.run(home, "showandtell", "doctor")
    assert re.fullmatch(r"showandtell \d+\.\d+\.\d+\n", version.stdout)
    assert report.returncode == 0, report.stdout
    lacks = set(re.findall(r"^lacks   (\w+):", report.stdout, re.MULTILINE))
    assert not lacks & installed.extras
    assert installed.extras or lacks == {*TRIALS, "extras"}


def test_a_question_about_an_own_picture_is_answered(installed, home):
    done = installed.run(home, "showandtell", "ask", "--attach", "harbour.png", "What is it?")
    assert done.returncode == 0, done.stderr
    assert "Image 1, harbour.png: 640" in done.stdout


@pytest.mark.parametrize(
    "extra", [pytest.param(one, marks=[pytest.mark.thorough] * (one not in FIRST)) for one in TRIALS]
)
def test_an_extra_does_what_it_is_for_and_without_it_a_hint_names_it(installed, extra, home):
    if installed.extras and extra not in installed.extras:
        pytest.skip("hints are tried in a bare environment")
    trial, hint = TRIALS[extra], LACKS.get(extra, f"showandtell[{extra}]")
    output = trial.run(installed, home)
    is_there = extra in installed.extras
    assert (trial.success in output) == is_there, output
    assert (hint in output) != is_there, output


@pytest.mark.release
def test_pi_heif_takes_the_place_of_pillow_heif(home):
    output = TRIALS["images"].run(install(built().wheel, beside=("pi-heif",)), home)
    assert TRIALS["images"].success in output


@pytest.mark.thorough
def test_the_wheel_alone_answers_in_a_chat_by_uvx(home):
    command = [str(UV), "tool", "run", "--from", str(built().wheel), "showandtell", "chat"]
    settings = {"cwd": home, "input": "/read_file path=harbour.png\n", "capture_output": True, "text": True}
    done = subprocess.run(command, check=False, timeout=120, env={**os.environ, "HOME": str(home)}, **settings)  # noqa: S603 - our own
    assert done.returncode == 0, done.stderr
    assert "image 1 shown in the tool result" in done.stdout
