"""What a program loads at its start: no library that it doesn't use, and no more modules than today."""

import asyncio

import pytest

from support.commandline import call
from support.imports import imported, imported_by_server
from support.postgres import copy_tables

#: Libraries that take long to import.
LARGE = {
    "aiohttp",
    "alembic",
    "asyncio",
    "dataclasses",
    "fastapi",
    "griffe",
    "msgspec",
    "pydantic",
    "sqlalchemy",
    "ssl",
}
#: Wire formats; a program that uses one needs no other.
OTHER_APIS = {f"showandtell.core.wire.{api}.parse" for api in ("openai_chat", "openai_responses", "gemini")}


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """The modules that `ask` imports where something is stored already, and what the server does there."""
    folder = tmp_path_factory.mktemp("start")
    ask = ("ask", "hello", "--model", "inspector")
    assert call(folder, *ask, environ={"SHOWANDTELL_DATA": str(folder / "data")}).returncode == 0
    return imported(folder, "-m", "showandtell", *ask)


def test_an_import_of_agent_loads_what_the_class_needs_alone(tmp_path):
    modules = imported(tmp_path, "-c", "from showandtell import Agent, Run")
    assert "showandtell.agent.agent" in modules
    assert modules & (LARGE | {"showandtell.agent.engine"}) == set()
    assert len(modules) <= 80


def test_names_that_programs_import_beside_it_load_no_event_loop_and_no_pydantic(tmp_path):
    names = "Agent, Connection, File, FilePolicy, ModelSettings, RunContext, RunLimits, ToolResult, tool"
    modules = imported(tmp_path, "-c", f"from showandtell import {names}")
    assert modules & (LARGE - {"dataclasses", "msgspec"}) == set()
    assert (
        modules & {"showandtell.agent.loop", "showandtell.providers.connect", "showandtell.core.wire.request"} == set()
    )
    assert len(modules) <= 190


def test_the_version_is_printed_without_any_library(tmp_path):
    modules = imported(tmp_path, "-m", "showandtell", "--version")
    assert "showandtell.cli.main" in modules
    assert modules & (LARGE | {"typer", "importlib.metadata", "showandtell.cli.program"}) == set()
    assert len(modules) <= 80


def test_ask_loads_one_wire_format_and_neither_migrations_nor_a_server(asked):
    assert {"sqlalchemy", "pydantic", "showandtell.core.wire.anthropic_messages.parse"} <= asked
    assert asked & (OTHER_APIS | {"aiohttp", "alembic", "fastapi", "griffe", "PIL", "psycopg"}) == set()
    assert asked & {"sqlalchemy.dialects.postgresql", "showandtell.inspector.openai_chat.read"} == set()
    assert len(asked) <= 812


def test_a_command_loads_no_other_one_and_no_database_that_it_does_not_open(tmp_path):
    modules = imported(tmp_path, "-m", "showandtell", "matrix")
    commands = {"ask", "chat", "serve", "verify", "doctor", "conversations", "token"}
    assert "showandtell.cli.explain" in modules
    assert modules & ({f"showandtell.cli.{name}" for name in commands} | {"sqlalchemy", "fastapi"}) == set()


def test_a_server_without_accounts_is_ready_without_the_libraries_of_accounts(tmp_path):
    copy_tables(tmp_path / "showandtell.db")
    modules = asyncio.run(imported_by_server(tmp_path))
    assert {"fastapi", "showandtell.server.app"} <= modules
    assert modules & {"aiohttp", "alembic", "joserfc", "cryptography", "websockets", "griffe", "PIL"} == set()
    assert len(modules) <= 1250
