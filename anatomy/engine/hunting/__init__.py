"""The bug hunt: a wrong answer to read, and two questions: which line is wrong, and what does it do?

The wrong answers are the course's known mistakes. None is shown of an exercise that is not solved yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anatomy.engine.checking import hands_over
from anatomy.engine.errors import NotHere

if TYPE_CHECKING:
    from anatomy.engine.course import Course
    from anatomy.engine.hunting.asking import Hunt


def hunt(
    course: Course, notebook: str, bug: str | None = None, *, line: int | str | None = None, says: str | None = None
) -> Hunt | None:
    """Show a bug of this notebook's answers, or answer: ``hunt("03-softmax", bug="bakoti", line=3, says="b")``.

    A cell that is run again answers the same bug again. Where marks are given nothing happens; in the edition for a
    class, which has no bugs to show, a sentence says so.

    Parameters
    ----------
    notebook
        Its slug.
    bug
        The bug's id, as its card says it; by default the bug that comes next for you.
    line
        The number of the line that is wrong; ``"3"`` is 3.
    says
        The letter of the sentence that is true of it.

    Raises
    ------
    KeyError
        When no notebook has this slug.
    """
    book = course.notebook(notebook)
    if hands_over():
        return None
    try:
        from anatomy.engine.hunting.asking import hunt_in
    except NotHere as why:
        print(why)
        return None
    return hunt_in(course, book, bug, line, says)
