"""Install each peer into its own environment, run its script, and compare their costs for the same job.

Only the first run needs package registries. A peer that can't be installed or run is reported and skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from cases import MIB, store, table, temporary

HERE = Path(__file__).parent
UV = HERE.parent / ".uv/bin/uv"
COUNT = 20
#: Script: what it needs.
PEERS = {
    "anthropic_sdk": ("anthropic==2.12.0",),
    "openai_sdk": ("openai==3.54.0",),
    "google_genai": ("google-genai==3.4.0",),
    "aws_sdk": ("boto3==1.44.5",),
    "pydantic_ai_peer": ("pydantic-ai-slim[anthropic]==2.68.0", "anthropic==2.12.0"),
    "langchain_peer": ("langchain-anthropic==1.7.7", "langchain-core==1.7.2", "anthropic==2.12.0"),
    "openai_agents_peer": ("openai-agents==0.24.0", "openai==3.54.0"),
    "litellm_peer": ("litellm==1.106.2",),
}


def install(peer: str) -> Path:
    """The Python of a peer's environment, made where it isn't there yet."""
    env = HERE / ".envs" / peer
    ready = env / ".ready"
    if not ready.exists() or ready.read_text() != str(PEERS[peer]):
        subprocess.run([UV, "venv", "-q", "--clear", "--python", sys.executable, env], check=True)
        subprocess.run([UV, "pip", "install", "-q", "--python", env / "bin/python", *PEERS[peer]], check=True)
        ready.write_text(str(PEERS[peer]))
    return env / "bin/python"


def measure(python: Path, script: str, folder: Path) -> dict[str, object]:
    """What a script says of itself, in its last line."""
    env = os.environ | {"PYTHONPATH": str(HERE)}
    done = subprocess.run(
        [python, HERE / "peers" / f"{script}.py", folder], check=True, capture_output=True, text=True, env=env
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Print one line a peer, ours first."""
    folder = temporary()
    store(folder, COUNT, MIB)
    lines = [measure(Path(sys.executable), "ours", folder.path)]
    for peer in PEERS:
        try:
            lines.append(measure(install(peer), peer, folder.path))
        except subprocess.CalledProcessError as error:
            print(f"{peer} could not be measured: {(error.stderr or str(error)).strip()[-300:]}")
    baseline = float(str(lines[0]["cpu_ms"]))
    rows = [[*map(str, line.values()), f"{float(str(line['cpu_ms'])) / baseline:.1f}"] for line in lines]
    print(f"{COUNT} images of 1 MiB in one request: CPU ms from files on disk to the last byte of the body")
    print(table(["peer", "version", "where", "CPU ms", "MiB over base", "body bytes", "x ours"], rows))


if __name__ == "__main__":
    main()
