"""The sandbox: what a kernel can't see, can't reach and can't use up."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from anatomy.classroom.forked_kernels import NoSandbox, choose_sandbox, get_fork_server, sandbox
from anatomy.classroom.forked_kernels.inside import linux, paths
from anatomy.classroom.grading.course_kernels import KERNELS
from anatomy.classroom.grading.package_copies import hidden_modules
from tests import ordinary_user
from tests.forked_kernels.kernel_session import do, session, soon

pytestmark = pytest.mark.xdist_group("forked kernels")
ROOT = Path(__file__).resolve().parents[2]
needs_bubblewrap = pytest.mark.skipif(sys.platform != "linux" or not sandbox.bubblewrap(), reason="needs bubblewrap")


def starts_kernels(test):
    """What needs bubblewrap, and is not in the quick part."""
    return pytest.mark.slow(needs_bubblewrap(test))


@pytest.fixture(scope="module")
def kernel():
    with session(env={"SECRET_TOKEN": "of the instructor"}) as one:
        one.run("import os, glob, socket, pathlib, errno")
        yield one


FIND = """
import os
def find(*parts):
    found = []
    for place, folders, names in os.walk("/"):
        if place == "/":
            folders[:] = [name for name in folders if name not in ("proc", "usr")]
        found += [os.path.join(place, name) for name in [*folders, *names]]
    return sorted(path for path in found if all(part in path for part in parts))
"""


def fails(one, code, *names):
    """Assert that this code raises one of these errors."""
    seen = one.run(code)
    assert seen.error, f"{code!r} went through: {seen.text}"
    assert seen.error[0] in names, seen.error


@pytest.mark.skipif(sys.platform == "win32", reason="needs users")
def test_a_python_in_a_folder_that_is_closed_to_this_user_is_named(tmp_path):
    """In a process of its own, which gives up root's rights where it has them."""
    prefix = tmp_path / "closed" / "python"
    prefix.mkdir(parents=True)
    program = f"""
import os, sys
from anatomy.classroom.forked_kernels import NoSandbox, sandbox
os.chmod({str(tmp_path / "closed")!r}, 0)
if os.geteuid() == 0:
    os.setuid(65534)
sys.prefix = {str(prefix)!r}
try:
    sandbox.shown_folders()
except NoSandbox as error:
    print(error)
"""
    try:
        said = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert "and a folder above it is closed to the user who grades" in said.stdout, said.stderr


# ---- choosing -------------------------------------------------------------------------------------------------------


def test_without_bubblewrap_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(sandbox.SANDBOX_VARIABLE, raising=False)
    with pytest.raises(NoSandbox, match=r"apt-get install bubblewrap.*--sandbox none"):
        choose_sandbox()
    assert choose_sandbox("none") == "none"
    monkeypatch.setenv(sandbox.SANDBOX_VARIABLE, "none")
    assert choose_sandbox() == "none"


