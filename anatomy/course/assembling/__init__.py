"""`anatomy assemble`: a student's own answers, gathered from their notebooks into one module that can be imported.

`gather` reads the notebooks, `compose` follows every name to what defines it, `layout` makes the file's text; `examine`
runs the code in an interpreter of its own: the course's checks, and the library's weights in the student's models.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from anatomy.engine.errors import NotHere

if TYPE_CHECKING:
    from anatomy.course.assembling.assembly import Assembly

FILE = "my_transformer.py"


def assemble(
    folder: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] = FILE,
    *,
    fill: bool = False,
    force: bool = False,
) -> Assembly | None:
    """Gather your answers from your notebooks, as last saved, into one file; returns a card that says how it went.

    Parameters
    ----------
    folder
        What holds the notebooks' folders; by default it is found from here.
    output
        The file to write.
    fill
        Import the course's answers where yours are missing.
    force
        Write even over a file that was edited since it was assembled; a copy of it is kept.

    Returns
    -------
    Assembly or None
        None in a kernel that grades or checks a whole notebook, where nothing is assembled, and in the edition for a
        class, where a sentence says why.

    Raises
    ------
    UserError
        When there are no notebooks, or the file must not be written. The message says what to do.
    """
    from anatomy.engine.checking import hands_over

    if hands_over():
        return None
    try:
        from anatomy.course.assembling.assembly import put_together
    except NotHere as why:
        print(why)
        return None
    return put_together(
        Path(folder) if folder is not None else None, Path(output), fill=fill, force=force, on_step=_bar()
    )


def _bar() -> Callable[[int, int, str], None]:
    """Shows progress in a notebook; elsewhere it does nothing."""
    from IPython.core.getipython import get_ipython

    if get_ipython() is None:
        return lambda done, total, what: None
    from anatomy.course.views import ProgressBar

    bars: list[ProgressBar] = []

    def step(done: int, total: int, what: str) -> None:
        if not bars:
            bars.append(ProgressBar(total, "Assembling"))
        bars[0]()

    return step


__all__ = ["FILE", "assemble"]
