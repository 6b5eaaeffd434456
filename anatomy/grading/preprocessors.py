"""nbgrader's steps, as this course needs them: repair, run, judge, save. Named in ``nbgrader_config.py``.

`nbgrader autograde`, Formgrader's button and `anatomy grade` all run these, so they give the same marks.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbclient.util import run_sync
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader import utils
from nbgrader.preprocessors import Execute, NbGraderPreprocessor, SaveAutoGrades
from traitlets import Bool, Float, Integer

from anatomy import exercises
from anatomy.cards import as_html, as_text, headline, ungraded
from anatomy.course import Notebook, notebook
from anatomy.exercises import Exercise
from anatomy.grading.kernels import environment, fresh_seeds
from anatomy.grading.masters import master
from anatomy.grading.needed import bound, unneeded
from anatomy.grading.repair import NOTE, repaired
from anatomy.grading.warm.manager import WarmKernelManager
from anatomy.judging.expectations import Expectations
from anatomy.judging.judge import judge
from anatomy.judging.verdict import Diagnosis, PropertyResult, Verdict
from anatomy.observing.records import MIME, Unreadable, decode

Converted = tuple[NotebookNode, ResourcesDict]


NOT_RUN = "Not run while grading: no answer needs it."


class Repair(NbGraderPreprocessor):
    """Put a notebook into the shape that the later steps need; say in a first cell what was done."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Converted:
        if (book := course_notebook(resources)) is None:
            return nb, resources
        fixed, notes = repaired(nb, master(Path.cwd(), book.slug))  # nbgrader works in the course's folder
        for note in notes:
            self.log.warning("Repaired: %s", note)
        return fixed, resources


class RunAndObserve(Execute):
    """Run a notebook in a kernel that observes and does not judge.

    Given cells that no answer needs are not run: see `anatomy.grading.needed`. A cell that ends its kernel, or that
    neither finishes in time nor stops when interrupted, is left out and the notebook is run again without it: it costs
    what it defines, nothing else.
    """

    timeout = Integer(60, help="Seconds that one cell may take.", allow_none=True).tag(config=True)
    everything = Bool(False, help="Run also the given cells that no answer needs.").tag(config=True)
    most_restarts = Integer(8, help="How many cells of one notebook may end their kernel.").tag(config=True)
    iopub_timeout = Integer(20, help="Seconds to wait for a cell's last output.").tag(config=True)
    raise_on_iopub_timeout = Bool(True, help="Leave out a cell whose output does not end, not what follows it.").tag(
        config=True
    )

    _environment: dict[str, str] | None = None
    _left_out: dict[int, str] = {}  # noqa: RUF012  (a new one for each notebook)
    _unneeded: Set[int] = frozenset()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("kernel_manager_class", WarmKernelManager)
        super().__init__(*args, **kwargs)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict, km: Any = None) -> Converted:
        book = course_notebook(resources)
        if book is None:
            return super().preprocess(nb, resources, km)  # not one of the course's: as nbgrader does
        given = {index for index, cell in enumerate(nb.cells) if cell.metadata.pop(NOTE, None) == {"given": True}}
        seeds = resources.setdefault(NOTE, {}).setdefault("seeds", fresh_seeds())
        self._left_out = {}
        self._environment = environment(book, seeds)
        self._unneeded = frozenset() if self.everything else unneeded(nb.cells, given)
        nb, resources = self._run(nb, resources, km)
        if self._unneeded and _misses(nb, bound([nb.cells[index] for index in self._unneeded])):
            self._unneeded = frozenset()
            nb, resources = self._run(nb, resources, km)
        for index in self._unneeded:
            nb.cells[index].outputs = [_shown(f"<small>{NOT_RUN}</small>", NOT_RUN)]
        return nb, resources

    def _run(self, nb: NotebookNode, resources: ResourcesDict, km: Any) -> Converted:
        """Run what is to be run, again and again until nothing ends the kernel any more."""
        for _ in range(self.most_restarts + 1):
            self._at = -1
            try:
                return super().preprocess(nb, resources, km)
            except (DeadKernelError, CellTimeoutError) as error:
                if self._at < 0:
                    raise
                self._leave_out(nb.cells[self._at], error)
        for cell in nb.cells:
            if cell.cell_type == "code" and utils.is_grade(cell):
                cell.outputs = []
                cell.metadata[NOTE] = {"unreached": f"{len(self._left_out)} cells of this notebook ended its kernel"}
        return nb, resources

    def _leave_out(self, cell: NotebookNode, error: Exception) -> None:
        reason = "ended its kernel" if isinstance(error, DeadKernelError) else "could not be interrupted"
        if getattr(self._provisioner, "why", "") == "memory":
            reason = "took too much memory"
        self.log.warning("Cell %d %s; the notebook is run again without it.", self._at, reason)
        self._left_out[self._at] = reason
        cell.outputs = [
            new_output("error", ename="LeftOut", evalue=f"This cell {reason}.", traceback=[f"This cell {reason}."])
        ]
        cell.metadata[NOTE] = {"left out": reason}

    def preprocess_cell(self, cell: NotebookNode, resources: ResourcesDict, index: int) -> Converted:
        if index in self._left_out or index in self._unneeded:
            return cell, resources
        self._at, self._provisioner = index, self.km.provisioner
        return super().preprocess_cell(cell, resources, index)

    async def async_start_new_kernel(self, **kwargs: Any) -> None:
        if self._environment is not None:
            kwargs.setdefault("env", self._environment)
        await super().async_start_new_kernel(**kwargs)

    start_new_kernel = run_sync(async_start_new_kernel)


