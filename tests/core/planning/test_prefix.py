"""The prompt of a step starts with the bytes of the previous step, so that the provider's cache is used."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.message import Draft
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

#: With this number of steps, every file is worth an upload.
UPLOADS = Policy(cache=True, uploads=True, expected_steps=10_000_000)
#: One model of each row that stores files, besides the inspector's.
STORING = (
    "anthropic:claude-sonnet-4-5",
    "google:gemini-2.5-flash",
    "openai:gpt-5-mini",
    "openai-chat:gpt-5-mini",
    "xai:grok-4-1-fast-non-reasoning",
)


#: Seven requests with everything that moves files or text: uploads, parallel calls, JSON, errors, approvals.
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
    """The first file in view and the bytes of each request of a conversation, in one run."""
    return asked([*views(drafts)], model, policy, forbid=forbid)


def count_marks(body):
    return sum(body.count(mark) for mark in MARKS)


def stable(model):
    """How many of the seven prompts start with the previous one: with few images a request, some leave the view.

    With five they leave twice, because the user's own stay and leave little room for others.
    """
    is_shown = resolve(model).cell("user", "image/png", "inline").verdict != "rejects"
    images = resolve(model).budget.images or 100
    return 6 if not is_shown or images >= 10 else 5 if images > 5 else 4


def list_of(model):
    key = {"gemini": b'"contents":[', "openai-responses": b'"input":['}.get(resolve(model).api, b'"messages":[')
    return lambda body: body.partition(key)[2]


@pytest.mark.parametrize("model", MODELS)
def test_each_prompt_starts_with_the_previous_one(model):
    steps = [*requests(TALK, model, Policy(cache=True))]
    assert (len(steps), check_prefixes(steps)) == (7, stable(model))


@pytest.mark.parametrize("model", MODELS)
def test_each_prompt_with_uploads_starts_with_the_previous_one(model):
    steps = [*requests(TALK, model, UPLOADS)]
    assert (len(steps), check_prefixes(steps)) == (7, stable(model))
    assert model not in STORING or b"file_" in steps[-1][1].replace(b"file_data", b"")


@pytest.mark.parametrize("model", MODELS)
def test_forbidding_tools_in_the_last_step_does_not_change_the_messages(model):
    steps = [*requests(TALK, model, Policy(cache=True), forbid=True)]
    assert check_prefixes(steps, list_of(model)) == stable(model)


@examples(150)
@given(
    talks(),
    st.sampled_from(MODELS),
    st.sampled_from([Policy(cache=True), Policy(cache=True, max_in_context=2), UPLOADS]),
)
def test_prompts_only_grow_until_files_leave_the_view(drafts, model, policy):
    check_prefixes([*requests(drafts, model, policy)])


@pytest.mark.parametrize("model", MODELS)
def test_cache_marks_change_no_other_byte(model):
    marked = [body for _, body in requests(TALK, model, Policy(cache=True))]
    plain = [body for _, body in requests(TALK, model, Policy())]
    assert [unmarked(body) for body in marked] == plain == [unmarked(body) for body in plain]


@pytest.mark.parametrize("model", MODELS)
def test_a_request_has_cache_marks_if_its_row_says_so(model):
    counts = [count_marks(body) for _, body in requests(TALK, model, Policy(cache=True))]
    assert counts == ([1, 2, 2, 2, 2, 2, 2] if resolve(model).order.marks else [0] * 7)
