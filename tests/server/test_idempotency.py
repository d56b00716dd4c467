"""Which chat requests repeat an earlier one, and where edits and regenerations branch off, as a table of cases."""

import msgspec
import pytest

from showandtell.core.messages.message import BranchPoint, Message
from showandtell.core.messages.parts import Approval, Text, ToolCall
from showandtell.errors import NotFound
from showandtell.server import idempotency
from showandtell.server.chat_request import parse_chat_request
from showandtell.storage.conversations.runs import RunRow


def user(id, parent=None, text="Hello"):  # noqa: A002 - it is one
    return Message(id, "user", (Text(text),), parent_id=parent)


def assistant(id, parent, *calls):  # noqa: A002 - it is one
    return Message(id, "assistant", (Text("Hi."), *(ToolCall(call, "pay", "{}") for call in calls)), parent_id=parent)


def approval(id, parent, call):  # noqa: A002 - it is one
    return Message(id, "user", (Approval(call, approved=True),), parent_id=parent)


#: Two turns: the client calls their messages m1 and m2.
ONE, TWO = [user("msg_1"), assistant("msg_2", "msg_1")], [user("msg_3", "msg_2"), assistant("msg_4", "msg_3")]
#: The first message, edited to "Edited", with its answer.
EDITED = [user("msg_5", None, "Edited"), assistant("msg_6", "msg_5")]
ASKING = [user("msg_1"), assistant("msg_2", "msg_1", "call_1")]
#: The model reused the call id of the first turn.
ASKING_AGAIN = [*ASKING, approval("msg_3", "msg_2", "call_1"), user("msg_4", "msg_3")]
ASKING_AGAIN.append(assistant("msg_5", "msg_4", "call_1"))


def user_message(text="Hello", id="m1", edits=None):  # noqa: A002 - it is one
    """What the stock client sends for a new or an edited message."""
    body = {"id": "chat", "messages": [{"id": id, "role": "user", "parts": [{"type": "text", "text": text}]}]}
    return body if edits is None else {**body, "messageId": edits}


def regenerate(target=None):
    return {"id": "chat", "messages": user_message()["messages"], "trigger": "regenerate-message", "messageId": target}


def approve(call="call_1", *, approved=True, newest=None):
    answered = {"id": call, "approved": approved}
    part = {"type": "tool-pay", "state": "approval-responded", "approval": answered}
    return {"id": "chat", "messages": [{"id": "x", "role": "assistant", "parts": [part]}], "messageId": newest}


def edit_key(target, text):
    return f"{target} {idempotency.hash_of([text])}"


def approval_key(asking, *, approved=True):
    return f"approval {asking} {idempotency.hash_of([['call_1', [approved, '']]])}"


