"""The walls around the process that decodes, on Linux: what a hostile file can't do even if it takes over the decoder.

Each wall stands by itself. One that the kernel, or a container, lacks is left out, and `Walls` says so; one that is
there and can't be raised ends the process. `showandtell doctor` and SECURITY.md say what each one stops.
"""

from __future__ import annotations

import os
import signal
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from msgspec import Struct

from showandtell.media import landlock, linux, seccomp

#: Read by libraries while they decode: shared libraries with their data, fonts, time zones, character sets.
SYSTEM = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share", "/usr/local/share/fonts"),
    *("/etc/fonts", "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/sys/devices/system/cpu"),
    *("/dev/null", "/dev/urandom", "/dev/zero"),
)
#: Folders that hold nothing but installed packages; other folders on the module path may be a program's own.
PACKAGE_FOLDERS = ("site-packages", "dist-packages")


class Walls(Struct, frozen=True):
    """Which walls stand: `landlock` is its version, 0 without it."""

    namespaces: bool = False
    privileges: bool = False
    landlock: int = 0
    seccomp: bool = False


def hide_process() -> None:
    """Keep other processes of the same user out of this one's memory and environment, and prevent core dumps."""
    succeeds(lambda: linux.control_process(linux.PR_SET_DUMPABLE, 0))


def raise_outer_walls() -> Walls:
    """Give up networks and privileges, in a process with one thread; returns which walls its children will have."""
    if sys.platform != "linux":
        return Walls()
    kept = linux.read_capabilities()[0] & linux.READ_ALL_FILES
    is_apart = succeeds(enter_namespaces)
    hide_process()
    has_dropped = succeeds(lambda: linux.keep_capabilities(kept))
    gains_none = succeeds(lambda: linux.control_process(linux.PR_SET_NO_NEW_PRIVS, 1))  # the inner walls need it
    version = landlock.read_version() if gains_none and succeeds(landlock.read_version) else 0
    has_filter = gains_none and succeeds(seccomp.check_support)
    return Walls(is_apart, has_dropped and gains_none, version, has_filter)


def list_missing_walls() -> list[str]:
    """The names of the walls around files and system calls that this process can't raise; empty where none can be."""
    walls = {"Landlock": landlock.read_version, "seccomp": seccomp.check_support}
    return [name for name, check in walls.items() if not succeeds(check)] if sys.platform == "linux" else []


def succeeds(task: Callable[[], object]) -> bool:
    """Do something that the system may lack."""
    try:
        task()
    except OSError:
        return False
    return True


def enter_namespaces() -> None:
    """Enter a network without devices, and System V IPC and a host name of its own.

    Without the privilege for this, a user namespace grants it. A process that may read the files of other users gets no
    user namespace, in which it could not.
    """
    flags = linux.CLONE_NEWNET | linux.CLONE_NEWIPC | linux.CLONE_NEWUTS
    if linux.read_capabilities()[0] & (linux.READ_ALL_FILES | linux.ADMINISTER):
        linux.unshare(flags)
        return
    user, group = os.getuid(), os.getgid()
    linux.unshare(flags | linux.CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny", "ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", "ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", "ascii")


def die_with(parent: int) -> None:
    """Be killed when the parent process ends, however it ends."""
    succeeds(lambda: linux.control_process(linux.PR_SET_PDEATHSIG, signal.SIGKILL))
    if os.getppid() != parent:  # it ended before
        os._exit(1)


class InnerWalls:
    """The walls around one request, in a process of its own. Raises `OSError` if one that is there can't be raised."""

    def __init__(self, walls: Walls, libraries: Sequence[str], *, may_write: bool) -> None:
        """Raise and prepare what doesn't depend on the request. `libraries` can be read as well."""
        self.walls = walls
        self.rules = landlock.Ruleset() if walls.landlock else None
        if self.rules:
            self.rules.allow([*SYSTEM, *libraries], landlock.READ)
        if walls.seccomp:
            seccomp.filter_calls(may_write=may_write)

    def raise_for(self, source: str | None, folder: str | None) -> None:
        """From now on only `source` can be read, and only `folder` written."""
        if self.rules:
            self.rules.allow([source] if source else [], landlock.Access.READ_FILE)
            self.rules.allow([folder] if folder else [], landlock.WRITE)
            self.rules.restrict()


def list_libraries() -> list[str]:
    """Where modules are and libraries keep their data: installed packages, and what is loaded from elsewhere."""
    standard = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), sysconfig.get_config_var("LIBDIR")]
    shared = [path for path in standard if path] + [path for path in sys.path if Path(path).name in PACKAGE_FOLDERS]
    loaded = [path for name, module in sys.modules.items() if "." not in name for path in locate(module)]
    return shared + [path for path in loaded if not path.startswith(tuple(shared))]


def locate(module: ModuleType) -> list[str]:
    """The folders of a package, or the file of a module; none for one that is built in."""
    folders: list[str] = list(getattr(module, "__path__", ()))
    path: str | None = getattr(module, "__file__", None)
    return folders or ([path] if path else [])
