"""Which kinds of files the models take of which this is known, and neighbours with similar names that take more."""

import pytest

from showandtell.core.capabilities.matrix import PROBES
from showandtell.core.capabilities.resolve import resolve

# Written by hand: models, and the kinds of files that they take as they are, anywhere.
TAKES = """
anthropic: claude-2.1 claude-instant-1.2 claude-v1 =
anthropic: claude-3-haiku-20240307 claude-3-opus-20240229 = image
anthropic: claude-3-5-haiku-20241022 claude-3-5-sonnet-20240620 claude-opus-5 = image document
anthropic-bedrock: anthropic.claude-v2:1 us.anthropic.claude-3-5-haiku-20241022-v1:0 =
anthropic-bedrock: eu.anthropic.claude-3-haiku-20240307-v1:0 = image
anthropic-vertex: claude-3-5-haiku@20241022 = document
openai: gpt-3.5-turbo gpt-3.5-turbo-0125 ft:gpt-3.5-turbo:acme::x gpt-4 gpt-4-0613 gpt-4-1106-preview gpt-4-32k =
openai: o1-mini o1-preview-2024-09-12 o3-mini o3-mini-2025-01-31 gpt-oss-120b gpt-4-turbo-preview =
openai: gpt-4o gpt-4o-mini gpt-4.1 gpt-4-turbo gpt-4-vision-preview gpt-4-1106-vision-preview = image document text
openai: o1 o1-pro o3 o3-pro o4-mini gpt-5 gpt-5.6 gpt-6-astra GPT-4O = image document text
openai-chat: gpt-3.5-turbo gpt-4 o3-mini =
openai-chat: gpt-audio gpt-4o-audio-preview = audio
openai-chat: gpt-4o gpt-5-mini = image document
azure: gpt-35-turbo o3-mini DeepSeek-R1 Llama-3.3-70B-Instruct Phi-4 gpt-oss-120b =
azure: gpt-4 our-deployment Phi-4-multimodal-instruct Llama-4-Scout-17B-16E-Instruct = image document text
azure-chat: gpt-35-turbo o3-mini =
azure-chat: gpt-4 our-deployment = image
google: gemini-2.5-pro-preview-tts gemini-3.1-flash-tts-preview gemma-3-1b-it gemma-2-9b-it =
google: gemini-2.5-flash gemini-3-pro-preview = image document audio video text
vertex: gemini-2.5-flash-tts gemma-3-1b-it =
bedrock: anthropic.claude-v2:1 us.anthropic.claude-3-5-haiku-20241022-v1:0 = document
bedrock: anthropic.claude-3-haiku-20240307-v1:0 us.anthropic.claude-3-5-sonnet-20241022-v2:0 = image document
bedrock: us.amazon.nova-micro-v1:0 amazon.titan-text-premier-v1:0 ai21.jamba-instruct-v1:0 =
bedrock: us.amazon.nova-lite-v1:0 = image document video text
bedrock: us.meta.llama3-3-70b-instruct-v1:0 meta.llama3-8b-instruct-v1:0 meta.llama3-2-3b-instruct-v1:0 = document
bedrock: meta.llama2-13b-chat-v1 us.deepseek.r1-v1:0 ai21.jamba-1-5-large-v1:0 cohere.command-r-plus-v1:0 = document
bedrock: us.meta.llama3-2-90b-instruct-v1:0 us.meta.llama4-scout-17b-instruct-v1:0 = image document
bedrock: mistral.mistral-7b-instruct-v0:2 mistral.mixtral-8x7b-instruct-v0:1 mistral.mistral-large-2407-v1:0 = document
bedrock: mistral.mistral-small-2402-v1:0 mistral.devstral-2-123b mistral.voxtral-small-24b-2507 =
bedrock: mistral.mistral-large-3-675b-instruct us.mistral.pixtral-large-2502-v1:0 = image document
bedrock: openai.gpt-oss-120b-1:0 deepseek.v3.2 qwen.qwen3-32b-v1:0 qwen.qwen3-coder-next moonshot.kimi-k2-thinking =
bedrock: minimax.minimax-m2 zai.glm-5 nvidia.nemotron-super-3-120b us.writer.palmyra-x5-v1:0 =
bedrock: qwen.qwen3-vl-235b-a22b moonshotai.kimi-k2.5 global.openai.gpt-6-sol google.gemma-3-4b-it = image document
bedrock: nvidia.nemotron-nano-12b-v2 writer.palmyra-vision-7b = image document
xai: grok-3 grok-3-mini-fast grok-2-1212 grok-beta =
xai: grok-4 grok-2-vision-1212 grok-4.3 grok-code-fast-1 = image
groq: llama-3.3-70b-versatile llama-3.1-8b-instant llama3-8b-8192 gemma2-9b-it openai/gpt-oss-20b qwen/qwen3-32b =
groq: moonshotai/kimi-k2-instruct-0905 deepseek-r1-distill-llama-70b meta-llama/llama-prompt-guard-2-86m =
groq: qwen/qwen3.8-27b meta-llama/llama-4-scout-17b-16e-instruct llama-3.2-11b-vision-preview = image
mistral: codestral-2508 devstral-2512 devstral-medium-latest open-mistral-7b open-mixtral-8x22b open-mistral-nemo =
mistral: mistral-large-2411 mistral-small-2409 mistral-small-2501 ministral-8b-2410 magistral-small-2506 zai-glm-5-3 =
mistral: voxtral-small-latest = audio
mistral: mistral-large-latest mistral-large-2512 mistral-small-2503 ministral-8b-latest = image document
mistral: magistral-medium-2509 pixtral-12b-2409 mistral-medium-latest devstral-small-2512 zai-glm-5-3-flash = image document
cohere: command-a-03-2025 command-r-plus-08-2024 command-a-reasoning-08-2025 c4ai-aya-expanse-32b =
cohere: command-a-vision-07-2025 command-a-plus-05-2026 c4ai-aya-vision-32b = image
openrouter: openai/gpt-oss-20b:free openai/gpt-3.5-turbo openai/gpt-4 openai/o3-mini-high = document
openrouter: deepseek/deepseek-chat deepseek/deepseek-r1-0528 deepseek/deepseek-v4-flash deepseek/deepseek-v4-pro = document
openrouter: meta-llama/llama-3.3-70b-instruct qwen/qwen3-32b qwen/qwen3-coder:free moonshotai/kimi-k2-0905 = document
openrouter: z-ai/glm-4.6 z-ai/glm-4.5-air:free z-ai/glm-5.2 x-ai/grok-3-mini amazon/nova-micro-v1 = document
openrouter: mistralai/devstral-2512 mistralai/mistral-nemo anthropic/claude-2.1 google/gemma-2-27b-it = document
openrouter: openai/gpt-audio mistralai/voxtral-small-24b-2507 = document audio
openrouter: openai/gpt-4o openai/gpt-5-mini deepseek/deepseek-v4.1-flash deepseek/deepseek-v4-flash-vision-exp = image document
openrouter: meta-llama/llama-3.2-11b-vision-instruct meta-llama/llama-4-scout qwen/qwen3-vl-8b-instruct = image document
openrouter: qwen/qwen3.6-27b moonshotai/kimi-k2.5 z-ai/glm-4.6v z-ai/glm-5v-turbo x-ai/grok-4 = image document
openrouter: mistralai/mistral-medium-3.1 mistralai/devstral-small-2512 anthropic/claude-sonnet-4.5 = image document
openrouter: google/gemini-2.5-flash = image document audio
"""


