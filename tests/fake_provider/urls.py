"""The base URL of each host, the API of a path, and the environment variables for base URLs."""

from __future__ import annotations

from urllib.parse import urlsplit

from showandtell.core.capabilities.cells import Api
from showandtell.providers.hosts import ROWS

#: The paths of base URLs, as each host's own SDK expects them.
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
    "deepseek": "/deepseek/v1",
}
#: Providers whose host here is that of their API's vendor, because they have no dialect of their own.
OTHERS = tuple(name for name in ROWS if name.removesuffix("-chat") not in BASES)
BASES |= {name: f"/{name}{urlsplit(str(ROWS[name].base)).path}" for name in OTHERS}
#: The token endpoint for service accounts.
TOKEN_PATH = "/oauth/token"  # noqa: S105 - a path


def base_of(host: str) -> str:
    """The base path of a host. `openai-chat` has that of `openai`."""
    return BASES[host.removesuffix("-chat")]


def name_variable(host: str) -> str:
    return f"SHOWANDTELL_{host.upper().replace('-', '_')}_BASE_URL"


def find_api(path: str) -> Api:
    """The API of a path."""
    match path.split("/")[1]:
        case "anthropic" | "anthropic-bedrock" | "anthropic-vertex":
            return "anthropic-messages"
        case "google" | "vertex":
            return "gemini"
        case "bedrock":
            return "bedrock-converse"
        case _:
            return "openai-responses" if path.endswith("/responses") else "openai-chat"
