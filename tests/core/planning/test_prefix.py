"""A step's prompt begins with the bytes of the step before, so that what a provider has cached of it is read again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.messages import Draft
from showandtell.core.messages.parts import Approval, Shown, Text
from showandtell.core.planning.values import Policy
from support.growing_conversations import (
    BEEP,
    CHART,
    CLIP,
    KIWI,
    MARKS,
    MODELS,
    NOTES,
    PHOTO,
    REPORT,
    asked,
    calling,
    charted,
    check_prefixes,
    returned,
    talks,
    unmarked,
    views,
)
from support.properties import examples

#: So many steps that every file is worth its upload.
UPLOADS = Policy(cache=True, uploads=True, expected_steps=10_000_000)
#: One model of each row that stores files, besides the inspector's.
STORING = (
    "anthropic:claude-sonnet-4-5",
    "google:gemini-2.5-flash",
    "openai:gpt-5-mini",
    "openai-chat:gpt-5-mini",
    "xai:grok-4-1-fast-non-reasoning",
)


#: Everything that moves files or words about, and seven requests: lone words, uploads, parallel calls, JSON, errors, approvals.
TALK = [
    Draft("user", (Text("hello"),)),
    Draft("assistant", (Text("Hi."),), stop="end"),
    Draft("user", (Text("look"), KIWI, REPORT)),
    calling("call:1", "call:2", text="One moment."),
    returned("call:2", Text("Here:"), CHART, REPORT),
    returned("call:1", charted(PHOTO), BEEP),
    calling("call_3"),
    returned("call_3", Text("half of it"), CLIP, Shown(1, ""), is_error=True),
    Draft("assistant", (Text("Drawn:"), CHART), stop="end"),
    Draft("user", (Text("and now?"),)),
    calling("toolu_4", "toolu_5"),
    returned("toolu_4", NOTES),
    Draft("user", (Approval("toolu_5", approved=True),)),
    returned("toolu_5"),
    calling("call_6"),
    returned("call_6", Text("the last")),
]


def requests(drafts, model, policy, *, forbid=False):
    """The frontier and the bytes of each request of a conversation, in one run."""
    return asked([*views(drafts)], model, policy, forbid=forbid)


def count_marks(body):
    return sum(body.count(mark) for mark in MARKS)


def stable(model):
    """How many of the talk's seven prompts begin with the one before: Groq's five pictures leave the view once."""
    return 5 if model.startswith("groq:") else 6


def list_of(model):
    key = {"gemini": b'"contents":[', "openai-responses": b'"input":['}.get(resolve(model).api, b'"messages":[')
    return lambda body: body.partition(key)[2]


@pytest.mark.parametrize("model", MODELS)
def test_each_prompt_of_every_row_begins_with_the_one_before(model):
    steps = [*requests(TALK, model, Policy(cache=True))]
    assert (len(steps), check_prefixes(steps)) == (7, stable(model))


@pytest.mark.parametrize("model", MODELS)
def test_each_prompt_with_uploads_begins_with_the_one_before(model):
    steps = [*requests(TALK, model, UPLOADS)]
    assert (len(steps), check_prefixes(steps)) == (7, stable(model))
    assert model not in STORING or b"file_" in steps[-1][1].replace(b"file_data", b"")


@pytest.mark.parametrize("model", MODELS)
def test_forbidding_tools_in_the_last_step_changes_nothing_in_the_list(model):
    steps = [*requests(TALK, model, Policy(cache=True), forbid=True)]
    assert check_prefixes(steps, list_of(model)) == stable(model)


@examples(150)
@given(talks(), st.sampled_from(MODELS), st.sampled_from([Policy(cache=True), Policy(cache=True, focus=2), UPLOADS]))
def test_a_growing_conversation_only_adds_to_its_prompt_until_files_leave_the_view(drafts, model, policy):
    check_prefixes([*requests(drafts, model, policy)])


@pytest.mark.parametrize("model", MODELS)
def test_marks_change_no_other_byte(model):
    marked = [body for _, body in requests(TALK, model, Policy(cache=True))]
    plain = [body for _, body in requests(TALK, model, Policy())]
    assert [unmarked(body) for body in marked] == plain == [unmarked(body) for body in plain]


@pytest.mark.parametrize("model", MODELS)
def test_a_request_has_as_many_marks_as_its_row_says(model):
    counts = [count_marks(body) for _, body in requests(TALK, model, Policy(cache=True))]
    assert counts == ([1, 2, 2, 2, 2, 2, 2] if resolve(model).order.marks else [0] * 7)
