# A union, or JSON whose types the test knows.
# pyright: reportCallIssue=false
"""Ways out of the process that decodes. Each raises `OSError` if it is stopped, and returns what it got otherwise.

Without walls they do no harm: signals are 0, and calls of the kernel get arguments that it refuses after it was reached.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

#: Name, and by machine the numbers of calls that must not reach the kernel at all, with arguments that it refuses.
CALLS = {
    "ptrace": (101, 117, 0x4206, -1),
    "process_vm_readv": (310, 270, 1),
    "process_vm_writev": (311, 271, 1),
    "process_madvise": (440, 440, -1),
    "kcmp": (312, 272, 1, 1),
    "pidfd_open": (434, 434, 1),
    "pidfd_send_signal": (424, 424, -1),
    "pidfd_getfd": (438, 438, -1),
    "rt_sigqueueinfo": (129, 138, 1, 0),
    "tkill": (200, 130, 1, 0),
    "setpriority": (141, 140, 0, 1, 0),
    "sched_setaffinity": (203, 122, 1),
    "mount": (165, 40),
    "fsopen": (430, 430),
    "open_tree": (428, 428),
    "umount": (166, 39),
    "pivot_root": (155, 41),
    "setns": (308, 268, -1),
    "unshare": (272, 97, 0),
    "clone3": (435, 435, None, 0),
    "io_uring_setup": (425, 425),
    "io_setup": (206, 0),
    "keyctl": (250, 219, 0, -3),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282, -1),
    "open_by_handle_at": (304, 265, -1),
    "name_to_handle_at": (303, 264, -1),
    "fanotify_init": (300, 262, -1),
    "memfd_create": (319, 279),
    "execveat": (322, 281, -1),
    "shmget": (29, 194, 0, 0, 0),
    "mq_open": (240, 180),
    "init_module": (175, 105),
    "swapon": (167, 224),
    "sethostname": (170, 161, None, 9999),
    "clock_settime": (227, 112, 99),
    "quotactl": (179, 60),
    "setuid": (105, 146, -1),
    "capset": (126, 91),
    "seccomp": (317, 277, 99),
}
MACHINE = ("x86_64", "aarch64").index(platform.machine()) if platform.machine() in {"x86_64", "aarch64"} else None
LIBRARY = ctypes.CDLL(None, use_errno=True)
ATTACKS = {}
#: Attacks that no wall but this one stops, by the field of `Walls`; all others are stopped by `seccomp`.
NEEDS = {}
#: Attacks that may fail without walls, too: the machine, the container or the order of events decides.
UNSURE = set()


def attack(needs="seccomp", *, sure=True):
    """Register a function that tries one way out."""

    def register(function):
        ATTACKS[function.__name__] = function
        NEEDS[function.__name__] = needs
        if not sure:
            UNSURE.add(function.__name__)
        return function

    return register


def reach_kernel(number, *arguments):
    """Make a call that must not exist or not be permitted; any other error came from the kernel's own code."""
    values = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    if LIBRARY.syscall(ctypes.c_long(number), *values) >= 0:
        return "the call succeeded"
    if (code := ctypes.get_errno()) in {errno.ENOSYS, errno.EPERM, errno.EACCES}:
        raise OSError(code, os.strerror(code))
    return f"the kernel looked at the arguments: {os.strerror(code)}"


def call_by_name(name):
    on_x86, on_arm, *arguments = CALLS[name]
    given = [*arguments, *[0] * (6 - len(arguments))]
    return lambda _: reach_kernel((on_x86, on_arm)[MACHINE], *given)


for call in CALLS:
    ATTACKS[f"call_{call}"], NEEDS[f"call_{call}"] = call_by_name(call), "seccomp"
UNSURE |= {
    f"call_{name}" for name in ("pidfd_getfd", "perf_event_open", "init_module", "quotactl", "swapon", "mq_open")
}
UNSURE |= {
    f"call_{name}" for name in ("tkill", "fanotify_init", "fsopen", "pivot_root", "sched_setaffinity", "sethostname")
}
UNSURE |= {
    f"call_{name}"
    for name in ("setpriority", "io_uring_setup", "keyctl", "bpf", "userfaultfd", "clone3", "execveat", "kcmp")
}


@attack("landlock")
def read_environment_of_the_server(target):
    return Path(f"/proc/{target['server']}/environ").read_bytes()


@attack("landlock")
def read_memory_of_the_server(target):
    return Path(f"/proc/{target['server']}/mem").open("rb").fileno()


@attack("landlock")
def read_environment_of_the_template(_):
    return Path(f"/proc/{os.getppid()}/environ").read_bytes()


