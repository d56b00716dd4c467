import json
import re
from datetime import UTC, date, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities import matrix as table
from showandtell.core.capabilities.cells import Capability, Target
from showandtell.core.capabilities.family import ANY_MODEL, UNKNOWN_MODEL
from showandtell.core.capabilities.overrides import merge_overrides, read_overrides
from showandtell.core.capabilities.resolve import examples_of, families, find_family, resolve
from showandtell.core.capabilities.table import PROVIDERS
from showandtell.core.media_types.kinds import kind_of
from showandtell.errors import BadInput, UnknownModel
from support.matrix_rows import matrix_rows

# Written by hand. Image, document, audio, video, text of a tool: N native, R relocated, C converted, - noted, W words.
# Then the kinds that a user may upload.
EXPECTED = """
anthropic anthropic-messages *claude* NNCCW image document
anthropic anthropic-messages *claude-1* -CCCW
anthropic anthropic-messages *claude-3-opus* NCCCW image
anthropic anthropic-messages * RRCCW image document
anthropic-bedrock anthropic-messages *claude* NNCCW image document
anthropic-bedrock anthropic-messages *claude-1* -CCCW
anthropic-bedrock anthropic-messages *claude-3-opus* NCCCW image
anthropic-bedrock anthropic-messages *claude-3-5-haiku* -CCCW
anthropic-bedrock anthropic-messages * RRCCW image document
anthropic-vertex anthropic-messages *claude* NNCCW image document
anthropic-vertex anthropic-messages *claude-1* -CCCW
anthropic-vertex anthropic-messages *claude-3-opus* NCCCW image
anthropic-vertex anthropic-messages *claude-3-5-haiku* -RCCW document
anthropic-vertex anthropic-messages * RRCCW image document
openai openai-responses gpt-5.[6-9]* NNCCR image document text
openai openai-responses gpt-* NNCCR image document text
openai openai-responses gpt-3.5* -CCCW
openai openai-responses * RRCCR image document text
openai-chat openai-chat *audio* -CRCW audio
openai-chat openai-chat gpt-5.[6-9]* RRCCW image document
openai-chat openai-chat gpt-* RRCCW image document
openai-chat openai-chat gpt-3.5* -CCCW
openai-chat openai-chat * RRCCW image document
azure openai-responses gpt-3.5* -CCCW
azure openai-responses * RRCCR image document text
azure-chat openai-chat *audio* -CRCW audio
azure-chat openai-chat gpt-3.5* -CCCW
azure-chat openai-chat * RCCCW image
google gemini gemini-[3-9]* NNRRN image document audio video text
google gemini gemini-2.5-computer-use* NRRRR image document audio video text
google gemini gemini-1* RRRRR image document audio video text
google gemini *-tts* -CCCW
google gemini gemma-2-* -CCCW
google gemini * RRRRR image document audio video text
vertex gemini gemini-[3-9]* NNRRN image document audio video text
vertex gemini gemini-2.5-computer-use* NRRRR image document audio video text
vertex gemini gemini-1* RRRRR image document audio video text
vertex gemini *-tts* -CCCW
vertex gemini gemma-2-* -CCCW
vertex gemini * RRRRR image document audio video text
bedrock bedrock-converse *claude* NRCCW image document
bedrock bedrock-converse *claude-v[12]* -RCCW document
bedrock bedrock-converse *claude-3-opus* NRCCW image document
bedrock bedrock-converse *claude-3-5-haiku* -RCCW document
bedrock bedrock-converse *nova* NRCRN image document video text
bedrock bedrock-converse *nova-micro* -CCCW
bedrock bedrock-converse *llama4* NNCCW image document
bedrock bedrock-converse *mistral* RNCCW image document
bedrock bedrock-converse *mistral-7b* -RCCW document
bedrock bedrock-converse *mistral-small-24* -CCCW
bedrock bedrock-converse *qwen*vl* RRCCW image document
bedrock bedrock-converse *moonshot* RRCCW image document
bedrock bedrock-converse *kimi-k2-thinking* -CCCW
bedrock bedrock-converse *openai.gpt* RRCCW image document
bedrock bedrock-converse *openai.gpt-oss* -CCCW
bedrock bedrock-converse *writer.palmyra-x* -CCCW
bedrock bedrock-converse *meta.llama2* -RCCW document
bedrock bedrock-converse *deepseek.v3* -CCCW
bedrock bedrock-converse * RRCCW image document
xai openai-responses grok* NCCCW image
xai openai-responses grok-3* -CCCW
xai openai-responses * RCCCW image
groq openai-chat *qwen3.[68]* RCCCW image
groq openai-chat *llama-3.[13]* -CCCW
groq openai-chat *gpt-oss* -CCCW
groq openai-chat * RCCCW image
openrouter openai-chat anthropic/* NRCCW image document
openrouter openai-chat anthropic/claude-2* -RCCW document
openrouter openai-chat openai/*audio* -RRCW document audio
openrouter openai-chat openai/* RRCCW image document
openrouter openai-chat google/* RRRCW image document audio
openrouter openai-chat x-ai/* RRCCW image document
openrouter openai-chat mistralai/* RRCCW image document
openrouter openai-chat mistralai/codestral* -RCCW document
openrouter openai-chat mistralai/voxtral* -RRCW document audio
openrouter openai-chat openai/gpt-oss* -RCCW document
openrouter openai-chat * RRCCW image document
mistral openai-chat voxtral-* -CRCW audio
mistral openai-chat mistral-* RRCCW image document
mistral openai-chat codestral-* -CCCW
mistral openai-chat * RRCCW image document
cohere openai-chat *vision* RCCCW image
cohere openai-chat command-* -CCCW
cohere openai-chat * RCCCW image
ollama openai-chat * RCCCW image
vllm openai-chat * RCCCW image
llamacpp openai-chat * RCCCW image
lmstudio openai-chat * RCCCW image
litellm openai-chat anthropic/* NNCCW image document
litellm openai-chat bedrock/*claude* NRCCW image document
litellm openai-chat gemini/gemini-[3-9]* NNRCW image document audio
litellm openai-chat openai/* RRCCW image document
litellm openai-chat mistral/* RRCCW image document
litellm openai-chat * RRCCW image document
inspector anthropic-messages anthropic-messages NNCCW image document
inspector openai-chat openai-chat RRCCW image document
inspector openai-responses openai-responses NNCCR image document text
inspector gemini gemini NNRRN image document audio video text
inspector bedrock-converse bedrock-converse NRCCW image document"""
CELLS = [(family, cell) for family in families() for cell in family.cells]


