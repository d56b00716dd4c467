"""Routes of providers' keys: which there are, and how to store and delete them. No response contains a key."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Depends, Path
from msgspec import Meta, Struct
from pydantic import ConfigDict, Field
from starlette.responses import Response

from showandtell.core.capabilities.default_models import current_model_of
from showandtell.core.capabilities.registry import find_provider
from showandtell.errors import BadInput, NotFound
from showandtell.providers.auth import find_variable
from showandtell.providers.hosts import host_of, keyed_providers
from showandtell.server.auth.authenticate import CurrentUser, User
from showandtell.server.auth.errors import Forbidden
from showandtell.server.json_body import describe_body, json_body
from showandtell.server.model_catalog import ModelCatalog
from showandtell.server.provider_keys.key_check import store_tested
from showandtell.server.provider_keys.provider_key import EVERYONE, StoredKey, connect_with
from showandtell.server.schemas import Shape, errors, json_response
from showandtell.server.state import CurrentServer, Server
from showandtell.storage.conversations.users import is_admin

router = APIRouter(prefix="/api/providers", tags=["models"])

Source: TypeAlias = Literal["none", "environment", "everyone", "own"]
ProviderName: TypeAlias = Annotated[str, Path(max_length=100)]
#: The names that providers write themselves with.
NAMES: Mapping[str, str] = {
    "anthropic": "Anthropic",
    "openai": "OpenAI",
    "azure": "Azure OpenAI",
    "google": "Google Gemini",
    "bedrock": "Amazon Bedrock",
    "xai": "xAI",
    "groq": "Groq",
    "openrouter": "OpenRouter",
    "mistral": "Mistral",
    "cohere": "Cohere",
    "ollama": "Ollama",
    "vllm": "vLLM",
    "llamacpp": "llama.cpp",
    "lmstudio": "LM Studio",
    "litellm": "LiteLLM",
}


def title_of(provider: str) -> str:
    """The name that people read."""
    known = find_provider(provider)
    return NAMES.get(provider, provider) if known is None else known.title or known.name


class ProviderStatus(Struct, frozen=True):
    """How a user reaches a provider.

    `key` is where the key comes from, `host` where it is sent. `base_url` and `changed` are those of the stored key.
    `model` is the one that answers by default once there is a key.
    """

    id: str
    name: str
    key: Source
    needs_key: bool
    needs_base_url: bool
    host: str | None
    base_url: str | None
    changed: float | None
    problem: str | None
    model: str | None


class ProviderShape(Shape):
    """A provider, and how you reach it."""

    id: str
    name: str
    key: Source = Field(description="where the key comes from: a stored key counts before the environment's")
    needs_key: bool
    needs_base_url: bool = Field(description="it has no base URL of its own")
    host: str | None = Field(description="the base URL that requests go to; for those who may store keys")
    base_url: str | None = Field(description="the base URL that was stored with the key; for administrators only")
    changed: float | None = Field(description="when the key was stored, in epoch seconds")
    problem: str | None = Field(description="why it can't be used")
    model: str | None = Field(description="its current model, which new conversations can have once there is a key")


EXAMPLE: dict[str, Any] = {
    "may_set": ["everyone"],
    "may_set_base_url": True,
    "providers": [
        {
            "id": "anthropic",
            "name": "Anthropic",
            "key": "everyone",
            "needs_key": True,
            "needs_base_url": False,
            "host": "https://api.anthropic.com",
            "base_url": None,
            "changed": 1764201600.0,
            "problem": None,
            "model": "anthropic:claude-sonnet-5-5",
        }
    ],
}


class ProvidersShape(Shape):
    """The providers, and what you may change."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    may_set: list[Literal["everyone", "own"]] = Field(description="for whom you may store keys")
    may_set_base_url: bool
    providers: list[ProviderShape]


class NewKey(Struct, forbid_unknown_fields=True):
    """A key to store: for everyone, or for your own use. A server that needs none gets a base URL alone."""

    api_key: Annotated[str, Meta(max_length=4096)] = ""
    base_url: Annotated[str, Meta(max_length=2048)] | None = None
    use: Literal["everyone", "own"] = "everyone"

    def __repr__(self) -> str:
        return "NewKey()"


class Permissions(Struct, frozen=True):
    """What a user may change."""

    everyone: bool
    own: bool

    def check(self, use: Literal["everyone", "own"], *, base_url: bool) -> None:
        """Raise `Forbidden` unless the user may store such a key."""
        if use == "everyone" and not self.everyone:
            raise Forbidden("only an administrator may change keys for everyone")
        if use == "own" and not self.own:
            raise Forbidden("this server does not allow keys of your own: ask its administrator")
        if base_url and not self.everyone:
            raise Forbidden("only an administrator may set a base URL")


