"""Standard input of `ask`: the question, or a file beside it."""

import pytest

from support.cli_runs import SAMPLES, run
from support.commandline import spawn

FILE = "+ text 1: stdin (text/plain, 12 bytes)"
TEXT = "The harbour."


@pytest.mark.parametrize("words", [(), ("-",)])
def test_without_a_question_or_for_a_dash_it_is_the_question(tmp_path, words):
    done = run(tmp_path, "ask", *words, stdin="/read_file path=kiwi.jpg\n")
    assert done.returncode == 0
    assert "+ image 1: kiwi.jpg" in done.stdout


def test_for_the_attachment_dash_it_is_a_file_also_without_a_question(tmp_path):
    assert FILE in run(tmp_path, "ask", "--attach", "-", stdin=TEXT).stdout
    assert FILE in run(tmp_path, "ask", "what is it?", "--attach", "-", stdin=TEXT).stdout


def test_what_is_piped_into_a_question_is_a_file(tmp_path):
    assert FILE in spawn(tmp_path, "ask", "what is it?", "-c", "none", stdin=TEXT).stdout
    with (SAMPLES / "kiwi.jpg").open("rb") as picture:
        done = spawn(tmp_path, "ask", "what is it?", "-c", "none", stdin=picture)
    assert "+ image 1: stdin (image/jpeg, 20 kB)" in done.stdout


@pytest.mark.thorough
def test_an_empty_pipe_is_no_file(tmp_path):
    done = spawn(tmp_path, "ask", "hello", "-c", "none")
    assert done.returncode == 0
    assert "stdin" not in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("-", "--attach", "-"), "standard input can't be both the question and a file"),
        (("--max-file-bytes", "5"), "standard input is larger than 5 bytes, the maximum of --max-file-bytes"),
        (("q", "-a", "-", "--max-file-bytes", "5"), "standard input is larger than 5 bytes"),
    ],
)
def test_an_input_that_can_not_be_read_is_an_error_on_one_line(tmp_path, words, error):
    done = run(tmp_path, "ask", *words, stdin=TEXT)
    assert (done.returncode, done.stderr.startswith(f"showandtell: {error}")) == (2, True)


def test_a_picture_is_no_question(tmp_path):
    with (SAMPLES / "kiwi.jpg").open("rb") as picture:
        done = spawn(tmp_path, "ask", stdin=picture)
    error = "showandtell: standard input is not text: to attach it, write a question and --attach -\n"
    assert (done.returncode, done.stderr) == (2, error)
