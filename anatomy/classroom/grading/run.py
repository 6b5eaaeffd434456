"""Grade a class: what changed goes to the workers, what they send back is recorded, and a table says what it was."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console

from anatomy.classroom.forked_kernels import NO_SANDBOX, SANDBOX_VARIABLE, choose_sandbox, get_fork_server
from anatomy.classroom.grading.course_preparation import KERNELS
from anatomy.classroom.grading.importing import importing
from anatomy.classroom.grading.known_marks import KNOWN_MARKS, compare_with_known_marks, read_known_marks
from anatomy.classroom.grading.light_nbgrader import import_light_nbgrader
from anatomy.classroom.grading.misplaced import NOBODY, misplaced
from anatomy.classroom.grading.progress_bar import progress_bar
from anatomy.classroom.grading.report import UNGRADED, Report, show
from anatomy.classroom.grading.run_lock import run_lock
from anatomy.classroom.grading.submissions import Submission, find_submissions, readable
from anatomy.classroom.grading.tables import GRADES, absent, other_results, write_tables
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.notebooks import chosen
from anatomy.engine.notebook_files.settings import settings
from anatomy.engine.typed import typed
from anatomy.wiring import the_course

WITHOUT_SANDBOX = (
    "Graded without a sandbox: submissions could read this machine's files and use its network. "
    "Trust these marks only if the machine or container holds nothing that students must not see."
)


class NothingToGrade(UserError):
    """There is nothing to grade. The message says where it was looked for and what to do."""


def grade(
    root: Path,
    assignments: Iterable[str] | None = None,
    students: Iterable[str] | None = None,
    *,
    sandbox: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    force: bool = False,
    feedback: bool = True,
    console: Console | None = None,
) -> Report:
    """Grade what changed in ``submitted/``, write ``feedback/`` and ``grades.csv``, and print the table.

    Killed at any moment and called again, it goes on where it was.

    Parameters
    ----------
    assignments
        Notebooks by slug or number; by default all that were handed in.
    students
        By default all.
    sandbox
        ``"bubblewrap"`` or ``"none"``; by default what ANATOMY_SANDBOX says, else bubblewrap.
    workers
        How many processes grade; by default one more than there are cores, as each waits now and then for its kernel.
    scheduler
        The address of a Dask scheduler whose workers grade instead. They need this package.
    force
        Grade also what has not changed.
    feedback
        Make the pages that students get back: of what was graded, and where they are missing or no longer say what the
        gradebook says.
    console
        Where progress and table go; by default the terminal.

    Raises
    ------
    NothingToGrade
        When no submission is there.
    AlreadyGrading
        When another process grades this course.
    NoSandbox
        When bubblewrap is needed and can't be had.
    UserError
        When an assignment named here does not exist.
    """
    sandbox = choose_sandbox(sandbox)
    root = root.resolve()
    console = console or Console()
    config = settings(root)
    config.CourseDirectory.root = str(root)
    submitted = root / str(config.CourseDirectory.get("submitted_directory", "submitted"))
    wanted = {book.slug for book in chosen(the_course(), root, assignments)} if assignments else None
    found = list(find_submissions(submitted, wanted, set(students) if students else None))
    lost = misplaced(submitted, set(students) if students else None)
    if not found and not lost:
        raise NothingToGrade(f"There is nothing to grade in {submitted}. A submission is a folder "
                             f"{submitted.name}/<student>/<notebook>/ with the notebook in it; "
                             f"`{typed('sample-class')}` writes a made-up class.")  # fmt: skip
    began, command = time.perf_counter(), typed("").rstrip()  # before the gradebook puts programs on the path
    autograded = root / str(config.CourseDirectory.get("autograded_directory", "autograded"))
    cores = os.cpu_count() or 1
    workers = workers or (cores + 1 if cores > 1 else 1)
    new = itertools.islice((one for one in found if force or _is_new(one, autograded)), 2)
    if not scheduler and (some := len([*new])):
        get_fork_server(KERNELS, sandbox, wait=False)  # imports torch while this process imports all below
        if min(some, workers) > 1:
            from anatomy.classroom.grading.workers.local import start_importing  # not when nothing is new

            start_importing()

    with importing():
        import_light_nbgrader()
        from sqlalchemy.exc import SAWarning

        from anatomy.classroom.grading.assignments import Assignments
        from anatomy.classroom.grading.class_run import ClassRun
        from anatomy.classroom.grading.feedback.folder import FeedbackFolder
        from anatomy.classroom.grading.gradebook import open_gradebook

    gc.freeze()  # what is imported stays: the garbage collector need not go through it again and again

    with warnings.catch_warnings(), run_lock(root), open_gradebook(root, config) as gradebook:
        warnings.simplefilter("ignore", SAWarning)  # nbgrader's queries, harmless
        gradebook.add_indexes()
        folder = FeedbackFolder(root, config, gradebook.gradebook) if feedback else None
        run = ClassRun(Assignments(root, config, gradebook), config, gradebook, folder, sandbox, force)
        tasks = run.look_at(found)
        with _environment(SANDBOX_VARIABLE, sandbox), progress_bar(console) as progress:
            begins = "starting" if tasks else "pages for students" if run.stale else "nothing has changed"
            shown = progress.add_task(begins, total=len(tasks) + len(run.stale))
            try:
                for result in run.grade(tasks, workers, scheduler):
                    progress.update(shown, advance=1, description=f"{result.student}, {result.assignment}")
                for task in run.renew_pages():
                    progress.update(shown, advance=1, description=f"feedback: {task.student}, {task.assignment}")
            except KeyboardInterrupt:
                progress.stop()
                done = len(tasks) - run.remaining
                console.print(f"Stopped. {done} of {len(tasks)} are graded and recorded; the same command goes on from "
                              "there.", highlight=False, soft_wrap=True)  # fmt: skip
                raise
            progress.update(shown, description="done")
        run.know_ungraded(Submission(submitted / one.student / one.assignment) for one in lost if one.student != NOBODY)
        seen = {(one.student, one.assignment) for one in found} | {(one.student, one.assignment) for one in lost}
        known = {one.assignment for one in found if one.assignment.isprintable()}  # a name that is no text has no times
        times = {name: gradebook.known_times(name) for name in known}
        others = other_results(gradebook, submitted, root / GRADES, seen)
        results = (*(run.results[submission] for submission in found), *lost)
        whole = (*results, *others)
        missing = absent(gradebook, whole)
    students = {one.student for one in whole} - {NOBODY}
    there = {readable(path.name) for path in submitted.iterdir()}
    made_up = {one.student for one in read_known_marks(submitted / KNOWN_MARKS)} & students
    of_all = (times.get(one.assignment, {}).get(one.student) for one in found)
    timed = [one for one in of_all if one is not None]
    report = Report(results, time.perf_counter() - began, compare_with_known_marks(results, submitted / KNOWN_MARKS),
                    sum(run.results[task.submission].status != UNGRADED for task in tasks),
                    WITHOUT_SANDBOX if sandbox == NO_SANDBOX else "",
                    run.pages_made if feedback else None, tuple(run.without_page), command,
                    len(made_up) if students - made_up else 0, tuple(sorted(students - made_up - there)),
                    timed.count(False), len(timed), missing)  # fmt: skip
    show(report, console)
    write_tables(whole, root, missing)
    return report


def _is_new(submission: Submission, autograded: Path) -> bool:
    """Whether it looks as if this was not graded as it is. Whether that is so, hashes say later."""
    graded = autograded / submission.student / submission.assignment / f"{submission.assignment}.ipynb"
    try:
        return any(file.stat().st_mtime > graded.stat().st_mtime for file in submission.folder.iterdir())
    except OSError:
        return True


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name)
        else:
            os.environ[name] = before
