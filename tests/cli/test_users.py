"""`users list`, `users export` and `users delete`: all that is stored of one person."""

import json

from support.commandline import call


def run(folder, *arguments, status=0, stdin=""):
    done = call(folder, *arguments, stdin=stdin, environ={"SHOWANDTELL_DATA": str(folder / "data")})
    assert done.returncode == status, done
    return done.stdout, done.stderr


def ask(folder):
    (folder / "kiwi.txt").write_text("a kiwi")
    run(folder, "ask", "what is it?", "--attach", "kiwi.txt", "-m", "inspector")


def test_a_person_is_listed_exported_deleted_and_gone(tmp_path):
    ask(tmp_path)
    assert run(tmp_path, "users", "list")[0] == "local  1 conversation, 6 bytes\n"
    assert run(tmp_path, "users", "export", "local", "me.zip")[0].startswith(
        "local: 1 conversation and the account in me.zip"
    )
    output, _ = run(tmp_path, "users", "delete", "local", "--yes")
    assert output.splitlines()[0] == "deleted all of local:"
    assert [line.split() for line in output.splitlines()[1:] if "files" not in line] == ROWS
    assert run(tmp_path, "users", "list")[0] == "nothing is stored here of anybody\n"
    assert "a kiwi" not in "".join(path.read_text("latin-1") for path in (tmp_path / "data").rglob("*.*"))
    assert run(tmp_path, "import", "me.zip")[0] == "1 conversation imported\n"


ROWS = [["attachments", "1"], ["blobs", "1"], ["conversations", "1"], ["known", "1"], ["messages", "2"]]


def test_nothing_is_deleted_without_a_yes(tmp_path):
    ask(tmp_path)
    _, asked = run(tmp_path, "users", "delete", "local", stdin="n\n", status=1)
    assert (
        "permanently delete all of local (attachments: 1, blobs: 1, conversations: 1, known: 1, messages: 2)?" in asked
    )
    assert "nothing was changed" in asked
    assert json.loads(run(tmp_path, "users", "list", "--json")[0])[0]["conversations"] == 1


def test_an_unknown_person_is_an_error_of_both_commands(tmp_path):
    ask(tmp_path)
    for arguments in (("delete", "ann@issuer", "-y"), ("export", "ann@issuer", "ann.zip")):
        _, problem = run(tmp_path, "users", *arguments, status=1)
        assert "nothing is stored here of a user 'ann@issuer': `showandtell users list`" in problem
    assert not (tmp_path / "ann.zip").exists()
    assert "ann.zip exists already" not in run(tmp_path, "users", "export", "local", "ann.zip")[0]


def test_what_was_deleted_is_one_json_value(tmp_path):
    ask(tmp_path)
    deleted = json.loads(run(tmp_path, "users", "delete", "local", "--yes", "--json")[0])
    assert deleted["deleted"] == {name: int(number) for name, number in ROWS}
    assert (deleted["user"], deleted["bytes"], deleted["left"]) == ("local", 6, {"written": 0, "copies": []})