@starts_kernels
def test_without_a_filter_of_system_calls_there_is_no_sandbox(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(NoSandbox, match=r"seccomp.*riscv64.*leave notes for each other.*--sandbox none"):
        choose_sandbox("bubblewrap")
    assert choose_sandbox("none") == "none"


def test_an_unknown_sandbox_is_named():
    with pytest.raises(NoSandbox, match=r"'docker'.*bubblewrap, none"):
        choose_sandbox("docker")


def test_when_the_system_refuses_it_says_so():
    assert "--sandbox none" in str(sandbox.sandbox_refused("bwrap: No permissions to create new namespace"))


def test_environment_is_an_allow_list():
    given = {"LANG": "de_DE.UTF-8", "ANATOMY_GRADING_SEED": "1,2", "AWS_SECRET": "x", "PYTHONPATH": "/x", "HOME": "/x"}
    made = sandbox.kernel_environment(given, KERNELS)
    assert made["LANG"] == "de_DE.UTF-8" and made["ANATOMY_GRADING_SEED"] == "1,2" and made["HOME"] == paths.HOME
    assert not {"AWS_SECRET", "PYTHONPATH"} & made.keys()


def test_an_installed_package_and_course_folders_are_covered(monkeypatch, tmp_path):
    """Were the course in the folder that Python is installed in, they would be shown with it."""
    for name in ("anatomy", "source", "lib"):
        (tmp_path / name).mkdir()
    (tmp_path / "gradebook.db").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    covered = [tmp_path / name for name in ("anatomy", "source", "gradebook.db", "absent")]
    line = sandbox.sandboxed(["true"], program_folder=tmp_path / "inside", sockets=tmp_path / "s", environment={},
                             copy=tmp_path / "copies" / "a", users=tmp_path, covered=covered)  # fmt: skip
    words = " ".join(line)
    assert f"--ro-bind {tmp_path} {tmp_path}" in words
    assert f"--tmpfs {tmp_path}/anatomy" in words and f"--tmpfs {tmp_path}/source" in words
    assert f"--ro-bind /dev/null {tmp_path}/gradebook.db" in words and "absent" not in words
    for made in ("/", "/dev", f"{tmp_path}/anatomy", f"{tmp_path}/source"):
        assert f"--remount-ro {made} " in words, "all kernels have it in common"


# ---- what is not there ----------------------------------------------------------------------------------------------


@starts_kernels
def test_no_network(kernel):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(b"\0anatomy-test")
        abstract.listen()
        fails(kernel, f"socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 2)",
              "OSError", "ConnectionRefusedError")  # fmt: skip
        fails(kernel, "socket.create_connection(('192.0.2.1', 80), 2)", "OSError")
        fails(kernel, "socket.getaddrinfo('example.org', 80)", "gaierror")
        fails(kernel, "socket.socket(socket.AF_UNIX).connect(b'\\0anatomy-test')", "ConnectionRefusedError")


@starts_kernels
def test_nothing_of_the_course_or_its_owner_is_there(kernel, tmp_path):
    (tmp_path / "host-file").touch()
    outside = [tmp_path, ROOT / "source", ROOT / "solutions", ROOT / "tests", ROOT / "gradebook.db", ROOT / ".git",
               ROOT / "anatomy", ROOT / "nbgrader_config.py", "/etc/shadow", "/etc/ssl", "/var", "/mnt", "/media",
               "/srv", get_fork_server(KERNELS).folder, "/dev/sda", "/dev/mem"]  # fmt: skip
    for path in outside:
        assert kernel.value(f"os.path.exists({str(path)!r})") is False, path
    home = Path.home()
    shown = kernel.value(f"os.listdir({str(home)!r}) if os.path.isdir({str(home)!r}) else []")
    assert set(shown) <= {
        path.relative_to(home).parts[0] for path in sandbox._python_folders() if path.is_relative_to(home)
    }
    for place in (paths.SOCKETS, paths.COPIES, paths.PROGRAM, paths.FONTS):
        assert kernel.value(f"os.listdir({place!r}) if os.path.exists({place!r}) else []") == [], place


@starts_kernels
def test_no_answer_is_in_any_file(kernel):
    from anatomy.course import COURSE

    for name in hidden_modules(COURSE.notebook("03-softmax")):
        place = f"/course/{name.replace('.', '/')}"
        text = kernel.value(f"''.join(open(p).read() for p in glob.glob('{place}.py') + glob.glob('{place}/**/*', "
                            "recursive=True) if os.path.isfile(p))")  # fmt: skip
        assert text.count("\n") < 6 and "raise ImportError" in text, name
    kernel.run(FIND)
    assert kernel.value("find('softmax/wrong')") == ["/course/anatomy/course/nb03_softmax/wrong.py"]
    assert kernel.value("find('softmax/right')") == ["/course/anatomy/course/nb03_softmax/right.py"]
    assert kernel.value("find('attempts.json')") == []
    assert kernel.value("find('-softmax', '.ipynb')") == []


@starts_kernels
def test_cannot_write_outside_its_own_places(kernel):
    site = Path(pytest.__file__).parent
    for place in ("/", "/usr", "/etc", "/course", "/course/anatomy", "/run/kernel", "/proc", "/dev", "/copies",
                  "/sockets", "/home", str(site), str(Path(sys.executable).parent), "/sys", "/run"):  # fmt: skip
        fails(kernel, f"open('{place}/written', 'w')", "OSError", "PermissionError", "FileNotFoundError")
    for place in ("/tmp", "/dev/shm", paths.HOME, f"{paths.HOME}/work"):
        assert kernel.run(f"open('{place}/written', 'w').write('x')").error is None, place
    assert not Path("/tmp/written").exists() and not Path("/dev/shm/written").exists()


@starts_kernels
def test_environment_is_what_is_allowed(kernel):
    names = set(kernel.value("sorted(os.environ)"))
    allowed = {*sandbox.ALLOWED, *KERNELS.variables, *sandbox.FIXED, *dict(KERNELS.defaults),
               *dict(KERNELS.home_variables)}  # fmt: skip
    own = {"TMPDIR", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR", "MPLBACKEND", "PWD", "PAGER",
           "GIT_PAGER", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "PYDEVD_USE_FRAME_EVAL"}  # fmt: skip
    allowed |= own
    assert names <= allowed, names - allowed
    assert "of the instructor" not in kernel.value("open('/proc/self/environ').read()")


@starts_kernels
def test_open_files_are_its_own(kernel):
    links = kernel.value("[os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd') "
                         "if os.path.islink(f'/proc/self/fd/{n}')]")  # fmt: skip
    kinds = {link.split(":")[0] for link in links}
    assert kinds <= {"/dev/null", "anon_inode", "pipe", "socket", "/proc/2/fd", f"{paths.HOME}/.ipython"} or all(
        link.startswith(("/proc", paths.HOME)) for link in kinds - {"/dev/null", "anon_inode", "pipe", "socket"}
    ), kinds
    reachable = kernel.value("[open('/proc/net/unix').read() if os.path.exists('/proc/net/unix') else '']")
    assert "door" not in reachable[0]


@starts_kernels
def test_has_no_privileges(kernel):
    status = dict(line.split(":\t", 1) for line in kernel.value("open('/proc/self/status').read()").splitlines())
    for name in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
        assert int(status[name], 16) == 0, name
    assert status["NoNewPrivs"].strip() == "1" and status["Seccomp"].strip() == "2"
    threads = kernel.value("[open(f'/proc/self/task/{t}/status').read() for t in os.listdir('/proc/self/task')]")
    assert len(threads) > 3 and all("CapEff:\t0000000000000000" in text for text in threads)
    assert kernel.value("os.getuid()") == paths.UID
    code = "import ctypes; libc = ctypes.CDLL(None, use_errno=True); assert libc.{} < 0; print(ctypes.get_errno())"
    for call in ("unshare(0x10000000)", "mount(b'none', b'/tmp', b'tmpfs', 0, None)", "umount2(b'/proc', 2)",
                 "ptrace(0, 0, 0, 0)", "syscall(321, 0, 0, 0)", "memfd_create(b'x', 0)"):  # fmt: skip
        assert kernel.run(code.format(call)).text.strip() == "1", call
    fails(kernel, "os.setuid(0)", "OSError", "PermissionError")


MEETING = {
    "parts of files in memory": (
        "libc.posix_fadvise(fd, c_long(0), c_long(0), 4)", "libc.syscall({readahead}, fd, c_long(0), c_long(4096))",
        "libc.mincore(page, c_long(4096), create_string_buffer(9))", "libc.madvise(page, c_long(4096), 21)",
        "libc.syscall({cachestat}, fd, 0, 0, 0)", "os.preadv(fd, [bytearray(9)], 0, 8)"),
    "locks": ("fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)", "fcntl.fcntl(fd, 5, bytes(32))",
              "fcntl.fcntl(fd, 36, bytes(32))", "fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)"),
    "watches": ("libc.inotify_init()", "libc.inotify_init1(0)", "fcntl.fcntl(folder, fcntl.F_NOTIFY, 1)"),
    "hints": ("fcntl.fcntl(fd, 1035, bytes(8))",),
    "sockets of the machine": ("socket.socket(40, socket.SOCK_STREAM)",),
    "times of devices": ("os.utime('/dev/null')",),
}  # fmt: skip
"""What two kernels have in common although neither sees the other, and calls by which one could tell the other."""
REFUSALS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EAFNOSUPPORT, errno.EROFS)
TRY = """
import ctypes, fcntl, mmap, os, socket
from ctypes import c_long, create_string_buffer
libc = ctypes.CDLL(None, use_errno=True)
fd, folder = os.open(os.__file__, os.O_RDONLY), os.open("/usr", os.O_RDONLY)
view = mmap.mmap(fd, 4096, mmap.MAP_PRIVATE)
page = ctypes.addressof(ctypes.c_char.from_buffer(view))
page = ctypes.c_void_p(page)
def refusal(call):
    ctypes.set_errno(0)
    try:
        result = eval(call)
    except OSError as error:
        return error.errno
    return result if "posix_" in call else ctypes.get_errno()
"""


