"""The filter of system calls for the process that decodes: what is not in the table does not exist for it (ENOSYS).

A program for the kernel (BPF) that the process can't take back. It sees numbers, never what a pointer points to: which
files may be opened is Landlock's business. The table is for x86-64 and 64-bit ARM.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from showandtell.media.linux import system_call

#: By the name of a machine: its number in audit.h, the column of its system calls below, and the number of `seccomp`.
MACHINES = {"x86_64": (0xC000003E, 0, 317), "aarch64": (0xC00000B7, 1, 277)}
#: Allowed with any arguments: the name, its number on x86-64 and on ARM ("-": has none). All act on the process itself,
#: on open files, or on paths that Landlock judges. Landlock's own calls only take away.
ALLOWED = """
read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69, pwritev 296 70,
close 3 57, close_range 436 436, lseek 8 62, fstat 5 80, newfstatat 262 79, statx 332 291, stat 4 -, lstat 6 -,
access 21 -, faccessat 269 48, faccessat2 439 439, readlink 89 -, readlinkat 267 78, getdents64 217 61, getcwd 79 17,
dup 32 23, dup2 33 -, dup3 292 24, pipe 22 -, pipe2 293 59, poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72,
fadvise64 221 223, ftruncate 77 46, fsync 74 82, eventfd2 290 19,
mmap 9 222, munmap 11 215, mprotect 10 226, mremap 25 216, madvise 28 233, brk 12 214, mincore 27 232,
membarrier 324 283, futex 202 98, rseq 334 293, set_robust_list 273 99, get_robust_list 274 100,
set_tid_address 218 96, sched_yield 24 124, sched_getaffinity 204 123, sched_getparam 143 121,
sched_getscheduler 145 120, sched_get_priority_max 146 125, sched_get_priority_min 147 126, getcpu 309 168,
exit 60 93, exit_group 231 94, restart_syscall 219 128,
rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136, rt_sigtimedwait 128 137,
sigaltstack 131 132, setitimer 38 103, getitimer 36 102, alarm 37 -,
getpid 39 172, gettid 186 178, getppid 110 173, getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177,
getpgrp 111 -, getpgid 121 155, getsid 124 156, getgroups 115 158, getrlimit 97 163, getrusage 98 165,
sysinfo 99 179, uname 63 160, times 100 153, umask 95 166, arch_prctl 158 -,
clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115, nanosleep 35 101, gettimeofday 96 169,
time 201 -, getrandom 318 278,
landlock_add_rule 445 445, landlock_restrict_self 446 446
"""
#: A thread of the same process: CLONE_VM and CLONE_THREAD.
THREAD = 0x00010100
#: Opening to write: O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND and O_TMPFILE.
WRITING = 0o20003103
#: __O_TMPFILE: a file without a name escapes the count of written bytes.
NAMELESS = 0o20000000
#: PR_SET_NAME, PR_GET_NAME and PR_SET_VMA, which name threads and memory.
PROCESS_CONTROLS = (15, 16, 0x53564D41)
#: F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL and F_DUPFD_CLOEXEC; not F_SETOWN, which sends signals to others.
FILE_CONTROLS = (0, 1, 2, 3, 4, 1030)
#: TCGETS (is it a terminal?), FIOCLEX, FIONBIO and FIONREAD.
DEVICE_CONTROLS = (0x5401, 0x5451, 0x5421, 0x541B)

#: BPF: load a word of `struct seccomp_data`, compare, mask, return (linux/bpf_common.h, linux/seccomp.h).
LOAD, JUMP_IF_EQUAL, AND, RETURN = 0x20, 0x15, 0x54, 0x06
NUMBER_OFFSET, MACHINE_OFFSET, ARGUMENTS_OFFSET = 0, 4, 16
ALLOW, FAIL, KILL = 0x7FFF0000, 0x00050000, 0x80000000
SET_MODE_FILTER, GET_ACTION_AVAILABLE = 1, 2


class Rule(NamedTuple):
    """A system call that is allowed if `argument & mask` is one of `values`; only the low 32 bits are compared."""

    numbers: tuple[int | None, int | None]
    argument: int
    values: Sequence[int]
    mask: int = 0xFFFFFFFF


def list_rules(pid: int, *, may_write: bool) -> list[Rule]:
    """The system calls that are allowed with some arguments only, for the process with this id."""
    refused = NAMELESS if may_write else WRITING
    return [
        Rule((2, None), 1, (0,), refused),  # open
        Rule((257, 56), 2, (0,), refused),  # openat
        Rule((72, 25), 1, FILE_CONTROLS),  # fcntl
        Rule((16, 29), 1, DEVICE_CONTROLS),  # ioctl
        Rule((56, 220), 0, (THREAD,), THREAD),  # clone; clone3 doesn't exist, because its flags are behind a pointer
        Rule((157, 167), 0, PROCESS_CONTROLS),  # prctl
        Rule((302, 261), 0, (0, pid)),  # prlimit64
        Rule((62, 129), 0, (pid,)),  # kill
        Rule((234, 131), 0, (pid,)),  # tgkill
    ]


def step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction. After a comparison it skips as many instructions as the outcome says."""
    return struct.pack("HBBI", code, if_true, if_false, value)


