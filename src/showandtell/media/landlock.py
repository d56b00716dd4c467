"""Landlock, by which a process gives up all files, TCP ports and signals but those that it names (Linux 5.13).

https://docs.kernel.org/userspace-api/landlock.html; the numbers are those of linux/landlock.h, checked 2026-11-24.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from enum import IntFlag
from stat import S_ISDIR

from showandtell.media.linux import system_call

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
#: A rule for everything below a path; a flag of `CREATE_RULESET` that returns the version.
PATH_BENEATH, VERSION = 1, 1
#: All uses of TCP ports; signals to processes outside, and abstract Unix sockets.
ALL_PORTS, ALL_SCOPES = 0b11, 0b11
#: The first versions that know new rights: (version, number of rights on files).
RIGHTS = ((1, 13), (2, 14), (3, 15), (5, 16))
PORTS_VERSION, SCOPES_VERSION = 4, 6
#: Open a path without reading it; `os` has the name only on Linux.
O_PATH = 0o10000000


class Access(IntFlag):
    """Rights on files that are granted; those that no rule grants are denied."""

    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_FOLDER = 1 << 3
    MAKE_FILE = 1 << 8
    TRUNCATE = 1 << 14


READ = Access.READ_FILE | Access.READ_FOLDER
#: Write new files, but neither remove nor rename any: a removed file that is still open would escape being counted.
WRITE = READ | Access.WRITE_FILE | Access.MAKE_FILE | Access.TRUNCATE
#: Rights that apply to a file as well as to a folder.
FILE_RIGHTS = Access.READ_FILE | Access.WRITE_FILE | Access.TRUNCATE


def read_version() -> int:
    """The version of Landlock in this kernel; raises `OSError` if it is missing or turned off."""
    return system_call(CREATE_RULESET, None, 0, VERSION)


class Ruleset:
    """Rules that are collected before they apply. Raises `OSError` without Landlock."""

    def __init__(self) -> None:
        version = read_version()
        self.rights = (1 << max(count for first, count in RIGHTS if first <= version)) - 1
        ports = ALL_PORTS if version >= PORTS_VERSION else 0
        scopes = ALL_SCOPES if version >= SCOPES_VERSION else 0
        attributes = struct.pack("QQQ", self.rights, ports, scopes)
        self.descriptor = system_call(CREATE_RULESET, attributes, len(attributes), 0)

    def allow(self, paths: Iterable[str], access: Access) -> None:
        """Grant rights on files, and on all below folders. Paths that don't exist are skipped."""
        for path in paths:
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                self.allow_path(path, access)

    def allow_path(self, path: str, access: Access) -> None:
        """Grant rights on one path."""
        descriptor = os.open(path, O_PATH | os.O_CLOEXEC)
        try:
            is_folder = S_ISDIR(os.fstat(descriptor).st_mode)
            rights = (access if is_folder else access & FILE_RIGHTS) & self.rights
            system_call(ADD_RULE, self.descriptor, PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0)
        finally:
            os.close(descriptor)

    def restrict(self) -> None:
        """Apply the rules to this process and all that it starts, for good. `PR_SET_NO_NEW_PRIVS` must be set."""
        system_call(RESTRICT_SELF, self.descriptor, 0)
        os.close(self.descriptor)