@attack("landlock")
def list_processes(_):
    return [path.name for path in Path("/proc").iterdir()]


@attack("landlock")
def follow_a_link_of_another_process(target):
    return str(Path(f"/proc/{target['server']}/cwd").readlink())


@attack("landlock")
def read_bytes_of_another_owner(target):
    return Path(target["blob"]).read_bytes()


@attack("landlock")
def read_the_database(target):
    return Path(target["database"]).read_bytes()


@attack("landlock")
def list_the_data_folder(target):
    return [path.name for path in Path(target["data"]).iterdir()]


@attack("landlock", sure=False)
def list_the_home_folder(_):
    return [path.name for path in Path("~").expanduser().iterdir()]


@attack("landlock")
def read_the_list_of_users(_):
    return Path("/etc/passwd").read_text()


@attack("landlock")
def read_a_file_beside_the_source(target):
    return (Path(target["path"]).parent / "beside.txt").read_text()


@attack("landlock")
def write_into_the_temporary_folder(_):
    with tempfile.NamedTemporaryFile(dir="/tmp") as file:
        return file.write(b"x")


@attack("landlock")
def overwrite_the_source(target):
    return Path(target["path"]).open("r+b").fileno()


@attack("landlock")
def overwrite_bytes_of_another_owner(target):
    return Path(target["blob"]).open("r+b").fileno()


@attack("landlock", sure=False)
def change_the_decoder(_):
    return Path(sys.modules["showandtell.media.child"].__file__).open("ab").fileno()


@attack("landlock", sure=False)
def open_physical_memory(_):
    return Path("/dev/mem").open("rb").fileno()


@attack()
def write_a_file_that_nobody_counts(target):
    return os.open(target["folder"], os.O_TMPFILE | os.O_RDWR)


@attack()
def delete_bytes_of_another_owner(target):
    Path(target["victim"]).unlink()
    return Path(target["victim"]).write_bytes(b"put back")


@attack()
def rename_bytes_of_another_owner(target):
    return Path(target["victim"]).rename(target["victim"])


@attack()
def link_bytes_of_another_owner(target):
    return os.link(target["blob"], f"{target['folder']}/link-{os.getpid()}")


@attack()
def point_into_the_data_folder(target):
    link = Path(target["folder"], f"symbolic-{os.getpid()}")
    link.symlink_to(target["blob"])
    return link.read_bytes()


@attack()
def truncate_bytes_of_another_owner(target):
    return os.truncate(target["victim"], Path(target["victim"]).stat().st_size)


@attack()
def change_permissions(target):
    return Path(target["victim"]).chmod(0o600)


@attack()
def change_times(target):
    return os.utime(target["victim"])


@attack()
def change_attributes(target):
    return os.setxattr(target["victim"], "user.test", b"x")


@attack()
def make_a_pipe_with_a_name(target):
    return os.mkfifo(f"{target['folder']}/pipe-{os.getpid()}")


@attack()
def connect_to_a_local_server(target):
    with socket.create_connection(("127.0.0.1", target["port"]), 5):
        return "connected"


@attack()
def open_a_socket_for_datagrams(_):
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).fileno()


@attack()
def open_a_socket_for_ipv6(_):
    return socket.socket(socket.AF_INET6).fileno()


@attack()
def open_a_unix_socket(_):
    return socket.socket(socket.AF_UNIX).fileno()


@attack()
def bind_an_abstract_socket(_):
    return socket.socket(socket.AF_UNIX).bind(f"\0escape-{os.getpid()}")


@attack()
def open_a_socket_to_the_kernel(_):
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).fileno()


@attack(sure=False)
def open_a_socket_for_packets(_):
    return socket.socket(socket.AF_PACKET, socket.SOCK_RAW).fileno()


@attack()
def open_two_joined_sockets(_):
    return [end.fileno() for end in socket.socketpair()]


@attack()
def run_a_shell(_):
    return subprocess.run(["/bin/sh", "-c", "exit 3"], check=False).returncode


@attack()
def spawn_a_shell(_):
    return os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", "exit 3"], {}), 0)


@attack()
def fork_a_process(_):
    if (pid := os.fork()) == 0:
        os._exit(0)
    return os.waitpid(pid, 0)


@attack()
def fork_as_a_daemon(_):
    if (pid := os.fork()) == 0:
        os.setsid()
        os.fork()
        os._exit(0)
    return os.waitpid(pid, 0)


@attack()
def run_a_file_in_memory(_):
    descriptor = os.memfd_create("sh")
    os.write(descriptor, Path("/bin/true").read_bytes())
    if (pid := os.fork()) == 0:
        os.execve(descriptor, ["true"], {})  # noqa: S606 - that is the attack
    return os.waitpid(pid, 0)


