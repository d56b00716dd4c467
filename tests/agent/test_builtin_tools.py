"""The tools that come along: `read_file` stays in its folder, `chart` draws, `view_file` and `list_files` look back."""

import hashlib
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from showandtell import Agent, File
from showandtell.agent.builtin_tools import builtin_tools, chart, list_files, read_file_in, view_file
from showandtell.agent.context import Files, RunContext
from showandtell.agent.tools import as_tool
from showandtell.inspector.request import files_of
from showandtell.media import gate
from showandtell.media.draw import choose_axis, clip, format_number, small_font, split_marks, strip_marks, thin_out
from support.builders import attachment
from support.docx import word_file
from support.fixtures import pdf, png, wav
from support.scripted import GPT, check_usable, each_api, results, say, scripted

PICTURE = png(8, 8)

KINDS = {"a.png": PICTURE, "b.pdf": pdf("one", "two"), "c.wav": wav(), "d.txt": b"words"}


@pytest.fixture
def folder(tmp_path):
    """A folder with files of several kinds, beside a secret that it links to."""
    (tmp_path / "secret.txt").write_text("hunter2")
    inside = tmp_path / "in"
    (inside / "deep").mkdir(parents=True)
    (inside / "red.png").write_bytes(PICTURE)
    (inside / "note.txt").write_text("the harbour opens at nine")
    (inside / "bill.pdf").write_bytes(pdf("Total 42 EUR"))
    (inside / "blank.pdf").write_bytes(pdf(""))
    (inside / "torn.png").write_bytes(PICTURE[:30])
    (inside / "deep" / "more.txt").write_text("deeper")
    (inside / ".hidden").write_text("hidden words")
    (inside / "link.txt").symlink_to(tmp_path / "secret.txt")
    return inside


def call(tool, arguments, **more):
    """What the model receives for one call, and the run."""
    name = getattr(tool, "name", None) or tool.__name__
    answers = say("", ("c1", name, json.dumps(arguments))), say("Done.")
    run = scripted(*answers, tools=[tool])[0].run_sync("go", **more)
    check_usable(run.conversation)
    ((_, words, failed),) = results(run.messages)
    return words, failed, run


def read(folder, path, **more):
    return call(read_file_in(folder), {"path": path, **more})


def test_a_file_of_the_folder_is_shown(folder):
    words, failed, run = read(folder, "red.png")
    assert (words, failed) == ("", False)
    assert [(file.name, file.read()) for file in run.files] == [("red.png", PICTURE)]


@pytest.mark.parametrize("path", ["deep/more.txt", "./deep/../deep/more.txt"])
def test_a_file_deeper_in_the_folder_is_shown(folder, path):
    assert [file.name for file in read(folder, path)[2].files] == ["more.txt"]


@pytest.mark.parametrize(
    "outside", ["../secret.txt", "link.txt", "/etc/passwd", "{}/../secret.txt", "deep/../../secret.txt"]
)
@pytest.mark.parametrize("original", [True, False])
def test_what_lies_outside_is_refused_without_saying_where_the_folder_is(folder, outside, original):
    words, failed, run = read(folder, outside.format(folder), return_original=original)
    assert failed
    assert "is outside the folder" in words
    assert run.files == []
    assert "hunter2" not in words
    assert str(folder.parent) not in words


@pytest.mark.parametrize("path", ["gone.png", "red.png/x", "a" * 5000, "red.png\x00.txt", "~"])
def test_a_path_without_a_file_lists_the_existing_ones(folder, path):
    words, failed, run = read(folder, path)
    assert (failed, run.files) == (True, [])
    assert "there is no file" in words
    assert words.endswith("there are: bill.pdf, blank.pdf, deep/, note.txt, red.png, torn.png")
    assert str(folder) not in words


@pytest.mark.parametrize(
    ("path", "inside"),
    [("deep", "deep/more.txt"), (".", "bill.pdf, blank.pdf, deep/, note.txt, red.png, torn.png"), ("", "bill.pdf, ")],
)
def test_a_folder_gives_the_names_in_it(folder, path, inside):
    words, failed, run = read(folder, path)
    assert (failed, run.files) == (False, [])
    assert f"{path or '.'} is a folder; in it are: {inside}" in words


def test_of_many_files_the_rest_is_counted(tmp_path):
    for index in range(45):
        (tmp_path / f"{index:02}.txt").write_text("x")
    assert read(tmp_path, "x")[0].endswith("18.txt, 19.txt, … and 25 more")


@pytest.mark.parametrize("path", [".hidden", ".git/config", ".git", "to_hidden"])
@pytest.mark.parametrize("original", [True, False])
def test_hidden_files_count_as_not_there(folder, path, original):
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("hidden words")
    (folder / "to_hidden").symlink_to(folder / ".hidden")
    words, failed, run = read(folder, path, return_original=original)
    assert failed is True
    assert run.files == []
    assert "there is no file" in words
    assert "hidden words" not in words


def test_an_empty_folder_has_no_files(tmp_path):
    assert read(tmp_path, "x")[0] == "there is no file 'x'; there are: none"


