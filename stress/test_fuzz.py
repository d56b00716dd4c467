"""Coverage-guided fuzzing of what strangers hand in: each target of `stress/fuzz` has five minutes, and nothing breaks.

`FUZZ_SECONDS=20 pytest stress/test_fuzz.py -s` is done sooner, and tells the figures. The first run installs atheris
into stress/.envs/fuzz, from a package registry. Afterwards what was found is made large: time grows with the size.
"""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
UV = HERE.parent / ".uv/bin/uv"
ENV = HERE / ".envs/fuzz"
SECONDS = int(os.environ.get("FUZZ_SECONDS", "300"))
#: Seconds of its own, for a program's start and its last input.
MORE = 120
TARGETS = ["forms", "urls", "streams", "blocks", "structure"]
HAS_WHEEL = (platform.system(), platform.machine()) == ("Linux", "x86_64") and sys.version_info < (3, 14)
BEGIN = re.compile(r"^( === Uncaught|Traceback|.*ERROR: libFuzzer)", re.MULTILINE)

pytestmark = pytest.mark.skipif(
    not HAS_WHEEL, reason="atheris 3.0.0 has wheels for CPython 3.11 to 3.13, Linux, x86-64"
)


def install() -> None:
    """Put atheris into a folder of its own, where it isn't there yet: the project's libraries are used beside it."""
    ready, wanted = ENV / ".ready", f"{sys.version}\n{(HERE / 'fuzz.txt').read_text()}"
    if not ready.exists() or ready.read_text() != wanted:
        sync = [UV, "pip", "sync", "-q", "--require-hashes", "--python", sys.executable, "--target", ENV]
        subprocess.run([*sync, HERE / "fuzz.txt"], check=True)  # noqa: S603 - the package is this repository's choice
        ready.write_text(wanted)


def run(program: str, target: str, seconds: int, folder: Path) -> str:
    """What one of the two programs said. Fails where something broke, with its traceback and the input."""
    root, log = HERE.parent, folder / f"{program}.log"
    paths = [ENV, root / "src", root / "tests", HERE, folder]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONHASHSEED": "0"}
    command = [sys.executable, HERE / "fuzz" / f"{program}.py", target, str(seconds), folder]
    with log.open("wb") as received:
        done = subprocess.run(  # noqa: S603
            command, stdout=received, stderr=subprocess.STDOUT, env=environment, timeout=seconds + MORE, check=False
        )
    words = log.read_text(errors="replace")
    if done.returncode:
        broke = [
            f"{path.name}: {path.read_bytes()!r}"
            for path in folder.iterdir()
            if re.match("crash|timeout|oom", path.name)
        ]
        begin = BEGIN.search(words)
        pytest.fail("\n".join([f"{target}:", words[begin.start() if begin else -3000 :][:6000], *broke]), pytrace=False)
    return words


def figures(words: str) -> str:
    """How much was done."""
    count, speed = (re.search(rf"{name}: +(\d+)", words)[1] for name in ("executed_units", "exec_per_sec"))
    edges = re.findall(r" cov: (\d+)", words)[-1]
    return f"{count} executions, {speed}/s, {edges} edges"


def fuzz(target: str, seconds: int, folder: Path) -> str:
    """Both programs, one after the other."""
    install()
    found = figures(run("drive", target, seconds, folder))
    grown = re.search("grown: .*", run("grow", target, max(seconds // 5, 5), folder))[0]
    return f"{target}: {found}; {grown[:200]}"


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_that_is_handed_in_breaks_anything(target, tmp_path):
    print(fuzz(target, SECONDS, tmp_path))  # noqa: T201


@pytest.mark.parametrize(
    ("breaks", "output"),
    [
        ("data[:3] == b'bad' and {}['planted']", r"KeyError: 'planted'(?s:.*)crash-\w+: b'bad'"),
        ("[bytes(len(data)) for _ in range(len(data) // 15)]", r"AssertionError: \[.* s for \d+ and \d+ bytes of \(b'"),
    ],
    ids=["an error", "time that grows with the square"],
)
def test_what_breaks_is_reported_with_its_bytes(breaks, output, tmp_path):
    source = f"from showandtell.core.wire.sse import data_of\nSEEDS = [b'data: 1', b'bad']\ndef RUN(data):\n data_of(data)\n {breaks}\n"
    (tmp_path / "planted.py").write_text(source)
    with pytest.raises(pytest.fail.Exception, match=output):
        fuzz("planted", 2, tmp_path)
