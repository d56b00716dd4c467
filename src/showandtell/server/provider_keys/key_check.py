"""Test a key and store it: the provider's list of models tells if it is good, else a short question does."""

from __future__ import annotations

import asyncio
import errno
from typing import Final

from msgspec.structs import replace

from showandtell.agent.agent import Agent
from showandtell.agent.settings import Connection, ModelSettings, RunLimits
from showandtell.core.capabilities.resolve import examples_of
from showandtell.errors import BadInput, ProviderError, ProviderUnavailable
from showandtell.network.address_guard import host_and_port, how_to_name
from showandtell.providers.auth import check_base
from showandtell.providers.exchange import Exchange
from showandtell.providers.hosts import host_of
from showandtell.providers.model_lists import KeyRefused, ListedModel, list_models, model_list_of
from showandtell.providers.retry import RetryPolicy
from showandtell.server.provider_keys.access import ProviderAccess
from showandtell.server.provider_keys.provider_key import ProviderKey, Way

#: Seconds until a provider must have answered.
TIMEOUT: Final = 20.0


async def store_tested(
    access: ProviderAccess, owner: str, provider: str, api_key: str, base_url: str | None
) -> tuple[Exchange, tuple[ListedModel, ...]]:
    """Test a key and store it, as the page and `showandtell keys set` do. Returns what `check_key` does.

    Raises `BadInput`, with nothing stored, for an empty or wrong key, and for a base URL inside the network.
    """
    row = host_of(provider)
    if row.needs_key and not api_key.strip():
        raise BadInput("the key is empty: paste the one that the provider shows")
    given = ProviderKey(api_key.strip(), base_url.strip() or None if base_url else None, "")
    if given.base_url is not None:
        access.guard.check(check_base("base_url", row.read(given.base_url), row.example))
    exchange, models = await check_key(provider, access.transports.connection(Way(given)))
    await access.keys.save(owner, provider, replace(given, host=exchange.base))
    return exchange, models


async def check_key(provider: str, connection: Connection) -> tuple[Exchange, tuple[ListedModel, ...]]:
    """Connect to a provider with a key. Returns the exchange, and the models that it lists for this key, if it does.

    Raises `BadInput` if the provider refuses the key or can't be reached. Its text never has the key.
    """
    model = f"{provider}:{examples_of(provider)[0]}"
    agent = Agent(
        model,
        model_settings=ModelSettings(max_tokens=16),
        limits=RunLimits(steps=1, seconds=TIMEOUT),
        retry=RetryPolicy(tries=0),
        connection=connection,
    )
    exchange = agent.exchange
    try:
        async with asyncio.timeout(TIMEOUT):
            return exchange, await list_or_ask(provider, exchange, agent)
    except TimeoutError:
        problem = f"{exchange.base} did not answer within {TIMEOUT:g} s"
    except KeyRefused as error:
        problem = f"{provider} refused the key: {error.text}"
    except OSError as error:
        problem = f"{exchange.base} can't be reached: {error.strerror or error}"
        if connection.base_url is not None and error.errno == errno.EADDRNOTAVAIL:
            problem = f"{exchange.base} is unknown or inside the network; {how_to_name(*host_and_port(exchange.base))}"
    except ProviderError as error:
        problem = f"{exchange.base} can't be used: {error.text}"
    raise BadInput(f"{problem}. Nothing was stored.")


async def list_or_ask(provider: str, exchange: Exchange, agent: Agent) -> tuple[ListedModel, ...]:
    """The models of the provider. Without a list, one short question shows whether it takes the key."""
    if (models := model_list_of(provider)) is not None:
        return await list_models(exchange, models, check_key=True)
    run = await agent.run("Answer with the word OK.")
    match run.error:
        case ProviderUnavailable() as error:
            raise error
        case ProviderError(status=401 | 403) as error:
            raise KeyRefused(error.text, error.status)
        case _:  # an unknown model or a limit: the key itself was taken
            return ()
