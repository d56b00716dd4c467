"""The prompt of a step starts with the bytes of the previous step, so that the provider's cache is used."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.planning.values import Policy
from support.growing_conversations import FORMATS, MODELS, asked, check_prefixes, talk, talks, views
from support.properties import examples

#: With this number of steps, every file is worth an upload.
UPLOADS = Policy(cache=True, uploads=True, expected_steps=10_000_000)
#: Models whose hosts store files; for others the setting changes nothing.
UPLOADING = [model for model in MODELS if any(cell.form == "file_id" for cell in resolve(model).cells)]
#: One model of each row that stores files, besides the inspector's.
STORING = (
    "anthropic:claude-sonnet-4-5",
    "google:gemini-2.5-flash",
    "openai:gpt-5-mini",
    "openai-chat:gpt-5-mini",
    "xai:grok-4-1-fast-non-reasoning",
)


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


def test_each_prompt_starts_with_the_previous_one(subtests):
    for model in MODELS:
        with subtests.test(model=model):
            steps = talk(model, Policy(cache=True))
            assert (len(steps), check_prefixes(steps)) == (7, stable(model))


@pytest.mark.parametrize("model", UPLOADING)
def test_each_prompt_with_uploads_starts_with_the_previous_one(model):
    steps = talk(model, UPLOADS)
    assert (len(steps), check_prefixes(steps)) == (7, stable(model))
    assert model not in STORING or b"file_" in steps[-1][1].replace(b"file_data", b"")


def test_forbidding_tools_in_the_last_step_does_not_change_the_messages(subtests):
    for model in FORMATS:
        with subtests.test(model=model):
            steps = talk(model, Policy(cache=True), forbid=True)
            assert check_prefixes(steps, list_of(model)) == stable(model)


@examples(150)
@given(
    talks(),
    st.sampled_from(MODELS),
    st.sampled_from([Policy(cache=True), Policy(cache=True, max_in_context=2), UPLOADS]),
)
def test_prompts_only_grow_until_files_leave_the_view(drafts, model, policy):
    check_prefixes([*asked([*views(drafts)], model, policy)])