@starts_kernels
@pytest.mark.parametrize("what", MEETING)
def test_kernels_can_not_meet_at_what_they_have_in_common(kernel, what):
    numbers = {name: linux._number(name) for name in ("readahead", "cachestat")}
    assert kernel.run(TRY).error is None
    for call in MEETING[what]:
        assert kernel.value(f"refusal({call.format(**numbers)!r})") in REFUSALS, call


@starts_kernels
def test_ordinary_use_of_files_and_sockets_goes_on(kernel, tmp_path):
    for code in ("import fcntl, mmap, os, socket, sqlite3, multiprocessing",
                 "fd = os.open('/tmp/own', os.O_CREAT | os.O_RDWR)",
                 "fcntl.lockf(fd, fcntl.LOCK_EX)", "fcntl.fcntl(fd, fcntl.F_GETFL)", "socket.socketpair()",
                 "socket.socket(socket.AF_INET)", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
                 "mmap.mmap(-1, 4096).madvise(mmap.MADV_DONTNEED)",
                 "base = sqlite3.connect('/tmp/base'); base.execute('create table t (x)'); base.commit()",
                 "lock = multiprocessing.Lock(); lock.acquire(); lock.release()",
                 "assert get_ipython().getoutput('echo out; echo err >&2') == ['out', 'err']",
                 "os.preadv(fd, [bytearray(9)], 0)"):  # fmt: skip
        assert kernel.run(code).error is None, code


