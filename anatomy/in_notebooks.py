"""The names that notebooks import: each is the engine's, for the course that this process is about."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from anatomy.course.assembling import assemble
from anatomy.course.exploring import explore
from anatomy.engine import checking, hunting
from anatomy.engine.checking.progress import ProgressCard
from anatomy.wiring import the_course

if TYPE_CHECKING:
    from anatomy.engine.hunting.asking import Hunt

__all__ = ["assemble", "check", "explore", "hunt", "progress"]


def check(name: str) -> None:
    """Check the object called `name` in the calling notebook, and show what was found: `anatomy.engine.checking.check`.

    Raises
    ------
    CheckFailed
        When the answer is missing or wrong, after its card was shown. One line, no traceback.
    CheckUnavailable
        When the class's judge does not answer. Likewise.
    """
    checking.check(the_course(), name, sys._getframe(1).f_globals)


def hunt(notebook: str, bug: str | None = None, *, line: int | None = None, says: str | None = None) -> Hunt | None:
    """Show a bug of this notebook's answers, or answer: ``hunt("03-softmax", bug="bakoti", line=3, says="b")``.

    `anatomy.engine.hunting.hunt` says more.
    """
    return hunting.hunt(the_course(), notebook, bug, line=line, says=says)


def progress(slug: str = "") -> ProgressCard:
    """How far you are; with the slug of a notebook, its exercises first."""
    return ProgressCard(the_course(), slug)
