import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.events.accumulate import Accumulator, CallIds
from showandtell.core.events.types import (
    FileMade,
    ProviderFault,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepEnd,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    Usage,
)
from showandtell.core.messages.file import File
from showandtell.core.messages.messages import Draft
from showandtell.core.messages.parts import Opaque, Text, ToolCall
from showandtell.errors import BadFile

END = StepEnd("end", Usage(25, 9, 5))
CALLS = StepEnd("tool_calls", Usage(25, 9, 5))
LIMIT = StepEnd("length", Usage(25, 9, 5))


def fold(*batches):
    folded = Accumulator("anthropic")
    for batch in batches:
        folded.add(batch)
    return folded


def calls_of(folded):
    return tuple(part for part in folded.draft().parts if isinstance(part, ToolCall))


def text_of(folded):
    return "".join(part.text for part in folded.draft().parts if isinstance(part, Text))


def text(name, *words):
    return [TextStart(name), *(TextDelta(name, word) for word in words), TextEnd(name)]


def call(call_id, *pieces):
    return [
        ToolInputStart(call_id, "draw"),
        *(ToolInputDelta(call_id, piece) for piece in pieces),
        ToolInputEnd(call_id),
    ]


def thought(name, *words, opaque=None):
    return [ReasoningStart(name), *(ReasoningDelta(name, word) for word in words), ReasoningEnd(name, opaque)]


EVENTS = [
    *thought("r0", "Hm", "m", opaque='{"s":1}'),
    *text("t1", "It ", "is"),
    *call("a", '{"x"', ":1}"),
    *text("t3", "!"),
    CALLS,
]


def test_parts_stand_in_the_order_of_the_stream():
    parts = (Opaque("anthropic", '{"s":1}'), Text("It is"), ToolCall("a", "draw", '{"x":1}'), Text("!"))
    folded = fold(EVENTS)
    assert folded.draft() == Draft("assistant", parts, stop="tool_calls")
    assert (folded.usage, folded.stop, folded.detail) == (Usage(25, 9, 5), "tool_calls", "")


@given(st.lists(st.integers(0, len(EVENTS)), max_size=8))
def test_any_batches_give_the_same_message(cuts):
    edges = [0, *sorted(cuts), len(EVENTS)]
    assert fold(*(EVENTS[start:stop] for start, stop in itertools.pairwise(edges))).draft() == fold(EVENTS).draft()


def test_asking_early_changes_nothing():
    folded = Accumulator("anthropic")
    for event in EVENTS:
        folded.add([event])
        folded.draft()
    assert folded.draft() == fold(EVENTS).draft()


def test_a_stream_without_its_end_is_cut_and_keeps_its_words():
    message = fold([TextStart("t0"), TextDelta("t0", "It")]).draft()
    assert message == Draft("assistant", (Text("It"),), stop="cut")


def test_a_call_that_never_ended_is_left_out():
    for length in range(len(EVENTS)):
        assert fold(EVENTS[:length]).stop == "cut"
        assert len(calls_of(fold(EVENTS[:length]))) == (ToolInputEnd("a") in EVENTS[:length])


def test_an_end_amid_a_call_is_a_cut():
    folded = fold([ToolInputStart("a", "draw"), ToolInputDelta("a", "{}"), CALLS])
    assert (folded.stop, calls_of(folded)) == ("cut", ())


def test_arguments_cut_by_the_limit_are_left_out():
    message = fold([*call("a", "{}"), *call("b", '{"x'), LIMIT]).draft()
    assert message == Draft("assistant", (ToolCall("a", "draw", "{}"),), stop="length")


def test_a_wrong_argument_text_is_kept_for_the_model_to_hear_of():
    assert calls_of(fold([*call("a", "{x}"), CALLS])) == (ToolCall("a", "draw", "{x}"),)


def test_calls_of_one_id_get_ids_of_their_own():
    events = [*call("a", "1"), *call("a", "2"), *call("a_2", "3"), *call("a", "4"), CALLS]
    named = [*call("a", "1"), *call("a_2", "2"), *call("a_2_2", "3"), *call("a_3", "4"), CALLS]
    assert CallIds().rename(events) == named


def test_an_id_of_the_conversation_is_not_given_again():
    events = [*call("a", "1"), *call("b", "2")]
    assert CallIds({"a", "a_2"}).rename(events) == [*call("a_3", "1"), *call("b", "2")]


CALL_IDS = st.sampled_from(["a", "b", "a_2", "a_2_2", ""])


@given(st.lists(CALL_IDS, max_size=12), st.sets(CALL_IDS), st.integers(1, 5))
def test_every_call_has_an_id_of_its_own_whatever_the_cuts(given_ids, used, size):
    events = [event for each in given_ids for event in call(each, "{}")]
    ids, apart = CallIds(set(used)), CallIds(set(used))
    named = ids.rename(events)
    batches = [apart.rename(events[at : at + size]) for at in range(0, len(events), size)]
    assert [*itertools.chain.from_iterable(batches)] == named
    starts = [event.call_id for event in named if isinstance(event, ToolInputStart)]
    assert len({*starts}) == len(given_ids)
    assert not used & {*starts}
    assert [event.call_id for event in named] == [one for one in starts for _ in range(3)]


def test_calls_of_one_id_may_end_together():
    first, second = call("a", "1"), call("a", "2")
    events = CallIds().rename([*first[:-1], *second[:-1], first[-1], second[-1], CALLS])
    assert [each.arguments for each in calls_of(fold(events))] == ["1", "2"]


def test_a_fault_keeps_what_came_before():
    folded = fold([TextStart("t0"), TextDelta("t0", "It"), ProviderFault("Overloaded")])
    assert (folded.stop, folded.detail, text_of(folded)) == ("error", "Overloaded", "It")


def test_empty_texts_are_no_parts_and_empty_arguments_an_object():
    message = fold([*text("t0"), *call("a"), *thought("r2", "hm"), END]).draft()
    assert message.parts == (ToolCall("a", "draw", "{}"),)


def test_twenty_megabytes_are_joined_once():
    piece = "x" * 20
    folded = fold([TextStart("t0")], [TextDelta("t0", piece)] * 1_000_000, [TextEnd("t0"), END])
    assert len(text_of(folded)) == 20_000_000


def test_twenty_thousand_calls_of_one_id_all_differ():
    events = [*itertools.chain.from_iterable(call("a", "{}") for _ in range(20_000)), CALLS]
    folded = fold(CallIds().rename(events))
    assert len({each.call_id for each in calls_of(folded)}) == 20_000


def test_what_a_call_needs_back_stays_with_it():
    folded = fold([*call("a", "{}")[:-1], ToolInputEnd("a", "c2lnbmVk"), CALLS])
    assert calls_of(folded)[0].opaque == Opaque("anthropic", "c2lnbmVk")


def test_a_file_that_the_model_made_is_a_claim_in_its_place():
    folded = fold([*text("t0", "Here:"), FileMade("image/png", b"bytes", "a.png"), *text("t1", "!"), END])
    assert folded.draft().parts == (Text("Here:"), File(b"bytes", "image/png", "a.png"), Text("!"))


def test_a_made_file_that_could_not_be_had_says_why():
    folded = fold([FileMade("image/png", b"", problem="was given as an address"), END])
    with pytest.raises(BadFile, match="was given as an address"):
        folded.draft().parts[0].open()
