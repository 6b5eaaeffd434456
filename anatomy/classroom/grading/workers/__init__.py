"""Those who grade submissions: this process, processes of its own, or the workers of a Dask cluster that is there.

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
    # Torch, which a run that grades nothing can do without, and Dask, which only a cluster takes.
    if scheduler:
        from anatomy.classroom.grading.workers.external import external_workers

        opened = external_workers(scheduler, sandbox)
    else:
        from anatomy.classroom.grading.workers.local import local_workers, this_process

        opened = this_process(sandbox) if count == 1 else local_workers(count, sandbox)
    with opened as workers:
        yield workers
