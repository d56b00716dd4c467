"""Conversations that grow step by step."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import msgspec
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import families, resolve
from showandtell.core.messages.derivations import Derivative
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Approval, Json, Shown, Text, ToolCall, is_approval
from showandtell.core.planning.eviction import first_in_view
from showandtell.core.planning.incremental import PlanCache
from showandtell.core.planning.placement import UPLOAD
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import View
from showandtell.core.wire.options import Options, ToolSpec
from showandtell.core.wire.request import Fragments, compose
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.files.convert import convert_all
from showandtell.storage.files.file_cache import FileCache
from support.fixtures import jpeg, mp4, pdf, png, wav

CACHE = FileCache()

MODELS = sorted({f"{family.provider}:{family.example}" for family in families()})


def format_of(model):
    """What the format of a request depends on, besides what a model sees."""
    target = resolve(model)
    return target.api, target.order, target.budget, target.dialect


#: One model of each format.
FORMATS = sorted({format_of(model): model for model in MODELS}.values())

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

#: Every mark as its API writes it, with the comma that separates it from the preceding field.
MARKS = (
    b',"cache_control":{"type":"ephemeral"}',
    b',"prompt_cache_breakpoint":{"mode":"explicit"}',
    b',{"cachePoint":{"type":"default"}}',
)


def calling(*call_ids, text=""):
    words = (Text(text),) if text else ()
    return Draft("assistant", (*words, *(ToolCall(id_, "get", "{}") for id_ in call_ids)), stop="tool_calls")


def returned(call_id, *parts, is_error=False):
    return Draft("tool", parts, call_id, "get", is_error)


def charted(file):
    return Json('{"chart":null,"values":[1,2.50]}', (("/chart", file),))


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
            results = [
                (item, parts("file", "json", "again"), draw(st.booleans())) for item in draw(st.permutations(ids))
            ]
            drafts += [returned(item, *found, is_error=failed) for item, found, failed in results]
            if draw(st.booleans()):
                drafts.insert(-1, Draft("user", (Approval(drafts[-1].call_id, approved=True),)))
        drafts.append(Draft("assistant", (Text("Done."), *parts("file")), stop="end"))
    return [*numbered(drafts)]


files = st.sampled_from(FILES)

numbers = st.integers(0, 9).map(lambda number: Shown(number, ""))

spellings = st.sampled_from(["call", "f.get:", "|", "toolu_" + "x" * 60])


def numbered(drafts):
    """The drafts with a `Shown` for each number, or a new file where there is none yet."""
    count = 0
    for draft in drafts:
        parts = []
        for part in draft.parts:
            is_again = isinstance(part, Shown)
            shown = Shown(part.number % count + 1, "") if is_again and count else KIWI
            parts.append(shown if is_again else part)
            count += isinstance(parts[-1], File | Json)
        yield replace(draft, parts=tuple(parts))


def views(drafts):
    """The conversation as it is at each request: whenever the model speaks next."""
    conversation = MemoryConversation(CACHE)
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
    """What a run would get for its wants: an id for each upload, which nobody stores here, and the rest from the file_cache."""
    stored = {want: Derivative(file_id=f"file_{want.sha256[:12]}") for want in wants if want.conversion == UPLOAD}
    CONVERTED.update(convert_all(wants - stored.keys() - CONVERTED.keys(), CACHE))
    return stored | {want: CONVERTED[want] for want in wants - stored.keys()}


def asked(seen, model, policy, *, forbid=False):
    """The same of its views; with `forbid`, tools are forbidden in the last."""
    target, known, cache, fragments = resolve(model), {}, PlanCache(), Fragments()
    for view in seen:
        while (planned := plan(view, target, known, policy, cache=cache)).wants:
            known |= meet(planned.wants)
        choice = "none" if forbid and view is seen[-1] else "auto"
        options = msgspec.structs.replace(OPTIONS, tool_choice=choice)
        request = compose(planned, target, options, CACHE.blobs, fragments)
        body = b"".join(request.chunks())
        assert len(body) == request.size
        yield first_in_view(view, target, policy), body


@cache
def views_of_talk():
    return [*views(TALK)]


def talk(model, policy, *, forbid=False):
    """The first file in view and the body of each request of `TALK`, in one run."""
    return [*asked(views_of_talk(), model, policy, forbid=forbid)]


def unmarked(body):
    for mark in MARKS:
        body = body.replace(mark, b"")
    return body


def check_prefixes(steps, cut=lambda body: body):
    """Each step's body, without marks and the closing brackets, begins the next one, unless the frontier moved."""
    stayed = [(cut(unmarked(item)), cut(unmarked(two))) for (at, item), (to, two) in pairwise(steps) if at == to]
    for shorter, longer in stayed:
        assert longer.startswith(shorter.removesuffix(b"]}"))
        assert len(longer) > len(shorter)
    return len(stayed)
