"""A file by address that a model doesn't open: the reason says so, and what would help."""

import pytest

from showandtell import Draft, File, explain

IMAGE = ("https://example.com/a.png", "image/png")
ADVICE = "set FilePolicy(fetch=FetchPolicy(fetch=True)), or download the file and add it"


def reason(model, uri, media_type):
    """Why the address is not sent."""
    question = [Draft("user", (File.from_uri(uri, media_type),))]
    (receipt,) = explain(question, model=model)
    assert receipt.delivery == "refused"
    return receipt.reason


@pytest.mark.parametrize(
    ("model", "uri", "media_type", "why"),
    [
        (
            "bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0",
            *IMAGE,
            "image/png by URL in a user message is refused by",
        ),
        ("openai-chat:gpt-5", "https://example.com/a.pdf", "application/pdf", "takes no application/pdf by URL"),
        ("google:gemini-2.5-flash", "gs://acme/a.png", "image/png", "gs: addresses can't be opened there"),
        ("ollama:qwen3-vl", *IMAGE, "by URL"),
    ],
)
def test_a_model_that_takes_the_file_but_not_its_address_says_so(model, uri, media_type, why):
    explained = reason(model, uri, media_type)
    assert why in explained
    assert explained.endswith(f"; {model} takes {media_type} as bytes: {ADVICE}")


def test_http_needs_one_more_setting():
    assert "FetchPolicy(fetch=True, http=True)" in reason(
        "anthropic:claude-sonnet-5", "http://example.com/a.png", "image/png"
    )


@pytest.mark.parametrize(
    ("model", "uri", "media_type"),
    [
        ("openai-chat:gpt-5", "https://example.com/a.zip", "application/zip"),
        ("anthropic:claude-sonnet-5", "s3://acme/a.png", "image/png"),
        ("anthropic:claude-sonnet-5", "openai:file-1", "image/png"),
    ],
)
def test_fetching_is_not_advised_where_it_would_not_help(model, uri, media_type):
    assert "FetchPolicy" not in reason(model, uri, media_type)
