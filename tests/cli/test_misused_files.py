"""Files and arguments that a command isn't for: one line that says what it takes."""

import zipfile

import pytest

from showandtell.samples import folder as samples
from support.commandline import call


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kiwi.jpg").write_bytes((samples() / "kiwi.jpg").read_bytes())
    (tmp_path / "request.json").write_text('{"model": "x", "messages": [{"role": "user", "content": "hi"}]}')
    (tmp_path / "list.json").write_text('[{"role": "user", "content": "hi"}]')
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", "x")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "received"),
    [
        ("render", "name a file: `render` takes a conversation file, or a zip file that `export` wrote"),
        ("render kiwi.jpg", "kiwi.jpg is not a conversation file: `render` takes"),
        ("render other.zip", "choose a zip file that `showandtell export` wrote"),
        ("render request.json", "request.json is a request already: `render` takes"),
        ("render list.json", "list.json is a list of messages: `showandtell import --from`"),
        ("import", "name a file: `import` takes a zip file that `export` wrote, a conversation file, or with --from"),
        ("import kiwi.jpg", "`ask --attach` sends any other file"),
        ("import other.zip", "choose a zip file that `showandtell export` wrote"),
        ("import request.json", "a request with messages: name its API with --from"),
        ("export", "as in `showandtell export last conversation.zip`"),
        ("export last", "as in `showandtell export last conversation.zip`"),
        ("export all", "as in `showandtell export all conversation.zip`"),
        ("export mine.zip", "as in `showandtell export last mine.zip`"),
        ("export last .", ". is a folder: name a zip file in it"),
        (
            "ask hi --attach http://example.com/a.png",
            "--attach: example.com is asked for without encryption: use https",
        ),
        ("ask hi --attach https://127.0.0.1/a.png", "--attach: 127.0.0.1 has no public address"),
        ("ask hi --attach ftp://example.com/a.png", "--attach: the address has the scheme 'ftp': use https"),
    ],
)
def test_what_a_command_is_not_for_is_one_line_with_what_it_takes(folder, arguments, received):
    done = call(folder, *arguments.split())
    assert (done.returncode in {1, 2}, done.stdout, len(done.stderr.splitlines())) == (True, "", 1)
    assert received in done.stderr


def test_an_export_is_rendered_and_a_token_is_a_whole_address(folder):
    assert call(folder, "ask", "hello", "--model", "inspector").returncode == 0
    assert call(folder, "export", "last", "mine.zip").returncode == 0
    assert '"text":"hello"' in call(folder, "render", "mine.zip").stdout
    assert call(folder, "token").stdout.startswith("http://127.0.0.1:8000/?code=")
