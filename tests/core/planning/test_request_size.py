"""Requests hold as many files as fit: text is measured, and no body exceeds the provider's limit."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.message import Message, Reference
from showandtell.core.messages.parts import HostedBlock, Json, Opaque, Text, ToolCall
from showandtell.core.planning.eviction import EvictionState, advance_eviction
from showandtell.core.planning.incremental import PlanCache
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Plan, Policy
from showandtell.core.wire.options import Options, ToolSpec
from showandtell.core.wire.request import compose, head_size
from showandtell.errors import BadInput
from support.builders import Everything, assistant, attachment, facts, result, shown, user, view
from support.properties import examples

MIB = 1 << 20
#: A limit that is measured and never reached.
AMPLE = 10**12
CLAUDE = "anthropic:claude-sonnet-4-5"
MODELS = (
    CLAUDE,
    "openai:gpt-5-mini",
    "openai-chat:gpt-5-mini",
    "google:gemini-3-flash-preview",
    "bedrock:us.anthropic.claude-haiku-4-5-20251001-v1:0",
    "mistral:mistral-large-latest",
)
#: The limit of a small target, and the most that measuring may lose of it.
LIMIT, SLACK = 200_000, 20_000
OPTIONS = Options('Be "brief".\n', (ToolSpec("get", "Gets it.", '{"type":"object","properties":{}}'),), stream=True)


def limited(model, limit=LIMIT):
    target = resolve(model)
    budget = msgspec.structs.replace(target.budget, bytes=limit, images=None)
    return msgspec.structs.replace(target, budget=budget)


def sized(target, options=OPTIONS, **policy):
    return Policy(cache=True, head_bytes=head_size(target, options), **policy)


def request(seen, target, known=None, cache=None):
    planned = plan(seen, target, Everything() if known is None else known, sized(target), cache=cache)
    return compose(planned, target, OPTIONS, None)


def deliveries(request):
    return {receipt.delivery for receipt in request.receipts}


def one_message(files):
    return [user(*[shown(file.number) for file in files])]


def one_step(files):
    return [user("go"), assistant("c"), result("c", *[shown(file.number) for file in files])]


def steps(files):
    calls = [(assistant(f"c{file.number}", named=f"a{file.number}"), file) for file in files]
    return [
        user("go"),
        *(item for call, file in calls for item in (call, result(f"c{file.number}", shown(file.number)))),
    ]


def turns(files):
    asked = [user(shown(file.number), named=f"u{file.number}") for file in files]
    return [item for message in asked for item in (message, assistant(text="Yes.", named=f"a{message.id}"))][:-1]


@pytest.mark.parametrize("shape", [one_message, one_step, steps, turns])
def test_twenty_images_of_one_mib_all_go_to_claude(shape):
    files = [attachment(number, size=MIB) for number in range(1, 21)]
    sent = request(view(*shape(files), files=files), resolve(CLAUDE))
    assert deliveries(sent) == {"native"}
    assert 27_900_000 < sent.size < 32_000_000


@pytest.mark.parametrize("shape", [one_message, one_step])
def test_of_files_that_come_together_as_many_go_as_fit(shape):
    files = [attachment(number, size=MIB) for number in range(1, 31)]
    planned = plan(view(*shape(files), files=files), resolve(CLAUDE), Everything(), Policy())
    assert [receipt.delivery for receipt in planned.receipts].count("native") == 22


def test_a_small_file_goes_though_a_large_one_beside_it_does_not_fit():
    files = [attachment(1, size=MIB), *(attachment(number, "application/pdf", 8 * MIB) for number in (2, 3, 4))]
    planned = plan(view(*one_step(files), files=files), resolve(CLAUDE), Everything(), Policy())
    assert [receipt.delivery for receipt in planned.receipts] == ["native", "listed", "native", "native"]


def test_long_text_leaves_room_for_fewer_files():
    files = [attachment(number, size=MIB) for number in range(1, 21)]
    messages = [user("x" * 10_000_000), *one_step(files)[1:]]
    sent = request(view(*messages, files=files), resolve(CLAUDE))
    assert [receipt.delivery for receipt in sent.receipts].count("native") == 15
    assert sent.size < 32_000_000


def test_a_long_block_of_a_hosted_tool_leaves_room_for_fewer_files():
    files = [attachment(number, size=MIB) for number in range(1, 21)]
    target = resolve(CLAUDE)
    block = HostedBlock(target.signer, '{"type":"other","text":"' + "x" * 10_000_000 + '"}', "s1", "other")
    messages = [user("go", named="u0"), Message("a0", "assistant", (block,)), *one_message(files)]
    sent = request(view(*messages, files=files), target)
    assert [receipt.delivery for receipt in sent.receipts].count("native") == 15
    assert 25_000_000 < sent.size < 32_000_000


def test_long_instructions_leave_room_for_fewer_files():
    files = [attachment(number, size=MIB) for number in range(1, 21)]
    target = resolve(CLAUDE)
    policy = sized(target, Options("x" * 10_000_000))
    planned = plan(view(*one_message(files), files=files), target, Everything(), policy)
    assert [receipt.delivery for receipt in planned.receipts].count("native") == 15


def test_a_file_that_does_not_fit_beside_the_text_is_converted():
    files = [attachment(1, "application/pdf", 20 * MIB)]
    seen = view(user("x" * 8_000_000, shown(1)), files=files)
    planned = plan(seen, resolve(CLAUDE), {}, Policy())
    assert [want.conversion.partition("?")[0] for want in planned.wants] == ["pages"]


def test_text_that_exceeds_a_request_is_an_error_that_says_so():
    seen = view(user('"' * 17_000_000), files=[])
    with pytest.raises(BadInput, match=r"text of this conversation is too long: 34.0 MB, one request .* 32.0 MB"):
        request(seen, resolve(CLAUDE))


def test_files_leave_as_text_only_as_far_as_that_fits():
    files = [attachment(number, "application/pdf", 100_000) for number in (1, 2, 3, 4)]
    known = {DerivationRequest(file.facts.sha256, "text"): Derivative(text="word " * 10_000) for file in files}
    sent = request(view(*one_step(files), files=files), limited(CLAUDE), known)
    assert [receipt.delivery for receipt in sent.receipts] == ["listed", "listed", "native", "native"]
    assert [receipt.variant is None for receipt in sent.receipts] == [True, True, False, True]


@pytest.mark.parametrize(
    ("policy", "kind", "reason"),
    [
        (Policy(max_in_context=2), "image/png", "max_in_context is 2"),
        (Policy(), "image/png", "one request to anthropic:claude-sonnet-4-5 holds 100 images"),
        (Policy(), "application/pdf", "one request to anthropic:claude-sonnet-4-5 holds 32.0 MB with its text"),
    ],
)
def test_the_reason_names_the_limit(policy, kind, reason):
    files = [attachment(number, kind, 300_000 if kind == "application/pdf" else 10) for number in range(1, 104)]
    planned = plan(view(*one_step(files), files=files), resolve(CLAUDE), Everything(), policy)
    assert planned.receipts[0].reason == f"out of view: {reason}"


def test_a_file_that_is_uploaded_takes_no_bytes_of_the_request():
    files = [attachment(number, size=4 * MIB) for number in range(1, 21)]
    known = {
        DerivationRequest(file.facts.sha256, "upload", resolve(CLAUDE).upload_scope): Derivative(
            file_id=f"file_{file.number}"
        )
        for file in files
    }
    planned = plan(view(*steps(files), files=files), resolve(CLAUDE), known, Policy(uploads=True))
    assert {receipt.cell.form for receipt in planned.receipts} == {"file_id"}


def test_a_file_in_view_that_the_text_refers_to_counts_once():
    files = [attachment(number, size=MIB) for number in range(1, 13)]
    again = Message("u2", "user", (Text("all"),), references=(Reference("all", tuple(range(1, 13))),))
    seen = view(*turns(files), assistant(text="Yes.", named="last"), again, files=files)
    assert deliveries(request(seen, resolve(CLAUDE))) == {"native"}


#: Text that JSON makes longer, once or twice.
texts = st.builds(
    lambda piece, count: piece * count,
    st.sampled_from(["word ", '"', "\\", "\n", "\x01", "\x00", "é", "東", "🖼", "⟦", "<", "\x7f", "\u2028"]),
    st.integers(0, 4000),
)
numbers = st.sampled_from(['{"n":1}', '["a\\u27e6b"]', "[1e9,1e-7,null]", '{"$ref":"x"}', "1"])


@st.composite
def conversations(draw):
    """Messages and files, with hostile names and arguments, and what is known of the files."""
    messages, files, known = [], [], {}

    def add_file():
        number = len(files) + 1
        media_type = draw(st.sampled_from(["image/png", "image/png", "application/pdf", "text/plain", "audio/wav"]))
        file = attachment(number, media_type, draw(st.integers(1, 60_000)))
        name = draw(st.sampled_from(["kiwi.png", '"' * 200, "東" * 80, "⟦a⟧\\\x01"]))
        file = msgspec.structs.replace(file, name=name, description=draw(st.sampled_from([None, '"' * 100])))
        files.append(file)
        sha256 = file.facts.sha256
        known[DerivationRequest(sha256, "text")] = draw(
            texts.map(lambda text: Derivative(text=text)) | st.just(Failed('it has "no" text'))
        )
        return number

    def parts(max_count):
        for _ in range(draw(st.integers(0, max_count))):
            match draw(st.sampled_from(["text", "file", "file", "file", "json", "charted", "again"])):
                case "text":
                    yield Text(draw(texts))
                case "json":
                    yield Json(draw(numbers))
                case "charted":
                    number = add_file()
                    yield Json('{"chart":null,"big":[1e9,2]}', (("/chart", shown(number)),))
                case "again" if files:
                    yield shown(draw(st.integers(1, len(files))))
                case _:
                    yield shown(add_file())

    for turn in range(draw(st.integers(1, 3))):
        named = draw(st.sets(st.integers(1, len(files)), max_size=3)) if files else set()
        references = (Reference('"they"', tuple(sorted(named))),) if named else ()
        messages.append(Message(f"u{turn}", "user", (Text("go"), *parts(5)), references=references))
        for step in range(draw(st.integers(0, 3))):
            ids = [
                f"{draw(st.sampled_from(['call', 'f.get:', '|' * 70]))}{turn}{step}{at}"
                for at in range(draw(st.integers(1, 3)))
            ]
            arguments = draw(
                st.sampled_from(["{}", '{"a":"\\u27e6"}', "nonsense", '"' * 2000, '{"a":"' + "\\n" * 500 + '"}'])
            )
            sealed = [
                Opaque(
                    draw(st.sampled_from(["anthropic", "openai"])), '{"type":"thinking","thinking":"' + "x" * 900 + '"}'
                )
            ]
            calls = [ToolCall(item, draw(st.sampled_from(["get", "a b" * 30])), arguments) for item in ids]
            messages.append(Message(f"a{turn}{step}", "assistant", (*sealed, Text(draw(texts)), *calls)))
            for call in calls:
                own = tuple(parts(3))
                messages.append(Message(f"t{call.call_id}", "tool", own, call.call_id, call.tool, draw(st.booleans())))
        messages.append(Message(f"e{turn}", "assistant", (Text("Done."),)))
    return messages[:-1], files, known


class Known(Everything):
    """Derivations of which the rest has failed: pages, images and audio."""

    def get(self, want, default=None):
        return dict.get(self, want) or super().get(want, default)


class Pages(Everything):
    """Derivations in which every PDF is one picture of its page."""

    def __init__(self, picture):
        super().__init__()
        self.picture = picture

    def get(self, want, default=None):
        is_pages = want.conversion.startswith("pages")
        return Derivative(files=(self.picture,), pages=(1,), total=1) if is_pages else super().get(want, default)


def growing(conversation, target):
    """Each request of a growing conversation, with its view; none if its text alone exceeds the limit."""
    messages, files, known = conversation
    cache = PlanCache()
    for end in range(1, len(messages) + 1):
        if end == len(messages) or messages[end].role == "assistant":
            seen = view(*messages[:end], files=files, answering=None)
            try:
                yield seen, request(seen, target, Known(known), cache)
            except BadInput:
                yield seen, None


@examples(150)
@given(conversations(), st.sampled_from(MODELS))
def test_no_body_exceeds_the_limit_and_text_alone_is_the_only_reason_for_an_error(conversation, model):
    for seen, sent in growing(conversation, limited(model)):
        unlimited = request(seen, limited(model, None), Everything())
        text = sum(len(segment) for segment in unlimited.segments if isinstance(segment, bytes))
        assert text > LIMIT - SLACK if sent is None else sent.size <= LIMIT


@examples(150)
@given(conversations(), st.sampled_from(MODELS))
def test_a_new_file_is_only_out_of_view_if_it_would_not_have_fitted(conversation, model):
    for seen, sent in growing(conversation, limited(model)):
        if sent is None:
            continue
        last = max((at for at, message in enumerate(seen.messages) if message.role != "tool"), default=0)
        new = {part.number for message in seen.messages[last:] for part in message.showings}
        for receipt in sent.receipts:
            if receipt.number in new and receipt.reason.startswith("out of view") and receipt.place is None:
                size = seen.attachments[receipt.number].facts.size
                assert sent.size + size * 4 // 3 > LIMIT - SLACK


def measured_and_exact(conversation, target):
    """What the planner counts for a request, and the length of its body; nothing is left out."""
    messages, files, known = conversation
    seen = view(*messages, files=files, answering=None)
    eviction = advance_eviction(EvictionState(), seen, target, known, Policy())
    head, exact = (
        compose(planned, target, OPTIONS, None).size for planned in (Plan((), ()), plan(seen, target, known, Policy()))
    )
    return head + eviction.text + eviction.load[0], exact


@examples(300)
@given(conversations(), st.sampled_from(MODELS))
def test_a_request_is_never_larger_than_measured(conversation, model):
    measured, exact = measured_and_exact((*conversation[:2], Known(conversation[2])), limited(model, AMPLE))
    assert exact <= measured


@pytest.mark.parametrize("model", MODELS)
def test_a_request_is_measured_to_within_1000_bytes_a_step(model):
    files = [attachment(number, size=MIB) for number in range(1, 41)]
    measured, exact = measured_and_exact(([user("word " * 1000), *steps(files)[1:]], files, {}), limited(model, AMPLE))
    assert measured - exact < 41_000


def test_a_conversion_counts_with_its_real_size_once_it_is_known():
    files = [attachment(number, "application/pdf") for number in range(1, 6)]
    target, picture = resolve("groq:qwen/qwen3.6-27b"), facts("page", "image/png", 20_000)
    seen = view(*steps(files), files=files)
    known = Pages(picture)
    assert deliveries(request(seen, target, known)) == {"relocated"}
