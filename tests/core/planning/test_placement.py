"""The second pass: which rung each file takes, and the reason that is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell import File
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.attachments import Facts, Origin
from showandtell.core.messages.conversion import read_recipe
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
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
#: Small files are worth it where so many requests carry them.
UPLOADS = Policy(uploads=True, expected_steps=100_000, cache=True)


def by_tool(media_type: str = "image/png", model: str = CLAUDE, *, is_error: bool = False, known=None, **more):
    file = attachment(1, media_type, **more)
    seen = view(user("look"), assistant("call_1"), result("call_1", "Here:", shown(1), is_error=is_error), files=[file])
    return planned(seen, model, known)


def by_user(media_type: str, model: str, **more):
    file = attachment(1, media_type, origin=Origin("user"), **more)
    return planned(view(user("look", shown(1)), files=[file]), model)


def test_a_picture_goes_into_the_tool_result_where_the_api_takes_it():
    receipt = by_tool().receipts[0]
    assert (receipt.delivery, receipt.place, receipt.converted) == ("native", "tool_result", False)
    assert receipt.cell is not None
    assert receipt.cell.verdict == "sees"


def test_a_picture_follows_in_a_user_message_where_tool_results_are_text():
    receipt = by_tool(model=CHAT).receipts[0]
    assert (receipt.delivery, receipt.place) == ("relocated", "user")


def test_an_error_result_of_anthropic_carries_no_media_so_the_file_follows():
    plan = by_tool(is_error=True)
    assert plan.receipts[0].delivery == "relocated"
    assert plan.receipts[0].place == "user"


def test_a_tools_file_that_nothing_takes_is_noted_with_its_size_and_reason():
    plan = by_tool("audio/wav", size=2_100_000)
    assert plan.receipts[0].delivery == "noted"
    note = plan.entries[-1].parts[0].parts[1].text
    assert note.startswith("⟦audio 1 (file1.wav, 2.1 MB) was not sent: ")
    assert "takes no audio/wav" in note


def test_a_users_file_that_nothing_takes_is_refused_by_name():
    receipt = by_user("audio/wav", CLAUDE).receipts[0]
    assert receipt.delivery == "refused"
    assert "audio/wav" in receipt.reason


def test_strict_refuses_a_tools_file_too():
    seen = view(user("look"), assistant("c"), result("c", shown(1)), files=[attachment(1, "video/mp4")])
    assert planned(seen, CLAUDE, on_unsupported=by_kind("error")).receipts[0].delivery == "refused"


def test_an_older_users_file_is_noted_so_that_the_chat_goes_on():
    seen = view(
        user("look", shown(1), named="u0"), assistant(text="no"), user("and now?"), files=[attachment(1, "audio/wav")]
    )
    assert planned(seen, CLAUDE).receipts[0].delivery == "noted"


def test_a_blind_cell_is_no_rung():
    receipt = by_tool("application/pdf", "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0").receipts[0]
    assert (receipt.delivery, receipt.place) == ("relocated", "user")


def test_an_unproven_cell_is_no_rung_in_a_tool_result():
    assert by_tool("audio/wav", "google:gemini-3-flash-preview").receipts[0].delivery == "relocated"


def test_a_file_over_the_cells_limit_is_noted_with_both_sizes():
    receipt = by_tool("image/png", size=6_000_000).receipts[0]
    assert receipt.delivery == "noted"
    assert "6.0 MB" in receipt.reason


def test_a_picture_with_too_many_pixels_says_so():
    assert "9000x10 pixels" in by_tool(pixels=(9000, 10)).receipts[0].reason


def test_a_converted_variant_is_taken_where_the_original_is_not():
    original, page = attachment(1, "image/tiff").facts, attachment(2, "image/png").facts
    assert original is not None
    assert page is not None
    (want,) = by_tool("image/tiff", known={}).wants
    receipt = by_tool("image/tiff", known={want: Derivative((page,), scale=0.5)}).receipts[0]
    assert (receipt.delivery, receipt.converted, receipt.place) == ("native", True, "tool_result")


def test_a_conversion_that_is_not_known_yet_is_wanted_before_anything_is_planned():
    plan = by_tool("image/tiff", known={})
    assert plan.entries == ()
    assert {read_recipe(want.conversion).name for want in plan.wants} == {"image"}


def test_a_failed_conversion_falls_to_a_note_with_its_reason():
    original = attachment(1, "image/tiff").facts
    assert original is not None
    plan = by_tool("image/tiff", known={want: Failed("it is torn") for want in by_tool("image/tiff", known={}).wants})
    assert "as image: it is torn" in plan.receipts[0].reason


def test_a_text_file_is_given_as_words_where_no_cell_takes_it():
    file = attachment(1, "text/plain")
    assert file.facts is not None
    known = {DerivationRequest(file.facts.sha256, "text"): Derivative(text="line one")}
    plan = by_tool("text/plain", known=known)
    assert (plan.receipts[0].delivery, plan.receipts[0].converted) == ("native", True)
    assert "line one" in [part.text for part in plan.entries[-1].parts[0].parts]


def test_a_rejected_file_is_not_tried_again_in_that_place():
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


def test_bedrock_takes_five_documents_in_a_message_and_notes_the_sixth():
    files = [attachment(number, "application/pdf") for number in range(1, 8)]
    parts = [shown(file.number) for file in files]
    seen = view(user("look"), assistant("c"), result("c", *parts), files=files)
    plan = planned(seen, "bedrock:us.meta.llama4-maverick-17b-instruct-v1:0")
    assert [receipt.delivery for receipt in plan.receipts] == ["native"] * 5 + ["noted"] * 2


def test_the_count_of_a_message_starts_anew_in_the_next_step():
    files = [attachment(number, "application/pdf") for number in range(1, 9)]
    first = result("c", *[shown(number) for number in range(1, 5)])
    second = result("d", *[shown(number) for number in range(5, 9)])
    seen = view(user("look"), assistant("c"), first, assistant("d", named="a2"), second, files=files)
    plan = planned(seen, "bedrock:us.meta.llama4-maverick-17b-instruct-v1:0")
    assert {receipt.delivery for receipt in plan.receipts} == {"native"}


def test_one_accounts_rejection_is_not_anothers():
    file = attachment(1)
    assert file.facts is not None
    known = Everything(
        {DerivationRequest(file.facts.sha256, "original/tool_result", f"{CLAUDE} somebody"): Failed("400")}
    )
    assert by_tool(known=known).receipts[0].delivery == "native"


def test_a_pdf_with_more_pages_than_the_model_reads_is_noted_with_both_counts():
    assert by_tool("application/pdf", pages=100).receipts[0].delivery == "native"
    assert "it has 101 pages, the limit is 100" in by_tool("application/pdf", pages=101).receipts[0].reason


def test_a_file_id_means_something_to_its_own_house_alone():
    for uri, model, delivery in (
        ("openai:file_1", CLAUDE, "noted"),
        ("anthropic:file_1", CLAUDE, "native"),
        ("anthropic:file_1", "openai:gpt-5-mini", "noted"),
        ("openai:file_1", "openai:gpt-5-mini", "native"),
        ("openai:file_1", "inspector:openai-responses", "native"),
    ):
        drafts = tool_history(File.from_uri(uri, "image/png"))
        assert [receipt.delivery for receipt in really_planned(drafts, model).receipts] == [delivery]


def test_the_plan_wants_an_upload_of_one_account_and_an_unseen_place_wants_none():
    seen = view(user("look"), assistant("c"), result("c", shown(1)), files=[attachment(1, size=2_000_000)])
    sha256 = facts("1").sha256
    assert planned(seen, CLAUDE, {}, uploads=True).wants == {DerivationRequest(sha256, UPLOAD, "anthropic ")}
    assert planned(seen, CLAUDE, {}, links=True).wants == {DerivationRequest(sha256, LINK)}
    for model in (GEMINI, "azure:gpt-5-mini", "anthropic:some-model", MISTRAL):
        assert planned(seen, model, {}, uploads=True).wants == frozenset()


@pytest.mark.parametrize(
    ("size", "steps", "wanted"), [(1_000_000, 5, 1), (999_999, 5, 0), (4_000_000, 2, 1), (9**7, 1, 1)]
)
def test_a_file_is_worth_an_upload_by_what_it_saves_or_where_its_bytes_do_not_fit(size, steps, wanted):
    seen = view(user("look"), assistant("c"), result("c", shown(1)), files=[attachment(1, size=size)])
    assert len(planned(seen, CLAUDE, {}, uploads=True, expected_steps=steps).wants) == wanted


def test_pixels_and_pages_are_limited_by_id_too():
    for more in ({"pixels": (9000, 10)}, {"media_type": "application/pdf", "pages": 101}):
        file = attachment(1, size=3_000_000, **more)
        seen = view(user("look"), assistant("c"), result("c", shown(1)), files=[file])
        assert {want.conversion for want in planned(seen, CLAUDE, {}, uploads=True).wants}.isdisjoint({UPLOAD})


def uploads_of(seen, model, reason=None):
    """A `Known` in which every file of a view is uploaded at a model's house, or failed for a reason."""
    at = resolve(model).upload_scope
    proved = [file.facts for file in seen.attachments.values()]
    made = {
        DerivationRequest(one.sha256, UPLOAD, at): Failed(reason) if reason else Derivative(file_id=one.sha256)
        for one in proved
    }
    return Everything(made)


