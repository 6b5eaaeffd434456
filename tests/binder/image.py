"""What Binder's image would hold, made from this checkout, and a container that runs it: for tests, without an engine.

The image is a home with the repository's files and an environment in which `.binder/postBuild` has been run. Packages
are not installed anew, which would take minutes and 2 GB: the environment sees those of the environment that runs the
tests, and has all that it writes itself. The container is bubblewrap's: an ordinary user, a system that can only be
read, no network, none of this machine's variables.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
USER, UID, PREFIX = "jovyan", "1000", "/srv/conda/envs/notebook"
HOME = f"/home/{USER}"
"""As repo2docker has them."""
ADDRESS = "http://127.0.0.1:8888"


def checkout(folder: Path) -> None:
    """The files that git tracks, as they are now, and nothing else: what a clone would have once they are committed."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


class Image:
    """An image in a folder: `home`, a checkout, and `prefix`, its environment."""

    def __init__(self, folder: Path) -> None:
        self.home, self.prefix = folder / "home", folder / "prefix"
        checkout(self.home)
        self._make_environment()

    def _make_environment(self) -> None:
        """A virtual environment beside the one that runs this, with its packages in sight."""
        own, packages = Path(sys.prefix), Path(sysconfig.get_path("purelib"))
        inside = self.prefix / packages.relative_to(own)
        inside.mkdir(parents=True)
        (inside / "packages.pth").write_text(f"{packages}\n")
        shutil.copy(own / "pyvenv.cfg", self.prefix)
        shutil.copytree(own / "etc", self.prefix / "etc")
        self._point_to(own / "share/jupyter", but="lab")
        self._point_to(own / "share/jupyter/lab", but="settings")
        (self.prefix / "bin").mkdir()
        start = f"#!{own}/bin/python".encode()
        for program in (own / "bin").iterdir():
            copy = self.prefix / "bin" / program.name
            if program.is_symlink():
                copy.symlink_to(os.readlink(program))
            elif program.is_file() and program.open("rb").read(len(start)) == start:
                copy.write_bytes(program.read_bytes().replace(start, f"#!{PREFIX}/bin/python".encode(), 1))
                copy.chmod(0o755)

    def _point_to(self, folder: Path, but: str) -> None:
        """Links to all that a folder of this environment holds, one entry apart, which the image has to itself."""
        own = self.prefix / folder.relative_to(sys.prefix)
        own.mkdir(parents=True)
        for entry in folder.iterdir():
            if entry.name != but:
                (own / entry.name).symlink_to(entry)

    def command(self, *command: str, pid_to: int | None = None) -> list[str]:
        """What runs a command in a container, in the image's home; its process is told to a file descriptor."""
        seen = (Path(sys.base_prefix), Path(sys.prefix))
        # fmt: off
        return [
            "bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--uid", UID, "--gid", UID,
            "--hostname", "binder", *(["--info-fd", str(pid_to)] if pid_to else []),
            "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
            *(word for place in ("/tmp", "/home", "/root", "/srv", str(ROOT)) for word in ("--tmpfs", place)),
            *(word for place in seen for word in ("--ro-bind", str(place), str(place))),
            "--bind", str(self.home), HOME, "--bind", str(self.prefix), PREFIX, "--chdir", HOME,
            "--clearenv", *(word for item in self._environment().items() for word in ("--setenv", *item)),
            "--", *command,
        ]
        # fmt: on

    @staticmethod
    def _environment() -> dict[str, str]:
        return {
            "HOME": HOME,
            "USER": USER,
            "PATH": f"{PREFIX}/bin:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",  # as in all tests
        }

    def run(self, *command: str) -> str:
        """What a command in the container says; AssertionError, with that, when it fails."""
        done = subprocess.run(self.command(*command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, f"{command}: exit code {done.returncode}\n{done.stdout}"
        return done.stdout

    @contextlib.contextmanager
    def serving(self, *command: str) -> Iterator[Container]:
        """A container in which a command serves Jupyter at `ADDRESS`, which its own processes alone can reach."""
        reading, writing = os.pipe()
        log = self.home.parent / "server.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                self.command(*command, pid_to=writing), stdout=output, stderr=output, pass_fds=[writing]
            )
        os.close(writing)
        try:
            with open(reading) as told:
                container = Container(process.pid, json.loads(told.read())["child-pid"])
            while not list(self.home.glob(".local/share/jupyter/runtime/jpserver-*.json")):
                assert process.poll() is None, log.read_text()
                time.sleep(0.1)
            with container.memory:
                yield container
        finally:
            process.terminate()
            process.wait()


class Container:
    """A running container: its memory, and a way in for a browser."""

    def __init__(self, pid: int, inside: int) -> None:
        self.memory, self._inside = Memory(pid), inside

    def program(self, path: str, folder: Path) -> Path:
        """A program that starts the one at `path` where this container has its network: nothing else is in reach."""
        script = folder / Path(path).name
        script.write_text(f'#!/bin/sh\nexec nsenter --target {self._inside} --net -- {path} "$@"\n')
        script.chmod(0o755)
        return script


class Memory:
    """The most memory that a process's descendants had together, looked up four times a second.

    Proportional sets, in which a page that several share counts once, as it does for a limit: a forked copy of a kernel
    shares nearly all with it. They take the system a hundred times as long to add up as resident sets, which are never
    smaller; so they are looked up only while those are larger than the most so far.
    """

    def __init__(self, pid: int) -> None:
        self._pid, self._peak, self._done = pid, 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def peak(self) -> int:
        """In bytes, since this was last asked."""
        peak, self._peak = self._peak, 0
        return peak

    def _look(self) -> None:
        while not self._done.wait(0.25):
            family = psutil.Process(self._pid).children(recursive=True)
            if sum(map(_resident_size, family)) > self._peak:
                self._peak = max(self._peak, sum(map(_proportional_size, family)))

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def _resident_size(process: psutil.Process) -> int:
    try:
        return process.memory_info().rss
    except psutil.NoSuchProcess:
        return 0


def _proportional_size(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().pss
    except psutil.NoSuchProcess:
        return 0