EDIT = edit_key("m1", "Edited")
#: The branch of the conversation, the runs stored as {key: (message it answers, state)}, and what the client sends;
#: then the key of the run that is followed or started, whether it is followed, and the message that it branches off.
NONE = "no branch"
CASES = {
    "a first message starts a run": ([], {}, user_message(), ("m1", False, NONE)),
    "a second message starts a run": (ONE, {"m1": "msg_1"}, user_message(id="m2"), ("m2", False, NONE)),
    "a message sent twice follows its run": (ONE, {"m1": "msg_1"}, user_message(), ("m1", True, NONE)),
    "a message sent twice while it is answered": ([], {"m1": (None, "running")}, user_message(), ("m1", True, NONE)),
    "a message sent twice with other text is the same": (ONE, {"m1": "msg_1"}, user_message("Ho"), ("m1", True, NONE)),
    "a late copy from a left branch follows its run": (EDITED, {"m1": "msg_1"}, user_message(), ("m1", True, NONE)),
    "an empty list of messages continues": (ONE, {"m1": "msg_1"}, {"id": "chat"}, (None, False, NONE)),
    "an edit by the client's id": (ONE, {"m1": "msg_1"}, user_message("Edited", edits="m1"), (EDIT, False, None)),
    "an edit by the stored id": (
        ONE,
        {},
        user_message("Edited", edits="msg_1"),
        (edit_key("msg_1", "Edited"), False, None),
    ),
    "an edit of a later message": (
        [*ONE, *TWO],
        {"m1": "msg_1", "m2": "msg_3"},
        user_message("Edited", "m2", edits="m2"),
        (edit_key("m2", "Edited"), False, "msg_2"),
    ),
    "an edit sent twice follows its run": (
        EDITED,
        {"m1": "msg_1", EDIT: "msg_5"},
        user_message("Edited", edits="m1"),
        (EDIT, True, None),
    ),
    "an edit sent twice while it is answered": (
        ONE,
        {"m1": "msg_1", EDIT: (None, "running")},
        user_message("Edited", edits="m1"),
        (EDIT, True, None),
    ),
    "an edit back to the content of a left branch is new": (
        ONE,
        {"m1": "msg_1", EDIT: "msg_5"},
        user_message("Edited", edits="m1"),
        (f"{EDIT} msg_2", False, None),
    ),
    "an edit back sent twice follows its run": (
        ONE,
        {"m1": "msg_1", EDIT: "msg_5", f"{EDIT} msg_2": "msg_9"},
        user_message("Edited", edits="m1"),
        (f"{EDIT} msg_2", True, None),
    ),
    "an edit of an unknown message": (ONE, {"m1": "msg_1"}, user_message("Edited", edits="m7"), NotFound),
    "an edit of a message that was never stored": (
        ONE,
        {"m1": (None, "running")},
        user_message("Edited", edits="m1"),
        NotFound,
    ),
    "an edit of an approval": (ASKING_AGAIN, {}, user_message("Edited", edits="msg_3"), NotFound),
    "a regeneration of the last response": ([*ONE, *TWO], {}, regenerate(), (None, False, "msg_3")),
    "a regeneration behind an approval": (ASKING_AGAIN[:3], {}, regenerate(), (None, False, "msg_1")),
    "a regeneration by the client's id": (ONE, {"m1": "msg_1"}, regenerate("m1"), (None, False, "msg_1")),
    "a regeneration by the response's id": ([*ONE, *TWO], {}, regenerate("ans_1"), (None, False, "msg_1")),
    "a client's id that looks like a response's id": (
        [*ONE, *TWO],
        {"ans_1": "msg_3"},
        regenerate("ans_1"),
        (None, False, "msg_1"),
    ),
    "a regeneration on another branch": (EDITED, {}, regenerate("ans_3"), (None, False, "msg_3")),
    "a regeneration in an empty conversation": ([], {}, regenerate(), NotFound),
    "a regeneration of an unknown message": (ONE, {}, regenerate("ans_7"), NotFound),
    "an approval": (ASKING, {"m1": "msg_1"}, approve(), (approval_key("msg_2"), False, NONE)),
    "an approval with the id of the newest message": (
        ASKING,
        {},
        approve(newest="ans_1"),
        (approval_key("msg_2"), False, NONE),
    ),
    "an approval sent twice follows its run": (
        ASKING_AGAIN[:3],
        {approval_key("msg_2"): "msg_1"},
        approve(),
        (approval_key("msg_2"), True, NONE),
    ),
    "a denial after an approval": (
        ASKING_AGAIN[:3],
        {approval_key("msg_2"): "msg_1"},
        approve(approved=False),
        (approval_key("msg_2", approved=False), False, NONE),
    ),
    "an approval of a call id that is used again": (
        ASKING_AGAIN,
        {approval_key("msg_2"): "msg_1"},
        approve(),
        (approval_key("msg_5"), False, NONE),
    ),
    "an approval of an unknown call": (ONE, {}, approve("call_1"), (approval_key(""), False, NONE)),
}


def stored_run(key, answers):
    message_id, state = answers if isinstance(answers, tuple) else (answers, "ended")
    return RunRow(f"run {key}", "conv", "me", key, message_id, None, "inspector", state, 0, "worker", 0, 0, 0, None)


@pytest.mark.parametrize(("branch", "stored", "sent", "expected"), CASES.values(), ids=CASES)
def test_a_request_is_recognized_and_branches_off(branch, stored, sent, expected):
    request = parse_chat_request(msgspec.json.encode(sent))
    runs = {key: stored_run(key, answers) for key, answers in stored.items()}
    keys = idempotency.possible_keys(request, branch)
    decision = idempotency.decide(request, branch, {key: runs[key] for key in keys if key in runs})

    def lead():
        everything = {message.id: message for message in [*ONE, *TWO, *EDITED, *branch]} if branch else {}
        return idempotency.find_branch_point(request, branch, [*everything.values()], runs.get(request.message_id))

    if expected is NotFound:
        with pytest.raises(NotFound, match="there is no message"):
            lead()
        return
    key, is_followed, behind = expected
    assert (decision.key, decision.run) == (key, runs[key] if is_followed else None)
    assert idempotency.starts_branch(request) is (behind is not NONE)
    if behind is not NONE:
        assert lead() == BranchPoint(behind)


def test_the_files_of_an_edit_are_part_of_its_key():
    def key(*files):
        body = user_message("Edited", edits="m1")
        body["messages"][0]["parts"] += [{"type": "data-attachment", "data": {"id": id}} for id in files]  # noqa: A001 - it is one
        return idempotency.idempotency_key(parse_chat_request(msgspec.json.encode(body)), ONE)

    assert len({key(), key("att_1"), key("att_2"), key("att_1", "att_2"), key("att_2", "att_1")}) == 5
