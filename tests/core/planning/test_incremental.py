"""A plan that goes on from the last one is the plan that is made anew."""

from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.derivations import DerivationRequest, Failed
from showandtell.core.messages.parts import Text
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy, by_kind
from support.builders import Everything, assistant, attachment, result, shown, user, view
from support.properties import examples
from support.replanned_conversations import CLAUDE, MODELS, runs


def steps(count, size=1000):
    files = [attachment(number, size=size) for number in range(1, count + 1)]
    turns = [(assistant(f"c{one.number}", named=f"a{one.number}"), one) for one in files]
    return [
        user("look"),
        *(part for said, one in turns for part in (said, result(f"c{one.number}", shown(one.number)))),
    ], files


@examples(300)
@given(
    runs(),
    st.sampled_from(MODELS),
    st.sampled_from([Policy(), Policy(focus=2), Policy(on_unsupported=by_kind("error"), cache=True)]),
)
def test_every_plan_of_a_growing_conversation_equals_one_made_anew(run, model, policy):
    (messages, files), target, known, kept = run, resolve(model), Everything(), {}
    for end in range(1, len(messages) + 1):
        asked = next(one for one in reversed(messages[:end]) if one.role == "user")
        now = view(*messages[:end], files=files, answering=asked.id)
        assert plan(now, target, known, policy, kept=kept) == plan(now, target, known, policy)


def test_what_was_settled_is_the_same_object_in_the_next_plan():
    messages, files = steps(4)
    target, kept = resolve(CLAUDE), {}
    first = plan(view(*messages[:-2], files=files), target, {}, Policy(), kept=kept)
    second = plan(view(*messages, files=files), target, {}, Policy(), kept=kept)
    assert [id(one) for one in second.entries[: len(first.entries)]] == [id(one) for one in first.entries]


def test_a_rejection_that_was_learnt_unsettles_what_stood():
    messages, files = steps(3)
    target, kept, known = resolve(CLAUDE), {}, {}
    plan(view(*messages[:-2], files=files), target, known, Policy(), kept=kept)
    for recipe in ("original/tool_result", "original/user"):
        known[DerivationRequest(files[0].facts.sha256, recipe, f"{target.name} {target.account}")] = Failed(
            "the provider refused it"
        )
    known[DerivationRequest(files[0].facts.sha256, "image")] = Failed("it can't be converted")
    made = plan(view(*messages, files=files), target, known, Policy(), kept=kept)
    assert [one.delivery for one in made.receipts] == ["noted", "native", "native"]


def test_a_message_that_was_rewritten_unsettles_what_stood():
    messages, files = steps(3)
    target, kept = resolve(CLAUDE), {}
    plan(view(*messages, files=files), target, {}, Policy(), kept=kept)
    now = view(user("look again"), *messages[1:], files=files)
    assert plan(now, target, {}, Policy(), kept=kept).entries[0].parts == (Text("look again"),)


def test_a_file_that_is_another_now_unsettles_what_stood():
    messages, files = steps(3)
    target, kept = resolve(CLAUDE), {}
    plan(view(*messages[:-2], files=files), target, {}, Policy(), kept=kept)
    now = view(*messages, files=[attachment(1, "audio/wav"), *files[1:]])
    assert plan(now, target, Everything(), Policy(), kept={**kept}).receipts[0].delivery == "noted"
    assert plan(
        now, target, {DerivationRequest(files[0].facts.sha256, "elsewhere"): Failed("no")}, Policy(), kept=kept
    ).wants