async def permissions_of(server: Server, user: User) -> Permissions:
    """What a user may change: the single user everything, with accounts an administrator the keys for everyone."""
    if server.host_users is not None:  # the program around this one has the keys
        return Permissions(everyone=False, own=False)
    if server.accounts is None:
        return Permissions(everyone=True, own=False)
    admin = user.name in server.config.admins or await is_admin(server.store.database, user.name)
    return Permissions(everyone=admin, own=server.config.user_keys)


@router.get("", operation_id="list_providers", responses={200: {"model": ProvidersShape}, **errors()})
async def list_providers(server: CurrentServer, user: CurrentUser) -> Response:
    """List the providers, where their keys come from, and what you may change."""
    permissions = await permissions_of(server, user)
    keys = await server.access.keys.of(user.name)
    shown = [] if server.host_users is not None else await asyncio.to_thread(statuses, keys, permissions)
    return json_response(
        {
            "may_set": [use for use in ("everyone", "own") if getattr(permissions, use)],
            "may_set_base_url": permissions.everyone,
            "providers": shown,
        }
    )


@router.put(
    "/{provider}/key",
    operation_id="set_provider_key",
    status_code=204,
    responses=errors(404, 413, 415, 422),
    openapi_extra=describe_body(NewKey, {"api_key": "sk-…", "use": "everyone"}),
)
async def set_provider_key(
    server: CurrentServer,
    user: CurrentUser,
    provider: ProviderName,
    body: Annotated[NewKey, Depends(json_body(NewKey))],
) -> Response:
    """Test a key with its provider, and store it, encrypted. It is never returned."""
    check_provider(server, provider)
    base_url = body.base_url.strip() if body.base_url is not None else None
    (await permissions_of(server, user)).check(body.use, base_url=base_url is not None)
    owner = owner_of(body.use, user)
    exchange, models = await store_tested(server.access, owner, provider, body.api_key, base_url)
    if models and isinstance(server.catalog, ModelCatalog):
        await server.catalog.lists.keep(exchange, models)
    return Response(status_code=204)


@router.delete("/{provider}/key", operation_id="delete_provider_key", status_code=204, responses=errors(404, 422))
async def delete_provider_key(
    server: CurrentServer, user: CurrentUser, provider: ProviderName, use: Literal["everyone", "own"] = "everyone"
) -> Response:
    """Delete a stored key. The environment's counts again, if there is one."""
    check_provider(server, provider)
    (await permissions_of(server, user)).check(use, base_url=False)
    await server.access.keys.delete(owner_of(use, user), provider)
    return Response(status_code=204)


def check_provider(server: Server, provider: str) -> None:
    """Raise `NotFound` for an unknown provider, and for any if the program around this one has the keys."""
    if server.host_users is not None or provider not in keyed_providers():
        raise NotFound(f"there is no provider {provider!r:.60} with a key that can be stored here")


def owner_of(use: Literal["everyone", "own"], user: User) -> str:
    """The owner of a key."""
    return EVERYONE if use == "everyone" else user.name


def statuses(keys: Mapping[str, StoredKey], permissions: Permissions) -> list[ProviderStatus]:
    """How a user reaches each provider. Only those who may store keys see hosts."""
    return [status_of(provider, keys, permissions) for provider in keyed_providers()]


def status_of(provider: str, keys: Mapping[str, StoredKey], permissions: Permissions) -> ProviderStatus:
    """How a user reaches a provider. It may read files of cloud accounts."""
    stored, row, host, problem = keys.get(provider), host_of(provider), None, None
    try:
        host = connect_with(provider, keys, os.environ).base
    except BadInput as error:
        problem = None if stored is None else str(error)
    key: Source = "none"
    if stored is not None:
        key = "everyone" if stored.owner == EVERYONE else "own"
    elif find_variable(tuple(dict(row.keys)), os.environ) is not None:
        key = "environment"
    return ProviderStatus(
        provider,
        title_of(provider),
        key,
        needs_key=row.needs_key,
        needs_base_url=not row.base,
        host=host if permissions.everyone or permissions.own else None,
        base_url=stored.key.base_url if permissions.everyone and stored is not None and stored.key else None,
        changed=None if stored is None else stored.changed,
        problem=problem,
        model=current_model_of(provider, find_provider(provider)),
    )