@starts_kernels
def test_terminals_are_its_own_and_few(kernel):
    with session() as other:
        assert kernel.run("pairs = [os.openpty()]").error is None
        assert kernel.value("sorted(os.listdir('/dev/pts'))") == ["0", "ptmx"]
        assert other.value("__import__('os').listdir('/dev/pts')") == ["ptmx"]
        fails(kernel, "for _ in range(100): pairs.append(os.openpty())", "OSError")
        assert kernel.run("for pair in pairs:\n    for end in pair: os.close(end)").error is None


@starts_kernels
def test_siblings_are_invisible():
    with session() as first, session() as second:
        first.run("import socket, os, pathlib\n"
                  "for place in ('/tmp', '/dev/shm', os.path.expanduser('~')):\n"
                  "    pathlib.Path(place, 'left-by-a-sibling').write_text('answer')\n"
                  "abstract = socket.socket(socket.AF_UNIX); abstract.bind(b'\\0mine'); abstract.listen()\n"
                  "import subprocess; subprocess.Popen(['sleep', '1000'])")  # fmt: skip
        second.run("import socket, os, glob, signal")
        second.run(FIND)
        assert second.value("find('left-by-a-sibling')") == []
        fails(second, "socket.socket(socket.AF_UNIX).connect(b'\\0mine')", "ConnectionRefusedError")
        assert second.value("sorted(name for name in os.listdir('/proc') if name.isdigit())") == ["2"]
        assert second.value("len(os.listdir('/run/kernel'))") == 5
        second.run(
            "def exists(pid):\n    try: os.kill(pid, 0)\n    except ProcessLookupError: return False\n    return True"
        )
        reached = second.value("(sum(exists(pid) for pid in range(2, 5000)), len(os.listdir('/proc/self/task')))")
        assert reached[0] == reached[1], "its own threads, nobody else"
        assert second.run("print('here')").text == first.run("print('here')").text == "here\n"
        second.run("os.kill(1, 9)")  # its supervisor, whom it can't harm
        assert second.run("print('and here')").text == "and here\n"
        second.run("os.kill(-1, 9)")  # everyone it can see, except itself
        assert first.run("print('still here')").text == "still here\n"
        assert get_fork_server(KERNELS).is_alive


# ---- what can't be used up ------------------------------------------------------------------------------------------


@pytest.fixture
def sibling():
    """A kernel that must not notice."""
    with session() as one:
        one.run("x = 1")
        yield one
        assert one.run("print(x)").text == "1\n"


