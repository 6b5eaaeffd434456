"""Run a notebook in a fresh kernel, and measure what that took."""

from __future__ import annotations

import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from anatomy import PACKAGE
from anatomy.engine.errors import UserError

CELL_LIMIT = 600
"""Seconds that one cell may take."""


class CellFailed(UserError):
    """A cell of a notebook that should run did not."""

    def __init__(self, index: int, cell_id: str, message: str) -> None:
        super().__init__(f"cell {index + 1} ({cell_id}): {message}")
        self.index, self.cell_id, self.message = index, cell_id, message


@dataclass(frozen=True)
class Cost:
    """What a run took: seconds, and the kernel's largest resident memory in bytes."""

    seconds: float
    memory: int


def run(
    book: NotebookNode,
    folder: Path,
    *,
    keep_going: bool = False,
    limit: float = CELL_LIMIT,
    environment: Mapping[str, str] | None = None,
    on_cell: Callable[[int], None] | None = None,
) -> Cost:
    """Run all cells in place, in a kernel whose working folder is `folder`.

    The kernel computes in one thread, and what its checks note about progress goes to a folder that is thrown away.

    Parameters
    ----------
    keep_going
        Go on after a cell that raises; its error stays among its outputs.
    limit
        Seconds that one cell may take.
    environment
        Further environment variables.
    on_cell
        Called with the index of each cell before it runs.

    Raises
    ------
    CellFailed
        When a cell raises (unless `keep_going`), takes too long, or ends its kernel.
    """
    at = {"index": 0}
    peak = _Peak()

    def begin(cell: NotebookNode, cell_index: int) -> None:
        at["index"] = cell_index
        if on_cell:
            on_cell(cell_index)

    client = NotebookClient(
        book,
        kernel_name="python3",
        timeout=int(limit),
        allow_errors=keep_going,
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
        on_cell_start=begin,
    )
    client.on_notebook_start = lambda notebook: peak.watch(client)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="anatomy-run-") as home, peak:
        try:
            client.execute(env=_environment(home) | dict(environment or {}))
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            cell = book.cells[at["index"]]
            raise CellFailed(at["index"], cell.get("id", "no id"), _reason(error, limit)) from error
    return Cost(time.perf_counter() - start, peak.bytes)


def _environment(home: str) -> dict[str, str]:
    """This process's environment without what would make two machines' results differ."""
    package = str(PACKAGE.parent)
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    kept = {name: value for name, value in os.environ.items() if name not in ("MPLBACKEND", "JPY_PARENT_PID")}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**kept, **threads, "PYTHONPATH": path, "PYTHONHASHSEED": "0", "ANATOMY_HOME": home}


def _reason(error: Any, limit: float) -> str:
    if isinstance(error, CellTimeoutError):
        return f"it did not finish within {limit:.0f} s"
    if isinstance(error, DeadKernelError):
        return "the kernel died (out of memory, or the process was ended)"
    value = re.sub(r"\x1b\[[0-9;]*m", "", str(error.evalue)).strip()
    return f"{error.ename}: {value.splitlines()[0]}" if value else str(error.ename)


class _Peak:
    """Looks at a kernel's process and its children ten times a second, and remembers the most memory they had."""

    def __init__(self) -> None:
        self.bytes = 0
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, client: NotebookClient) -> None:
        kernel = psutil.Process(client.km.provisioner.pid)  # type: ignore[union-attr]
        self._thread = threading.Thread(target=self._look, args=(kernel,), daemon=True)
        self._thread.start()

    def _look(self, process: psutil.Process) -> None:
        while not self._done.is_set():
            try:
                family = [process, *process.children(recursive=True)]
                if sum(member.memory_info().rss for member in family) > self.bytes:
                    self.bytes = max(self.bytes, sum(map(_memory, family)))
            except psutil.NoSuchProcess:
                if not process.is_running():
                    return
            self._done.wait(0.1)

    def __enter__(self) -> _Peak:
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._thread:
            self._thread.join()


def _memory(process: psutil.Process) -> int:
    """Bytes, of which a page that several processes share counts once; it takes long to add up."""
    known = process.memory_full_info()
    return int(getattr(known, "pss", known.uss))  # only Linux knows the share