def cell(verdict, place="tool_result", media_type="image/png", form="inline"):
    return Capability(place, kind_of(media_type), (media_type,), form, verdict, "a test", "2026-11-21")


def test_the_matrix_is_as_written_by_hand():
    assert matrix_rows() == EXPECTED.strip().splitlines()


def test_every_cell_has_evidence_and_a_date():
    for family, found in CELLS:
        assert found.evidence.strip(), family
        assert date.fromisoformat(found.date) <= datetime.now(UTC).date(), family


def test_the_types_of_a_cell_are_of_its_kind():
    for family, found in CELLS:
        assert {kind_of(media_type) for media_type in found.media_types} == {found.kind}, (family, found)


def test_no_cell_is_hidden_by_an_earlier_one():
    for family, found in CELLS:
        target = Target(family.provider, family.api, family.example, family.cells)
        assert any(target.cell(found.place, kind, found.form) is found for kind in found.media_types), found


def test_every_family_has_evidence():
    assert all(row["known_by"] for row in table.matrix())


def test_suggested_models_are_those_that_see_but_where_none_does():
    unseeing = {
        f"{family.provider}:{family.example}"
        for family in families()
        if not family.subfamily
        and table.place_upload(resolve(f"{family.provider}:{family.example}"), "image") == "refused"
    }
    assert unseeing == {
        "openai-chat:gpt-audio",
        "azure-chat:gpt-audio",
        "openrouter:openai/gpt-audio",
        "bedrock:us.writer.palmyra-x5-v1:0",
        "mistral:voxtral-small-latest",
        "cohere:command-a-03-2025",
    }
    assert not {"anthropic:claude-2.1", "openai:o3-mini"} & {f"{p}:{m}" for p in PROVIDERS for m in examples_of(p)}


def test_every_family_is_found_by_its_example():
    for family in families():
        assert find_family(family.provider, family.example) is family


def test_every_provider_but_the_inspector_ends_with_a_default():
    for provider in set(PROVIDERS) - {"inspector"}:
        own = [family for family in families() if family.provider == provider]
        assert [family.patterns == ANY_MODEL for family in own] == [False] * (len(own) - 1) + [True]


@pytest.mark.parametrize("provider", sorted(set(PROVIDERS) - {"inspector"}))
def test_files_of_unknown_models_are_relocated(provider):
    target = resolve(f"{provider}:zz-9000")
    assert table.place_result(target, "image") == "relocated"
    assert not any(found.verdict == "sees" for found in target.cells)


def test_cells_of_a_default_say_so():
    assert {found.evidence for found in resolve("anthropic:zz-9000").cells} == {UNKNOWN_MODEL}