@starts_kernels
@pytest.mark.parametrize(
    "bomb",
    [
        "hoard = []\nwhile True: hoard.append(bytearray(1 << 24))",
        "import torch\nhoard = []\nwhile True: hoard.append(torch.ones(1 << 22))",
        "import torch; x = torch.ones(1 << 36)",
        "import mmap\nhoard = []\nwhile True: hoard.append(mmap.mmap(-1, 1 << 24)); hoard[-1].write(bytes(1 << 24))",
        "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        x = bytearray(1 << 27)\n"
        "        time.sleep(1000)\n"
        "time.sleep(20)",
    ],
    ids=["bytes", "tensors", "one tensor", "shared", "many processes"],
)
def test_a_memory_bomb_costs_its_kernel_only(bomb, sibling):
    with session(memory=300) as one:
        one.send(bomb)
        ended = soon(lambda: not one.is_alive, 6)
        if ended:
            assert one.manager.provisioner.why == "memory"
        else:  # the allocation failed, the kernel lives
            assert one.run("print('survived')").text == "survived\n"


@starts_kernels
def test_a_fork_bomb_costs_its_kernel_only(sibling):
    with session(processes=40) as one:
        fails(one, "import os, time\nwhile True:\n    if os.fork() == 0:\n        time.sleep(1000)", "BlockingIOError")
        do(one.manager.shutdown_kernel(now=True), 20)
    with session(processes=40) as one:
        one.send("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass")
        assert sibling.run("print(1)").text == "1\n"
        do(one.manager.shutdown_kernel(now=True), 20)


@starts_kernels
def test_a_disk_bomb_costs_its_kernel_only(sibling):
    with session(disk=20, file=8) as one:
        fails(one, "open('/tmp/large', 'wb').write(bytes(9 << 20))", "OSError")
        fails(one, "for n in range(100): open(f'/tmp/{n}', 'wb').write(bytes(1 << 20))", "OSError")
        fails(one, "for n in range(100000): open(f'/dev/shm/{n}', 'w').close()", "OSError")
        assert one.run("print('alive')").text == "alive\n"


@starts_kernels
@pytest.mark.parametrize("bomb", ["print('x' * (10 << 20))", "for _ in range(300): print('x' * 20_000, flush=True)",
                                  "for _ in range(3): display({'text/html': 'x' * (2 << 20)}, raw=True)"])  # fmt: skip
def test_an_output_bomb_costs_its_cell_only(bomb):
    with session(output=1) as one:
        seen = one.run(f"from IPython.display import display\n{bomb}")
        assert "More than 1,048,576 bytes" in seen.text and seen.text.count("left out") == 1
        assert len(seen.text) + sum(len(data["text/html"]) for data in seen.data) < 1.1 * (1 << 20)
        assert one.run("print('next')").text == "next\n"


@starts_kernels
def test_open_files_and_computing_time_are_limited(sibling):
    with session(open_files=200) as one:
        fails(one, "hoard = [open('/dev/null') for _ in range(300)]", "OSError")
    with session(cpu_seconds=2) as one:
        one.send("while True: pass")
        one.until_dead(30)


# ---- who grades -----------------------------------------------------------------------------------------------------

WHO = "import os; print(os.getuid(), sorted(n for n in os.listdir('/proc') if n.isdigit()), os.listdir('/tmp'))"
ALONE = f"""
from tests.forked_kernels.kernel_session import session
with session() as kernel:
    print(kernel.run({WHO!r}).text)
"""


def outcome(code, *before):
    run = subprocess.run([*before, sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True,
                         timeout=400, cwd="/", env={**ordinary_user.ENVIRONMENT, "PYTHONPATH": str(ROOT)})  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout.strip()


@starts_kernels
@pytest.mark.skipif(os.geteuid() != 0, reason="every other test here runs as an ordinary user then")
def test_an_ordinary_user_can_grade(tmp_path):
    packages = sorted({path.parts[2] for path in sandbox.shown_folders() if path.is_relative_to("/tmp")})
    assert outcome(ALONE, *ordinary_user.room(tmp_path)) == f"1000 ['2'] {packages}"


@starts_kernels
@pytest.mark.parametrize("who", ordinary_user.EITHER)
def test_what_a_kernel_can_write_is_seen_by_no_other(who, tmp_path):
    """One kernel writes wherever it can in the whole file system; another looks for it."""
    code = "from tests.forked_kernels import leave_things; leave_things.main()"
    found = json.loads(outcome(code, *ordinary_user.before(who, tmp_path)))
    for place in (paths.HOME, "/tmp", "/dev/shm"):
        assert place in found["written"], "it did try"
    assert found["done to /dev"] == found["seen by another"] == found["shared memory"] == [], found
