"""Where each house listens, which api a path speaks, and the variables that lead a program here."""

from __future__ import annotations

from showandtell.core.capabilities.cells import Api

#: Base URLs as each house's own SDK takes them, behind the stand-in's address.
BASES = {
    "anthropic": "/anthropic",
    "anthropic-bedrock": "/anthropic-bedrock",
    "anthropic-vertex": "/anthropic-vertex/v1",
    "openai": "/openai/v1",
    "azure": "/azure",
    "google": "/google",
    "vertex": "/vertex",
    "bedrock": "/bedrock",
    "xai": "/xai/v1",
    "groq": "/groq",
    "openrouter": "/openrouter/v1",
    "mistral": "/mistral",
    "cohere": "/cohere",
    "ollama": "/ollama",
    "vllm": "/vllm/v1",
    "llamacpp": "/llamacpp/v1",
    "lmstudio": "/lmstudio/v1",
    "litellm": "/litellm",
}
#: Where a service account's key is exchanged for a token.
TOKEN_PATH = "/oauth/token"  # noqa: S105 - a path


def base_of(house: str) -> str:
    """The base path of a house, or of a provider's second row on it: `openai-chat` is where `openai` is."""
    return BASES[house.removesuffix("-chat")]


def name_variable(house: str) -> str:
    return f"SHOWANDTELL_{house.upper().replace('-', '_')}_BASE_URL"


def find_api(path: str) -> Api:
    """The api that a path speaks."""
    match path.split("/")[1]:
        case "anthropic" | "anthropic-bedrock" | "anthropic-vertex":
            return "anthropic-messages"
        case "google" | "vertex":
            return "gemini"
        case "bedrock":
            return "bedrock-converse"
        case _:
            return "openai-responses" if path.endswith("/responses") else "openai-chat"
