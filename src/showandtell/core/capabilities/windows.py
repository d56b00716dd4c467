"""Context windows and token costs by the name of a model, each with its source. The first row that matches counts.

The name of a model is the same at all of its hosts, but what a self-hosted server holds is up to how it was started.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from showandtell.core.capabilities.cells import TokenCosts, Window

#: Providers whose servers tell the window, if anybody does.
SELF_HOSTED = frozenset({"ollama", "vllm", "llamacpp", "lmstudio", "inspector"})

LITELLM = "litellm 1.110 table, max_input_tokens"
READ = "2026-11-26"


def window(tokens: int, evidence: str = LITELLM) -> Window:
    """A window that was read on the day of this table."""
    return Window(tokens, evidence, READ)


#: Names of Claude's models with a window of 200,000 tokens, and images of at most 1568 tokens.
CLAUDE_200K = ("*claude-3*", "*claude-*-4", "*claude-*-4-[015]*", "*claude-*-4[-@]20*", "*claude-*-4.[015]*")
WINDOWS: tuple[tuple[tuple[str, ...], Window], ...] = (
    (("*claude-instant*", "*claude-v[12]*", "*claude-2*"), window(100_000)),
    (CLAUDE_200K, window(200_000)),
    (("*claude-*-4[-.][6-9]*", "*claude-*-[5-9]*"), window(1_000_000)),
    (("*gpt-3.5-turbo-0613",), window(4_096)),
    (("*gpt-4", "*gpt-4-0*", "*gpt-4-32k*"), window(8_192)),
    (("*gpt-3.5*",), window(16_385)),
    (("*gpt-4.1*",), window(1_047_576)),
    (("*gpt-4o*", "*gpt-4-*", "*gpt-audio*", "*gpt-5*chat*"), window(128_000)),
    (("*gpt-oss*",), window(128_000)),
    (("*gpt-5.4-mini*", "*gpt-5.4-nano*", "*gpt-5.6-cyber*"), window(272_000)),
    (("*gpt-5.[45]*",), window(1_050_000)),
    (("*gpt-5.[6-9]*", "*gpt-[6-9]*"), window(922_000)),
    (("*gpt-5*",), window(272_000)),
    (("o1", "o1-20*", "o1-pro*", "o3*", "o4-mini*", "openai/o[134]*"), window(200_000)),
    (("*gemini-2.5-computer-use*",), window(128_000)),
    (("*gemini-robotics*", "*gemini-omni*"), window(131_072)),
    (("*-tts*", "*gemma-2-*", "*gemini-*-image*", "*gemini-nano*"), window(8_192, "the smallest of these in litellm")),
    (("*gemini-*",), window(1_048_576)),
    (("*gemma-3-*",), window(128_000)),
    (("*gemma-4-*",), window(262_144)),
    (("*nova-micro*",), window(128_000)),
    (("*nova-2-*", "*nova-premier*"), window(1_000_000)),
    (("*nova-lite*", "*nova-pro*"), window(300_000)),
    (("*llama4-*", "*llama-4-*"), window(128_000, "the smallest of several hosts; the models take 1M and more")),
    (("*pixtral-large*", "*mistral-large-2407*", "*mistral-nemo*"), window(128_000)),
    (("*mistral-large-3*", "*mistral-large-25*", "*mistral-large-latest", "*mistral-medium*"), window(256_000)),
    (("*mistral-small-latest", "*mistral-small-26*", "*magistral-*latest"), window(262_144)),
    (("*grok-4.20*", "*grok-4.3*"), window(1_000_000)),
    (("*grok-4*", "*grok-code-fast*", "*grok-build*"), window(256_000, "the smallest of these in litellm")),
    (("*qwen3-vl*",), window(256_000)),
    (("*kimi-k2*",), window(256_000)),
    (("*command-a-03*", "command-a-vision*"), window(128_000, "128k with vision, 256k without (from memory)")),
    (("*command-r*", "*command-a-plus*"), window(128_000)),
)

#: From the dataset image-token-cost (ten sizes of images, counted by the hosts of four models; read 2026-11-26).
#: Claude counts a token for each square of 28 pixels, up to 1568 or about 4,000; Gemini 3 about 1,100 for any size;
#: GPT 1.2 for each square of 32 pixels, up to 15,000 with all details. Pages and seconds are from memory of the docs.
COSTS: tuple[tuple[tuple[str, ...], TokenCosts], ...] = (
    (CLAUDE_200K, TokenCosts(image_max=1_600)),
    (("*claude*",), TokenCosts(image_max=4_000)),
    (("*gemini-[3-9]*",), TokenCosts(image_side=1, image_max=1_120, page=600)),
    (("*gemini*", "*gemma*"), TokenCosts(image_max=1_600, page=600)),
    (("*gpt-*", "o[134]*"), TokenCosts(image_side=32, image_factor=1.2, image_max=15_000)),
)


def window_of(provider: str, model: str) -> Window | None:
    """The context window of a model; None if it isn't known, or up to its server."""
    if provider in SELF_HOSTED:
        return None
    return next((window for patterns, window in WINDOWS if matches(model, patterns)), None)


def costs_of(model: str) -> TokenCosts:
    """What files cost a model in tokens."""
    return next((costs for patterns, costs in COSTS if matches(model, patterns)), TokenCosts())


def matches(model: str, patterns: tuple[str, ...]) -> bool:
    """Whether a model's name matches one of the globs."""
    return any(fnmatchcase(model.lower(), pattern) for pattern in patterns)
