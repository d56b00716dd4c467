"""Functions that give credentials and hang: they delay nobody else, and callers get an error in time."""

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.oauth2.service_account import Credentials

from showandtell.errors import ProviderUnavailable
from showandtell.providers import aws, credentials, google
from showandtell.providers.client import read_client


@pytest.fixture
def gate():
    """What the functions wait for; it opens at the end of a test, so that their threads end."""
    gate = threading.Event()
    yield gate
    gate.set()


def hanging(gate, calls) -> list[Any]:
    """A function that waits at the gate, as authorization by each kind of credentials."""

    def wait() -> Any:
        calls.append(threading.current_thread())
        gate.wait()
        return "key"

    return [
        google.authorize_with(wait),
        aws.authorize_with(wait, "us-east-1"),
        read_client(openai.OpenAI(api_key=wait)).authorize,
    ]


@pytest.mark.parametrize("kind", range(3))
def test_credentials_that_hang_take_one_thread_and_none_of_the_loop(kind, gate):
    calls = []
    authorize = hanging(gate, calls)[kind]

    async def go():
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        waiting = [asyncio.create_task(authorize(None)) for _ in range(70)]
        await asyncio.sleep(0)
        assert await asyncio.to_thread(lambda: "free") == "free"
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)
        return [task.cancelled() for task in waiting]

    try:
        assert asyncio.run(asyncio.wait_for(go(), 60)) == [True] * 70
    finally:
        gate.set()
    assert [thread.daemon for thread in calls] == [True]


@pytest.mark.parametrize("kind", range(3))
def test_credentials_that_hang_are_reported(kind, gate, monkeypatch):
    monkeypatch.setattr(credentials, "SECONDS", 0.0)
    with pytest.raises(ProviderUnavailable, match="did not come within 0 s"):
        asyncio.run(hanging(gate, [])[kind](None))


def test_a_call_that_never_ends_is_made_again_later(gate, monkeypatch):
    monkeypatch.setattr(credentials, "LEFT_AFTER", 0.0)
    calls = []

    async def go():
        for _ in range(2):
            with pytest.raises(ProviderUnavailable):
                await hanging(gate, calls)[0](None)

    asyncio.run(go())
    assert len(calls) == 2


def test_a_token_endpoint_that_hangs_is_left(monkeypatch):
    monkeypatch.setattr(google, "REQUEST_SECONDS", 0.1)
    key = rsa.generate_private_key(65537, 2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        account = {
            "private_key": pem,
            "client_email": "a@acme.test",
            "token_uri": f"http://127.0.0.1:{silent.getsockname()[1]}/token",
        }
        own = Credentials.from_service_account_info(account, scopes=[google.SCOPE])
        with pytest.raises(ProviderUnavailable, match="can't be renewed"):
            google.renew(own)
