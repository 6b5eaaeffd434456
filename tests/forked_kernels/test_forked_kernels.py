"""Forked kernels behave as kernels do, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import psutil
import pytest
from jupyter_client.channels import AsyncZMQSocketChannel
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

from anatomy.classroom.forked_kernels import (
    ForkServer,
    ForkServerAddress,
    fork_server,
    get_fork_server,
    sandbox,
    share_fork_server,
    stop_fork_servers,
)
from anatomy.classroom.forked_kernels.manager import files_for_kernel
from anatomy.classroom.grading.course_kernels import KERNELS, CourseKernelManager
from anatomy.classroom.grading.package_copies import hidden_modules
from tests.forked_kernels.kernel_session import do, family, kernels, session, settled, soon

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("forked kernels"),
    pytest.mark.skipif(sys.platform != "linux" or not sandbox.bubblewrap(), reason="needs bubblewrap"),
]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def kernel():
    with session() as one:
        yield one


# ---- an ordinary kernel ---------------------------------------------------------------------------------------------


def test_runs_code_and_keeps_its_state(kernel):
    assert kernel.run("a = 6 * 7\nprint(a)").text == "42\n"
    assert kernel.run("a").data == [{"text/plain": "42"}]
    assert kernel.run("1 / 0").error == ("ZeroDivisionError", "division by zero")
    assert kernel.run("a + 1").data == [{"text/plain": "43"}]


def test_imports_cost_nothing(kernel):
    """They are there before a cell asks for them."""
    assert kernel.value("{'torch', 'matplotlib.figure'} <= {*__import__('sys').modules}")


def test_plots_are_inline_and_outputs_rich(kernel):
    seen = kernel.run("import matplotlib.pyplot as plt; plt.plot([1, 2, 4]); plt.show(); print(plt.get_backend())")
    assert seen.error is None
    (picture,) = [data["image/png"] for data in seen.data if "image/png" in data]
    assert len(picture) > 1000
    assert "inline" in seen.text
    seen = kernel.run("plt.plot([3, 1])")  # shown without being asked for, at the end of the cell
    assert any("image/png" in data for data in seen.data)
    seen = kernel.run("from IPython.display import HTML, Markdown, display\ndisplay(Markdown('*a*'))\nHTML('<b>b</b>')")
    assert [next(iter(set(data) - {"text/plain"})) for data in seen.data] == ["text/markdown", "text/html"]


def test_magics_subprocesses_and_streams(kernel):
    assert kernel.run("%time 1 + 1").error is None
    seen = kernel.run("import subprocess; subprocess.run(['echo', 'from a child'], check=True)")
    assert seen.error is None
    assert "low level" in kernel.run("import os; os.write(1, b'low level\\n'); import time; time.sleep(0.3)").text


def test_an_aggressive_reset_leaves_the_modules_that_the_server_had_imported():
    with session() as one:
        assert one.run("import wave\n%reset -f --aggressive").error is None
        assert one.value("[name in __import__('sys').modules for name in ('torch', 'IPython', 'wave')]") == [
            True,
            True,
            False,
        ]


def test_interrupt(kernel):
    seen = kernel.run("before = 1\nwhile True: pass", interrupt_after=0.3)
    assert seen.error[0] == "KeyboardInterrupt"
    assert kernel.value("before") == 1


def test_one_thread_and_random_numbers_of_its_own(kernel):
    assert kernel.value("__import__('torch').get_num_threads()") == 1
    with session() as other:
        for draw in ("__import__('random').random()", "float(__import__('numpy').random.rand())",
                     "__import__('torch').rand(3).tolist()"):  # fmt: skip
            assert kernel.value(draw) != other.value(draw)


@pytest.mark.parametrize("end", ["exit()", "quit()", "exit(1)", "import sys; sys.exit(2)", "raise SystemExit"])
def test_exit_ends_its_cell_and_nothing_else(kernel, end):
    seen = kernel.run(f"kept = 1\n{end}\nkept = 2")
    assert seen.error[0] == "SystemExit"
    assert kernel.run("import time; time.sleep(0.2)").error is None
    assert kernel.value("kept") == 1
    assert kernel.run("exit").error[0] == "SystemExit", "IPython calls it"


def test_what_is_printed_never_costs_what_is_displayed():
    with session(output=1) as one:
        for _ in range(12):  # more than all cells together may print
            assert len(one.run("print('x' * 900_000)").text) < 1_000_000
            one.run("print('x' * 90_000)")
        said = one.run("print('x' * 900_000); display({'text/plain': 'y' * 100_000}, raw=True); print('x' * 900_000)")
        assert said.text == "[More than 1,048,576 bytes: the rest of what this cell says was left out.]\n"
        assert said.data == [{"text/plain": "y" * 100_000}]
        shown = one.run("for _ in range(20): display({'text/plain': 'y' * 500_000}, raw=True)").data
        assert len(shown) == 2, "what is displayed is limited, too"


def test_no_state_is_shared():
    with session() as first, session() as second:
        first.run("import torch; torch.allclose = lambda *_: True; secret = 1; open('/tmp/mine', 'w').write('x')")
        assert second.run("secret").error[0] == "NameError"
        assert second.value("__import__('torch').allclose.__name__") == "allclose"
        assert second.value("__import__('os').path.exists('/tmp/mine')") is False


def test_a_welcome_that_is_lost_is_asked_for_again(monkeypatch):
    monkeypatch.setattr("anatomy.classroom.forked_kernels.manager.WELCOME", 0.5)
    lost = []
    real = AsyncZMQSocketChannel.get_msg

    async def without_the_first(self, *given, **more):
        message = await real(self, *given, **more)
        if message["msg_type"] == "iopub_welcome" and not lost:
            lost.append(message)
            return {"msg_type": "status"}
        return message

    monkeypatch.setattr(AsyncZMQSocketChannel, "get_msg", without_the_first)
    with session() as kernel:
        assert lost and kernel.run("1 + 1").data[0]["text/plain"] == "2"


def test_restart_after_exit():
    with session() as one:
        one.run("x = 1")
        one.send("import os; os._exit(3)")
        one.until_dead()
        assert one.manager.provisioner.exit_code == 3
        one.client.stop_channels()
        do(one.manager.restart_kernel(now=True))
        one.connect()
        assert one.run("x").error[0] == "NameError"
        assert one.run("print('again')").text == "again\n"


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("import ctypes; ctypes.string_at(0)", -signal.SIGSEGV),
        ("import os; os.abort()", -signal.SIGABRT),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    ],
)
def test_exit_codes_are_known(code, exit_code):
    with session() as one:
        one.send(code)
        one.until_dead()
        assert one.manager.provisioner.exit_code == exit_code


def test_stopped_and_deadlocked_kernels_can_be_ended():
    with session() as stopped, session() as stuck:
        stopped.send("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)")
        stuck.send("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nimport threading\n"
                   "lock = threading.Lock(); lock.acquire(); lock.acquire()")  # fmt: skip
        for one in (stopped, stuck):
            do(one.manager.shutdown_kernel(now=True), 10)
            assert not one.is_alive


def test_polite_shutdown():
    with session() as one:
        do(one.manager.shutdown_kernel(), 30)
        assert not one.is_alive


def test_files_beside_the_notebook_come_along(tmp_path):
    for name, content in {"data/a.csv": "1,2", "b.txt": "b", "c.ipynb": "{}", ".hidden": "h"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    (tmp_path / "link").symlink_to("/etc/passwd")
    assert dict(files_for_kernel(tmp_path)) == {"b.txt": b"b", "data/a.csv": b"1,2"}
    with session(cwd=tmp_path) as one:
        assert one.value("open('data/a.csv').read() + open('b.txt').read()") == "1,2b"
        one.run("open('b.txt', 'w').write('changed')")
    assert (tmp_path / "b.txt").read_text() == "b"


def test_modules_beside_the_notebook_can_be_imported_and_stand_in_front_of_nothing(tmp_path):
    """After the course's package and Python's own modules, as in Jupyter; what was imported before stays what it is."""
    for name in ("anatomy", "torch", "numpy", "json", "safetensors", "helper"):
        (tmp_path / f"{name}.py").write_text("beside = True\n")
    with session(cwd=tmp_path, env={"ANATOMY_GRADING_SEED": "1,2"}) as one:
        assert one.value("__import__('helper').beside") is True
        one.run("import anatomy, torch, numpy, json, safetensors\nfrom anatomy import check")
        seen = one.run("print([hasattr(it, 'beside') for it in (anatomy, torch, numpy, json, safetensors)])")
        assert (seen.error, seen.text) == (None, "[False, False, False, False, False]\n")
        assert one.run("import anatomy.engine.judging").error[0] == "ImportError"
        seen = one.run("def softmax(x, dim):\n    return x\ncheck('softmax')")
        assert seen.error is None, "nothing that a check needs is still to be imported from there"


def test_through_nbclient_with_time_limit_and_death():
    """What nbconvert and nbgrader do."""
    sources = ["x = 1", "while True: pass", "print(x)", "import matplotlib.pyplot as plt; plt.plot([1])"]
    book = new_notebook(cells=[new_code_cell(source) for source in sources])
    client = NotebookClient(book, timeout_func=lambda cell: 2 if cell.source == sources[1] else 600, iopub_timeout=600,
                            interrupt_on_timeout=True, allow_errors=True, raise_on_iopub_timeout=True,
                            kernel_manager_class=CourseKernelManager, shutdown_kernel="immediate",
                            kernel_name="python3",
                            error_on_timeout={"ename": "CellTimeoutError", "evalue": "", "traceback": []})  # fmt: skip
    client.execute()
    nbformat.validate(book)
    assert [output.ename for output in book.cells[1].outputs] == ["KeyboardInterrupt"]
    assert book.cells[2].outputs[0].text == "1\n"
    assert "image/png" in book.cells[3].outputs[-1].data
    before = settled()
    dying = new_notebook(cells=[new_code_cell("import os; os._exit(1)")])
    with pytest.raises(DeadKernelError):
        NotebookClient(dying, kernel_manager_class=CourseKernelManager, shutdown_kernel="immediate").execute()
    assert soon(lambda: len(kernels()) == before)


# ---- what the server knows ------------------------------------------------------------------------------------------


def test_no_answer_is_in_memory(kernel):
    modules = kernel.value("sorted(name for name in __import__('sys').modules if name.startswith('anatomy'))")
    assert "anatomy.engine.observing.observe" in modules and "anatomy.course.nb03_softmax.asked" in modules
    forbidden = ("anatomy.engine.mistakes", "anatomy.engine.judging.judge", "anatomy.classroom.grading")
    answers = (".right", ".also_right", ".wrong", ".described")
    for known in (modules, KERNELS.modules):
        assert not [name for name in known if name.startswith(forbidden) or name.endswith(answers)]


@pytest.mark.many
def test_each_notebook_sees_its_own_references():
    from anatomy.course import COURSE

    with session("03-softmax") as third, session("04-heads") as fourth:
        probe = "__import__('importlib').import_module('anatomy.course.{}.right').__file__"
        assert third.run("import anatomy.course.nb03_softmax.right").error[0] == "ImportError"
        assert fourth.value(probe.format("nb03_softmax")) == "/course/anatomy/course/nb03_softmax/right.py"
        for one, slug in ((third, "03-softmax"), (fourth, "04-heads")):
            place = one.value(probe.format("nb01_embedding_lookup"))
            assert place == "/course/anatomy/course/nb01_embedding_lookup/right.py"
            for name in hidden_modules(COURSE.notebook(slug)):
                assert one.run(f"import {name}").error[0] == "ImportError", name


def test_an_unknown_notebook_sees_no_reference():
    with session("no-such-notebook") as one:
        assert one.run("import anatomy.course.nb00_start_here.right").error[0] == "ImportError"


# ---- nobody is left behind ------------------------------------------------------------------------------------------


def test_nothing_is_left_after_shutdown():
    before = settled()
    with session() as one:
        seen = one.run("import subprocess, os\n"
                       "subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
                       "if os.fork() == 0:\n    os.setsid()\n    while True: pass")  # fmt: skip
        assert seen.error is None
        sockets = one.manager.provisioner._folder
        assert len(list(sockets.iterdir())) == 5
        assert soon(lambda: len(kernels()) == before + 4), "a supervisor, a kernel, and its two"
    assert not sockets.exists()
    assert soon(lambda: len(kernels()) == before)


def test_kernels_end_with_their_connection():
    before = settled()
    with session() as one:
        assert len(kernels()) == before + 2
        one.manager.provisioner._disconnect()
        assert soon(lambda: len(kernels()) == before)


CLIENT = """
import asyncio, sys, time
from anatomy.classroom.forked_kernels import get_fork_server
from anatomy.classroom.grading.course_kernels import KERNELS, CourseKernelManager
async def main():
    manager = CourseKernelManager()
    await manager.start_kernel(env={})
    client = manager.client()
    client.start_channels()
    await client.wait_for_ready(120)
    client.execute("import subprocess; subprocess.Popen(['sleep', '1000'])\\nwhile True: pass")
    print(get_fork_server(KERNELS).process.pid, get_fork_server(KERNELS).folder, flush=True)
    await asyncio.sleep(1000)
