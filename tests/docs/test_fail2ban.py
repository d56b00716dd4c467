"""With SHOWANDTELL_LOG_CLIENTS, the log names the address of refused attempts to sign in, and fail2ban's filter reads it."""

import asyncio
import configparser
import json
import re
import shutil
import subprocess

import aiohttp
import pytest

from support.paths import ROOT
from support.server_process import running

FILTER = ROOT / "docs" / "deploy" / "fail2ban" / "filter.conf"
#: Requests that are refused attempts to sign in, as a path and headers.
REFUSED = (
    ("/?token=wrong-token", {}),
    ("/?code=wrong-code", {}),
    ("/c/x?%63ode=wrong-code", {}),
    ("/api/me", {"authorization": "Bearer wrong-token"}),
    ("/api/me", {"authorization": "Bearer wrong-token", "x-forwarded-for": "203.0.113.9"}),
    ("/api/me", {"authorization": "Bearer wrong-token", "x-forwarded-for": "2001:db8::7"}),
)
#: Requests that are not, whatever they contain.
OTHERS = (
    ("/healthz", {}),
    ("/api/me", {}),
    ("/login-is-not-here", {}),
    ("/assets/x.js?the-token=x", {}),
    ("/api/me", {"x-request-id": "sign-in.refused"}),
    ('/{"time":"","level":"info","logger":"showandtell","text":"sign-in refused"}', {}),
)


async def log_of(folder):
    """The log of a server that got these requests, as lines and as objects."""
    environ = {"SHOWANDTELL_LOG_FORMAT": "json", "SHOWANDTELL_LOG_CLIENTS": "1"}
    async with running(folder, **environ) as server, aiohttp.ClientSession() as session:
        signed_in = ("/api/me", {"authorization": f"Bearer {server.token}"})
        for path, headers in (*OTHERS, *REFUSED, signed_in):
            async with session.get(server.url + path, headers=headers, allow_redirects=False):
                pass
        async with session.post(f"{server.url}/login/backchannel", data={"logout_token": "x"}) as response:
            assert response.status == 400  # from the issuer, or from nobody
        _, output = await server.end()
    return output.splitlines(), [json.loads(line) for line in output.splitlines()]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return asyncio.run(log_of(tmp_path_factory.mktemp("server")))


def test_each_request_and_refused_sign_in_has_client_and_user(log):
    _, records = log
    requests = [item for item in records if item["text"] == "request"]
    refused = [item for item in records if item["text"] == "sign-in refused"]
    assert {"127.0.0.1", "203.0.113.9", "2001:db8::7"} == {item["client"] for item in requests}
    assert (requests[-2]["user"], requests[-2]["status"]) == ("local", 200)
    expected = ["127.0.0.1"] * 4 + ["203.0.113.9", "2001:db8::7"]
    assert [(item["client"], item["user"]) for item in refused] == [(client, None) for client in expected]


def expression():
    """The filter's regular expression, with fail2ban's own name for an address."""
    parser = configparser.RawConfigParser()
    parser.read(FILTER)
    return re.compile(parser["Definition"]["failregex"].replace("<ADDR>", r"(?P<client>[0-9a-f.:]+)"))


def test_the_filter_finds_refused_sign_ins_and_nothing_else(log):
    lines, records = log
    expected = [item["client"] for item in records if item["text"] == "sign-in refused"]
    for prefix in ("", "chat showandtell[123]: "):  # as from a file, and from the journal
        found = [match["client"] for line in lines if (match := expression().search(prefix + line))]
        assert found == expected


@pytest.mark.skipif(
    shutil.which("fail2ban-regex") is None, reason="fail2ban is not installed: apt-get install fail2ban"
)
def test_fail2ban_itself_reads_the_log(log, tmp_path):
    (tmp_path / "log").write_text("\n".join(log[0]))
    command = ["fail2ban-regex", tmp_path / "log", FILTER]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    assert f" {len(REFUSED)} matched" in done.stdout
