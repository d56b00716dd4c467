"""The second pass: how each file is delivered, and the reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from showandtell import File
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.attachments import Facts, Origin
from showandtell.core.messages.conversion import parse_conversion
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import HostedBlock, Selection
from showandtell.core.planning.placement import LINK, UPLOAD
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy, by_kind
from support.builders import (
    Everything,
    assistant,
    attachment,
    facts,
    planned,
    really_planned,
    result,
    shown,
    tool_history,
    user,
    view,
)
from support.planned_conversations import MODELS, conversations, placed_in

CLAUDE, CHAT = "anthropic:claude-sonnet-4-5", "openai-chat:gpt-5-mini"
GEMINI, MISTRAL = "google:gemini-3-flash-preview", "mistral:mistral-medium-latest"
#: With this number of requests, even small files are worth an upload.
UPLOADS = Policy(uploads=True, expected_steps=100_000, cache=True)


def by_tool(media_type: str = "image/png", model: str = CLAUDE, *, is_error: bool = False, known=None, **more):
    file = attachment(1, media_type, **more)
    seen = view(user("look"), assistant("call_1"), result("call_1", "Here:", shown(1), is_error=is_error), files=[file])
    return planned(seen, model, known)


def by_user(media_type: str, model: str, **more):
    file = attachment(1, media_type, origin=Origin("user"), **more)
    return planned(view(user("look", shown(1)), files=[file]), model)


def test_an_image_goes_into_the_tool_result_if_the_api_accepts_it():
    receipt = by_tool().receipts[0]
    assert (receipt.delivery, receipt.place, receipt.converted) == ("native", "tool_result", False)
    assert receipt.cell is not None
    assert receipt.cell.verdict == "sees"


def test_a_notebook_shows_what_became_of_the_file_of_a_receipt():
    receipt = by_tool(model=CHAT).receipts[0]
    heading, line = receipt._repr_mimebundle_()["text/plain"].split("\n")
    assert heading == f"image 1 ({receipt.name})"
    assert "user message" in line


def test_the_record_of_a_converted_file_says_what_it_became():
    picture = facts("page", "image/png")
    made = Derivative((picture,), scale=2.0, pages=(3,), total=7)
    receipt = replace(by_tool().receipts[0], variant=made, view=Selection(crop=(0, 0, 5, 5)))
    assert receipt.shows() == {
        "scale": 2.0,
        "pages": (3,),
        "total": 7,
        "variants": [{"sha256": picture.sha256, "media_type": "image/png"}],
        "crop": (0, 0, 5, 5),
    }
    assert replace(receipt, variant=Derivative(text="a chart", by="inspector")).shows() == {"described_by": "inspector"}
    assert receipt.record().items() >= receipt.shows().items()


def test_an_image_follows_in_a_user_message_if_tool_results_are_text():
    receipt = by_tool(model=CHAT).receipts[0]
    assert (receipt.delivery, receipt.place) == ("relocated", "user")


def test_a_file_of_an_error_result_is_relocated_for_anthropic():
    plan = by_tool(is_error=True)
    assert plan.receipts[0].delivery == "relocated"
    assert plan.receipts[0].place == "user"


def test_an_unsupported_tool_file_is_noted_with_its_size_and_reason():
    plan = by_tool("audio/wav", size=2_100_000)
    assert plan.receipts[0].delivery == "noted"
    note = plan.entries[-1].parts[0].parts[1].text
    assert note.startswith("⟦audio 1 (file1.wav, 2.1 MB) was not sent: ")
    assert "takes no audio/wav" in note


def test_an_unsupported_user_file_is_refused_by_name():
    receipt = by_user("audio/wav", CLAUDE).receipts[0]
    assert receipt.delivery == "refused"
    assert "audio/wav" in receipt.reason


def test_on_unsupported_error_refuses_a_tool_file_too():
    seen = view(user("look"), assistant("c"), result("c", shown(1)), files=[attachment(1, "video/mp4")])
    assert planned(seen, CLAUDE, on_unsupported=by_kind("error")).receipts[0].delivery == "refused"


def test_on_unsupported_note_converts_nothing_but_still_sends_text():
    noted = [
        view(user("look", shown(1)), files=[attachment(1, media_type, origin=Origin("user"))])
        for media_type in ("image/tiff", "text/plain")
    ]
    picture, text = (planned(seen, CLAUDE, known={}, on_unsupported=by_kind("note")) for seen in noted)
    assert picture.receipts[0].delivery == "noted"
    assert not picture.wants
    assert [want.conversion for want in text.wants] == ["text"]
    sent = planned(noted[1], CLAUDE, dict.fromkeys(text.wants, Derivative(text="words"))).receipts[0]
    assert (sent.delivery, sent.place) == ("native", "user")


def test_an_older_user_file_is_noted_so_that_the_chat_can_continue():
    seen = view(
        user("look", shown(1), named="u0"), assistant(text="no"), user("and now?"), files=[attachment(1, "audio/wav")]
    )
    assert planned(seen, CLAUDE).receipts[0].delivery == "noted"


def test_a_blind_cell_is_not_used():
    receipt = by_tool("application/pdf", "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0").receipts[0]
    assert (receipt.delivery, receipt.place) == ("relocated", "user")


def test_an_unproven_cell_is_not_used_in_a_tool_result():
    assert by_tool("audio/wav", "google:gemini-3-flash-preview").receipts[0].delivery == "relocated"


def test_a_file_over_the_limit_is_noted_with_the_size():
    receipt = by_tool("image/png", size=6_000_000).receipts[0]
    assert receipt.delivery == "noted"
    assert "6.0 MB" in receipt.reason


def test_the_reason_names_the_pixels_of_an_image_that_is_too_large():
    assert "9000x10 pixels" in by_tool(pixels=(9000, 10)).receipts[0].reason


def test_a_derivative_is_sent_if_the_original_is_unsupported():
    original, page = attachment(1, "image/tiff").facts, attachment(2, "image/png").facts
    assert original is not None
    assert page is not None
    (want,) = by_tool("image/tiff", known={}).wants
    receipt = by_tool("image/tiff", known={want: Derivative((page,), scale=0.5)}).receipts[0]
    assert (receipt.delivery, receipt.converted, receipt.place) == ("native", True, "tool_result")
    assert receipt.kind == "image"
    assert receipt.cell == resolve(CLAUDE).cell("tool_result", "image/png", "inline")


def test_an_unknown_conversion_is_requested_first():
    plan = by_tool("image/tiff", known={})
    assert plan.entries == ()
    assert {parse_conversion(want.conversion).name for want in plan.wants} == {"image"}


def test_a_failed_conversion_is_noted_with_its_reason():
    original = attachment(1, "image/tiff").facts
    assert original is not None
    plan = by_tool("image/tiff", known={want: Failed("it is torn") for want in by_tool("image/tiff", known={}).wants})
    assert "as image: it is torn" in plan.receipts[0].reason


def test_a_text_file_is_sent_as_text_if_no_cell_accepts_it():
    file = attachment(1, "text/plain")
    assert file.facts is not None
    known = {DerivationRequest(file.facts.sha256, "text"): Derivative(text="line one")}
    plan = by_tool("text/plain", known=known)
    assert (plan.receipts[0].delivery, plan.receipts[0].converted) == ("native", True)
    assert "line one" in [part.text for part in plan.entries[-1].parts[0].parts]


def test_a_rejected_file_is_not_sent_to_that_place_again():
    file = attachment(1)
    assert file.facts is not None
    known = Everything(
        {
            DerivationRequest(file.facts.sha256, "original/tool_result", f"{CLAUDE} "): Failed(
                "400 could not process image"
            )
        }
    )
    assert by_tool(known=known).receipts[0].delivery == "relocated"


def test_a_file_in_a_block_of_its_provider_stays_there_unless_it_was_rejected():
    file, target = attachment(1, origin=Origin("provider", "code")), resolve(GEMINI)
    block = HostedBlock(
        target.signer,
        '{"inlineData":{"mimeType":"image/png","data":null}}',
        "",
        "",
        files=(("/inlineData/data", shown(1)),),
    )
    seen = view(user("draw", named="u0"), Message("a0", "assistant", (block,)), user("and now?"), files=[file])
    rejected = DerivationRequest(file.facts.sha256, "original/answer", target.rejection_scope)
    assert planned(seen, GEMINI).receipts[0].place == "answer"
    again = planned(seen, GEMINI, Everything({rejected: Failed("400 no such part")})).receipts[0]
    assert (again.place, again.delivery) == ("user", "relocated")


def test_bedrock_gets_five_documents_in_a_message_and_the_sixth_is_noted():
    files = [attachment(number, "application/pdf") for number in range(1, 8)]
    parts = [shown(file.number) for file in files]
    seen = view(user("look"), assistant("c"), result("c", *parts), files=files)
    plan = planned(seen, "bedrock:us.meta.llama4-maverick-17b-instruct-v1:0")
    assert [receipt.delivery for receipt in plan.receipts] == ["native"] * 5 + ["noted"] * 2


def test_the_count_of_a_message_restarts_in_the_next_step():
    files = [attachment(number, "application/pdf") for number in range(1, 9)]
    first = result("c", *[shown(number) for number in range(1, 5)])
    second = result("d", *[shown(number) for number in range(5, 9)])
    seen = view(user("look"), assistant("c"), first, assistant("d", named="a2"), second, files=files)
    plan = planned(seen, "bedrock:us.meta.llama4-maverick-17b-instruct-v1:0")
    assert {receipt.delivery for receipt in plan.receipts} == {"native"}


def test_a_rejection_holds_for_one_account_only():
    file = attachment(1)
    assert file.facts is not None
    known = Everything(
        {DerivationRequest(file.facts.sha256, "original/tool_result", f"{CLAUDE} somebody"): Failed("400")}
    )
    assert by_tool(known=known).receipts[0].delivery == "native"


def test_a_pdf_with_too_many_pages_is_noted_with_both_counts():
    assert by_tool("application/pdf", pages=100).receipts[0].delivery == "native"
    assert "it has 101 pages, the limit is 100" in by_tool("application/pdf", pages=101).receipts[0].reason


def test_a_file_id_is_only_valid_at_its_own_vendor():
    for uri, model, delivery in (
        ("openai:file_1", CLAUDE, "noted"),
        ("anthropic:file_1", CLAUDE, "native"),
        ("anthropic:file_1", "openai:gpt-5-mini", "noted"),
        ("openai:file_1", "openai:gpt-5-mini", "native"),
        ("openai:file_1", "inspector:openai-responses", "native"),
    ):
        drafts = tool_history(File.from_uri(uri, "image/png"))
        assert [receipt.delivery for receipt in really_planned(drafts, model).receipts] == [delivery]


def test_the_plan_requests_uploads_by_account_and_none_for_unseen_places():
    seen = view(user("look"), assistant("c"), result("c", shown(1)), files=[attachment(1, size=2_000_000)])
    sha256 = facts("1").sha256
    assert planned(seen, CLAUDE, {}, uploads=True).wants == {DerivationRequest(sha256, UPLOAD, "anthropic ")}
    assert planned(seen, CLAUDE, {}, signed_urls=True).wants == {DerivationRequest(sha256, LINK)}
    for model in (GEMINI, "azure:gpt-5-mini", "anthropic:some-model", MISTRAL):
        assert planned(seen, model, {}, uploads=True).wants == frozenset()


@pytest.mark.parametrize(
    ("size", "steps", "wanted"), [(1_000_000, 5, 1), (999_999, 5, 0), (4_000_000, 2, 1), (9**7, 1, 1)]
)
def test_a_file_is_uploaded_if_it_saves_enough_or_does_not_fit_inline(size, steps, wanted):
    seen = view(user("look"), assistant("c"), result("c", shown(1)), files=[attachment(1, size=size)])
    assert len(planned(seen, CLAUDE, {}, uploads=True, expected_steps=steps).wants) == wanted


def test_limits_of_pixels_and_pages_hold_for_uploads_too():
    for more in ({"pixels": (9000, 10)}, {"media_type": "application/pdf", "pages": 101}):
        file = attachment(1, size=3_000_000, **more)
        seen = view(user("look"), assistant("c"), result("c", shown(1)), files=[file])
        assert {want.conversion for want in planned(seen, CLAUDE, {}, uploads=True).wants}.isdisjoint({UPLOAD})


def uploads_of(seen, model, reason=None):
    """Derivations in which each file of a view is uploaded to the model's provider, or failed for a reason."""
    at = resolve(model).upload_scope
    proved = [file.facts for file in seen.attachments.values()]
    made = {
        DerivationRequest(item.sha256, UPLOAD, at): Failed(reason) if reason else Derivative(file_id=item.sha256)
        for item in proved
    }
    return Everything(made)


