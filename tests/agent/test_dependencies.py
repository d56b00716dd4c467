"""Values that the program gives to its tools: the model neither sees nor sets them, and they are closed in time."""

import asyncio
import contextlib
import sqlite3
import threading
from contextvars import ContextVar
from functools import partial
from typing import Annotated

import pytest

from showandtell import Agent, Depends, RunContext, Tool, ToolError, tool
from showandtell.agent.tools import by_name
from showandtell.errors import BadInput

pytestmark = pytest.mark.anyio
USER = ContextVar("USER", default="nobody")


class Log(list):
    """What happened, in order."""

    def provide(self, name):
        """A provider that reports when it is opened and closed."""

        def provider():
            self.append(f"open {name}")
            try:
                yield name
            except Exception as error:
                self.append(f"{type(error).__name__} in {name}")
                raise
            finally:
                self.append(f"close {name}")

        return provider


async def call(function, arguments="", deps=None):
    """The words of the result of one call."""
    (entry,) = by_name([function]).values()
    run = await Agent("inspector", [entry], deps=deps).run(f"/{entry.name} {arguments}")
    return run.messages[2].text


def schema(function):
    (entry,) = by_name([function]).values()
    return entry.arguments.model_json_schema().get("properties", {})


async def test_a_tool_gets_the_deps_of_its_run():
    def greet(name: str, context: RunContext[dict]) -> str:
        return f"{context.deps['greeting']}, {name}"

    agent = Agent("inspector", [greet], deps={"greeting": "Hello"})
    assert (await agent.run("/greet name=Ann")).messages[2].text == "Hello, Ann"
    assert (await agent.run("/greet name=Ann", deps={"greeting": "Hej"})).messages[2].text == "Hej, Ann"
    assert list(schema(greet)) == ["name"]


@pytest.mark.parametrize(
    "how", ["plain", "async", "generator", "async generator", "contextmanager", "asynccontextmanager"]
)
async def test_a_dependency_is_provided_by_any_kind_of_function(how):
    async def wait():
        return "session"

    def sync_generator():
        yield "session"

    async def async_generator():
        yield "session"

    providers = {
        "plain": lambda: "session",
        "async": wait,
        "generator": sync_generator,
        "async generator": async_generator,
        "contextmanager": contextlib.contextmanager(sync_generator),
        "asynccontextmanager": contextlib.asynccontextmanager(async_generator),
    }

    def use(session: Annotated[str, Depends(providers[how])]) -> str:
        return f"used {session}"

    async def use_async(session: Annotated[str, Depends(providers[how])]) -> str:
        return f"used {session}"

    assert await call(use) == await call(use_async) == "used session"
    assert schema(use) == {}


async def test_dependencies_are_nested_shared_within_a_call_and_closed_in_reverse_order():
    log = Log()
    connection = log.provide("connection")

    def session(connection: Annotated[str, Depends(connection)]):
        log.append(f"open session on {connection}")
        yield "session"
        log.append("close session")

    def use(session: Annotated[str, Depends(session)], connection: Annotated[str, Depends(connection)]) -> str:
        log.append(f"{session} and {connection}")
        return "used"

    assert await call(use) == "used"
    opened = ["open connection", "open session on connection"]
    assert log == [*opened, "session and connection", "close session", "close connection"]


async def test_a_provider_sees_the_tools_error_and_cannot_hide_it():
    log = Log()

    @contextlib.contextmanager
    def hiding():
        with contextlib.suppress(ValueError):
            yield

    def fail(session: Annotated[str, Depends(log.provide("session"))], _: Annotated[None, Depends(hiding)]) -> str:
        raise ValueError(session)

    assert "fail failed with ValueError" in await call(fail)
    assert log == ["open session", "ValueError in session", "close session"]


async def test_a_connection_is_opened_used_and_closed_in_one_thread():
    def database():
        with contextlib.closing(sqlite3.connect(":memory:")) as connection:  # it may be used in this thread only
            yield connection

    def add(database: Annotated[sqlite3.Connection, Depends(database)]) -> int:
        return database.execute("SELECT 40 + 2").fetchone()[0]

    assert await call(add) == "42"


async def test_context_variables_reach_sync_tools_and_their_providers():
    def provider():
        return USER.get()

    def who(user: Annotated[str, Depends(provider)]) -> str:
        return f"{user} and {USER.get()}"

    USER.set("ann")
    assert await call(who) == "ann and ann"


