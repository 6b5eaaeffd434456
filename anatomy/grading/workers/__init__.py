"""Those who grade submissions: this process, or Dask's workers, on this machine or on a cluster that is there already.

`worker` is what each of them does, `parcels` what travels to it and back, `dispatch` hands out and collects.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from anatomy.grading.workers.dask_settings import quiet_dask
from anatomy.grading.workers.dispatch import ClusterLost, Workers
from anatomy.grading.workers.external import NoCluster, external_workers
from anatomy.grading.workers.local import local_workers, this_process


@contextlib.contextmanager
def open_workers(sandbox: str, count: int, scheduler: str | None = None) -> Iterator[Workers]:
    """Workers: those of a running cluster, else this process alone for one, else processes of their own.

    Raises
    ------
    NoCluster
        When the cluster at `scheduler` can't be reached, has no workers, or workers that can't grade.
    """
    if scheduler is None and count == 1:
        with this_process(sandbox) as workers:
            yield workers
        return
    with quiet_dask(), external_workers(scheduler, sandbox) if scheduler else local_workers(count, sandbox) as workers:
        yield workers


__all__ = ["ClusterLost", "NoCluster", "Workers", "open_workers"]
