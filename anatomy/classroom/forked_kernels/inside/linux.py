"""The few system calls that Python 3.11 has no name for, and what forked kernels need of them."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from pathlib import Path

_libc = ctypes.PyDLL(None, use_errno=True)  # not CDLL: a process that is copied in a call must hold Python's lock

NEW_MOUNTS, NEW_HOSTNAME, NEW_IPC = 0x00020000, 0x04000000, 0x08000000
NEW_USERS, NEW_PROCESSES, NEW_NETWORK, NEW_GROUPS = 0x10000000, 0x20000000, 0x40000000, 0x02000000
ALONE = NEW_MOUNTS | NEW_HOSTNAME | NEW_IPC | NEW_USERS | NEW_PROCESSES | NEW_NETWORK

READ_ONLY, NO_SETUID, NO_DEVICES, NO_PROGRAMS = 1, 2, 4, 8
REMOUNT, BIND, MOVE, RECURSIVE, PRIVATE = 32, 4096, 8192, 16384, 1 << 18
MOST_TERMINALS = 16
"""Pseudoterminals that one kernel may have open: `!command` takes one, and the machine has a few thousand."""

_NUMBERS = {
    "x86_64": {
        "clone": 56, "capset": 126, "clone3": 435, "unshare": 272, "setns": 308, "mount": 165, "umount2": 166,
        "pivot_root": 155, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "bpf": 321,
        "perf_event_open": 298, "userfaultfd": 323, "keyctl": 250, "add_key": 248, "request_key": 249,
        "io_uring_setup": 425, "memfd_create": 319, "memfd_secret": 447, "shmget": 29, "msgget": 68, "semget": 64,
        "open_tree": 428, "move_mount": 429, "fsopen": 430, "mount_setattr": 442, "open_by_handle_at": 304,
        "fadvise64": 221, "readahead": 187, "mincore": 27, "cachestat": 451, "preadv2": 327, "pwritev2": 328,
        "process_madvise": 440, "madvise": 28, "flock": 73, "fcntl": 72, "inotify_init": 253, "inotify_init1": 294,
        "fanotify_init": 300, "syslog": 103, "socket": 41,
    },
    "aarch64": {
        "clone": 220, "capset": 91, "clone3": 435, "unshare": 97, "setns": 268, "mount": 40, "umount2": 39,
        "pivot_root": 41, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "bpf": 280,
        "perf_event_open": 241, "userfaultfd": 282, "keyctl": 219, "add_key": 217, "request_key": 218,
        "io_uring_setup": 425, "memfd_create": 279, "memfd_secret": 447, "shmget": 194, "msgget": 186, "semget": 190,
        "open_tree": 428, "move_mount": 429, "fsopen": 430, "mount_setattr": 442, "open_by_handle_at": 265,
        "fadvise64": 223, "readahead": 213, "mincore": 232, "cachestat": 451, "preadv2": 286, "pwritev2": 287,
        "process_madvise": 440, "madvise": 233, "flock": 32, "fcntl": 25, "inotify_init1": 26,
        "fanotify_init": 262, "syslog": 116, "socket": 198,
    },
}  # fmt: skip
_REFUSED = (
    # new namespaces and mounts, other processes, memory that no limit counts
    "unshare", "setns", "mount", "umount2", "pivot_root", "ptrace", "process_vm_readv", "process_vm_writev", "bpf",
    "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "io_uring_setup", "memfd_create",
    "memfd_secret", "shmget", "msgget", "semget", "open_tree", "move_mount", "fsopen", "mount_setattr",
    "open_by_handle_at",
    # what one kernel could leave at files that all may read, and another find: parts in memory, watches; messages of
    # the system
    "fadvise64", "readahead", "mincore", "process_madvise", "inotify_init", "inotify_init1", "fanotify_init", "syslog",
)  # fmt: skip
_UNKNOWN = ("clone3", "preadv2", "pwritev2", "cachestat", "flock")
"""Refused as if the system did not know them: libraries then do what they want in another way, or say so."""
_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_UNIX, _INTERNET, _INTERNET_6, _NETLINK = 1, 2, 10, 16
_COLD, _PAGE_OUT = 20, 21
_QUERIES_OF_FILES = (5, 36, 1024, 1025, 1026, *range(1035, 1039))
"""Commands of fcntl: who holds a lock, leases, watches of folders, hints that stay with a file."""
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SIGCHLD = 17


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _number(name: str) -> int:
    try:
        return _NUMBERS[platform.machine()][name]
    except KeyError:
        raise OSError(errno.ENOSYS, f"no number is known for {name} on {platform.machine()}") from None


def fork_into(namespaces: int) -> int:
    """`os.fork`, the child in new namespaces and number 1 of its own processes.

    Only for a process with one thread. Python is not told; the child should do little more than `os.fork` again.
    """
    return _checked(_libc.syscall(_number("clone"), namespaces | _SIGCHLD, 0, 0, 0, 0), "new namespaces")


def map_user(inside: int, outside: tuple[int, int]) -> None:
    """In a new user namespace: be `inside`, who is the user and group `outside` for everyone else."""
    dumpable(True)  # the files belong to root otherwise
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inside} {outside[0]} 1"),
        ("gid_map", f"{inside} {outside[1]} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    dumpable(False)


def mount(source: str, target: str, filesystem: str = "", flags: int = 0, options: str = "") -> None:
    result = _libc.mount(source.encode(), target.encode(), filesystem.encode(), ctypes.c_ulong(flags), options.encode())
    _checked(result, f"mount {filesystem or source} on {target}")


def private_mounts() -> None:
    mount("none", "/", flags=RECURSIVE | PRIVATE)


def bind(source: str, target: str) -> None:
    mount(source, target, flags=BIND)


def bind_read_only(place: str) -> None:
    """Make the mount at `place` read-only, as seen from here. A device stays a device, and can be written to."""
    kept = os.statvfs(place).f_flag & (NO_DEVICES | NO_PROGRAMS)  # those of an outer namespace can't be taken away
    mount("none", place, flags=REMOUNT | BIND | READ_ONLY | NO_SETUID | kept)


def memory_disk(place: str, size: int, mode: int = 0o700) -> None:
    """An empty file system in memory that can hold `size` bytes."""
    options = f"size={size},nr_inodes={max(64, size // 4096)},mode={mode:o}"
    mount("tmpfs", place, "tmpfs", NO_SETUID | NO_DEVICES, options)


def own_terminals(place: str) -> None:
    """Pseudoterminals that only this namespace sees."""
    mount(
        "devpts", place, "devpts", NO_SETUID | NO_PROGRAMS, f"newinstance,ptmxmode=0666,mode=600,max={MOST_TERMINALS}"
    )


def hide(place: str) -> None:
    """Cover a folder with an empty one that nobody can write to."""
    memory_disk(place, 4096, 0o555)
    bind_read_only(place)


def _prctl(option: int, value: int, *more: object) -> int:
    return _checked(_libc.prctl(option, ctypes.c_ulong(value), *(more or (0, 0, 0))), f"prctl {option}")


def die_with_parent() -> None:
    _prctl(1, 9)


def dumpable(yes: bool) -> None:
    """Whether others of the same user may look into this process (debuggers, /proc)."""
    _prctl(4, int(yes))


def no_new_privileges() -> None:
    _prctl(38, 1)


def adopt_orphans() -> None:
    """Children whose parent ends become children of this process."""
    _prctl(36, 1)


def drop_capabilities() -> None:
    """Give up every privilege in the own user namespace. For one thread: call it before there are more."""
    header, none = struct.pack("<Ii", 0x20080522, 0), bytes(24)
    _checked(_libc.syscall(_number("capset"), header, none), "capset")


def can_forbid_system_calls() -> bool:
    """Whether `forbid_system_calls` works here: the system has such filters, and its numbers of calls are known."""
    return platform.machine() in _ARCHITECTURES and os.path.exists("/proc/sys/kernel/seccomp/actions_avail")


def forbid_system_calls() -> None:
    """Refuse what a notebook has no use for, by a seccomp filter. A refused call fails with EPERM.

    That is: new namespaces, mounts, debuggers, memory that no limit counts; and all by which two kernels that can't see
    each other could meet at a file or device that both see. `clone3` fails as if unknown, so that libraries use
    `clone`, whose flags can be looked at.
    """
    machine = platform.machine()
    numbers = _NUMBERS[machine]
    allow, kill = (_RETURN, 0, 0, 0x7FFF0000), (_RETURN, 0, 0, 0x80000000)
    deny, unknown, no_family = (
        (_RETURN, 0, 0, 0x00050000 | number) for number in (errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT)
    )
    program: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, 4), (_EQUAL, 1, 0, _ARCHITECTURES[machine]), kill,  # another architecture's numbers
        (_LOAD, 0, 0, 0),
    ]  # fmt: skip
    if machine == "x86_64":
        program += [(_AT_LEAST, 0, 1, 0x40000000), kill]  # x32's numbers
    for names, end in ((_REFUSED, deny), (_UNKNOWN, unknown)):
        for name in names:
            program += [(_EQUAL, 0, 1, numbers[name]), end] if name in numbers else []
    for name, argument, test, values, then, otherwise in (
        ("clone", 0, _ANY_BIT, (ALONE | NEW_GROUPS,), deny, allow),
        ("madvise", 2, _EQUAL, (_COLD, _PAGE_OUT), deny, allow),
        ("fcntl", 1, _EQUAL, _QUERIES_OF_FILES, deny, allow),
        ("socket", 0, _EQUAL, (_UNIX, _INTERNET, _INTERNET_6, _NETLINK), allow, no_family),
    ):
        tests = [step for value in values for step in ((test, 0, 1, value), then)]
        body = [(_LOAD, 0, 0, 16 + 8 * argument), *tests, otherwise]
        program += [(_EQUAL, 0, len(body), numbers[name]), *body]
    program += [allow]
    code = b"".join(struct.pack("<HBBI", *step) for step in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    head = struct.pack("<HxxxxxxQ", len(program), ctypes.addressof(buffer))
    _prctl(22, 2, ctypes.create_string_buffer(head, len(head)), 0, 0)


def children(pid: int) -> list[int]:
    """The processes that `pid` started, and those that they started. The working directory is a /proc."""
    found: list[int] = []
    try:
        for task in os.listdir(f"{pid}/task"):
            found += map(int, Path(f"{pid}/task/{task}/children").read_text(encoding="ascii").split())
    except (OSError, ValueError):
        pass
    return found + [deeper for child in found for deeper in children(child)]


def waited(pid: int) -> float:
    """Seconds that a process's first thread was ready to run and had no processor. The working directory is a /proc."""
    try:
        return int(Path(f"{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):  # it has ended, or this system doesn't count
        return 0.0


def wants_processor(family: list[int], besides: int) -> bool:
    """Whether a thread of these processes computes or could, the first of `besides` left aside.

    The working directory is a /proc.
    """
    for pid in family:
        try:
            for task in os.listdir(f"{pid}/task"):
                said = Path(f"{pid}/task/{task}/stat").read_text(encoding="ascii", errors="replace")
                if int(task) != besides and said.rpartition(")")[2].split()[0] == "R":
                    return True
        except (OSError, IndexError):  # it has ended meanwhile
            continue
    return False


def own_memory(pid: int) -> int:
    """Bytes that a process has taken besides files. The working directory is a /proc."""
    try:
        lines = Path(f"{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
