"""Mutation testing: whether a test fails if one place of the code is changed. `make mutants`; docs/testing.md has results.

mutmut makes the mutants of three packages and runs the tests that reach each. A full run would take a day, so a sample
is tried, which a seed decides. It works on a copy of the tree below build/mutants, and lists the mutants that survived.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "mutants"
MUTMUT = Path(sys.executable).with_name("mutmut")
#: The tests of each package. Others reach its code, too, but don't look at it.
TESTS = {
    "core/planning": ["tests/core/planning"],
    "core/collect": [
        "tests/core/collect",
        *(f"tests/libraries/test_{name}.py" for name in ("charts", "libraries", "tables")),
    ],
    "server/auth": ["tests/server/auth"],
}
COPIED = ["conftest.py", "docs", "examples", "lint", "pyproject.toml", "README.md", "SECURITY.md", "src", "tests"]
CONFIGURATION = """\
[mutmut]
source_paths = src
# Each run of pytest in a process of its own, as tests of servers leave threads and shared servers behind.
process_isolation = forkserver
only_mutate = src/showandtell/{package}/*.py
also_copy =
    {copied}
pytest_add_cli_args_test_selection =
    {tests}
# A process runs pytest several times: the garbage of one time is found in the next, and a server of PostgreSQL ends with the first.
pytest_add_cli_args =
    -W
    ignore::pytest.PytestUnraisableExceptionWarning
    -k
    not postgresql
"""


def copy_tree(package: str) -> Path:
    """A new copy of what the tests of a package need, with mutmut's configuration."""
    folder = BUILD / package.replace("/", "-")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in COPIED:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, folder / name)
    copied, tests = ("\n    ".join(names) for names in (COPIED, TESTS[package]))
    (folder / "setup.cfg").write_text(CONFIGURATION.format(package=package, copied=copied, tests=tests))
    return folder


def mutmut(folder: Path, *arguments: str, log: Path | None = None) -> str:
    """The output of a command of mutmut, or an empty text if it goes to a log."""
    with tempfile.TemporaryDirectory(prefix="sat-") as temporary:
        # The run's folder is ours: tests/support/run_cleanup.py would remove it after the first of many pytest runs.
        paths = {"PYTHONPATH": f"{folder}/mutants/src:{folder}/mutants/tests", "TMPDIR": temporary}
        environ = {**os.environ, **paths, "TEST_RUN_FOLDER": temporary, "CI": "1"}
        command = [str(MUTMUT), *arguments]
        if log:
            with log.open("ab") as file:
                subprocess.run(command, cwd=folder, env=environ, stdout=file, stderr=file, check=False)  # noqa: S603 - ours
            return ""
        return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=True).stdout  # noqa: S603 - ours


def statuses(folder: Path) -> dict[str, str]:
    """The state of each mutant by its name: "killed", "survived", "not checked" …"""
    lines = mutmut(folder, "results", "--all", "true").splitlines()
    return {name.strip(): status for name, _, status in (line.rpartition(": ") for line in lines) if name}


def try_sample(package: str, seed: int, count: int, children: int) -> None:
    """Try a sample of a package's mutants, and write what survived into a file."""
    folder, log = copy_tree(package), BUILD / f"{package.replace('/', '-')}.log"
    mutmut(
        folder, "run", "--max-children", "1", "none", log=log
    )  # makes the mutants, and learns which test reaches what
    names = sorted(statuses(folder))
    sample = random.Random(seed).sample(names, min(count, len(names)))  # noqa: S311 - the same sample for the same seed
    print(f"{package}: {len(sample)} of {len(names)} mutants, log in {log}", flush=True)
    mutmut(folder, "run", "--max-children", str(children), *sample, log=log)
    report(folder, package, {name: status for name, status in statuses(folder).items() if name in set(sample)})


def report(folder: Path, package: str, found: dict[str, str]) -> None:
    """Print how many mutants came to which end, and write the others than the killed ones as diffs."""
    counts = {status: [*found.values()].count(status) for status in sorted({*found.values()})}
    print(f"{package}: {counts}", flush=True)
    survivors = [name for name, status in found.items() if status != "killed"]
    target = BUILD / f"{package.replace('/', '-')}.diff"
    target.write_text("\n".join(mutmut(folder, "show", name) for name in survivors))
    print(f"{package}: what survived is in {target}", flush=True)


def main() -> None:
    """Try the samples of all packages, or of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", default=[*TESTS], help=f"of {', '.join(TESTS)}")
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--count", type=int, default=200, help="mutants of each package")
    parser.add_argument("--children", type=int, default=1, help="processes at the same time")
    options = parser.parse_args()
    for package in options.packages:
        try_sample(package, options.seed, options.count, options.children)


if __name__ == "__main__":
    main()
