"""Workers: those of a cluster that is there already, and what becomes of a parcel whose worker is killed."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import dask
import psutil
import pytest
from distributed import Client
from distributed.security import Security
from rich.console import Console

from anatomy import PACKAGE
from anatomy.classroom.forked_kernels import get_fork_server, sandbox
from anatomy.classroom.grading import run
from anatomy.classroom.grading.course_kernels import KERNELS
from anatomy.classroom.grading.known_marks import KNOWN_MARKS
from anatomy.classroom.grading.preprocessors import RunAndObserve
from anatomy.classroom.grading.report import UNGRADED
from anatomy.classroom.grading.workers import dispatch, external, local
from anatomy.classroom.grading.workers.parcels import ToGrade
from anatomy.classroom.grading.workers.worker import grade_parcel
from anatomy.classroom.sample_class import write_sample_class
from anatomy.course import COURSE
from anatomy.engine.errors import UserError
from tests.forked_kernels.kernel_session import kernels, settled, soon

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("forked kernels"),
    pytest.mark.skipif(sys.platform != "linux" or not sandbox.bubblewrap(), reason="needs bubblewrap"),
]
BOOK = COURSE.notebook("03-softmax")
ROOT = PACKAGE.parent


def grade(root, **options):
    return run.grade(root, console=Console(file=io.StringIO()), **options)


WITHOUT = "import sys; sys.modules['anatomy'] = None"
"""Workers need this package, a scheduler doesn't."""


# ---- a cluster of somebody else's -----------------------------------------------------------------------------------


class Cluster:
    """A scheduler and workers, started by themselves as an instructor would: `dask scheduler`, `dask worker`."""

    def __init__(self, folder, scheme="tcp", **environment):
        self.folder, self.environment, self.processes = folder, environment, []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"{scheme}://127.0.0.1:{self.port}"
        self.begin("dask_scheduler", "--host", f"{scheme}://127.0.0.1", "--port", str(self.port), "--no-dashboard",
                   first=WITHOUT)  # fmt: skip

    def begin(self, what, *arguments, first="", path=""):
        """Start a process of the cluster; `first` is Python that runs in it before."""
        # A worker that starts processes is imported by them, too; but not its `main`.
        code = f"{first}\nfrom distributed.cli.{what} import main\nif __name__ == '__main__': main()"
        script = self.folder / f"{what}-{len(self.processes)}.py"
        script.write_text(code)
        env = {**os.environ, **self.environment, "PYTHONPATH": f"{path or ROOT}:{Path(__file__).parent}"}
        env.pop("OMP_NUM_THREADS")
        with script.with_suffix(".log").open("wb") as log:
            self.processes.append(subprocess.Popen([sys.executable, script, *arguments], stdout=log, stderr=log,
                                                   cwd=self.folder, env=env))  # fmt: skip
        return self.processes[-1]

    def worker(self, *arguments, **options):
        place = ("--host", self.address.rpartition(":")[0], "--no-dashboard", "--local-directory", str(self.folder))
        return self.begin("dask_worker", self.address, *place, *arguments, **options)

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()


@contextlib.contextmanager
def cluster(folder, scheme="tcp", **environment):
    one = Cluster(folder, scheme, **environment)
    try:
        yield one
    finally:
        one.end()


@pytest.fixture
def sample(tmp_path, new_course):
    """A course with a made-up class, whose marks are known."""
    root = new_course(tmp_path / "course", BOOK.slug)
    write_sample_class(5, 5, root)
    return root


def left_by_us(worker):
    """What grading has left in a worker: names of variables, and processes."""
    with Client(worker, set_as_default=False, timeout=20) as client:
        names = client.run(lambda: [name for name in os.environ if name.startswith("ANATOMY")])
        tasks = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        return [name for found in names.values() for name in found], tasks