@pytest.mark.parametrize(
    ("raised", "text"),
    [(ToolError("the shop is closed"), "the shop is closed"), (OSError("secret"), "failed with OSError")],
)
async def test_a_provider_that_raises_makes_an_error_result(raised, text):
    def provider():
        raise raised

    def use(value: Annotated[str, Depends(provider)]) -> str:
        return value

    result = await call(use)
    assert text in result
    assert "secret" not in result


async def test_a_provider_that_yields_twice_makes_an_error_result(caplog):
    def twice():
        yield 1
        yield 2

    def use(value: Annotated[int, Depends(twice)]) -> int:
        return value

    assert "use failed with RuntimeError" in await call(use)
    assert "generator didn't stop" in caplog.text


async def test_a_provider_that_hangs_ends_with_the_tools_timeout_and_closes_what_is_open():
    log, go = Log(), threading.Event()

    async def hang():
        await asyncio.Event().wait()

    @tool(timeout=0.1)
    def use(session: Annotated[str, Depends(log.provide("session"))], _: Annotated[None, Depends(hang)]) -> str:
        return session

    assert "did not finish in time" in await call(use)
    go.set()
    assert log == ["open session", "close session"]


def test_a_provider_whose_parameters_cannot_be_read_is_refused():
    def use(user: Annotated[str, Depends(USER.get)]) -> str:
        return user

    with pytest.raises(BadInput, match="wrap it in a function"):
        Agent("inspector", [use])


def cycle(value: "Annotated[int, Depends(other)]") -> int:  # pyright: ignore[reportUndefinedVariable] - defined below
    return value


def other(value: Annotated[int, Depends(cycle)]) -> int:
    return value


def needs_more(name: str) -> str:
    return name


@pytest.mark.parametrize(
    ("provider", "text"),
    [
        (cycle, "dependency cycle: cycle -> other -> cycle"),
        (needs_more, "whose parameter 'name' is not given"),
        (None, "without a provider"),
    ],
)
def test_a_dependency_that_cannot_be_provided_is_refused_with_the_agent(provider, text):
    mark = Depends if provider is None else Depends(provider)

    def use(value: Annotated[int, mark]) -> int:
        return value

    with pytest.raises(BadInput, match=text):
        Agent("inspector", [use])


async def test_what_a_partial_binds_is_hidden_from_the_model_and_cannot_be_replaced():
    def search(user: str, query: str, limit: int = 3) -> str:
        """Search the user's notes."""
        return f"{limit} notes of {user} for {query}"

    bound = partial(partial(search, limit=5), user="alice")
    (entry,) = by_name([bound]).values()
    assert (entry.name, entry.description, list(schema(bound))) == ("search", "Search the user's notes.", ["query"])
    assert await call(bound, "query=tea") == "5 notes of alice for tea"
    assert "user" in await call(bound, "query=tea user=bob")
    assert "alice" not in await call(bound, "query=tea user=bob")
    assert await call(partial(search, "alice"), "query=tea") == "3 notes of alice for tea"


async def test_a_hand_written_schema_cannot_replace_what_the_program_gives():
    schema = {"type": "object", "properties": {"user": {"type": "string"}}}
    notes = Tool("notes", "", schema, partial(lambda user: f"notes of {user}", user="alice"))
    assert "notes of bob" not in await call(notes, "user=bob")
    assert await call(notes) == "notes of alice"


async def test_methods_callable_objects_and_partials_of_tools_are_tools():
    class Shop:
        """Knows prices."""

        def price(self, name: str) -> str:
            return f"{name} costs 3"

        async def __call__(self, name: str) -> str:
            return f"{name} is sold here"

    @tool(approval=True)
    def order(shop: str, name: str) -> str:
        return f"{name} at {shop}"

    assert await call(Shop().price, "name=tea") == "tea costs 3"
    assert await call(Shop(), "name=tea") == "tea is sold here"
    (bound,) = by_name([partial(order, shop="Rossi")]).values()
    assert (bound.name, bound.approval, bound(name="tea")) == ("order", True, "tea at Rossi")


def test_a_tool_with_dependencies_cannot_be_isolated():
    @tool(isolate=True)
    def use(value: Annotated[str, Depends(Log)]) -> str:
        return value

    with pytest.raises(BadInput, match="can't leave this process"):
        Agent("inspector", [use])
