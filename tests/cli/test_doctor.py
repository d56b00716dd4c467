"""The command `doctor`: it says what works here and what doesn't, changes nothing, and fails only if something is broken."""

import sys

import pytest

from showandtell.cli import doctor
from showandtell.media import linux
from support.cli_runs import run

TOOLS = """
import ctypes, pathlib
from showandtell import tool

@tool
def nothing() -> str: "Nothing."

pathlib.Path("dumpable").write_text(str(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)))
TOOLS = [nothing]
"""


def lines(done):
    """The findings by name: state and words."""
    rows = [line.split(": ", 1) for line in done.stdout.splitlines()]
    return {name[8:]: (name[:8].strip(), words) for name, words in rows}


def test_a_sound_installation_is_reported_line_by_line(tmp_path):
    done = run(tmp_path, "doctor")
    found = lines(done)
    assert done.returncode == 0
    assert {"version", "system", "decoder", "database", "page", "files (Landlock)"} <= found.keys()
    assert found["decoder"][0] == "ok"
    assert not (tmp_path / "data").exists()


def test_each_wall_that_is_missing_is_named_with_what_follows():
    bare = (sys.executable, "-P", "-B", "-m", "support.hostile_child", "--bare")
    decoder, *walls = doctor.check_decoder(bare)
    assert decoder.state == "ok"
    assert [wall.state for wall in walls] == ["lacks"] * len(doctor.WALLS)
    assert "read all files of this user" in walls[1].words


def test_a_decoder_that_does_not_start_is_broken():
    (finding,) = doctor.check_decoder((sys.executable, "-c", "raise SystemExit(1)"))
    assert finding.state == "BROKEN"


def test_a_database_that_does_not_answer_is_broken_and_its_password_stays_hidden(tmp_path):
    done = run(tmp_path, "doctor", "--database", "postgresql://user:hunter2@127.0.0.1:1/none")
    assert done.returncode == 1
    assert lines(done)["database"][0] == "BROKEN"
    assert "hunter2" not in done.stdout


def test_a_damaged_database_file_is_broken(tmp_path):
    (tmp_path / "data").mkdir(mode=0o700)
    (tmp_path / "data" / "showandtell.db").write_bytes(b"no database" * 100)
    done = run(tmp_path, "doctor")
    assert (done.returncode, lines(done)["database"][0]) == (1, "BROKEN")


def test_a_data_folder_that_others_can_read_is_reported(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(0o755)
    done = run(tmp_path, "doctor")
    assert done.returncode == 0
    assert "chmod 700" in lines(done)["data folder"][1]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this attribute")
def test_the_memory_of_a_command_can_not_be_read_by_others(tmp_path):
    (tmp_path / "own_tools.py").write_text(TOOLS)
    linux.control_process(linux.PR_SET_DUMPABLE, 1)
    done = run(tmp_path, "ask", "hi", "--tools", "own_tools:TOOLS")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "dumpable").read_text() == "0"
