"""The command `token` beside a running server: a new address, the token of programs, and a new token."""

import asyncio
import signal

import aiohttp
import pytest

from support.commandline import call, spawn
from support.server_process import TIMEOUT, running

pytestmark = pytest.mark.anyio


async def command(folder, *arguments, **environ):
    """Run `showandtell token`: its exit status, its output and its errors."""
    done = await asyncio.to_thread(spawn, folder, "token", *arguments, environ=environ)
    return done.returncode, done.stdout.strip(), done.stderr


async def sign_in(address):
    """Open an address in a new browser: its status, and the browser's header."""
    async with aiohttp.ClientSession() as client, client.get(address, allow_redirects=False) as response:
        return response.status, {"cookie": response.headers.get("set-cookie", "").partition(";")[0]}


async def status(program, headers):
    async with aiohttp.ClientSession() as client, client.get(f"{program.url}/api/me", headers=headers) as response:
        return response.status


async def until_status(program, headers, expected):
    async with asyncio.timeout(TIMEOUT):
        while await status(program, headers) != expected:  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.2)


async def test_addresses_and_the_token_are_shown_and_renewed(tmp_path):
    place = ["--data", str(tmp_path)]
    async with running(tmp_path, SHOWANDTELL_TOKEN="") as program:
        code, first, advice = await command(tmp_path, *place)
        assert code == 0
        assert first.partition("?")[0] == f"{program.url}/"
        assert "one browser" in advice
        _, second, _ = await command(tmp_path, *place)
        signed_in = [await sign_in(address) for address in (program.address, first, second, second)]
        assert [found for found, _ in signed_in] == [401, 401, 303, 401]  # another address replaces the last
        _, token, _ = await command(tmp_path, "--show", *place)
        headers = [signed_in[2][1], {"authorization": f"Bearer {token}"}]
        assert [await status(program, one) for one in headers] == [200, 200]
        assert (await sign_in(f"{program.url}/?token={token}"))[0] == 303  # an old bookmark
        done, address, advice = await command(tmp_path, *place, "--renew")
        assert done == 0
        assert "token --show" in advice
        assert "The old token and 2 sessions have ended" in advice
        for one in headers:
            await until_status(program, one, 401)
        fresh, cookie = await sign_in(address)
        assert (fresh, await status(program, cookie)) == (303, 200)


@pytest.mark.thorough
async def test_the_token_is_renewed_at_every_worker_and_outlives_a_restart(tmp_path):
    place = ["--data", str(tmp_path)]
    async with running(tmp_path, "--workers", "2", SHOWANDTELL_TOKEN="") as program:
        old = (await command(tmp_path, *place, "--show"))[1]
        _, cookie = await sign_in(program.address)
        program_headers = {"authorization": f"Bearer {old}"}
        assert [await status(program, headers) for headers in (cookie, program_headers)] == [200, 200]
        done, address, advice = await command(tmp_path, *place, "--renew")
        assert done == 0
        assert "token --show" in advice
        assert "The old token and 1 session have ended" in advice
        for _ in range(8):  # whichever worker responds
            await until_status(program, cookie, 401)
        await until_status(program, program_headers, 401)
        new = (await command(tmp_path, *place, "--show"))[1]
        assert new != old
        await until_status(program, {"authorization": f"Bearer {new}"}, 200)
        fresh, cookie = await sign_in(address)
        assert (fresh, await status(program, cookie)) == (303, 200)
    async with running(tmp_path, SHOWANDTELL_TOKEN="") as program:
        assert await status(program, {"authorization": f"Bearer {new}"}) == 200


async def test_beside_a_server_with_a_token_of_its_environment_nothing_is_lost_and_nothing_renewed(tmp_path):
    """A command that closes the database must not delete what the server still writes to."""
    place = ["--data", str(tmp_path)]
    async with running(tmp_path) as program:
        code, _, advice = await command(tmp_path, "--renew", *place)
        assert code == 2
        assert "change it, and start the server again" in advice
        code, _, advice = await command(tmp_path, "--show", *place)
        assert code == 2
        assert "another secret or token" in advice
        assert (await command(tmp_path, "--show", *place, SHOWANDTELL_TOKEN=program.token))[1] == program.token
        assert (await command(tmp_path, *place))[0] == 0
        message = {"id": "m", "role": "user", "parts": [{"type": "text", "text": "remember this"}]}
        async with program.session.post(f"{program.url}/api/chat", json={"id": "c", "messages": [message]}) as response:
            assert response.status == 200
            assert b"finish" in await response.read()
        await program.end(signal.SIGKILL)
    listed = await asyncio.to_thread(spawn, tmp_path, "list", *place)
    assert listed.returncode == 0
    assert "remember this" in listed.stdout


async def test_accounts_are_made_by_variables_and_it_says_where_to_sign_in_without_a_token(tmp_path):
    accounts = {"SHOWANDTELL_OIDC_ISSUER": "http://127.0.0.1:1", "SHOWANDTELL_OIDC_CLIENT_ID": "chat"}
    async with running(tmp_path, **accounts) as program:
        code, output, advice = await command(tmp_path, "--data", str(tmp_path))
        assert code == 2
        assert output == ""
        assert f"people sign in at {program.url}" in advice
        assert "token" not in program.output
        async with program.session.get(f"{program.url}/", allow_redirects=False) as page:
            assert page.status == 303
        async with program.session.get(f"{program.url}/login") as login:
            assert login.status == 503
        assert await status(program, {"authorization": "Bearer any.thing.else"}) in {401, 503}


def test_a_folder_that_no_server_has_used_is_not_created(tmp_path):
    done = call(tmp_path, "token", "--data", str(tmp_path / "typo"))
    assert done.returncode == 2
    assert "no server has run with this data" in done.stderr
    assert not (tmp_path / "typo").exists()
