"""`export all`, and `import` of the file that it wrote."""

from zipfile import ZipFile

from support.commandline import call


def run(folder, *arguments, status=0):
    done = call(folder, *arguments, environ={"SHOWANDTELL_DATA": str(folder / "data")})
    assert done.returncode == status, done
    return done.stdout, done.stderr


def test_all_conversations_are_exported_and_imported_elsewhere_once(tmp_path):
    for text in ("the first", "the second"):
        run(tmp_path, "ask", text, "-m", "inspector")
    assert run(tmp_path, "export", "all", "all.zip")[0].startswith("2 conversations in all.zip, ")
    assert "all.zip exists already" in run(tmp_path, "export", "all", "all.zip", status=2)[1]
    elsewhere = ("--data", str(tmp_path / "other"))
    assert run(tmp_path, "import", "all.zip", *elsewhere)[0] == "2 conversations imported\n"
    again = run(tmp_path, "import", "all.zip", *elsewhere)[0]
    assert again == "0 conversations imported, 2 here already\n"
    assert run(tmp_path, "import", "all.zip")[0] == again  # one's own export, where it comes from
    titles = [line.split("files  ")[1] for line in run(tmp_path, "list", *elsewhere)[0].splitlines()]
    assert titles == ["the second", "the first"]


def test_a_conversation_that_can_not_be_read_does_not_keep_the_others_out(tmp_path):
    run(tmp_path, "ask", "the first", "-m", "inspector")
    run(tmp_path, "export", "last", "one.zip")
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("conversations/0001 bad.zip", b"PK\x03\x04 damaged")
        archive.write(tmp_path / "one.zip", "conversations/0002 good.zip")
    output, problems = run(tmp_path, "import", "all.zip", "--data", str(tmp_path / "other"), status=1)
    assert output == "1 conversation imported\n"
    assert "not imported: conversations/0001 bad.zip: conversation.zip is damaged" in problems
    assert "1 conversation of all.zip can't be imported" in problems