def _misses(nb: NotebookNode, names: Set[str]) -> bool:
    """Whether some cell, or an answer that was looked at, ended with one of these names being undefined."""
    said = [
        str(output.evalue) if output.output_type == "error" else str(dict(output.data.get(MIME, {})).get("tree"))
        for cell in nb.cells
        for output in cell.get("outputs", ())
        if output.output_type == "error" or isinstance(output.get("data", {}).get(MIME), dict)
    ]
    return any(f"name '{name}' is not defined" in text.replace("\\'", "'") for text in said for name in names)


class JudgeObservations(NbGraderPreprocessor):
    """Replace whatever a check cell's kernel said by the verdict on what it observed: a card, then the points."""

    time_limit = Float(30.0, help="Seconds that the judging of one answer may take.").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Converted:
        book = course_notebook(resources)
        if book is None:
            return nb, resources
        seeds = tuple(resources[NOTE]["seeds"])
        nb.metadata["anatomy_seeds"] = list(seeds)
        answers = {cell.metadata.nbgrader.grade_id: cell for cell in nb.cells if utils.is_solution(cell)}
        for cell in nb.cells:
            exercise = checked_exercise(cell, book)
            if exercise is not None:
                self._judge(cell, exercise, answers.get(exercise.name), seeds)
        return nb, resources

    def _judge(
        self, cell: NotebookNode, exercise: Exercise, answer: NotebookNode | None, seeds: tuple[int, ...]
    ) -> None:
        note = cell.metadata.get(NOTE, {})
        try:
            if "unreached" in note:
                raise Ungraded(f"This check was not reached: {note['unreached']}.")
            with _within(self.time_limit):
                verdict = _verdict_on(cell, exercise, answer, seeds)
                html, text = as_html(verdict), as_text(verdict)
        except Ungraded as reason:
            _expectations.clear()  # one may have been cut short
            self._leave_open(cell, exercise, str(reason))
        except Exception as error:  # whatever a kernel sent: it costs this answer only, and a person looks at it
            self.log.exception("%s could not be judged", exercise.name)
            self._leave_open(cell, exercise, f"The check itself failed with {type(error).__name__}.")
        else:
            points = verdict.points * float(cell.metadata.nbgrader.points) / (verdict.max_points or 1)
            cell.outputs = [_shown(html, text), _recorded(points, cell.metadata.nbgrader.points, cell.execution_count)]
            cell.metadata[NOTE] = {
                "exercise": exercise.name, "status": verdict.status, "points": points,
                "said": headline(verdict),
                "misconceptions": {one.misconception: one.headline for one in verdict.diagnoses if one.misconception},
            }  # fmt: skip

    def _leave_open(self, cell: NotebookNode, exercise: Exercise, reason: str) -> None:
        self.log.warning("%s is ungraded: %s", exercise.name, reason)
        cell.outputs = [_shown(ungraded(exercise.name, reason), f"Ungraded: {reason}")]
        cell.metadata[NOTE] = {"exercise": exercise.name, "status": "ungraded", "reason": reason}


