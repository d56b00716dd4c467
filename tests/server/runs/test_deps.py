"""What a program gives to the tools of a server's runs: made from each run's user, wherever the run continues."""

import json

import pytest

from showandtell import RunContext, tool
from showandtell.agent.named import import_function
from showandtell.cli.arguments import imported
from showandtell.errors import UsageError
from showandtell.server.auth.oidc import Oidc
from support.oidc_issuer import CLIENT, NOON, running_issuer
from support.serving import serving

pytestmark = pytest.mark.anyio


def whose(context: RunContext[str]) -> str:
    """Say whose call it is."""
    return f"a call for {context.deps}"


@tool(approval=True)
def order(context: RunContext[str]) -> str:
    """Order tea."""
    return f"ordered for {context.deps}"


class Opened(list):
    """The users for whom something is open."""

    def __call__(self, user):
        self.append(user)
        yield user
        self.remove(user)


def outputs(chunks):
    return [chunk["output"] for chunk in chunks if chunk["type"] == "tool-output-available"]


def approve(chunks):
    """The body of a request that approves the call that waits."""
    (call,) = [chunk["toolCallId"] for chunk in chunks if chunk["type"] == "tool-approval-request"]
    answer = {"state": "approval-responded", "approval": {"id": call, "approved": True}}
    message = {"id": "ans_x", "role": "assistant", "parts": [{"type": "tool-order", "toolCallId": call, **answer}]}
    return {"id": "chat", "messages": [message], "trigger": "submit-message"}


async def test_each_run_gets_the_deps_of_its_user_and_closes_them(tmp_path):
    opened = Opened()
    async with (
        running_issuer() as issuer,
        serving(tmp_path, oidc=Oidc(issuer.url, CLIENT), tools=(whose,), deps=opened, clock=lambda: NOON) as site,
    ):
        for name in ("ann", "ben"):
            user = site.as_user(issuer.token(sub=name))
            _, chunks = await site.post("/whose", session=user)
            assert f"a call for {name}@" in str(outputs(chunks))
    assert opened == []


async def test_a_call_that_is_approved_after_a_restart_gets_them_anew(tmp_path):
    async with serving(tmp_path, tools=(order,), deps=lambda user: f"{user} before") as site:
        _, chunks = await site.post("/order")
    async with (
        serving(tmp_path, tools=(order,), deps=lambda user: f"{user} after") as site,
        site.session.post("/api/chat", json=approve(chunks)) as answer,
    ):
        assert " after" in await answer.text()


async def test_a_run_whose_deps_cannot_be_made_ends_with_an_error(tmp_path, caplog):
    def broken(user):
        raise OSError(f"no database for {user}")

    async with serving(tmp_path, tools=(whose,), deps=broken) as site:
        status, answer = await site.post("/whose")
    assert status == 500
    assert "no database" not in str(answer)
    assert "no database" in caplog.text


@pytest.mark.parametrize(
    ("name", "problem"),
    [("json", "write MODULE:NAME"), ("json:nothing", "json has no nothing"), ("string:digits", "is a str: it must be")],
)
def test_the_option_names_a_function(name, problem):
    assert imported(import_function, "--deps", "json:dumps") is json.dumps
    with pytest.raises(UsageError, match=f"--deps {name}.*{problem}"):
        imported(import_function, "--deps", name)
