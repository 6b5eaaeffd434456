"""Right answers that a grader lends to a kernel, so that one mistake costs once.

`attention_weights` calls `softmax`. When `softmax` is wrong, its right version stands in for it while
`attention_weights` is observed a second time, and only then: the notebook keeps the student's own.

A stand-in can't help the answer whose place it takes. The grader sends that of exercise k only after check k was
observed and its record is in the grader's hands; a later record of check k does not count, and neither does one that
another cell sends. What student code can do with it from then on is call it, which it may anyway: for later exercises
the right k is lent, not asked. Send a stand-in only for an answer that was judged not right: each one costs every
answer that calls it a second run.
"""

from __future__ import annotations

from typing import Any

from anatomy.engine.observing.failures import STAND_INS

PROVIDED: dict[str, Any] = {}
"""Exercise → a right answer, as far as the grader has provided any."""


def provide(name: str, source: str) -> None:
    """Take a right answer, to stand in for the notebook's own when answers that call it are observed.

    Parameters
    ----------
    name
        The exercise.
    source
        Python text that defines `name`, with all imports and helpers that it needs: the notebook's names are not there.

    Raises
    ------
    KeyError
        When the text does not define `name`.
    """
    names: dict[str, Any] = {"__name__": f"{STAND_INS}{name}"}
    exec(compile(source, f"<right {name}>", "exec"), names)
    PROVIDED[name] = names[name]
