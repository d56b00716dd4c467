"""An agent that draws: its tool asks an image model, and the agent's own model sees what was drawn.

    python examples/image_agent.py "Draw a kiwi on a plate, and tell me whether it looks ripe."

AGENT_MODEL is who talks, IMAGE_MODEL who draws; both need their keys (docs/reach.md). On Vertex, IMAGE_MODEL is
vertex:gemini-3-pro-image-preview.
"""

import argparse
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from showandtell import Agent, ModelSettings, ShowAndTellError, ToolError, ToolResult

#: Vertex draws for nobody who doesn't ask for pictures; the Gemini API needs no word (both from memory).
PICTURES = {"generationConfig": {"responseModalities": ["TEXT", "IMAGE"]}}


def painter(model: str) -> Callable[[str], Awaitable[ToolResult]]:
    """The tool: an image model, asked for one picture at a time."""
    artist = Agent(
        model, instructions="You draw. Answer with one picture.", model_settings=ModelSettings(extra_body=PICTURES)
    )

    async def draw(scene: str) -> ToolResult:
        """Draw a picture of a scene, described in words."""
        drawn = await artist.run(f"Draw this: {scene}")
        if not drawn.files:
            raise ToolError(f"{model} drew nothing: {drawn.text or drawn.reason}")
        return ToolResult(*drawn.files)

    return draw


def illustrator(model: str, image_model: str) -> Agent:
    """The agent that talks, and has things drawn."""
    return Agent(model, tools=[painter(image_model)], instructions="Look at what you have drawn before you answer.")


def main(words: str) -> None:
    """Print what the agent says, save what was drawn, and leave with status 1 where it couldn't finish."""
    talker = os.environ.get("AGENT_MODEL", "anthropic:claude-sonnet-5")
    artist = os.environ.get("IMAGE_MODEL", "google:gemini-3-pro-image-preview")
    try:
        run = illustrator(talker, artist).run_sync(words)
    except ShowAndTellError as error:
        sys.exit(str(error))
    for file in run.files:
        Path(f"drawn-{file.name}").write_bytes(file.read())
    print(run.text or "(no words)")
    if run.status != "complete":
        sys.exit(f"{run.status}: {run.reason}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="An agent that draws, and looks at what it has drawn.")
    parser.add_argument("words", nargs="+", help="what to ask for")
    main(" ".join(parser.parse_args().words))
