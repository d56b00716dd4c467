"""Records of messages and files as rows of the database."""

from showandtell.core.messages.attachments import Attachment, Origin
from showandtell.core.messages.message import Message
from showandtell.storage.database.rows import read_attachments, read_messages, serialize


def test_records_omit_what_is_not_given_and_older_ones_are_read():
    file = Attachment("att_1", 1, "a.png", Origin("tool"), "2026-11-26")
    message = Message("msg_1", "tool")
    record = serialize(file).replace(',"convert":true', "")
    assert "metadata" not in record + serialize(message)
    assert "external_id" not in record
    assert read_attachments.decode(f"[{record}]") == [file]
    assert (file.metadata, message.metadata) == (None, None)
    assert read_messages.decode(f"[{serialize(message)}]") == [message]