TEXTS = {
    "note.txt": "the harbour opens at nine",
    "bill.pdf": "[page 1]\nTotal 42 EUR",
    "offer.docx": "The crane costs 900 EUR.",
}


@pytest.mark.parametrize(("path", "text"), TEXTS.items())
def test_the_text_of_a_file_may_be_asked_for_instead(folder, path, text):
    (folder / "offer.docx").write_bytes(word_file("The crane costs 900 EUR."))
    words, failed, run = read(folder, path, return_original=False)
    assert (words.strip(), failed, run.files) == (text, False, [])


@pytest.mark.parametrize(
    ("path", "problem"),
    [("red.png", "is image/png and has no text"), ("blank.pdf", "has no text layer"), ("torn.png", "torn.png")],
)
def test_a_file_without_text_explains_how_to_view_it(folder, path, problem):
    words, failed, _ = read(folder, path, return_original=False)
    assert failed
    assert problem in words
    assert str(folder) not in words


def read_twice(folder):
    calls = [(f"c{at}", "read_file", '{"path": "red.png"}') for at in (1, 2)]
    return scripted(say("", *calls), say("Done."), tools=[read_file_in(folder)])[0].run_sync("go")


def test_a_file_that_is_read_twice_has_two_numbers_and_one_blob(folder):
    conversation = read_twice(folder).conversation
    files = [*conversation.attachments.values()]
    assert [(file.number, file.name, str(file.origin)) for file in files] == [
        (1, "red.png", "tool read_file (c1)"),
        (2, "red.png", "tool read_file (c2)"),
    ]
    assert [kept.sha256 for kept in conversation.file_cache.blobs.list_blobs()] == [hashlib.sha256(PICTURE).hexdigest()]


@each_api
def test_what_was_read_is_shown_when_the_folder_has_lost_it(folder, model):
    conversation = read_twice(folder).conversation
    (folder / "red.png").unlink()
    shown = say("", ("c3", "view_file", '{"number": 2}'), model=model), say("Done.", model=model)
    agent, script = scripted(*shown, model=model, tools=[view_file])
    run = agent.run_sync("again", conversation=conversation)
    assert run.status == "complete"
    assert [file.data for turn in script.asked[1].turns for file in files_of(turn)] == [PICTURE] * 3


def test_a_torn_file_is_a_note_for_the_model(folder):
    _, failed, run = read(folder, "torn.png")
    assert (failed, run.status, run.files) == (False, "complete", [])
    assert [receipt.delivery for receipt in run.receipts] == ["noted"]


def test_a_chart_is_a_picture_with_its_figures():
    words, failed, run = call(chart, {"title": "Boats", "values": [3, -1, 2.5], "labels": ["a", "b"]})
    assert not failed
    with Image.open(io.BytesIO(run.files[0].read())) as image:
        assert (image.format, image.size) == ("PNG", (720, 420))
        assert len(image.convert("RGB").getcolors(100_000)) > 3
    output = [part.text for part in run.messages[2].parts if hasattr(part, "text")]
    assert output == ["The chart 'Boats':", '{"bars":3,"smallest":-1.0,"largest":3.0}']
    assert words == "The chart 'Boats':"


@pytest.mark.parametrize("count", [0, 61])
def test_a_chart_without_or_with_too_many_values_is_reported(count):
    words, failed, run = call(chart, {"title": "Boats", "values": [1.0] * count})
    assert (words, failed, run.files) == (f"a chart takes 1 to 60 values, not {count}", True, [])


@pytest.mark.parametrize("figure", ["1e308", "-1e301", '"nan"', '"inf"', "1, NaN", '1, "NaN", 2'])
def test_a_figure_that_no_chart_can_hold_is_reported(figure):
    calls = say("", ("c1", "chart", f'{{"title": "x", "values": [{figure}]}}'))
    run = scripted(calls, say("Done."), tools=[chart])[0].run_sync("go")
    ((_, words, failed),) = results(run.messages)
    assert failed
    assert "failed with" not in words


@pytest.mark.parametrize("values", [[0.0], [1e300, -1e300], [1e-300, 2e-300], [5e-324], [5.0] * 60])
def test_a_chart_of_any_figures_is_drawn(values):
    _, failed, run = call(chart, {"title": "", "values": values})
    assert (failed, len(run.files)) == (False, 1)


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=60))
def test_an_axis_holds_zero_and_every_value_between_round_figures(values):
    axis = choose_axis(values)
    assert axis.low <= 0 <= axis.high
    assert all(axis.low - axis.step / 1e6 <= value <= axis.high + axis.step / 1e6 for value in values)
    assert 1 <= len(axis.lines) - 1 <= 7
    assert f"{axis.step:.0e}"[0] in "125"


def test_umlauts_are_drawn_and_not_only_their_characters():
    assert gate.draw_chart("Ärger", [1], []) != gate.draw_chart("Arger", [1], []) != gate.draw_chart("?rger", [1], [])
    assert split_marks("Öl für Łódź")[0] == ("O", "..")
    assert strip_marks("Größe 5 €, 中") == "Grosse 5 EUR, ?"