@given(conversations(), st.sampled_from(MODELS))
def test_a_file_id_is_only_used_if_a_cell_sees_it(seen, model):
    target, known = resolve(model), uploads_of(seen, model)
    made = plan(seen, target, known, UPLOADS)
    assert made.wants == frozenset()
    for placed in placed_in(made.entries):
        if not isinstance(placed.file, Facts):
            cell = target.cell(placed.place, placed.file.media_type, "file_id")
            assert (cell.verdict, placed.file.vendor) == ("sees", target.vendor)


@given(conversations(), st.sampled_from(MODELS))
def test_if_all_uploads_fail_the_plan_equals_one_without_uploads(seen, model):
    target = resolve(model)
    failed = plan(seen, target, uploads_of(seen, model, "no"), UPLOADS)
    without = plan(seen, target, Everything(), Policy(cache=True))
    assert [item.file for item in placed_in(failed.entries)] == [item.file for item in placed_in(without.entries)]
    assert [receipt.delivery for receipt in failed.receipts] == [receipt.delivery for receipt in without.receipts]


@given(conversations(), st.sampled_from(MODELS))
def test_known_uploads_are_not_used_without_the_setting(seen, model):
    target = resolve(model)
    assert plan(seen, target, uploads_of(seen, model), Policy()) == plan(seen, target, Everything(), Policy())