def read_table(column: int) -> Iterator[int]:
    """The numbers in a column of `ALLOWED`."""
    for row in ALLOWED.split(","):
        number = row.split()[1 + column]
        if number != "-":
            yield int(number)


def make_filter(machine: str, pid: int, *, may_write: bool) -> bytes:
    """The program for a process on one of `MACHINES`."""
    column = MACHINES[machine][1]
    program = [make_start(machine)]
    for rule in list_rules(pid, may_write=may_write):
        number = rule.numbers[column]
        if number is not None:
            program += check_argument(number, rule)
    return b"".join([*program, step(RETURN, FAIL | errno.ENOSYS)])


@functools.cache
def make_start(machine: str) -> bytes:
    """The part of the program that is the same for all processes."""
    identity, column, _ = MACHINES[machine]
    program = [
        step(LOAD, MACHINE_OFFSET),
        step(JUMP_IF_EQUAL, identity, 1, 0),
        step(RETURN, KILL),  # 32-bit calls have other numbers
        step(LOAD, NUMBER_OFFSET),
    ]
    for number in read_table(column):
        program += [step(JUMP_IF_EQUAL, number, 0, 1), step(RETURN, ALLOW)]
    return b"".join(program)


def check_argument(number: int, rule: Rule) -> list[bytes]:
    """The part of the program for one rule."""
    body = [step(LOAD, ARGUMENTS_OFFSET + 8 * rule.argument), step(AND, rule.mask)]
    for value in rule.values:
        body += [step(JUMP_IF_EQUAL, value & 0xFFFFFFFF, 0, 1), step(RETURN, ALLOW)]
    body.append(step(RETURN, FAIL | errno.EPERM))
    return [step(JUMP_IF_EQUAL, number, 0, len(body)), *body]


def check_support() -> None:
    """Raise `OSError` if this machine has no such filter."""
    machine = os.uname().machine
    if machine not in MACHINES:
        raise OSError(errno.ENOSYS, f"no table of system calls for {machine}")
    system_call(MACHINES[machine][2], GET_ACTION_AVAILABLE, 0, struct.pack("I", FAIL))
    make_start(machine)  # before forks need it


def filter_calls(*, may_write: bool) -> None:
    """Filter the system calls of this process for good. `PR_SET_NO_NEW_PRIVS` must be set. Raises `OSError`."""
    machine = os.uname().machine
    program = make_filter(machine, os.getpid(), may_write=may_write)
    instructions = ctypes.create_string_buffer(program, len(program))
    pointer = struct.pack("HP", len(program) // 8, ctypes.addressof(instructions))
    system_call(MACHINES[machine][2], SET_MODE_FILTER, 0, pointer)
