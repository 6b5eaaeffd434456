"""One place: the line of the student's program in which one small change makes the answer right in all cases."""

from __future__ import annotations

from collections.abc import Sequence

from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.reading.edits import small_edits
from anatomy.engine.reading.source import Program
from anatomy.engine.reading.trials import Trials

_MOST = 2
"""Lines between which the student is left to choose."""


def the_line(program: Program, trials: Trials, suspected: Sequence[set[int]] = ()) -> Diagnosis | None:
    """Points at the one line, or at the two, in which a small edit mends the answer; the change is left to the student.

    Nothing is said when edits in more lines do it, as far as the budget allows to try. `suspected` lines come first.
    """
    lines: list[int] = []
    for place in small_edits(program.tree, suspected):
        if place in lines:
            continue
        if trials.budget.is_spent:
            break
        if trials.is_right(program.build):
            lines.append(place)
            if len(lines) > _MOST:
                return None
    where = " or in ".join(f"line {line}" for line in sorted(lines))
    have = " or ".join(f"`{program.line(line)}`" for line in sorted(lines))
    return Diagnosis(f"One change in {where} would make it right, where you have {have}.") if lines else None