@given(st.sampled_from(["blind", "rejects", "unproven", "sees"]), st.sampled_from(sorted(table.PROBES)))
def test_only_seen_cells_are_native(verdict, kind):
    target = Target("p", "gemini", "m", (cell(verdict, media_type=table.PROBES[kind]),))
    assert (table.place_result(target, kind) == "native") == (verdict == "sees")


def test_a_blind_cell_is_not_used_in_a_user_message_either():
    target = Target("p", "gemini", "m", (cell("blind", "user"),))
    assert (table.place_result(target, "image"), table.place_upload(target, "image")) == ("noted", "refused")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gpt-5", "Did you mean openai:gpt-5"),
        ("antropic:claude-sonnet-4-5", "Did you mean anthropic:claude-sonnet-4-5"),
        ("nobody:x", "unknown provider 'nobody'. Providers: anthropic, "),
        ("", "not written as provider:model. Providers: anthropic, "),
        ("anthropic:", "names no model: write it as in anthropic:claude-sonnet-4-5"),
        ("inspector:openai-chats", "Did you mean openai-chat"),
    ],
)
def test_the_error_for_a_wrong_name_lists_alternatives(name, words):
    with pytest.raises(UnknownModel, match=re.escape(words)):
        resolve(name)


@given(st.text(max_size=40))
def test_any_text_is_a_target_or_an_unknown_model(name):
    try:
        assert resolve(name).name == name
    except UnknownModel:
        assert name.partition(":")[0] not in PROVIDERS or not name.partition(":")[2].strip()


def test_a_model_may_hold_colons_slashes_and_capitals():
    assert resolve("ollama:qwen3-vl:8b").model == "qwen3-vl:8b"
    assert resolve("openrouter:Anthropic/Claude-Haiku-4.5").cells[0].verdict == "sees"


@pytest.mark.parametrize("region", ["", "us.", "eu.", "apac.", "global."])
def test_a_region_before_a_bedrock_model_changes_nothing(region):
    target = resolve(f"bedrock:{region}anthropic.claude-opus-4-6-v1:0")
    assert target.dialect.citations
    assert target.order.filler_when == "media"


def test_inspector_without_a_model_is_anthropic_messages():
    target = resolve("inspector")
    assert (target.provider, target.api, target.name) == (
        "inspector",
        "anthropic-messages",
        "inspector:anthropic-messages",
    )
    assert target.cells == resolve("anthropic:claude-sonnet-4-5").cells


def test_a_target_is_the_same_value_each_time():
    assert resolve("openai:gpt-5-mini") is resolve("openai:gpt-5-mini")
    assert hash(resolve("openai:gpt-5-mini", [])) == hash(resolve("openai:gpt-5-mini"))


def test_an_override_takes_precedence_over_the_table():
    target = resolve("bedrock:us.anthropic.claude-opus-4-6-v1:0", [cell("sees", media_type="application/pdf")])
    assert table.place_result(target, "document") == "native"
    assert table.place_result(resolve("bedrock:us.anthropic.claude-opus-4-6-v1:0"), "document") == "relocated"


def test_overrides_are_read_back_as_written():
    learnt = (cell("sees"), cell("blind", media_type="application/pdf"))
    text = merge_overrides(None, learnt, "bedrock:*claude*")
    assert read_overrides(text, "bedrock:us.anthropic.claude-opus-4-6-v1:0") == learnt
    assert read_overrides(text, "bedrock:us.amazon.nova-2-lite-v1:0") == ()


@pytest.mark.parametrize(
    "change", [{"evidence": " "}, {"date": "yesterday"}, {"media_types": ()}, {"verdict": "maybe"}]
)
def test_an_override_without_evidence_or_date_is_rejected(change):
    text = json.dumps({"*": [{**msgspec.to_builtins(cell("sees")), **change}]})
    with pytest.raises(BadInput, match="overrides: "):
        read_overrides(text, "openai:gpt-5-mini")


def test_rows_of_an_api_agree_on_how_results_are_written():
    for family in families():
        dialect, is_gemini = family.dialect, family.api == "gemini"
        assert (dialect.named_results, dialect.separate_results) == (is_gemini, is_gemini), family.example
        if family.api != "bedrock-converse":
            assert dialect.flags_errors == (family.api != "openai-chat"), family.example


def test_error_results_of_claude_hold_no_files():
    names = ["anthropic:claude-x", "anthropic-bedrock:claude-x", "anthropic-vertex:claude-x", "bedrock:claude-x"]
    assert not any(resolve(name).order.error_media for name in [*names, "anthropic:zz", "inspector"])