@given(conversations(), st.sampled_from(MODELS))
def test_what_goes_by_id_stands_where_a_cell_sees_it_by_id(seen, model):
    target, known = resolve(model), uploads_of(seen, model)
    made = plan(seen, target, known, UPLOADS)
    assert made.wants == frozenset()
    for placed in placed_in(made.entries):
        if not isinstance(placed.file, Facts):
            cell = target.cell(placed.place, placed.file.media_type, "file_id")
            assert (cell.verdict, placed.file.vendor) == ("sees", target.vendor)


@given(conversations(), st.sampled_from(MODELS))
def test_where_every_upload_failed_the_plan_is_the_one_without_uploads(seen, model):
    target = resolve(model)
    failed = plan(seen, target, uploads_of(seen, model, "no"), UPLOADS)
    without = plan(seen, target, Everything(), Policy(cache=True))
    assert [one.file for one in placed_in(failed.entries)] == [one.file for one in placed_in(without.entries)]
    assert [one.delivery for one in failed.receipts] == [one.delivery for one in without.receipts]


@given(conversations(), st.sampled_from(MODELS))
def test_without_the_setting_known_uploads_change_nothing(seen, model):
    target = resolve(model)
    assert plan(seen, target, uploads_of(seen, model), Policy()) == plan(seen, target, Everything(), Policy())