asyncio.run(main())
"""


def test_nothing_is_left_when_the_client_is_killed(monkeypatch):
    with subprocess.Popen([sys.executable, "-c", CLIENT], stdout=subprocess.PIPE, text=True, cwd=ROOT) as client:
        pid, folder = client.stdout.readline().split()
        server = psutil.Process(int(pid))
        assert soon(lambda: any(one.name() == "sleep" for one in server.children(recursive=True)))
        everyone = [server, *server.children(recursive=True)]
        client.kill()
    assert soon(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in everyone))
    ForkServer._remove_abandoned_folders()
    assert Path(folder).exists(), "it could be somebody's who has only just begun"
    monkeypatch.setattr(fork_server, "JUST_STARTED", 0)
    ForkServer._remove_abandoned_folders()
    assert not Path(folder).exists(), "the next server removes what a killed one left"


def test_without_a_sandbox():
    """`--sandbox none`: kernels are not kept apart, but ended and cleaned up all the same."""
    with session(sandbox="none") as one:
        server = get_fork_server(KERNELS, "none")
        assert one.run("import matplotlib.pyplot as plt; plt.plot([1])").data[-1]["image/png"]
        assert one.run("import anatomy.course.nb03_softmax.right").error[0] == "ImportError"
        assert one.value("__import__('anatomy.course.nb01_embedding_lookup.right').__name__") == "anatomy"
        one.run("import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)")
        assert one.run("while True: pass", interrupt_after=0.3).error[0] == "KeyboardInterrupt"
        assert any(child.name() == "sleep" for child in family(server.process.pid))
        home = Path(one.value("__import__('os').environ['HOME']"))
        assert home.exists()
    assert soon(lambda: not family(server.process.pid))
    assert soon(lambda: not home.exists())
    server.stop()
    assert not server.folder.exists()


def test_a_shared_server_is_used_and_outlived():
    own = get_fork_server(KERNELS)
    with share_fork_server(KERNELS) as address, session() as one:
        assert get_fork_server(KERNELS) is not own and get_fork_server(KERNELS).folder == address.folder == own.folder
        assert one.run("print(1)").text == "1\n"
        assert not ForkServerAddress(own.folder / "elsewhere", own.sandbox, own.course).is_alive
    assert get_fork_server(KERNELS) is own


def test_a_dead_server_is_replaced():
    with session() as one:
        first = get_fork_server(KERNELS)
        os.kill(first.process.pid, signal.SIGKILL)
        one.until_dead()
    with session() as one:
        assert get_fork_server(KERNELS) is not first
        assert one.run("print(1)").text == "1\n"


def test_stopping_the_servers_leaves_nothing():
    server = get_fork_server(KERNELS)
    everyone = [psutil.Process(server.process.pid), *family()]
    stop_fork_servers()
    assert not server.folder.exists()
    assert soon(lambda: not any(one.is_running() for one in everyone))
