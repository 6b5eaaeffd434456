"""What grading takes, and what only looks for work does not: importing this imports it, before workers are forked."""

import gc

from anatomy.classroom.grading.importing import importing

with importing():
    from anatomy.classroom.grading import preprocessors, verdicts
    from anatomy.classroom.grading.quick_metadata import check_schema_once
    from anatomy.classroom.grading.workers import worker

check_schema_once()
gc.freeze()  # what is imported stays: the garbage collector need not go through it later on either

__all__ = ["preprocessors", "verdicts", "worker"]
