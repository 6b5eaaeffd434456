"""Those who grade submissions: this process, or Dask's workers, on this machine or on a cluster that is there already.

`worker` is what each of them does, `parcels` what travels to it and back, `dispatch` hands out and collects.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anatomy.classroom.grading.workers.dispatch import Workers


@contextlib.contextmanager
def open_workers(sandbox: str, count: int, scheduler: str | None = None) -> Iterator[Workers]:
    """Workers: those of a running cluster, else this process alone for one, else processes of their own.

    Raises
    ------
    NoCluster
        When the cluster at `scheduler` can't be reached, has no workers, or workers that can't grade.
    """
    # Torch, which a run that grades nothing can do without, and Dask, which one worker can do without.
    from anatomy.classroom.grading.workers.local import local_workers, this_process

    if scheduler is None and count == 1:
        with this_process(sandbox) as workers:
            yield workers
        return
    from anatomy.classroom.grading.workers.dask_settings import quiet_dask
    from anatomy.classroom.grading.workers.external import external_workers

    with quiet_dask(), external_workers(scheduler, sandbox) if scheduler else local_workers(count, sandbox) as workers:
        yield workers
