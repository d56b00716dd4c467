"""The servers that the page's scenarios visit, and the functions that scenarios may call."""

import base64
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, NamedTuple

from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Text
from support import fake_internet, page_tools
from support.browser import ServerProcess, SiteAddress, background_servers, run_scenario
from support.echo_provider import MODEL, EchoProvider
from support.fake_internet import Certificates
from support.fixtures import mp4, pdf, wav
from support.many_files import store_many_files
from support.model_lists import serve_lists
from support.page_web import PageWeb
from support.two_users import open_accounts

#: A limit that a test can exceed quickly.
SMALL_FILES = {"max_file_bytes": 3_000_000}
#: One that nobody exceeds.
LARGE_QUOTA = {"quota": 50_000_000_000}


class PageServers(NamedTuple):
    """Addresses by site name, functions that scenarios may call, and the reset of the provider between scenarios."""

    sites: dict[str, SiteAddress]
    functions: dict[str, Callable[..., Any]]
    reset: Callable[[], Any]

    def run(self, scenario, folder, **scenario_input):
        """Reset the provider and run one scenario."""
        self.reset()
        return run_scenario(scenario, self.sites, folder, self.functions, **scenario_input)


def make_media():
    """Audio and video of five seconds, and a document of five pages, as base64."""
    files = {"audio": wav(5.0), "video": mp4(5.0, codec="libx264"), "document": pdf(*map(str, range(1, 6)))}
    return {name: base64.b64encode(data).decode() for name, data in files.items()}


async def store_long(store, questions, second="Question 2"):
    """Store a conversation of questions and answers, and return its id. `second` is the second question."""
    conversation = await store.create("local")
    for number in range(1, questions + 1):
        question = second if number == 2 else f"Question {number}"
        await conversation.record(Draft("user", (Text(question),)), ())
        answer = f"Answer {number}\n\n" + "It has several lines.\n\n" * (number % 7)
        await conversation.record(Draft("assistant", (Text(answer),), stop="end"), ())
    return conversation.id


def serve_mistral(method, incoming):
    """Mistral's list of models. The other providers have none here: their examples are chosen by scenarios."""
    return serve_lists(method, incoming) if incoming.path.startswith("/mistral") else None


async def in_loop(function, *arguments):
    """Call a function in the event loop of the servers."""
    return function(*arguments)


@contextmanager
def open_page_servers(make_folder):
    """Start one server for each site.

    `inspector`: answers with the inspector, and fetches from a small internet. `echo`: answers with the text that the
    message asks for, and fetches nothing. `scratch`:
    scenarios may change its settings. `fresh`: no model is configured. `accounts`: has accounts, whose ids are bearer tokens. `process`: a process that scenarios may kill.
    """
    with background_servers() as servers:
        provider, web = EchoProvider(), PageWeb()
        servers.add_fake_provider(handlers=[provider, serve_mistral])
        in_process = {
            "inspector": servers.add_server(
                make_folder("inspector"),
                default_model="inspector",
                tools=page_tools.TOOLS,
                dialer=servers.enter(fake_internet.serving(web, Certificates())),
            ),
            "echo": servers.add_server(
                make_folder("echo"),
                default_model=MODEL,
                place=SMALL_FILES,
                tools=page_tools.TOOLS,
                attach_addresses="nobody",
            ),
            "scratch": servers.add_server(make_folder("scratch"), default_model="inspector"),
            "fresh": servers.add_server(make_folder("fresh")),
            "accounts": servers.add_server(make_folder("accounts"), default_model="inspector", place=LARGE_QUOTA),
        }
        servers.run(in_loop(open_accounts, in_process["accounts"]))
        process = ServerProcess(make_folder("process"))
        functions = {
            "resume": lambda times=1: servers.run(provider.resume(times)),
            "resume_downloads": lambda: servers.run(web.resume()),
            "count_downloads": lambda: web.open,
            "release": page_tools.GATE.release,
            "restart": process.restart,
            "media": make_media,
            "files": lambda **asked: servers.run(store_many_files(in_process["accounts"].store, **asked)),
            "long": lambda **asked: servers.run(store_long(in_process["inspector"].store, **asked)),
        }
        sites = {name: SiteAddress(server.url) for name, server in {**in_process, "process": process}.items()}
        try:
            yield PageServers(sites, functions, lambda: servers.run(provider.reset()))
        finally:
            process.close()