def test_a_file_rejected_by_id_is_not_sent_inline_instead():
    file = attachment(1, size=2_000_000)
    seen = view(user("look"), assistant("c"), result("c", shown(1)), files=[file])
    known = uploads_of(seen, CLAUDE)
    for conversion in ("original/tool_result", "original/user"):
        known[DerivationRequest(facts("1").sha256, conversion, resolve(CLAUDE).rejection_scope)] = Failed(
            "400 could not process image"
        )
    (receipt,) = planned(seen, CLAUDE, known, uploads=True).receipts
    assert receipt.delivery == "noted"
    assert "could not process image" in receipt.reason


def test_documents_that_exceed_the_request_are_sent_as_text_and_not_refused():
    files = [attachment(n, "application/pdf", origin=Origin("user"), pages=40) for n in range(1, 6)]
    seen = view(user(*(shown(n) for n in range(1, 6)), "look"), files=files)
    target, known = resolve("groq:qwen/qwen3.6-27b"), {}
    while (made := plan(seen, target, known, Policy())).wants:
        known |= {want: words_or_pages(want) for want in made.wants}
    assert {receipt.delivery for receipt in made.receipts} == {"native"}
    assert [receipt.variant.text is not None for receipt in made.receipts] == [True, True, True, False, False]


def words_or_pages(want):
    conversion = parse_conversion(want.conversion)
    if conversion.name == "text":
        return Derivative(text="the words")
    return Derivative(
        tuple(facts(f"{want.sha256}{at}", "image/png", conversion.bytes) for at in range(conversion.max_count))
    )


def test_a_tools_pdf_for_xai_follows_as_an_upload():
    file = attachment(1, "application/pdf")
    upload = DerivationRequest(file.facts.sha256, UPLOAD, "xai ")
    seen = view(user("look"), assistant("call_1"), result("call_1", shown(1)), files=[file])
    grok = "xai:grok-4-1-fast-non-reasoning"
    assert planned(seen, grok, {}, uploads=True).wants == {upload}
    (receipt,) = planned(seen, grok, {upload: Derivative(file_id="file_1")}, uploads=True).receipts
    assert (receipt.delivery, receipt.converted, receipt.cell.form) == ("relocated", False, "file_id")
