"""Write the generated parts of README.md anew: the matrix and the transcript. `make docs` runs it, a test compares."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from showandtell.capabilities.matrix import matrix_block

README = Path(__file__).parent.parent / "README.md"
COMMANDS = (
    ("ask", "/read_file path=kiwi.jpg"),
    ("ask", "/read_file path=kiwi.jpg", "--model", "inspector:openai-chat"),
)
MATRIX = re.compile(r"<!-- matrix -->.*<!-- /matrix -->", re.DOTALL)
TRANSCRIPT = re.compile(r"<!-- transcript -->.*<!-- /transcript -->", re.DOTALL)


def transcript() -> str:
    """What the commands print, as a terminal shows it; the day is written as in the label of a fixed day."""
    shown: list[str] = []
    for arguments in COMMANDS:
        words = [f"'{word}'" if " " in word else word for word in arguments]
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "showandtell", *arguments], check=True, capture_output=True, text=True
        )
        shown.append(f"$ showandtell {' '.join(words)}\n{done.stdout.rstrip()}")
    text = re.sub(r"\d{4}-\d\d-\d\d", "2026-11-21", "\n\n".join(shown))
    return f"<!-- transcript -->\n```console\n{text}\n```\n<!-- /transcript -->"


def generate(text: str) -> str:
    """The README with its generated parts anew."""
    text = MATRIX.sub(lambda _: matrix_block().strip(), text)
    return TRANSCRIPT.sub(lambda _: transcript(), text)


if __name__ == "__main__":
    README.write_text(generate(README.read_text()))
