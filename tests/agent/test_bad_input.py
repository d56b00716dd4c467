"""Whatever people and tools hand in: a typed error that names the file and says what to do, or a note for the model."""

import asyncio
import io
import json
import os
import re
import threading
from pathlib import Path

import pybase64
import pytest

from showandtell import (
    BadConversation,
    BadFile,
    BadInput,
    BadValue,
    Draft,
    File,
    Text,
    ToolCall,
    ToolResult,
    UnsupportedFile,
    explain,
    render,
)
from showandtell.core.collect.entry import collect
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.files import proofs
from showandtell.storage.files.file_cache import FileCache, clean_description, clean_name
from showandtell.storage.files.paths import check_opened
from support.builders import really_planned, tool_history, user_history, words
from support.fixtures import bomb, huge_png, jpeg, locked_pdf, pdf, png, truncated

CLAUDE = "anthropic:claude-sonnet-4-5"

BROKEN = {
    "empty": (File.from_bytes(b"", name="empty.png"), "is empty"),
    "torn": (File.from_bytes(truncated(png(64, 64)), name="torn.png"), "torn"),
    "huge": (File.from_bytes(huge_png(), name="huge.png"), "megapixels"),
    "no pages": (File.from_bytes(pdf(), name="none.pdf"), "no pages"),
    "locked": (File.from_bytes(locked_pdf("secret"), name="locked.pdf"), "password"),
    "vanished": (File.from_path("/nowhere/gone.png"), "check that it exists"),
    "over the cap": (File.from_bytes(png() + bytes(30_000_000), name="big.png"), "larger than"),
    "short": (File.from_reader(lambda: io.BytesIO(png()), 10, "image/png", name="short.png"), "announced with 10"),
}
each_broken = pytest.mark.parametrize(("file", "problem"), BROKEN.values(), ids=BROKEN)


@each_broken
def test_a_broken_upload_is_refused_by_name_with_what_to_do(file, problem):
    with pytest.raises(UnsupportedFile, match=file.name) as caught:
        render(user_history(file), model=CLAUDE)
    assert problem in str(caught.value)
    assert ": " in caught.value.files[0][1]


@each_broken
def test_a_broken_file_of_a_tool_is_a_note_for_the_model_and_keeps_its_number(file, problem):
    plan = really_planned(tool_history("Here:", file, File.from_bytes(png(), name="good.png")), CLAUDE)
    output = words(plan.entries[-1].parts[0].parts)
    assert problem in output[1]
    assert output[1].startswith(("⟦image 1 (", "⟦document 1 (", "⟦file 1 ("))
    assert output[2].startswith("⟦image 2: good.png")
    assert [receipt.delivery for receipt in plan.receipts] == ["noted", "native"]


@pytest.mark.parametrize(
    ("data", "name", "proved"),
    [
        (b"<!doctype html><p>hi", "page.png", "text/html"),
        (bomb(), "bomb.pdf", "application/zip"),
        (jpeg(), "photo.pdf", "image/jpeg"),
    ],
)
def test_a_claim_that_the_bytes_deny_is_corrected_and_reported(data, name, proved):
    receipt = explain(tool_history(File.from_bytes(data, name=name)), model=CLAUDE)[0]
    assert receipt.media_type == proved
    assert f"and is {proved}" in receipt.reason


def test_a_name_that_says_another_picture_is_no_claim():
    receipt = explain(tool_history(File.from_bytes(jpeg(), name="photo.png")), model=CLAUDE)[0]
    assert receipt.media_type == "image/jpeg"
    assert "claimed" not in receipt.reason


@pytest.mark.parametrize("data", ["Crème brûlée\n".encode("latin-1"), "Crème brûlée\n".encode("utf-16")])
def test_text_in_another_encoding_is_given_as_words_that_say_which(data):
    request = render(user_history(File.from_bytes(data, name="menu.txt")), model=CLAUDE)
    sent = json.dumps(request.json(), ensure_ascii=False)
    assert "Crème brûlée" in sent
    assert re.search(r"menu\.txt[^⟧]*read as (windows-1252|utf-16le)", sent)
    assert re.search(r"in (windows-1252|utf-16le), and models get UTF-8", request.receipts[0].reason)