def read_table():
    for line in TAKES.strip().splitlines():
        provider, _, rest = line.partition(": ")
        models, _, kinds = rest.partition("=")
        for model in models.split():
            yield f"{provider}:{model}", set(kinds.split())


def test_a_model_takes_the_kinds_that_it_is_known_for(subtests):
    for name, kinds in read_table():
        with subtests.test(name=name):
            target = resolve(name)
            found = {
                cell.kind for cell in target.cells if cell.form == "inline" and cell.verdict in {"sees", "unproven"}
            }
            assert found & PROBES.keys() == kinds


def test_an_image_for_a_model_without_images_is_rejected_with_evidence():
    for name, kinds in read_table():
        cell = resolve(name).cell("user", "image/png", "inline")
        assert "image" in kinds or (cell.verdict, bool(cell.evidence)) == ("rejects", True), name


@pytest.mark.parametrize("region", ["", "us.", "eu.", "apac.", "global."])
def test_pdfs_for_older_claude_models_on_converse_have_no_citations(region):
    for model in ("anthropic.claude-3-haiku-20240307-v1:0", "anthropic.claude-3-5-haiku-20241022-v1:0"):
        assert not resolve(f"bedrock:{region}{model}").dialect.citations


def test_rows_without_images_differ_from_their_family_only_in_files():
    pairs = [
        ("openai:o3-mini", "openai:o3"),
        ("openai-chat:gpt-4", "openai-chat:gpt-4o"),
        ("bedrock:us.amazon.nova-micro-v1:0", "bedrock:us.amazon.nova-pro-v1:0"),
        ("bedrock:qwen.qwen3-32b-v1:0", "bedrock:some-model"),
        ("mistral:codestral-latest", "mistral:mistral-medium-latest"),
        ("openrouter:mistralai/devstral-2512", "openrouter:mistralai/mistral-medium-3.1"),
        ("openrouter:deepseek/deepseek-r1", "openrouter:some-house/some-model"),
    ]
    for blind, seeing in ((resolve(one), resolve(other)) for one, other in pairs):
        assert (blind.order, blind.budget, blind.dialect) == (seeing.order, seeing.budget, seeing.dialect)
