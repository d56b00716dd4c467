"""What describes a file goes with it whole: when it is stored, exported, read again and attached elsewhere."""

import dataclasses

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from showandtell import Draft, File
from showandtell.core.messages.attachments import Facts, ProbedFile
from showandtell.core.messages.conversation_file import FileRecord, dump, parse
from showandtell.core.messages.file import DETAILS, details_of
from showandtell.storage.conversations.transfer import record_of
from showandtell.storage.files.numbering import Register

#: The fields of a file that don't describe it: its bytes, and its place.
OTHERS = {"source", "within", "number", "date", "upload_id", "made_by", "lifted"}
WORDS = st.text("abc xyz", min_size=1, max_size=20).map(lambda text: " ".join(text.split()) or "x")
#: A file with any details. A field that has no strategy fails the test.
VALUES = {
    "media_type": st.sampled_from(["text/plain", "text/csv"]),
    "name": WORDS,
    "description": WORDS,
    "id": WORDS,
    "audience": st.sampled_from(["both", "user", "assistant"]),
    "shared_by": WORDS,
    "in_context": st.booleans(),
    "metadata": st.dictionaries(WORDS, st.integers(0, 9), min_size=1, max_size=2),
    "convert": st.booleans(),
}
FILES = st.fixed_dictionaries(VALUES).map(lambda details: File(b"a", **details))


def store(file):
    """The file as an attachment of a conversation."""
    proved = [ProbedFile(file.name, Facts("0" * 64, "text/plain", 1))]
    return Register().accept(Draft("user", (file,)), proved).attachments[0]


def exported(attachment, folder):
    """The file after an export and an import."""
    record = msgspec.structs.replace(record_of(attachment), path=None, problem=None, data="YQ==")
    message = Register().accept(Draft("user", (File(b"a", number=1),)), [ProbedFile("a")]).message
    (draft,) = parse(dump([message], lambda _: record), folder)
    return draft.parts[0]


def test_every_field_of_a_file_is_a_detail_or_says_where_it_is():
    assert {field.name for field in dataclasses.fields(File)} == {*DETAILS} | OTHERS
    assert set(FileRecord.__struct_fields__) >= {*DETAILS} == set(VALUES)


@given(FILES)
def test_an_attachment_becomes_the_same_file_again(file):
    attachment = store(file)
    assert details_of(attachment.as_file(b"a")) == details_of(file)
    assert details_of(store(attachment.as_file(b"a")).as_file(b"a")) == details_of(file)


@given(file=FILES)
def test_an_exported_file_is_the_same_when_it_is_read(file, tmp_path_factory):
    assert details_of(exported(store(file), tmp_path_factory.getbasetemp())) == details_of(file)
