"""Only one module opens URLs from outside; the others that open connections speak to hosts that the program named."""

import ast
from functools import cache

import pytest

from support.paths import SRC as ROOT
from support.syntax import nodes

#: What opens connections, and who may import it: `hop` for URLs from outside, the others for hosts that the program set.
CLIENTS = {
    "aiohttp": {"network.fetch_request", "network.guarded_connections", "network.http_session"},
    # The server listens by one; a connection to PostgreSQL that hangs is shut down by one.
    "opens by socket": {
        "network.fetch_request",
        "network.http_session",
        "cli.serve",
        "server.middleware.h11_timeouts",
        "server.process",
        "server.workers",
        "storage.database.connect",
    },
    "obstore": {"storage.blobs.bucket"},
    "botocore": {"providers.aws"},
    "google": {"providers.google"},
}
NEVER = {
    "opens by itself",
    "boto3", "ftplib", "httpx", "http.client", "pycurl", "requests", "smtplib", "telnetlib", "urllib.request",
    "urllib3", "websockets", "xmlrpc",
}  # fmt: skip
OPENERS = {"create_connection", "open_connection", "urlopen", "urlretrieve", "create_datagram_endpoint", "sock_connect"}


@cache
def mentions(path):
    """What a module imports, late or by name, and what it calls on anything."""
    return {*find_mentions(path)}


def find_mentions(path):
    for node in nodes(path):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from (module, *(f"{module}.{alias.name}" for alias in names))
                yield from ("opens by itself" for alias in names if alias.name in OPENERS)
            case ast.Call(
                func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"), args=[ast.Constant(value)]
            ):
                yield value
            case ast.Attribute(value=ast.Name(id="socket"), attr="socket"):
                yield "opens by socket"
            case ast.Attribute(attr=name) if name in OPENERS:
                yield "opens by itself"


def ways_out(path, module):
    """What a module may not use of what it uses."""
    return {
        mention
        for mention in mentions(path)
        for client in (*CLIENTS, *NEVER)
        if f"{mention}.".startswith(f"{client}.") and module not in CLIENTS.get(client, ())
    }


def test_one_module_opens_urls_from_outside():
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in ROOT.rglob("*.py")}
    assert {module: found for module, path in modules.items() if (found := ways_out(path, module))} == {}


def test_only_fetch_and_guarded_connections_use_the_hop():
    users = [path.name for path in ROOT.rglob("*.py") if "showandtell.network.fetch_request" in mentions(path)]
    assert sorted(users) == ["fetch.py", "guarded_connections.py"]


@pytest.mark.parametrize(
    "code",
    [
        "import requests",
        "import urllib.request as u",
        "from urllib import request",
        "def late():\n    import aiohttp",
        "from importlib import import_module\nimport_module('httpx')",
        "import asyncio\nasyncio.open_connection('h', 1)",
        "from socket import create_connection",
        "import socket\nsocket.socket()",
    ],
)
def test_another_way_out_would_be_seen(code, tmp_path):
    path = tmp_path / "module.py"
    path.write_text(code)
    assert ways_out(path, "module")