def test_it_gives_the_same_marks_and_is_left_as_it_was(tmp_path, sample, everything):
    with cluster(tmp_path) as one:
        workers = [one.worker("--nthreads", threads, "--no-nanny") for threads in ("3", "1")[: 1 + everything]]
        with Client(one.address, set_as_default=False, timeout=60) as somebody:
            somebody.wait_for_workers(len(workers), timeout=120)
            before = set(somebody.scheduler_info(n_workers=-1)["workers"])
            theirs = somebody.submit(sum, [1, 2])
            report = grade(sample, scheduler=one.address)
            assert report.graded and report.known.compared == len(report.results) and report.known.differing == ()
            assert theirs.result(timeout=60) == 3 and somebody.submit(sum, [3, 4]).result(timeout=60) == 7
            assert set(somebody.scheduler_info(n_workers=-1)["workers"]) == before
        assert soon(lambda: left_by_us(one.address) == ([], 0), 30)
        assert soon(lambda: not any(psutil.Process(one.pid).children(recursive=True) for one in workers), 30)
        assert grade(sample, scheduler=one.address).graded == 0
        assert all(process.poll() is None for process in one.processes)


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:9", "tcp://127.0.0.1", "http://127.0.0.1:9", "nonsense", "tls://127.0.0.1:9"]
)
def test_a_wrong_address_is_said(sample, address, monkeypatch):
    monkeypatch.setattr(external, "CONNECT_LIMIT", 2.0)
    with pytest.raises(UserError, match=rf"{address} .*dask scheduler"):
        grade(sample, scheduler=address)
    assert not (sample / "autograded").exists() and not list((sample / ".anatomy").glob("release-*"))


