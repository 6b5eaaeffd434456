"""nbgrader's step that judges, in the grader's own process, what was observed, and notes the verdict."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader import utils
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Float

from anatomy.classroom.grading.notes import NOTE, CellNote, NotebookNote
from anatomy.classroom.grading.preprocessors.course_notebook import (
    Converted,
    checked_exercise,
    course_notebook,
    displayed,
)
from anatomy.classroom.grading.preprocessors.time_limit import TookTooLong, time_limit
from anatomy.engine.cards import as_html, as_text, headline, ungraded
from anatomy.engine.exercise import Exercise
from anatomy.engine.judging.verdict import Verdict
from anatomy.engine.observing.printed import encodable


class Ungraded(Exception):
    """An answer that no verdict can be given on, through no fault of its own. The message is the reason."""


class JudgeObservations(NbGraderPreprocessor):
    """Replace whatever a check cell's kernel said by the verdict on what it observed: a card, then the points."""

    time_limit = Float(30.0, help="Seconds that the judging of one answer may take.").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Converted:
        book = course_notebook(resources)
        if book is None:
            return nb, resources
        now = datetime.now(UTC).isoformat(timespec="minutes")
        known: NotebookNote = replace(resources[NOTE], graded=now)
        resources[NOTE] = known
        known.write(nb)
        answers = {cell.metadata.nbgrader.grade_id: cell for cell in nb.cells if utils.is_solution(cell)}
        for cell in nb.cells:
            exercise = checked_exercise(cell, book)
            if exercise is not None:
                self._judge(cell, exercise, answers.get(exercise.name), known.seeds)
        return nb, resources

    def _judge(
        self, cell: NotebookNode, exercise: Exercise, answer: NotebookNode | None, seeds: tuple[int, ...]
    ) -> None:
        # Torch, which a process that only names this step can do without.
        from anatomy.classroom.grading.verdicts import forget_expectations, numbers_of, verdict_on
        from anatomy.engine.judging.sentences import named

        try:
            if unreached := CellNote.read(cell).unreached:
                raise Ungraded(f"This check was not reached: {unreached}.")
            with time_limit(self.time_limit):
                verdict = verdict_on(cell, exercise, answer, seeds)
                html, text = as_html(verdict), as_text(verdict)
                unnamed = verdict.status == "wrong" and not verdict.mistakes
                numbers = numbers_of(cell) if unnamed else ()
        except Ungraded as reason:
            self._leave_open(cell, exercise, str(reason))
        except TookTooLong:
            forget_expectations()  # one may have been cut short
            self._leave_open(cell, exercise, f"It took more than {self.time_limit:g} s to judge.")
        except Exception as error:  # whatever a kernel sent: it costs this answer only, and a person looks at it
            self.log.exception("%s could not be judged", exercise.name)
            self._leave_open(cell, exercise, f"The check itself failed with {type(error).__name__}.")
        else:
            points = verdict.points * float(cell.metadata.nbgrader.points) / (verdict.max_points or 1)
            cell.outputs = [
                displayed(html, text),
                _recorded(points, cell.metadata.nbgrader.points, cell.execution_count),
            ]
            CellNote(
                exercise=exercise.name,
                status=verdict.status,
                points=points,
                said=_said(verdict),
                broken=tuple(result.property for result in verdict.results if not result.passed),
                mistakes=named(verdict.diagnoses),
                numbers=numbers,
            ).write(cell)

    def _leave_open(self, cell: NotebookNode, exercise: Exercise, reason: str) -> None:
        self.log.warning("%s is ungraded: %s", exercise.name, reason)
        cell.outputs = [displayed(ungraded(exercise.name, reason), f"Ungraded: {reason}")]
        CellNote(exercise=exercise.name, status="ungraded", reason=reason).write(cell)


def _said(verdict: Verdict) -> str:
    """The verdict in one line; of two mistakes at once both, though a card has the second on a line of its own."""
    second = [one.headline for one in verdict.said[1:2] if one.headline.startswith("(2) ")]
    return " ".join([headline(verdict), *map(encodable, second)])


def _recorded(points: float, worth: float, count: int | None) -> NotebookNode:
    """The last expression's result, from which nbgrader takes the mark."""
    words = f"<small>Recorded: {f'{points:g} of {worth:g} points' if worth else 'optional, no points'}.</small>"
    return new_output("execute_result", data={"text/plain": repr(points), "text/html": words}, execution_count=count)