@pytest.mark.parametrize("name", ["mistral:mistral-medium-latest", "openrouter:mistralai/x", "litellm:mistral/x"])
def test_mistral_gets_a_filler_at_every_host(name):
    order = resolve(name).order
    assert (order.after_results, order.filler, order.call_ids) == ("filler", "OK", "[a-zA-Z0-9]{9}")


@pytest.mark.parametrize(
    ("name", "place", "form", "verdict", "schemes"),
    [
        ("google:gemini-3-pro", "tool_result", "file_id", "blind", ("https",)),
        ("google:gemini-3-pro", "user", "file_id", "sees", ("https",)),
        ("vertex:gemini-3-pro", "tool_result", "url", "sees", ("gs", "https")),
        ("bedrock:amazon.nova-pro-v1:0", "tool_result", "url", "sees", ("s3",)),
        ("bedrock:anthropic.claude-x", "user", "url", "rejects", ("s3",)),
    ],
)
def test_cells_by_address_have_their_verdict_and_schemes(name, place, form, verdict, schemes):
    found = resolve(name).cell(place, "image/png", form)
    assert (found.verdict, found.url_schemes) == (verdict, schemes)


def test_claude_takes_few_large_images_and_many_small_ones():
    target = resolve("anthropic:claude-sonnet-4-5")
    assert target.cell("user", "image/jpeg", "inline").limits.side == 8000
    assert (target.budget.images, target.budget.few_images, target.budget.many_side) == (100, 20, 2000)


def test_audio_only_goes_to_audio_models():
    assert resolve("openai-chat:gpt-audio-mini").cell("user", "audio/wav", "inline").verdict == "sees"
    assert resolve("openai-chat:gpt-5-mini").cell("user", "audio/wav", "inline").verdict == "rejects"


def test_the_markdown_table_has_every_family_and_every_blind_cell():
    rows = table.matrix()
    block = table.markdown(rows)
    assert block.count("\n|") == len(rows) + 2
    assert all(note in block for row in rows for note in row["blind"].values())
    assert [row["example"] for row in json.loads(table.to_json(rows))] == [f.example for f in families()]


def test_unproven_places_have_a_separate_symbol():
    lines = table.markdown(table.matrix()).splitlines()
    known, unknown = (next(line for line in lines if f"| {name} |" in line) for name in ("`*claude*`", "any other"))
    assert known.endswith("| ● | ● | ◇ | ◇ | T | image, document, text | recorded 2026-11-21 |")
    assert unknown.endswith("| ◌ | ◌ | ◇ | ◇ | T | (image), (document), text | default 2026-11-21 |")
    unproven = {row["models"]: row["unproven"] for row in table.matrix() if row["provider"] == "anthropic"}
    assert (unproven["*claude*"], unproven["any other"]) == ([], ["image", "document"])


@pytest.mark.parametrize(
    ("evidence", "kind"),
    [
        ("eye test with image/png, upload: answered X; recorded", "eye test"),
        ("recorded: test_matrix; Groq docs, vision", "recorded"),
        ("openai 3.54 types: input_file; only PDF was recorded", "types"),
        ("same schema as OpenAI's; no recording on Azure", "types"),
        ("OpenAI guide, file inputs", "docs"),
        ("pydantic-ai profiles/google.py:27-33: png", "source"),
        ("litellm 1.109: file part to the upstream's document", "source"),
        ("screenshot in parts (adkx ADR-0002)", "report"),
        (UNKNOWN_MODEL, "default"),
    ],
)
def test_evidence_is_classified_by_its_first_matching_word(evidence, kind):
    assert table.classify_evidence(evidence) == kind


def test_a_hidden_blind_cell_has_no_footnote():
    name = "bedrock:us.anthropic.claude-opus-4-6-v1:0"
    assert table.find_blind(resolve(name))
    assert not table.find_blind(resolve(name, [cell("sees", media_type="application/pdf")]))


def test_mistral_gets_at_most_eight_images_a_request():
    assert resolve("mistral:mistral-medium-latest").budget.images == 8
    assert resolve("mistral:voxtral-small-latest").budget.images is None


def test_a_window_is_a_fact_with_its_source_and_self_hosted_servers_have_none():
    rows = {entry["example"]: entry["window"] for entry in table.matrix() if entry["provider"] == "anthropic"}
    assert rows["claude-sonnet-4-5"]["tokens"] == 200_000
    assert all(date.fromisoformat(entry["date"]) and entry["evidence"] for entry in rows.values() if entry)
    assert rows["some-model"] is None
    assert resolve("ollama:gpt-oss:20b").window is None
    assert resolve("bedrock:us.anthropic.claude-opus-4-6-v1").window.tokens == 1_000_000
