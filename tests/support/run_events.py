"""Any events of a run, in any order, and a stream that converts them."""

from hypothesis import strategies as st

from showandtell.core.events import types as ev
from showandtell.core.events.replay import ModelChosen
from showandtell.core.messages.attachments import Attachment, Facts, Origin
from showandtell.core.messages.parts import Approval
from showandtell.core.ui_stream.ui_stream import AnswerContext, UiStream
from support.ui_runs import LINKS, STARTED

#: Files of every origin, with bytes and without.
FILES = {
    1: Attachment("att_1", 1, "a.png", Origin("user"), "2026-01-02", Facts("a" * 64, "image/png", 7)),
    2: Attachment("att_2", 2, "b.png", Origin("tool", "draw", "c1"), "2026-01-02", Facts("b" * 64, "image/png", 7)),
    3: Attachment("att_3", 3, "c.png", Origin("assistant"), "2026-01-02", problem="is torn"),
}


def streaming(messages=(), **more):
    return UiStream(
        AnswerContext("ans_1", STARTED, FILES, LINKS, "inspector", lambda: 2.5, messages=lambda: messages, **more)
    )


def file_event(number):
    item = FILES[number]
    return ev.FileEvent(number, item.id, item.name, item.kind, item.media_type, 7, str(item.origin), item.problem)


def receipt(number, **more):
    return ev.ReceiptEvent(1, {"number": number, "delivery": "native", **more})


ids = st.sampled_from(["c1", "c2", "0"])
numbers = st.sampled_from([1, 2, 3, 4])
pieces = st.one_of(st.sampled_from(["{", "}", '"a"', ":", "1", "[", "\n", "A" * 120]), st.text(max_size=5))
#: Any event.
events = st.one_of(
    st.builds(ev.TextStart, ids),
    st.builds(ev.TextDelta, ids, pieces),
    st.builds(ev.TextEnd, ids),
    st.builds(ev.ReasoningStart, ids),
    st.builds(ev.ReasoningDelta, ids, pieces),
    st.builds(ev.ReasoningEnd, ids, st.sampled_from([None, "sealed"])),
    st.builds(ev.ToolInputStart, ids, st.sampled_from(["draw", "é x"])),
    st.builds(ev.ToolInputDelta, ids, pieces),
    st.builds(ev.ToolInputEnd, ids),
    st.builds(ev.StepEnd, st.sampled_from(["end", "length"]), st.just(ev.Usage())),
    st.builds(ev.StepStart, st.integers(1, 3)),
    st.builds(ev.StepFinish, st.integers(1, 3), st.just("end"), st.just(ev.Usage())),
    st.builds(ev.ToolProgress, ids, st.just(1.0)),
    st.builds(ev.ToolOutput, ids, st.just("draw"), pieces, st.just(()), st.booleans()),
    st.builds(file_event, st.sampled_from([1, 2, 3])),
    st.builds(receipt, numbers, delivery=st.sampled_from(["native", "noted"])),
    st.builds(ev.ApprovalNeeded, ids, st.just("draw"), st.just("{}")),
    st.builds(Approval, ids, st.booleans(), pieces),
    st.builds(ev.Retry, st.just("busy"), st.just(0.5)),
    st.builds(ev.ErrorEvent, st.just("X"), st.just("Boom")),
    st.builds(ev.ProviderFault, st.just("Boom")),
    st.builds(ModelChosen, st.just("openai:gpt-5")),
)
