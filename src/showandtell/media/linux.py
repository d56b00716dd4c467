"""System calls of Linux that Python doesn't have, through the C library that is loaded anyway. Each raises `OSError`.

There are packages for Landlock and for seccomp, but those for seccomp need a system library, and none does both.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
from typing import Any

#: Process control (linux/prctl.h).
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
#: Namespaces (linux/sched.h).
CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWNET = 0x04000000, 0x08000000, 0x10000000, 0x40000000
#: Capabilities as bits (linux/capability.h): CAP_DAC_OVERRIDE or CAP_DAC_READ_SEARCH, and CAP_SYS_ADMIN.
READ_ALL_FILES, ADMINISTER = 1 << 1 | 1 << 2, 1 << 21
#: The version of their sets, and the highest number that fits.
CAPABILITY_VERSION, LAST_CAPABILITY = 0x20080522, 63


@functools.cache
def load_library() -> ctypes.CDLL:
    """The C library, which is loaded anyway."""
    return ctypes.CDLL(None, use_errno=True)


def call(function: str, *arguments: Any) -> int:
    """Call a function of the C library that returns -1 and sets `errno` if it fails."""
    try:
        result = getattr(load_library(), function)(*arguments)
    except AttributeError:
        raise OSError(f"this system has no {function}") from None
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def system_call(number: int, *arguments: int | bytes | None) -> int:
    """Make a system call by its number."""
    return call(
        "syscall",
        ctypes.c_long(number),
        *(ctypes.c_long(value) if isinstance(value, int) else value for value in arguments),
    )


def control_process(option: int, value: int) -> None:
    """Set one attribute of this process; what is not given is zero."""
    call("prctl", option, *(ctypes.c_ulong(number) for number in (value, 0, 0, 0)))


def unshare(flags: int) -> None:
    """Move this process, which must have one thread, into new namespaces."""
    call("unshare", flags)


def read_capabilities() -> tuple[int, int]:
    """The effective and the permitted capabilities as bits."""
    data = ctypes.create_string_buffer(24)
    call("capget", struct.pack("Ii", CAPABILITY_VERSION, 0), data)
    effective, permitted, _, high_effective, high_permitted, _ = struct.unpack("6I", data.raw)
    return effective | high_effective << 32, permitted | high_permitted << 32


def keep_capabilities(kept: int) -> None:
    """Give up all capabilities but these, and the right to gain others; those that aren't held are ignored.

    Without others to give up, `capset` isn't called: system managers that grant none often deny the call, too.
    """
    effective, permitted = read_capabilities()
    bits = kept & effective
    for number in range(LAST_CAPABILITY + 1):
        try:
            control_process(PR_CAPBSET_DROP, number)
        except OSError:  # not privileged, or the kernel has no such capability
            break
    if effective | permitted == bits:
        return
    low, high = bits & 0xFFFFFFFF, bits >> 32
    call("capset", struct.pack("Ii", CAPABILITY_VERSION, 0), struct.pack("6I", low, low, 0, high, high, 0))