@given(st.text(), st.floats(20, 700))
def test_words_that_are_too_wide_end_in_three_dots(text, room):
    shown = clip(text, small_font(), room)
    whole = " ".join(text.split())
    assert small_font().getlength(strip_marks(shown)) <= room
    assert shown == whole or shown.endswith("…")


@given(st.lists(st.text("abcxyz", min_size=1, max_size=12), min_size=2, max_size=60))
def test_labels_that_are_drawn_never_touch(words):
    slot = 640 / len(words)
    drawn = thin_out(words, [slot * index for index in range(len(words))])
    assert drawn[0] == 0
    assert all(small_font().getlength(words[index]) < slot * drawn.step for index in drawn)


@pytest.mark.parametrize(
    ("value", "output"),
    [(0.1 + 0.2, "0.3"), (1250000, "1,250,000"), (0, "0"), (-2.5, "-2.5"), (1e300, "1e+300"), (1e-9, "1e-09")],
)
def test_a_figure_is_written_as_people_write_it(value, output):
    assert format_number(value) == output


def test_a_file_is_shown_again_under_its_number():
    _, failed, run = call(view_file, {"number": 1}, files=[File.from_bytes(PICTURE, name="up.png")])
    assert (failed, run.messages[2].showings[0].number, len(run.conversation.attachments)) == (False, 1, 1)


def test_a_number_that_no_file_has_lists_the_existing_ones():
    words, failed, _ = call(view_file, {"number": 9}, files=[File.from_bytes(PICTURE, name="up.png")])
    assert (words, failed) == ("this conversation has no file 9; it has: image 1", True)


def test_the_files_of_a_conversation_are_listed_with_their_problems():
    files = [File.from_bytes(PICTURE, name="up.png")]
    run = scripted(say("Ok."))[0].run_sync("look", files=files)
    broken, listing = read_nothing(), say("", ("c2", "list_files", "{}"))
    agent, _ = scripted(say("", ("c1", "get", "{}")), listing, say("Done."), tools=[broken, list_files])
    again = agent.run_sync("list", conversation=run.conversation)
    first, second = json.loads(again.messages[4].parts[0].text)
    assert first == {
        "number": 1,
        "kind": "image",
        "name": "up.png",
        "media_type": "image/png",
        "size": len(PICTURE),
        "origin": "user",
        "pixels": [8, 8],
    }
    assert (second["number"], second["size"], second["origin"]) == (2, None, "tool get (c1)")
    assert "is empty" in second["problem"]


def listed(files, **arguments):
    """What `list_files` says of these files: its records, and the words behind them."""
    calls = say("", ("c1", "list_files", json.dumps(arguments))), say("Done.")
    run = scripted(*calls, tools=[list_files])[0].run_sync("list", files=files)
    words = [part.text for part in run.messages[2].parts]
    return json.loads(words[0]), words[1:]


def test_a_listed_file_says_what_is_known_of_it():
    files = [File.from_bytes(data, name=name) for name, data in KINDS.items()]
    records, more = listed(files)
    known = {
        record["name"]: {key: record[key] for key in ("pixels", "pages", "seconds", "frames") if key in record}
        for record in records
    }
    assert known == {"a.png": {"pixels": [8, 8]}, "b.pdf": {"pages": 2}, "c.wav": {"seconds": 0.2}, "d.txt": {}}
    assert more == []


@pytest.mark.parametrize(("kind", "names"), [("image", ["a.png"]), ("text", ["d.txt"]), ("video", [])])
def test_files_of_one_kind_can_be_listed_alone(kind, names):
    files = [File.from_bytes(data, name=name) for name, data in KINDS.items()]
    assert [item["name"] for item in listed(files, kind=kind)[0]] == names


def test_of_thousands_of_files_the_newest_are_listed():
    made = {at: attachment(at) for at in range(1, 3001)}
    result = list_files(RunContext("me", "conv", "c1", Files(made, made.__getitem__), print))
    words, output = (part.text for part in result.parts)
    numbers = [load["number"] for load in json.loads(words)]
    assert numbers == [*range(2801, 3001)]
    assert output == "These are the newest 200 of 3,000 files. The others can be had by number or name, too."


def read_nothing():
    def get() -> File:
        """Give an empty file."""
        return File.from_bytes(b"", name="empty.png")

    return get


@pytest.mark.parametrize("model", ["inspector", GPT])
def test_all_of_them_work_together(folder, model):
    agent = Agent(model, tools=builtin_tools(folder))
    run = agent.run_sync("/read_file path=red.png /chart title=Boats values=1,2 /view_file number=1 /list_files")
    assert run.status == "complete"
    assert [message.is_error for message in run.messages if message.role == "tool"] == [False, False, True, False]
    run = agent.run_sync("/view_file number=2", conversation=run.conversation)
    assert [shown.number for shown in run.messages[2].showings] == [2]


def test_builtin_tools_are_five(folder):
    names = [as_tool(tool).name for tool in builtin_tools(folder)]
    assert names == ["read_file", "chart", "view_file", "get_document", "list_files"]