@pytest.mark.parametrize("scheme", ["tcp", "ws"])
def test_something_else_at_the_address_is_said(sample, scheme, monkeypatch):
    monkeypatch.setattr(external, "CONNECT_LIMIT", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(UserError, match="No Dask scheduler"):
        grade(sample, scheduler=f"{scheme}://127.0.0.1:{silent.getsockname()[1]}")


@pytest.mark.many
def test_a_cluster_with_certificates_goes_by_dasks_own_configuration(tmp_path, sample):
    made, settings = Security.temporary(), {"ca-file": "tls_ca_file"}
    for who in ("scheduler", "worker", "client"):
        settings |= {f"{who}.cert": f"tls_{who}_cert", f"{who}.key": f"tls_{who}_key"}
    for name, field in settings.items():
        (tmp_path / name).write_text(getattr(made, field))
    paths = {f"distributed.comm.tls.{name}": str(tmp_path / name) for name in settings}
    environment = {"DASK_" + name.upper().replace(".", "__").replace("-", "_"): path for name, path in paths.items()}
    with cluster(tmp_path, "tls", **environment) as one:
        one.worker("--nthreads", "1", "--no-nanny")
        assert soon(partial(listens, one.port), 60)
        with pytest.raises(UserError, match="No Dask scheduler"):
            grade(sample, scheduler=one.address)
        with dask.config.set(paths):
            report = grade(sample, scheduler=one.address)
        assert report.graded and report.known.differing == ()


def test_a_cluster_without_workers_is_said(tmp_path, sample, monkeypatch):
    monkeypatch.setattr(external, "FIRST_WORKER_LIMIT", 2.0)
    with cluster(tmp_path) as one:
        assert soon(partial(listens, one.port), 60)
        with pytest.raises(UserError, match=rf"no workers.*dask worker {one.address}"):
            grade(sample, scheduler=one.address)


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_workers_without_this_package_are_said_and_live_on(tmp_path, sample):
    with cluster(tmp_path) as one:
        worker = one.worker("--no-nanny", first=WITHOUT)
        assert soon(partial(listens, one.port), 60)
        with pytest.raises(UserError, match=r"(?s)worker tcp://\S+ can't grade.*need this package"):
            grade(sample, scheduler=one.address)
        with Client(one.address, set_as_default=False, timeout=60) as somebody:
            assert somebody.submit(sum, [3, 4]).result(timeout=60) == 7
        assert worker.poll() is None


@pytest.mark.many
def test_a_cluster_with_another_version_is_said(tmp_path, sample):
    shutil.copytree(PACKAGE, tmp_path / "other" / "anatomy")
    with (tmp_path / "other" / "anatomy" / "errors.py").open("a") as file:
        file.write("# another version\n")
    with cluster(tmp_path) as one:
        one.worker("--no-nanny", path=str(tmp_path / "other"))
        assert soon(partial(listens, one.port), 60)
        with pytest.raises(UserError, match="another version of this package"):
            grade(sample, scheduler=one.address)


# ---- workers of our own ---------------------------------------------------------------------------------------------


def open_ports():
    """Where this process and those that it started can be reached."""
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    found = [one.laddr.port for process in family for one in process.net_connections("inet") if one.status == "LISTEN"]
    return set(found)


def test_other_users_of_this_machine_can_reach_no_worker():
    """Who can talk with a worker can have it run anything."""
    before, pool = open_ports(), local.LocalPool(2)
    try:
        assert pool.result(pool.submit(bytes.upper, b"up")) == b"UP"
        assert open_ports() <= before
    finally:
        pool.end()


def test_without_dask_a_cluster_is_refused_in_a_sentence(sample, monkeypatch):
    monkeypatch.setattr(external, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install .*'\.\[cluster\]'"):
        grade(sample, scheduler="tcp://127.0.0.1:1")


# ---- lost workers ---------------------------------------------------------------------------------------------------


def named(parcel):
    """Who handed this in."""
    return ToGrade.unpacked(parcel).student


def killed_always(deadly, parcel):
    """In a worker: be killed with one student's submission."""
    if named(parcel) == deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    return grade_parcel(parcel)


def killed_once(deadly, mark, parcel):
    """In a worker: be killed while one student's cells are running, the first time."""
    if named(parcel) == deadly and not mark.exists():
        mark.touch()
        RunAndObserve.preprocess_cell = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
    return grade_parcel(parcel)


@pytest.fixture
def students(sample):
    """The students of the made-up class whose submissions can be graded."""
    with (sample / "submitted" / KNOWN_MARKS).open(encoding="utf-8", newline="") as file:
        return [line["student"] for line in csv.DictReader(file) if line["status"] != UNGRADED]


def rows(report):
    return {row.student: row for row in report.results}


def test_a_worker_killed_once_costs_nothing(tmp_path, sample, students, monkeypatch):
    get_fork_server(KERNELS)  # so that its kernels can be counted
    before = settled()
    monkeypatch.setattr(dispatch, "grade_parcel", partial(killed_once, students[0], tmp_path / "killed"))
    report = grade(sample, workers=2)
    assert (tmp_path / "killed").exists()
    assert report.known.differing == () and report.graded == len(students) > 2
    assert soon(lambda: len(kernels()) <= before), "the kernel of the lost worker has ended"


def test_a_submission_that_kills_its_worker_is_ungraded_and_no_other(sample, students, monkeypatch, capfd):
    monkeypatch.setattr(dispatch, "grade_parcel", partial(killed_always, students[0]))
    report = grade(sample, workers=2)
    row = rows(report)[students[0]]
    assert row.status == UNGRADED and row.points is None and "was lost 2 times" in row.reasons[0]
    assert [line.partition(",")[0] for line in report.known.differing] == [students[0]]
    assert capfd.readouterr() == ("", ""), "a lost worker's traceback is not for instructors"
    monkeypatch.undo()
    again = grade(sample, workers=1)
    assert again.graded == 1 and again.known.differing == (), "the next run grades it"


def there(does, *first):
    """In place of `external._in_worker`: a cluster's workers do this, given a function's name and arguments."""

    def _in_worker(name, *given):
        def look_up(*more):
            import importlib

            return getattr(importlib.import_module("test_workers"), does)(*first, name, *given, *more)

        return look_up

    return _in_worker


def killed_there(deadly, process, name, *given):
    """In a worker: kill it, or another process of the cluster, with one student's submission."""
    if name == "_grade_in_worker" and named(given[-1]) == deadly:
        os.kill(process or os.getpid(), signal.SIGKILL)
        time.sleep(5)
    return getattr(external, name)(*given)


@pytest.mark.many
def test_workers_of_a_cluster_may_be_killed_too(tmp_path, sample, students, monkeypatch):
    """Its scheduler has its own rule how often a parcel is tried."""
    monkeypatch.setattr(external, "_in_worker", there("killed_there", students[0], None))
    with cluster(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1") as one:
        one.worker("--nworkers", "2", "--nthreads", "1")
        report = grade(sample, scheduler=one.address)
        row = rows(report)[students[0]]
        assert row.status == UNGRADED and "was lost 4 times" in row.reasons[0]
        assert [line.partition(",")[0] for line in report.known.differing] == [students[0]]
    monkeypatch.undo()
    again = grade(sample, workers=1)
    assert again.graded == 1 and again.known.differing == ()


@pytest.mark.many
@pytest.mark.parametrize("who", ["scheduler", "worker"])
def test_a_cluster_that_goes_away_is_said_and_nothing_is_lost(tmp_path, sample, students, monkeypatch, who):
    monkeypatch.setattr(dispatch, "NO_WORKER_LIMIT", 2.0)
    monkeypatch.setattr(dispatch, "AHEAD", 1)
    with cluster(tmp_path) as one:
        one.worker("--no-nanny", "--nthreads", "1")
        ends = one.processes[0].pid if who == "scheduler" else None
        monkeypatch.setattr(external, "_in_worker", there("killed_there", students[-1], ends))
        with pytest.raises(UserError, match="same command goes on"):
            grade(sample, scheduler=one.address)
    monkeypatch.undo()
    report = grade(sample, workers=1)
    assert 1 <= report.graded < len(students) and report.known.differing == ()
