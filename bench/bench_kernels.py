"""How long until a kernel has answered its first cell: forked, in the sandbox, against Jupyter's own way.

    python bench/bench_kernels.py [--kernels N]

Both start a kernel, wait until it is ready, run one cell with a notebook's imports, and end the kernel at once. They
take turns in one run, so that the ratio does not depend on what else the machine does. "computed" is processor time of
the kernel (and, for forked kernels, of its supervisor and of the server's part in it), "waited" what the clock says.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import statistics
import time
from typing import Any

import psutil
from jupyter_client.manager import AsyncKernelManager

from anatomy.classroom.forked_kernels import get_fork_server, stop_fork_servers
from anatomy.classroom.grading.course_kernels import KERNELS, CourseKernelManager

IMPORTS = (
    "import torch, transformers\nimport matplotlib.pyplot as plt\nfrom transformers import BertModel\ntorch.ones(2)"
)
COLUMNS = ("ready", "first cell", "ended", "computed")


async def one(manager: Any) -> list[float]:
    """Seconds until ready, for the first cell, until ended, and of processor time."""
    marks = [time.perf_counter()]
    await manager.start_kernel(env=dict(os.environ), extra_arguments=["--log-level=ERROR"])
    client = manager.client()
    client.start_channels()
    await client.wait_for_ready(timeout=60)
    marks.append(time.perf_counter())
    reply = await client.execute_interactive(IMPORTS, output_hook=lambda message: None, timeout=60)
    assert reply["content"]["status"] == "ok", reply["content"]
    marks.append(time.perf_counter())
    process = getattr(manager.provisioner, "pid", None)
    spent = sum(psutil.Process(process).cpu_times()[:2]) if process else 0.0
    await manager.shutdown_kernel(now=True)
    marks.append(time.perf_counter())
    client.stop_channels()
    spent = spent or manager.provisioner.computed
    return [after - before for before, after in itertools.pairwise(marks)] + [spent]


def server_computed() -> float:
    (inner,) = psutil.Process(get_fork_server(KERNELS).process.pid).children()  # type: ignore[union-attr]
    (server,) = inner.children()
    return sum(server.cpu_times()[:2])


async def compare(count: int) -> tuple[list[list[float]], list[list[float]]]:
    forked: list[list[float]] = []
    cold: list[list[float]] = []
    for number in range(count):
        if number % 4 == 0:
            cold.append(await one(AsyncKernelManager()))
        before = server_computed()
        forked.append(await one(CourseKernelManager()))
        forked[-1][-1] += server_computed() - before
    return forked, cold


def main() -> None:
    arguments = argparse.ArgumentParser(description="Ready kernels, forked and cold.")
    arguments.add_argument("--kernels", type=int, default=16, help="forked ones; a quarter as many cold ones")
    count = arguments.parse_args().kernels
    began = time.perf_counter()
    get_fork_server(KERNELS)
    print(f"The fork server was ready after {time.perf_counter() - began:.1f} s, once for all kernels.\n")
    forked, cold = asyncio.run(compare(count))
    stop_fork_servers()
    print(f"{'median seconds':<18}" + "".join(f"{name:>12}" for name in (*COLUMNS, "waited")))
    medians = []
    for name, rows in (("cold", cold), ("forked, sandboxed", forked)):
        row = [statistics.median(column) for column in zip(*rows, strict=True)]
        medians.append([*row, statistics.median(sum(one[:3]) for one in rows)])
        print(f"{name:<18}" + "".join(f"{value:>12.3f}" for value in medians[-1]))
    print(f"{'ratio':<18}" + "".join(f"{a / b:>12.1f}" for a, b in zip(*medians, strict=True)))


if __name__ == "__main__":
    main()
