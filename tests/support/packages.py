"""The package as others install it: built once in a run, and put into environments of its own."""

import fcntl
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from showandtell.version import VERSION
from support.commandline import LONGEST
from support.nodejs import modules, need, node
from support.paths import ROOT
from support.run_cleanup import RUN

PAGE = Path("src", "showandtell", "server", "page")
#: The npm packages in it, written with it.
PACKAGES = ROOT / "build" / "packages.json"
UV = ROOT / ".uv" / "bin" / "uv"


def run(command, folder, **environ):
    settings = {"capture_output": True, "text": True, "timeout": LONGEST}
    return subprocess.run(command, check=False, cwd=folder, env={**os.environ, **environ}, **settings)  # noqa: S603 - our own


def copy_clone(folder):
    """Copy what git keeps or would keep, as it stands here now: nothing is built in it."""
    need(shutil.which("git") and (ROOT / ".git").exists(), "this is no clone: there is nothing to copy")
    for name in run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def add_page(clone):
    """Give a clone what `make page` has built here, as an sdist has it. To build it again takes most of the time."""
    if not PACKAGES.is_file():
        link_modules(clone)
        return
    shutil.rmtree(clone / "web")
    shutil.copytree(ROOT / PAGE, clone / PAGE)
    script = "import hatch_build as one, json, sys; one.write_sbom(json.load(open(sys.argv[1])), sys.argv[2])"
    done = run([sys.executable, "-c", script, str(PACKAGES), VERSION], clone)
    assert done.returncode == 0, done.stderr


def link_modules(clone):
    """Give a clone the page's own modules. A link to their folder would change the names of the page's files."""
    shutil.copytree(modules(), clone / "web" / "node_modules", symlinks=True, copy_function=link_file)
    os.utime(clone / "web" / "package-lock.json", (0, 0))


def link_file(source, target):
    """Link a file, or copy it to another disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def build(target, source, into):
    """Build as every front end does it, with what is installed here."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(into)]
    return run(command, source, PATH=f"{Path(node()).parent}{os.pathsep}{os.environ['PATH']}")


class Built(NamedTuple):
    """An sdist of a clone, and the wheel of this sdist."""

    sdist: Path
    wheel: Path


@cache
def built():
    """Both, made once in a run, however many processes it has; or those of the folder that `DIST` names."""
    if given := os.environ.get("DIST"):
        return Built(sdist_in(ROOT / given), next((ROOT / given).glob("*.whl")))
    with once("built") as (folder, is_new):
        if is_new:
            add_page(clone := copy_clone(folder / "clone"))
            assert (done := build("sdist", clone, folder)).returncode == 0, done.stderr
            shutil.unpack_archive(sdist_in(folder), folder / "source", **SAFELY)
            assert (done := build("wheel", next((folder / "source").iterdir()), folder)).returncode == 0, done.stderr
        return Built(sdist_in(folder), next(folder.glob("*.whl")))


#: Newer Pythons require a filter for unpacking. The oldest supported one doesn't know the argument.
SAFELY = {"filter": "data"} if hasattr(__import__("tarfile"), "data_filter") else {}


def sdist_in(folder):
    return next(folder.glob("*.tar.gz"))


@contextmanager
def once(name):
    """A folder of this run, and whether it is to be filled. Other processes wait meanwhile."""
    folder = Path(os.environ[RUN], name)
    with Path(f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        is_new = not folder.is_dir()
        folder.mkdir(exist_ok=True)
        try:
            yield folder, is_new
        except BaseException:
            shutil.rmtree(folder)
            raise


class Environment(NamedTuple):
    """A virtual environment that has the package and nothing of this checkout."""

    folder: Path
    extras: frozenset[str]

    def run(self, home, *command, **environ):
        """Run one of its programs. Paths of this checkout and keys are in none of its variables."""
        kept = {"PATH": os.defpath, "HOME": str(home), "LANG": "C.UTF-8", RUN: os.environ[RUN]}
        program = self.folder / "bin" / command[0]
        settings = {"capture_output": True, "text": True, "timeout": LONGEST, "cwd": home}
        return subprocess.run([program, *command[1:]], check=False, env={**kept, **environ}, **settings)  # noqa: S603 - our own


def install(source, extras=(), python=sys.executable, *, locked=True, beside=()):
    """An environment with a built file and some of its extras, in the versions of requirements.txt if `locked`.

    `beside` are further packages.
    """
    extras, version = frozenset(extras), Path(python).resolve().name
    name = "-".join(["env", version, "locked" if locked else "newest", source.name, *beside, *sorted(extras)])
    with once(name[:200]) as (folder, is_new):
        if is_new:
            requirement = f"showandtell[{','.join(sorted(extras))}] @ {source.as_uri()}"
            constraints = ["--constraint", str(ROOT / "requirements.txt")] if locked else []
            add_to(folder, requirement, *beside, *constraints, python=python)
        return Environment(folder, extras)


def add_to(folder, *requirements, python=sys.executable):
    """Make an environment, and install into it."""
    need(UV.is_file(), "uv is not installed: run `make setup`")
    for command in (
        ["venv", "--quiet", "--relocatable", "--allow-existing", "--python", python, str(folder)],
        ["pip", "install", "--quiet", "--python", str(folder), *requirements],
    ):
        done = run([str(UV), *command], ROOT, UV_NO_CONFIG="1", UV_SYSTEM_CERTS="1")
        need(done.returncode == 0, f"these packages can't be installed: {done.stderr}")
