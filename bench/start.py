"""What a start costs: an import, the command line, a server until it is ready, and what is done for the first time.

Each is the CPU time of a new process with its children, with compiled modules on disk, in a folder in which a
conversation is stored already. The floor of a start is Python itself; of a server one route of FastAPI on uvicorn; of a
request with tools the encoding of its JSON; of an answer about a picture a process in which Pillow opens it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from figures import Figure, rounds, save
from processes import HERE, Peer, cost, install, peer, tree_seconds
from showandtell import Draft, Text, render
from showandtell.samples import folder as samples

OURS = Path(sys.executable)
COMMAND = (OURS, "-m", "showandtell")
STARTS = 7
#: Rounds of what is repeated in one process.
REPEATED = 41
#: What others import for the same: an agent, or a client.
IMPORTS = {
    "pydantic_ai": ("from pydantic_ai import Agent", "pydantic-ai-slim[openai,anthropic]==2.68.0"),
    "litellm": ("import litellm", "litellm==1.106.2"),
    "openai": ("from openai import OpenAI", "openai==3.54.0"),
    "anthropic": ("from anthropic import Anthropic", "anthropic==2.12.0"),
}
PYDANTIC_AI = ("start-pydantic_ai", IMPORTS["pydantic_ai"][1])
RUN = "from {module} import Agent; Agent({model!r}).run_sync('hello')"
TOOLS = {
    "pydantic-ai": ("tools_pydantic_ai", "pydantic-ai-slim==2.68.0"),
    "langchain": ("tools_langchain", "langchain-core==1.7.2"),
}
PICTURE = """
from showandtell import Agent, File
from showandtell.samples import folder
run = Agent("inspector").run_sync("What is this?", files=[File.from_path(folder() / "harbour.png")])
assert "640 x 400 pixels" in run.text
"""
OPENED = f"from PIL import Image; Image.open({str(samples() / 'harbour.png')!r}).convert('RGB').getcolors(1 << 20)"


class Programs:
    """Runs programs in a folder of their own, whose modules are compiled by the first run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        own = {"SHOWANDTELL_DATA": str(folder), "PYTHONPATH": str(HERE)}
        self.environ = kept | own | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}  # else its import asks the network

    def run(self, *command: str | Path, lines: str = "") -> Callable[[], float]:
        """The CPU milliseconds of a program, from its start to its end."""

        def once() -> None:
            subprocess.run(
                command,
                check=True,
                cwd=self.folder,
                env=self.environ,
                input=lines,
                text=True,
                stdout=subprocess.DEVNULL,
            )

        return lambda: cost(once)

    def until_ready(self, *command: str | Path) -> Callable[[], float]:
        """The CPU milliseconds of a server and its children, until it prints a line that says that it is ready."""

        def once() -> float:
            quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
            with subprocess.Popen(command, cwd=self.folder, env=self.environ, **quiet) as process:
                assert process.stdout is not None
                assert any("ready" in line for line in process.stdout)
                spent = tree_seconds(process.pid)
                process.terminate()
                process.communicate()
            return spent * 1000

        return once


def starts(programs: Programs) -> list[Figure]:
    """Imports, commands and the server."""
    bare = programs.run(OURS, "-c", "pass")
    imports = {
        name: programs.run(install(f"start-{name}", package), "-c", code) for name, (code, package) in IMPORTS.items()
    }
    costs = rounds(STARTS, floor=bare, ours=programs.run(OURS, "-c", "from showandtell import Agent"), **imports)
    names = "Agent, File, FilePolicy, ModelSettings, RunContext, RunLimits, ToolResult, tool"
    several = rounds(STARTS, floor=bare, ours=programs.run(OURS, "-c", f"from showandtell import {names}"))
    first_run = rounds(
        STARTS,
        floor=bare,
        ours=programs.run(OURS, "-c", RUN.format(module="showandtell", model="inspector")),
        pydantic_ai=programs.run(install(*PYDANTIC_AI), "-c", RUN.format(module="pydantic_ai", model="test")),
    )
    version = rounds(STARTS, floor=bare, ours=programs.run(*COMMAND, "--version"))
    ask = programs.run(*COMMAND, "ask", "hello", "-m", "inspector")
    asked = rounds(STARTS, floor=bare, ours=ask)
    server = programs.until_ready(*COMMAND, "serve", "--port", "0")
    served = rounds(STARTS, floor=programs.until_ready(OURS, HERE / "peers/bare_app.py"), ours=server)
    return [
        figure("`from showandtell import Agent`, first", costs, 150, "0.5 s"),
        figure("the same with `File`, `ToolResult`, `RunContext`, `tool` and the settings, first", several, 150, ""),
        figure("an agent's first run, without a network, with the start of its process", first_run, None, ""),
        figure("`showandtell --version`", version, 80, "0.49 s"),
        figure("`showandtell ask hello` with the inspector, stored", asked, 400, "0.87 s"),
        figure("`showandtell serve` until it is ready", served, 700, "1.4 s"),
    ]


def tools(programs: Programs) -> list[Figure]:
    """Requests with fifty functions as tools: a process with one, and one more in the same process."""
    pythons = {"ours": OURS, **{name: install(f"start-{name}", package) for name, (_, package) in TOOLS.items()}}
    scripts = {"ours": "tools_ours", **{name: script for name, (script, _) in TOOLS.items()}}
    first = {
        name: programs.run(python, HERE / f"peers/{scripts[name]}.py", lines="\n") for name, python in pythons.items()
    }
    sys.path.append(str(HERE / "peers"))
    from fifty_tools import make_tools

    question = [Draft("user", (Text("How is the weather?"),))]
    body = render(question, model="openai-chat:gpt-5.2", tools=make_tools()).json()

    def encode() -> float:
        start = time.process_time()
        msgspec.json.encode(body)
        return (time.process_time() - start) * 1000

    with ExitStack() as stack:
        again: dict[str, Peer] = {
            name: stack.enter_context(peer(python, scripts[name])) for name, python in pythons.items()
        }
        repeated = rounds(REPEATED, floor=encode, **again)
    return [
        figure("`render` with 50 tools, first, with the start of its process", rounds(STARTS, **first), None, ""),
        figure("`render` with 50 tools, again", repeated, 1, "39 ms"),
    ]


def picture(programs: Programs) -> Figure:
    """The inspector's first answer about a picture."""
    costs = rounds(STARTS, floor=programs.run(OURS, "-c", OPENED), ours=programs.run(OURS, "-c", PICTURE))
    return figure("the inspector's answer about a picture, first, with the start of its process", costs, 600, "1.9 s")


def figure(work: str, costs: Mapping[str, Sequence[float]], goal: float | None, before: str) -> Figure:
    """A figure in milliseconds of CPU time."""
    beside = {name: values for name, values in costs.items() if name != "ours"}
    return Figure(work, "ms", costs["ours"], beside, goal=goal, before=before)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="bench-start-") as folder:
        programs = Programs(Path(folder))
        save(__doc__, [*starts(programs), *tools(programs), picture(programs)])


if __name__ == "__main__":
    main()
