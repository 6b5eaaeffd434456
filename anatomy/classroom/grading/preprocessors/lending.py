"""Right answers that the grader lends to a kernel, so that one mistake costs once.

An answer that calls `softmax` is also observed with a right one, if the notebook's own is not. That one is sent as text
after the check of `softmax` was observed and only if it was found not right, into each kernel anew. What it could help
is over by then: the record of that check is kept as it arrived, whatever the kernel does to it later and whatever a
later kernel of the same submission answers, and no text is sent from which the answer to a check that is still to come
could be read.
"""

from __future__ import annotations

import logging

from nbformat import NotebookNode

from anatomy.classroom.grading.notes import CellNote
from anatomy.classroom.grading.preprocessors.course_notebook import checked_exercise
from anatomy.classroom.grading.preprocessors.time_limit import TookTooLong, time_limit
from anatomy.engine.answers import stand_ins
from anatomy.engine.course import Notebook
from anatomy.engine.exercise import Exercise
from anatomy.wiring import the_course

TIME_LIMIT = 10.0
"""Seconds that it may take to find out whether an answer is right; then a right one is lent."""


class Lending:
    """What is lent while one notebook runs."""

    def __init__(self, nb: NotebookNode, book: Notebook, seeds: tuple[int, ...]) -> None:
        self.seeds = seeds
        self.checks = {
            index: exercise for index, cell in enumerate(nb.cells) if (exercise := checked_exercise(cell, book))
        }
        self.stand_ins = stand_ins(the_course(), book)

    def after(self, cell: NotebookNode, index: int) -> str:
        """The program to run silently in the kernel after this check; empty when there is nothing to lend."""
        exercise = self.checks[index]
        to_come = {other.name for later, other in self.checks.items() if later > index}
        if exercise.name not in self.stand_ins or not to_come:
            return ""
        stand_in = self.stand_ins[exercise.name]
        if stand_in.shows & to_come or self._is_right(cell, exercise):
            return ""
        lender = '__import__("anatomy.engine.checking.stand_ins", fromlist=["provide"])'
        program = f"{lender}.provide({exercise.name!r}, {stand_in.source!r})"
        if CellNote.read(cell).left_out:  # called once more, it would end the kernel again
            program += f"\n{exercise.name} = {lender}.PROVIDED[{exercise.name!r}]"
        return program

    def _is_right(self, cell: NotebookNode, exercise: Exercise) -> bool:
        # Torch, which a process that only names the step that lends can do without.
        from anatomy.classroom.grading.verdicts import forget_expectations, is_seen_right

        try:
            with time_limit(TIME_LIMIT):
                return is_seen_right(cell, exercise, self.seeds)
        except TookTooLong:
            forget_expectations()  # one may have been cut short
        except Exception:  # whatever a kernel sent; the judge will say so
            logging.getLogger(__name__).debug("%s could not be judged yet", exercise.name, exc_info=True)
        return False