def test_what_the_provider_refused_by_id_is_not_sent_as_bytes_instead():
    file = attachment(1, size=2_000_000)
    seen = view(user("look"), assistant("c"), result("c", shown(1)), files=[file])
    known = uploads_of(seen, CLAUDE)
    for recipe in ("original/tool_result", "original/user"):
        known[DerivationRequest(facts("1").sha256, recipe, resolve(CLAUDE).at)] = Failed("400 could not process image")
    (receipt,) = planned(seen, CLAUDE, known, uploads=True).receipts
    assert (receipt.delivery, "could not process image" in receipt.reason) == ("noted", True)


def test_documents_that_come_with_too_many_others_are_given_as_words_and_nothing_is_refused():
    files = [attachment(n, "application/pdf", origin=Origin("user"), pages=40) for n in range(1, 6)]
    seen = view(user(*(shown(n) for n in range(1, 6)), "look"), files=files)
    target, known = resolve("groq:qwen/qwen3.6-27b"), {}
    for _ in range(3):
        made = plan(seen, target, known, Policy())
        known |= {want: words_or_pages(want) for want in made.wants}
    assert {one.delivery for one in made.receipts} == {"native"}
    assert [one.variant.text is not None for one in made.receipts] == [True, True, True, False, False]


def words_or_pages(want):
    recipe = read_recipe(want.conversion)
    if recipe.name == "text":
        return Derivative(text="the words")
    return Derivative(tuple(facts(f"{want.sha256}{at}", "image/png", recipe.bytes) for at in range(recipe.most)))
