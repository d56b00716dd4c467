"""The words of providers for a request that is longer than the model's context window."""

import pytest

from showandtell.errors import ProviderError
from showandtell.providers.full_context import FullContext, read_full_context

#: Texts of real errors, with the window and the request's tokens that they name.
RECORDED = {
    "Anthropic": (200_000, 208_310, "prompt is too long: 208310 tokens > 200000 maximum"),
    "Anthropic, with the answer": (200_000, 178_959, "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again"),
    "OpenAI": (None, None, "Your input exceeds the context window of this model. Please adjust your input and try again."),
    "OpenAI, its code": (None, None, "Bad input (context_length_exceeded)"),
    "Chat Completions": (8_192, 8_545, "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens. Please reduce the length of the messages."),
    "Gemini": (1_048_576, 3_475_108, "The input token count (3475108) exceeds the maximum number of tokens allowed (1048576)."),
    "Bedrock": (None, None, "The model returned the following errors: Input is too long for requested model."),
    "Mantle": (202_752, 137_217, "This model's maximum context length is 202752 tokens. However, you requested 65536 output tokens and your prompt contains at least 137217 input tokens, for a total of at least 202753 tokens."),
    "xAI": (131_072, 537_812, "This model's maximum prompt length is 131072 but the request contains 537812 tokens"),
    "Groq": (None, None, "Please reduce the length of the messages or completion."),
    "OpenRouter": (32_768, 42_832, "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens (42832 of text input)."),
    "llama.cpp": (None, None, "the request exceeds the available context size. try increasing the context size or enable context shift"),
}  # fmt: skip


@pytest.mark.parametrize(("window", "asked", "text"), RECORDED.values(), ids=RECORDED)
def test_the_words_and_numbers_of_providers_are_recognized(window, asked, text):
    assert read_full_context(ProviderError(text, 400)) == FullContext(window, asked)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (429, "Request too large: too many tokens per minute, reduce the length of the messages"),
        (400, "image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes"),
        (413, "Request exceeds the maximum size"),
        (400, "max_tokens: 200001 > 64000, which is the maximum allowed number of output tokens"),
        (401, "prompt is too long: 208310 tokens > 200000 maximum"),
    ],
)
def test_other_errors_are_not_taken_for_a_full_context(status, text):
    assert read_full_context(ProviderError(text, status)) is None