def test_a_media_type_that_does_not_parse_is_passed_over_and_reported():
    plan = really_planned(tool_history(File.from_bytes(png(), "picture", "x.png")), CLAUDE)
    assert plan.receipts[0].delivery == "native"
    assert "it claimed to be 'picture'" in words(plan.entries[-1].parts[0].parts)[0]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a" * 4096 + ".png", "a" * 115 + "….png"),
        ("invoice\u202egnp.exe", "invoicegnp.exe"),
        ("a\r\nb\x00.png", "ab.png"),
        ("../../etc/passwd", "passwd"),
        ("C:\\files\\x.png", "x.png"),
    ],
)
def test_a_hostile_name_becomes_one_short_line(name, shown):
    assert clean_name(name) == shown
    plan = really_planned(tool_history(File.from_bytes(png(), name=name)), CLAUDE)
    assert f"⟦image 1: {shown}, from tool" in words(plan.entries[-1].parts[0].parts)[0]


def test_an_address_goes_where_the_api_opens_addresses():
    file = File.from_uri("https://example.com/kiwi.jpg")
    request = render(tool_history(file), model=CLAUDE)
    assert request.json()["messages"][2]["content"][0]["content"][1]["source"] == {
        "type": "url",
        "url": "https://example.com/kiwi.jpg",
    }
    assert request.receipts[0].bytes == 0


def test_an_address_where_the_api_takes_none_is_noted_or_refused():
    file = File.from_uri("gs://bucket/kiwi.jpg")
    assert explain(tool_history(file), model=CLAUDE)[0].delivery == "noted"
    with pytest.raises(UnsupportedFile, match=r"kiwi\.jpg.*gs: addresses can't be opened there"):
        render(user_history(file), model=CLAUDE)


@pytest.mark.parametrize(
    ("claimed", "media_type"),
    [("image/jpg", "image/jpeg"), ("IMAGE/JPEG", "image/jpeg"), ("text/plain; charset=utf-8", "text/plain")],
)
def test_the_media_type_of_an_address_is_written_as_usual(claimed, media_type):
    assert FileCache().probe(File.from_uri("https://e.com/x", claimed)).address.media_type == media_type


def test_the_ending_of_an_address_is_read_by_our_own_table():
    assert FileCache().probe(File.from_uri("https://e.com/a.MD?x=1")).address.media_type == "text/markdown"
    plan = really_planned(tool_history(File.from_bytes(jpeg())), CLAUDE)
    assert "⟦image 1: get.jpg, from" in words(plan.entries[-1].parts[0].parts)[0]


def test_a_description_is_one_line_without_files():
    uri = f"data:image/png;base64,{pybase64.b64encode(png()).decode()}"
    assert clean_description(f"a \u202eboat\n at\x00 sea {uri} .") == "a boat at sea ."
    assert clean_description(uri) is None
    assert clean_description("long " * 200) == ("long " * 100)[:499] + "…"


def test_an_address_without_a_media_type_says_what_to_give():
    with pytest.raises(UnsupportedFile, match="media_type="):
        render(user_history(File.from_uri("https://example.com/download")), model=CLAUDE)


def test_a_scheme_that_no_provider_opens_is_an_error_at_once():
    with pytest.raises(BadFile, match="file"):
        File.from_uri("file:///etc/passwd")
    with pytest.raises(BadFile, match=r"is not a valid URI \(Invalid IPv6 URL\)"):
        File.from_uri("https://[")


def test_a_path_that_leaves_its_folder_is_an_error_at_once(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.txt").write_text("x")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "secret.txt")
    for path in ("../secret.txt", "link", str(tmp_path / "secret.txt")):
        with pytest.raises(BadFile, match="outside the folder"):
            File.from_path(path, within=tmp_path / "in")


def test_what_is_no_regular_file_is_never_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    for path in (tmp_path / "pipe.png", tmp_path, Path("/dev/zero")):
        assert FileCache().probe(File.from_path(path)).problem.startswith("is no regular file: name a file")
        with pytest.raises(BadFile, match="is no regular file"):
            File.from_path(path).read()
    assert FileCache().probe(File.from_path("a\0b.png")).problem == "is no path: check how it is written"


@pytest.mark.parametrize("end", ["file.png", "deep"])
def test_a_path_that_becomes_a_link_after_its_check_is_not_followed(tmp_path, end):
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside / "deep", outside):
        folder.mkdir(parents=True)
        (folder / "file.png").write_bytes(png())
    file = File.from_path("deep/file.png", within=inside)
    assert file.read() == png()
    (inside / "deep" / "file.png").unlink()
    if end == "deep":
        (inside / "deep").rmdir()
    (inside / "deep" if end == "deep" else inside / "deep" / end).symlink_to(
        outside if end == "deep" else outside / end
    )
    assert FileCache().probe(file).problem.startswith("is outside the folder")


