"""One place: the line of the student's program in which one small change makes the answer right in all cases."""

from __future__ import annotations

from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.reading.edits import small_edits
from anatomy.engine.reading.source import Program
from anatomy.engine.reading.trials import Trials


def the_line(program: Program, trials: Trials) -> Diagnosis | None:
    """Points at the one line in which a small edit mends the answer; the change itself is left to the student.

    Nothing is said when edits in different lines do it, as far as the budget allows to try.
    """
    line = 0
    for place in small_edits(program.tree):
        if place == line:
            continue
        if trials.budget.is_spent:
            break
        if trials.is_right(program.build):
            if line:
                return None
            line = place
    said = f"One change in line {line} would make it right, where you have `{program.line(line)}`."
    return Diagnosis(said) if line else None