@attack()
def enter_a_new_namespace_of_users(_):
    if LIBRARY.unshare(0x10000000) < 0:
        raise OSError(ctypes.get_errno(), "unshare")
    return "unshared"


@attack(sure=False)
def change_the_root(_):
    return os.chroot("/")


@attack()
def signal_the_server(target):
    return os.kill(target["server"], 0) or "signalled"


@attack()
def signal_the_template(_):
    return os.kill(os.getppid(), 0) or "signalled"


@attack()
def signal_everything(_):
    return os.kill(-1, 0) or "signalled"


@attack()
def signal_by_a_pipe(target):
    reader, _ = os.pipe()
    return fcntl.fcntl(reader, fcntl.F_SETOWN, target["server"])


@attack()
def limit_the_server(target):
    return resource.prlimit(target["server"], resource.RLIMIT_NOFILE)


@attack()
def live_longer_than_the_template(_):
    if LIBRARY.prctl(1, 0, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "prctl")
    return "the signal at its death is off"


@attack()
def be_readable_by_others(_):
    if LIBRARY.prctl(4, 1, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "prctl")
    return "dumpable"


@attack(sure=False)
def use_calls_of_another_interface(_):
    return reach_kernel(0x40000000 | 41, 2, 1, 0) if MACHINE == 0 else reach_kernel(-2)


@attack("limits", sure=False)
def raise_own_limits(_):
    try:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except ValueError as error:
        raise PermissionError(str(error)) from None
    return "raised"


@attack("limits", sure=False)
def write_to_open_files_of_the_template(_):
    written = []
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, b"x\n")
            written.append(descriptor)
        except OSError:
            continue
    if not written:
        raise OSError(errno.EBADF, "nothing is open")
    return written


# The following end the process, or leave something for the next one. Each has a test of its own.


def open_own_file_and_folder(target):
    (Path(target["folder"]) / "out.bin").write_bytes(Path(target["path"]).read_bytes())
    return "done"


def write_without_a_folder(target):
    return Path(target["beside"]).open("wb").fileno()


def leave_a_trace(_):
    earlier = getattr(sys, "trace_of_a_file", None)
    sys.trace_of_a_file = "left"
    return [earlier, os.getpid()]


def answer_twice(_):
    os.write(1, b'{"result": "mine"}\n{"result": "forged for the next"}\n')
    time.sleep(60)


def answer_with_noise(_):
    os.write(1, b"\xff{\n")


def answer_with_half_a_character(_):
    return "half \ud83d"


def answer_with_a_list(_):
    os.write(1, b"[1]\n")


def answer_with_deep_nesting(_):
    os.write(1, b"[" * 60_000 + b"\n")


def trickle():
    while True:
        os.write(1, b" ")
        time.sleep(0.02)


def answer_after_many_files(target):
    for number in range(257):
        Path(target["folder"], str(number)).write_bytes(b"")


def write_many_files(target):
    for number in range(10_000):
        Path(target["folder"], str(number)).write_bytes(b"")
    time.sleep(60)


def write_large_files(target):
    for number in range(20):
        with Path(target["folder"], str(number)).open("wb") as file:
            file.truncate(60 << 20)
    time.sleep(60)


def start_many_threads(_):
    threading.stack_size(64 << 10)
    for _ in range(500):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    time.sleep(60)


def ignore_signals_and_stay(target):
    for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    Path(target["folder"], "pid").write_text(str(os.getpid()))
    time.sleep(600)


def answer_while_a_thread_stays(_):
    threading.Thread(target=time.sleep, args=(600,)).start()
    return os.getpid()


def make_a_call_for_32_bits(_):
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20 (getpid); int 0x80; ret
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)()


def die(_):
    os.kill(os.getpid(), signal.SIGSEGV)


def list_own_environment(_):
    return list(os.environ)


def read_own_module(_):
    return Path(__file__).read_bytes() and "read"


def answer_with_words(target):
    return target["words"] * 100


def search_own_memory(target):
    """How often words occur in this process. They come backwards, so that the search doesn't find itself."""
    backwards, found = target["backwards"].encode(), 0
    with Path("/proc/self/mem").open("rb", 0) as memory:
        for line in Path("/proc/self/maps").read_text().splitlines():
            places, rights, *_ = line.split()
            start, end = (int(place, 16) for place in places.split("-"))
            if rights.startswith("rw"):
                memory.seek(start)
                found += memory.read(end - start)[::-1].count(backwards)
    return found
