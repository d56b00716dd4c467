"""Names and ids of files that programs keep beside OpenAI's messages."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell import File, Text, from_openai, render
from showandtell.core.messages.file import Uri
from showandtell.samples import folder

KIWI = (folder() / "kiwi.jpg").read_bytes()
URL = f"data:image/jpeg;base64,{base64.b64encode(KIWI).decode()}"
LINK = "https://files.example/a?signature=1"


def image(url=URL, **beside):
    return {"type": "image_url", "image_url": {"url": url}, **beside}


def read(*parts, role="user", **message):
    (draft,) = from_openai([{"role": role, "content": list(parts), **message}])
    return draft.parts


def named(parts):
    return [(part.name, part.description) for part in parts if isinstance(part, File)]


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"filename": "wall.jpg", "attachment_id": "att-17"}, ("wall.jpg", "attachment id att-17")),
        ({"name": "wall.jpg"}, ("wall.jpg", None)),
        ({"file_name": "wall.jpg", "id": 17}, ("wall.jpg", "attachment id 17")),
        ({"fileName": " wall\n.jpg "}, ("wall .jpg", None)),
        ({"filename": 5.5, "id": None}, (None, None)),
        ("wall.jpg", (None, None)),
        (None, (None, None)),
    ],
)
def test_a_part_s_metadata_names_its_file(metadata, expected):
    assert named(read(image(metadata=metadata))) == [expected]


def test_a_file_keeps_its_own_name():
    part = {"type": "file", "file": {"file_data": URL, "filename": "own.jpg"}, "extras": {"filename": "other.jpg"}}
    assert named(read(part)) == [("own.jpg", None)]


def test_attachments_belong_to_the_part_with_their_address_id_or_name():
    parts = read(
        image(),
        image(LINK),
        {"type": "input_image", "file_id": "file-9"},
        attachments=[
            {"id": "file-9", "name": "third.png"},
            {"id": 2, "name": "second.png", "url": LINK},
            {"id": 1, "name": "first.jpg", "url": URL},
        ],
    )
    assert [name for name, _ in named(parts)] == ["first.jpg", "second.png", "third.png"]


def test_as_many_attachments_as_files_belong_to_them_in_order():
    entries = [{"name": "a.jpg", "contentType": "image/jpeg"}, {"filename": "b.jpg", "type": "image"}]
    assert named(read(image(), image(), attachments=entries)) == [("a.jpg", None), ("b.jpg", None)]


@pytest.mark.parametrize(
    "entries",
    [[{"name": "a.pdf", "mimeType": "application/pdf"}], [{"name": "a.pdf"}, {"name": "b.pdf", "url": LINK}]],
)
def test_attachments_that_may_belong_to_no_part_are_named_in_the_message(entries):
    parts = read({"type": "text", "text": "Look"}, image(), attachments=entries)
    assert named(parts) == [(None, None)]
    assert parts[-1] == Text(f"Attached, but not included: {', '.join(entry['name'] for entry in entries)}")


def test_attachments_of_a_message_in_plain_text_are_named_and_never_opened():
    (draft,) = from_openai([{"role": "user", "content": "Sum it", "attachments": [{"file_id": "f1", "url": LINK}]}])
    assert draft.parts == (Text("Sum it"), Text("Attached, but not included: a file (attachment id f1)"))


def test_results_of_tools_have_attachments_too():
    call = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}
    result = {"role": "tool", "tool_call_id": "c", "content": [image()], "attachments": ["plan.jpg"]}
    assert named(from_openai([call, result])[-1].parts) == [("plan.jpg", None)]


def test_the_model_reads_name_and_id():
    history = from_openai(
        [{"role": "user", "content": [image(metadata={"filename": "wall.jpg", "attachment_id": "att-17"})]}]
    )
    text = str(render(history, model="openai-chat:gpt-5").kwargs()["messages"])
    assert "image 1: wall.jpg, uploaded by the user" in text
    assert "attachment id att-17" in text


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just(LINK),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["name", "id", "url", "type", "x"]), inner),
    max_leaves=8,
)


@given(JUNK, JUNK)
def test_any_attachments_keep_all_parts_and_add_no_file(attachments, metadata):
    parts = read({"type": "text", "text": "Look"}, image(metadata=metadata), image(), attachments=attachments)
    assert [type(part) for part in parts[:3]] == [Text, File, File]
    assert all(isinstance(part, Text) for part in parts[3:])
    assert not any(isinstance(part.source, Uri) for part in parts if isinstance(part, File))
