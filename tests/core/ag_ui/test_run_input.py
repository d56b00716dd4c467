"""What an AG-UI request says: its newest user message, its answers to interrupts, and nothing else."""

import json

import pytest
from ag_ui.core import RunAgentInput
from hypothesis import given
from hypothesis import strategies as st

from showandtell import BadInput
from showandtell.core.ag_ui.run_input import FileSource, parse_run_input


def body(*messages, **fields):
    return json.dumps({"threadId": "t", "runId": "r", "messages": [*messages], **fields}).encode()


def user(content, name="m"):
    return {"id": name, "role": "user", "content": content}


ASSISTANT = {"id": "a", "role": "assistant", "content": "Hello."}


def test_the_newest_user_message_counts():
    read = parse_run_input(body(user("one"), ASSISTANT, user("two"), {"id": "x", "role": "activity", "content": {}}))
    assert (read.content, read.thread_id, read.run_id, read.is_legacy) == (("two",), "t", "r", True)
    assert not parse_run_input(body(protocolVersion="1.0")).is_legacy


@pytest.mark.parametrize("messages", [(), (user("one"), ASSISTANT)])
def test_a_message_that_was_answered_does_not_count_again(messages):
    assert parse_run_input(body(*messages)).content is None


def test_parts_are_texts_and_files_in_order():
    url = {
        "type": "image",
        "source": {"type": "url", "value": "https://x.org/a.png"},
        "metadata": {"filename": "a.png"},
    }
    data = {"type": "document", "source": {"type": "data", "value": "QQ==", "mimeType": "text/plain"}, "metadata": 5}
    held = {"type": "audio", "source": {"type": "file", "value": "file-1", "provider": "openai"}}
    old = {"type": "binary", "mimeType": "image/png", "data": "QQ==", "filename": "b.png"}
    read = parse_run_input(body(user([{"type": "text", "text": "see"}, url, data, held, old])))
    assert read.content == (
        "see",
        FileSource("url", "https://x.org/a.png", None, "a.png"),
        FileSource("data", "QQ==", "text/plain"),
        FileSource("file", "file-1"),
        FileSource("data", "QQ==", "image/png", "b.png"),
    )


def answer(status="resolved", payload=None, call="c1"):
    return {"interruptId": call, "status": status, "payload": payload}


@pytest.mark.parametrize(
    ("entry", "decision"),
    [
        (answer(payload={"approved": True}), (True, "")),
        (answer(payload={"approved": False, "reason": "no"}), (False, "no")),
        (answer("cancelled", {"approved": True}), (False, "")),
    ],
)
def test_answers_to_interrupts_are_approvals(entry, decision):
    assert parse_run_input(body(resume=[entry])).approvals == {"c1": decision}


@pytest.mark.parametrize(
    "payload", [None, True, {}, {"approved": 1}, {"approved": "true"}, {"approved": True, "reason": 5}]
)
def test_an_ambiguous_answer_approves_nothing(payload):
    with pytest.raises(BadInput, match="responseSchema"):
        parse_run_input(body(resume=[answer(payload=payload)]))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "not an AG-UI request"),
        (b"[]", "not an AG-UI request"),
        (b'{"threadId": 5, "runId": "r"}', "not an AG-UI request"),
        (b'{"threadId": "\xff", "runId": "r"}', "not UTF-8|not an AG-UI request"),
        (b'{"threadId": "", "runId": "r"}', "not an id"),
        (body(threadId="x" * 501), "not an id"),
        (body(runId="a\0"), "not an id"),
        (body(*[{}] * 100_001), "more than 100000 messages"),
        (body(user([{"type": "text", "text": "x"}] * 201)), "more than 200 parts"),
        (body(user("x" * 1_000_001)), "more than 1,000,000 characters"),
        (body(user([{"type": "hologram"}])), "unknown type"),
        (body(user([{"type": "binary", "mimeType": "image/png"}])), "neither an address nor data"),
        (body(user([{"type": "image", "source": {"type": "wire", "value": "x"}}])), "not an AG-UI request"),
        (
            b'{"threadId": "t", "runId": "r", "messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            "not an AG-UI request",
        ),
    ],
)
def test_a_bad_request_is_a_typed_error_that_says_what_is_wrong(data, message):
    with pytest.raises(BadInput, match=message):
        parse_run_input(data)


anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.just("user")),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["id", "role", "content", "type", "text", "source", "payload"]), inner, max_size=4
        ),
    ),
    max_leaves=12,
)


@given(anything, anything, anything)
def test_any_json_is_a_request_or_a_typed_error(messages, resume, state):
    data = json.dumps({"threadId": "t", "runId": "r", "messages": messages, "resume": resume, "state": state}).encode()
    try:
        read = parse_run_input(data)
    except BadInput:
        return
    assert read.state == state


def test_what_the_python_sdk_writes_is_read():
    sent = RunAgentInput.model_validate_json(body(user("hi"), protocolVersion="1.0", resume=[answer("cancelled")]))
    read = parse_run_input(sent.model_dump_json(by_alias=True).encode())
    assert (read.content, read.approvals, read.is_legacy) == (("hi",), {"c1": (False, "")}, False)