def test_what_was_opened_is_looked_at_once_more(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.txt").write_text("x")
    with (tmp_path / "secret.txt").open() as stream, pytest.raises(BadFile, match="outside the folder"):
        check_opened(stream.fileno(), tmp_path / "in" / "secret.txt", tmp_path / "in")


def test_links_in_a_circle_are_an_error_at_once(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(BadFile, match="leads in a circle"):
        File.from_path("a", within=tmp_path)


def test_a_reader_that_never_ends_holds_up_nobody(monkeypatch):
    monkeypatch.setattr(proofs, "PROBE_SECONDS", 0.2)
    end = threading.Event()
    slow = File.from_reader(lambda: io.BytesIO(png() * end.wait()), len(png()), "image/png", name="slow.png")
    draft = Draft("user", (*[slow] * 5, File.from_bytes(b"words", name="good.txt")))
    found = asyncio.run(MemoryConversation().probe(draft))
    end.set()
    assert [item.problem for item in found[:5]] == ["was not read in time (0.2 s): check what it is read from"] * 5
    assert found[5].facts.size == 5


@pytest.mark.parametrize("given", [None, "text", KeyError("x")])
def test_a_reader_that_raises_anything_has_that_for_its_problem(given):
    def open_it():
        if isinstance(given, Exception):
            raise given
        return io.StringIO(given) if given else None

    problem = FileCache().probe(File.from_reader(open_it, 4, "text/plain", "x.txt")).problem
    assert problem.startswith("can't be read (")


def test_stored_bytes_are_for_reading_only():
    file_cache = FileCache()
    facts = file_cache.probe(File.from_bytes(png())).facts
    assert file_cache.blobs.blob(facts.sha256).stat().st_mode & 0o777 == 0o400


def test_a_reader_is_opened_when_the_message_is_sent_and_not_before():
    opened = []

    def open_it():
        opened.append(1)
        return io.BytesIO(png())

    file = File.from_reader(open_it, len(png()), "image/png", name="late.png")
    assert opened == []
    assert render(user_history(file), model=CLAUDE).receipts[0].delivery == "native"
    assert opened == [1]


def test_nan_in_a_result_names_its_place():
    with pytest.raises(BadValue, match="/rows/1"):
        ToolResult({"rows": [1.0, float("nan")]})


def test_lone_surrogates_become_the_replacement_character():
    request = render([Draft("user", tuple(collect("a\ud800b")))], model=CLAUDE)
    assert request.json()["messages"][0]["content"][0]["text"] == "a\ufffdb"


def calls(*call_ids):
    return Draft("assistant", tuple(ToolCall(call_id, "get", "{}") for call_id in call_ids))


def done(call_id):
    return Draft("tool", (Text("done"),), call_id, "get")


@pytest.mark.parametrize(
    ("drafts", "problem"),
    [
        ([calls("a", "a"), done("a")], "used twice"),
        ([calls("a"), done("a"), calls("a"), done("a")], "used twice"),
        ([done("a")], "answers no call"),
        ([calls("a"), done("a"), done("a")], "answers no call"),
        ([calls("a")], "has no result"),
        ([calls("a", "b"), done("b"), Draft("user", (Text("x"),))], "'a' has no result"),
    ],
)
def test_calls_and_results_that_do_not_match_are_reported_by_place(drafts, problem):
    with pytest.raises(BadConversation, match=problem) as caught:
        render([Draft("user", (Text("go"),)), *drafts], model=CLAUDE)
    assert "messages[" in str(caught.value)


def test_every_refused_file_is_named_at_once():
    files = [File.from_bytes(b"", name=f"empty{number}.png") for number in range(3)]
    with pytest.raises(UnsupportedFile) as caught:
        render(user_history(*files), model=CLAUDE)
    assert [label for label, _ in caught.value.files] == [f"file {n + 1} (empty{n}.png)" for n in range(3)]


def test_the_cap_is_a_setting():
    file_cache = FileCache(max_file_bytes=10)
    with pytest.raises(UnsupportedFile, match="larger than 10 bytes"):
        render(user_history(File.from_bytes(png(), name="x.png")), model=CLAUDE, cache=file_cache)


def test_a_file_that_failed_once_is_tried_anew():
    file_cache = FileCache()
    bad = File.from_bytes(b"", name="x.png")
    assert file_cache.probe(bad).problem
    assert file_cache.probe(File.from_bytes(png(), name="x.png")).facts
    assert issubclass(BadFile, BadInput)
    json.dumps(file_cache.probe(bad).problem)


def test_render_gives_up_a_reader_that_never_answers(monkeypatch):
    monkeypatch.setattr(proofs, "PROBE_SECONDS", 0.2)
    never = threading.Event()
    file = File.from_reader(never.wait, 10, "image/png", name="never.png")
    with pytest.raises(UnsupportedFile, match=r"never\.png.*was not read in time"):
        render(user_history(file), model=CLAUDE)
