"""An agent that draws: its tool asks an image model, and the agent's own model sees what was drawn.

    python examples/image_agent.py "Draw a kiwi on a plate, and tell me whether it looks ripe."

AGENT_MODEL is who talks, IMAGE_MODEL who draws; both need their keys (docs/reach.md). On Vertex, IMAGE_MODEL is
vertex:gemini-3-pro-image-preview.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from showandtell import Agent, Run, ToolError, ToolResult

#: Vertex draws for nobody who doesn't ask for pictures; the Gemini API needs no word (both from memory).
PICTURES = {"generationConfig": {"responseModalities": ["TEXT", "IMAGE"]}}


def painter(model: str) -> Callable[[str], Awaitable[ToolResult]]:
    """The tool: an image model, asked for one picture at a time."""
    artist = Agent(model, instructions="You draw. Answer with one picture.", extra=PICTURES)

    async def draw(scene: str) -> ToolResult:
        """Draw a picture of a scene, described in words."""
        drawn = await artist.ask(f"Draw this: {scene}")
        if not drawn.files:
            raise ToolError(f"{model} drew nothing: {drawn.text or drawn.reason}")
        return ToolResult(*drawn.files)

    return draw


async def talk(words: str, model: str, image_model: str) -> Run:
    """One run of the agent, its words printed as they come."""
    agent = Agent(model, tools=[painter(image_model)], instructions="Look at what you have drawn before you answer.")
    run = await agent.ask(words)
    print(run.text)
    return run


def keep(run: Run) -> None:
    """Save the pictures beside us."""
    for file in run.files:
        Path(f"drawn-{file.name}").write_bytes(file.read())


if __name__ == "__main__":
    talker = os.environ.get("AGENT_MODEL", "anthropic:claude-sonnet-5")
    image_maker = os.environ.get("IMAGE_MODEL", "google:gemini-3-pro-image-preview")
    keep(asyncio.run(talk(" ".join(sys.argv[1:]), talker, image_maker)))