class SaveMarks(SaveAutoGrades):
    """nbgrader's `SaveAutoGrades`; but an answer that could not be judged has no mark and waits for a person."""

    def _add_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        if cell.metadata.get(NOTE, {}).get("status") != "ungraded":
            super()._add_score(cell, resources)
            return
        grade = self.gradebook.find_grade(
            cell.metadata.nbgrader.grade_id, self.notebook_id, self.assignment_id, self.student_id
        )
        grade.auto_score, grade.needs_manual_grade = None, True
        self.gradebook.db.commit()


class Ungraded(Exception):
    """An answer that no verdict can be given on, through no fault of its own. The message is the reason."""


# ---------------------------------------------------------------------------------------------- from cell to verdict


def course_notebook(resources: ResourcesDict) -> Notebook | None:
    """The course's notebook that is being converted, or None for an assignment of somebody else's."""
    try:
        return notebook(resources["nbgrader"]["notebook"])
    except KeyError:
        return None


def checked_exercise(cell: NotebookNode, book: Notebook) -> Exercise | None:
    """The exercise that a graded cell checks, or None."""
    if cell.cell_type != "code" or not utils.is_grade(cell):
        return None
    name = str(cell.metadata.nbgrader.grade_id)
    return exercises.of_notebook(book).get(name.removeprefix("check-")) if name.startswith("check-") else None


_expectations: dict[tuple[str, tuple[int, ...]], Expectations] = {}
"""What the references and misconceptions do with some seeds; `anatomy grade` uses the same seeds in a whole run."""


def _expectations_of(exercise: Exercise, seeds: tuple[int, ...]) -> Expectations:
    if any(known != seeds for _, known in _expectations):
        _expectations.clear()
    key = (exercise.name, seeds)
    if key not in _expectations:
        _expectations[key] = Expectations(exercise, seeds)
    return _expectations[key]


def _verdict_on(cell: NotebookNode, exercise: Exercise, answer: NotebookNode | None, seeds: tuple[int, ...]) -> Verdict:
    records = [output.data[MIME] for output in cell.outputs if MIME in output.get("data", {})]
    if reason := cell.metadata.get(NOTE, {}).get("left out"):
        return _nothing(exercise, f"Your `{exercise.name}` {_stopped(reason)}.", _ADVICE[reason])
    if len(records) > 1:
        return _nothing(exercise, "More than one observation arrived from this check.",
                        "Only the check itself may send one; answers must not display any.")  # fmt: skip
    errors = [output for output in cell.outputs if output.output_type == "error"]
    if not records and _interrupted(errors):
        return _nothing(exercise, f"Your `{exercise.name}` did not finish in time.", _ADVICE["interrupted"])
    if not records:
        return _nothing(exercise, "The check could not look at your answer.", _error_in(cell))
    try:
        observation = decode(records[0])
    except Unreadable as error:
        return _nothing(exercise, "What the check sent can't be read.", f"{str(error)[:1].upper()}{str(error)[1:]}.")
    if observation.exercise != exercise.name:
        return _nothing(exercise, "The check sent an observation of another exercise.", "")
    verdict = judge(exercise, observation, seeds, _expectations_of)
    if verdict.status == "not attempted" and answer is not None:
        return _why_undefined(exercise, answer) or verdict
    return verdict


