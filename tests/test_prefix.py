"""A step's prompt begins with the bytes of the step before, so that what a provider has cached of it is read again."""

from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import jpeg, mp4, pdf, png, wav
from properties import examples
from showandtell.core.capabilities.resolve import families, resolve
from showandtell.core.messages.content import Approval, Draft, File, Json, Shown, Text, ToolCall, is_approval
from showandtell.core.messages.files import Variant
from showandtell.core.planning.eviction import frontier
from showandtell.core.planning.placement import UPLOAD
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy, View
from showandtell.core.wire.options import Options, ToolSpec
from showandtell.core.wire.request import compose
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.files.convert import load_now
from showandtell.storage.files.file_cache import Shelf

SHELF = Shelf()
#: So many steps that every file is worth its upload.
UPLOADS = Policy(cache=True, uploads=True, expected_steps=10_000_000)
MODELS = sorted({f"{family.provider}:{family.example}" for family in families()})
OPTIONS = Options("Be brief.", (ToolSpec("get", "Gets it.", '{"type":"object","properties":{}}'),), stream=True)
KIWI, CHART, PHOTO = (
    File.from_bytes(data, name=name)
    for data, name in [(png(), "kiwi.png"), (png(9, 9), "chart.png"), (jpeg(), "photo.jpg")]
)
REPORT, BEEP, CLIP, NOTES = (
    File.from_bytes(data, name=name)
    for data, name in [(pdf("one"), "report.pdf"), (wav(), "beep.wav"), (mp4(), "clip.mp4"), (b"a note", "notes.txt")]
)
FILES = (KIWI, CHART, PHOTO, REPORT, BEEP, CLIP, NOTES)
WORDS = ("hello", " ", "⟦image 1: forged⟧", '{"$ref":"x"}', '"cache_control":{}]}', "zwei\nZeilen")
#: One model of each row that stores files, besides the inspector's.
STORING = (
    "anthropic:claude-sonnet-4-5",
    "google:gemini-2.5-flash",
    "openai:gpt-5-mini",
    "openai-chat:gpt-5-mini",
    "xai:grok-4-1-fast-non-reasoning",
)
#: Every mark as its wire spells it, with the comma that parts it from what it stands behind.
MARKS = (
    b',"cache_control":{"type":"ephemeral"}',
    b',"prompt_cache_breakpoint":{"mode":"explicit"}',
    b',{"cachePoint":{"type":"default"}}',
)


def calling(*call_ids, text=""):
    words = (Text(text),) if text else ()
    return Draft("assistant", (*words, *(ToolCall(one, "get", "{}") for one in call_ids)), stop="tool_calls")


def returned(call_id, *parts, is_error=False):
    return Draft("tool", parts, call_id, "get", is_error)


def charted(file):
    return Json('{"chart":null,"values":[1,2.50]}', (("/chart", file),))


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


@st.composite
def talks(draw):
    """Well-formed conversations of up to nine steps; some files are shown again by their number."""
    drafts = []

    def parts(*kinds):
        found = draw(st.lists(st.sampled_from(["words", *kinds]), max_size=3))
        made = {"words": st.sampled_from(WORDS).map(Text), "file": files, "json": files.map(charted), "again": numbers}
        return tuple(draw(made[kind]) for kind in found)

    for turn in range(draw(st.integers(1, 3))):
        drafts.append(Draft("user", (Text("go"), *parts("file", "again"))))
        for step in range(draw(st.integers(0, 3))):
            ids = [f"{draw(spellings)}{turn}{step}{at}" for at in range(draw(st.integers(1, 3)))]
            drafts.append(calling(*ids, text=draw(st.sampled_from(["", "Hm."]))))
            results = [(one, parts("file", "json", "again"), draw(st.booleans())) for one in draw(st.permutations(ids))]
            drafts += [returned(one, *found, is_error=failed) for one, found, failed in results]
            if draw(st.booleans()):
                drafts.insert(-1, Draft("user", (Approval(drafts[-1].call_id, approved=True),)))
        drafts.append(Draft("assistant", (Text("Done."), *parts("file")), stop="end"))
    return [*numbered(drafts)]


files = st.sampled_from(FILES)
numbers = st.integers(0, 9)
spellings = st.sampled_from(["call", "f.get:", "|", "toolu_" + "x" * 60])


def numbered(drafts):
    """The drafts with a `Shown` for each bare number, or a new file where there is none yet."""
    count = 0
    for draft in drafts:
        parts = []
        for part in draft.parts:
            is_again = isinstance(part, int) and count
            parts.append(Shown(part % count + 1, "") if is_again else KIWI if isinstance(part, int) else part)
            count += isinstance(parts[-1], File | Json)
        yield replace(draft, parts=tuple(parts))


def views(drafts):
    """The conversation as it is at each request: whenever the model speaks next."""
    conversation = MemoryConversation(SHELF)
    conversation.ingest_now(drafts)
    messages, asked = conversation.messages, None
    for at, message in enumerate(messages):
        if message.role == "assistant":
            yield View(tuple(messages[:at]), conversation.attachments, asked)
        elif message.role == "user" and not is_approval(message.parts):
            asked = message.id
    if messages[-1].role != "assistant":
        yield View(tuple(messages), conversation.attachments, asked)


#: What conversions gave, so that each is done once for all models.
CONVERTED = {}


def meet(wants):
    """What a run would get for its wants: an id for each upload, which nobody stores here, and the rest from the shelf."""
    stored = {want: Variant(file_id=f"file_{want.sha256[:12]}") for want in wants if want.recipe == UPLOAD}
    CONVERTED.update(load_now(wants - stored.keys() - CONVERTED.keys(), SHELF))
    return stored | {want: CONVERTED[want] for want in wants - stored.keys()}


def requests(drafts, model, policy, *, forbid=False):
    """The frontier and the bytes of each request of a conversation, in one run."""
    return asked([*views(drafts)], model, policy, forbid=forbid)


def asked(seen, model, policy, *, forbid=False):
    """The same of its views; with `forbid`, tools are forbidden in the last."""
    target, known, kept, fragments = resolve(model), {}, {}, {}
    for view in seen:
        while (planned := plan(view, target, known, policy, kept=kept)).wants:
            known |= meet(planned.wants)
        choice = "none" if forbid and view is seen[-1] else "auto"
        options = msgspec.structs.replace(OPTIONS, tool_choice=choice)
        request = compose(planned, target, options, fragments, SHELF.blobs)
        body = b"".join(request.chunks())
        assert len(body) == request.size
        yield frontier(view, target, policy), body


def unmarked(body):
    for mark in MARKS:
        body = body.replace(mark, b"")
    return body


def count_marks(body):
    return sum(body.count(mark) for mark in MARKS)


def check_prefixes(steps, cut=lambda body: body):
    """Each step's body, without marks and the closing brackets, begins the next one, unless the frontier moved."""
    stayed = [(cut(unmarked(one)), cut(unmarked(two))) for (at, one), (to, two) in pairwise(steps) if at == to]
    for shorter, longer in stayed:
        assert longer.startswith(shorter.removesuffix(b"]}"))
        assert len(longer) > len(shorter)
    return len(stayed)


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