def _why_undefined(exercise: Exercise, answer: NotebookNode) -> Verdict | None:
    """What stopped the cell that should have defined the answer, if something did."""
    if reason := answer.metadata.get(NOTE, {}).get("left out"):
        return _nothing(exercise, f"The cell of `{exercise.name}` {_stopped(reason)}.", _ADVICE[reason])
    errors = [output for output in answer.get("outputs", ()) if output.output_type == "error"]
    if not errors or errors[0].ename == "NotImplementedError":
        return None
    if _interrupted(errors):
        return _nothing(exercise, f"The cell of `{exercise.name}` did not finish in time.", _ADVICE["interrupted"])
    return _nothing(exercise, f"The cell of `{exercise.name}` stops with `{errors[0].ename}`.", _said(errors[0]))


_ADVICE = {
    "ended its kernel": "Something in it ends the Python process (`exit`, a crash), so it was left out.",
    "took too much memory": "It asked for more memory than a notebook of this course ever needs, so it was left out.",
    "could not be interrupted": "It ran until the time limit and ignored the interrupt, so it was left out.",
    "interrupted": "It was interrupted at the time limit: look for a loop that never ends.",
}


def _stopped(reason: str) -> str:
    return "did not finish in time" if reason == "could not be interrupted" else reason


def _nothing(exercise: Exercise, what: str, detail: str) -> Verdict:
    """No points, and the reason."""
    results = tuple(PropertyResult(name, points, False) for name, points in exercise.properties.items())
    return Verdict(exercise.name, "wrong", results, (Diagnosis(what, detail),))


def _error_in(cell: NotebookNode) -> str:
    errors = [output for output in cell.outputs if output.output_type == "error"]
    if errors:
        return f"It stopped with {_said(errors[0])}"
    return "It sent nothing. Is `check` still the one that the notebook imports?"


def _interrupted(errors: list[NotebookNode]) -> bool:
    return any(error.ename in ("CellTimeoutError", "KeyboardInterrupt") for error in errors)


def _said(error: NotebookNode) -> str:
    value = " ".join(str(error.evalue).split())
    return f"{error.ename}: {value[:300]}" if value else f"{error.ename}."


# ---------------------------------------------------------------------------------------------- outputs


def _shown(html: str, text: str) -> NotebookNode:
    return new_output("display_data", data={"text/html": html, "text/plain": text})


def _recorded(points: float, worth: float, count: int | None) -> NotebookNode:
    """The last expression's result, from which nbgrader takes the mark."""
    words = f"<small>Recorded: {points:g} of {worth:g} points.</small>"
    return new_output("execute_result", data={"text/plain": repr(points), "text/html": words}, execution_count=count)


class _Watch(threading.Thread):
    """Raises `Ungraded` in the thread that made it once that has computed for so many seconds.

    It rings again and again, because `observe`, which the judge uses, takes exceptions of answers for granted.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(name="judge's watch", daemon=True)
        self.seconds, self.rang = seconds, False
        self._judge = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._judge)
        self._until = time.clock_gettime(self._clock) + seconds
        self._over = threading.Event()
        self._ringing = threading.Lock()

    def run(self) -> None:
        while not self._over.wait(0.25):
            with self._ringing:
                if not self._over.is_set() and time.clock_gettime(self._clock) > self._until:
                    self.rang = True
                    _interrupt(self._judge, Ungraded)

    def stop(self) -> None:
        while True:
            try:
                with self._ringing:
                    self._over.set()
                    _interrupt(self._judge, None)
                return
            except Ungraded:
                continue  # it rang on the way


def _interrupt(thread: int, error: type[Exception] | None) -> None:
    """Raise an error in another thread when it runs Python again; None takes back what has not happened yet."""
    raised = ctypes.py_object() if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise `Ungraded` after that many seconds of computing."""
    watch = _Watch(seconds)
    watch.start()
    try:
        yield
    except Ungraded as error:
        if error.args:
            raise
    finally:
        watch.stop()
    if watch.rang:
        raise Ungraded(f"It took more than {seconds:g} s to judge.")
