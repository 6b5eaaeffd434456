"""What became of the cells that define answers, when they were last run in this notebook."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from types import FunctionType
from typing import Any

from anatomy.engine.checking.progress_file import clock
from anatomy.engine.exercise import Exercise
from anatomy.engine.observing.failures import named
from anatomy.engine.observing.observation import Raised
from anatomy.engine.observing.printed import encodable

_DEFINED = re.compile(r"^(?:(?:async\s+)?def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_ALIKE = 0.8
"""How much two names must have in common for one to be taken for the other: `scaled_score` for `scaled_scores`."""


class _Watch:
    """Is told by IPython before and after each cell; remembers what stopped those that define something."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.stopped: dict[str, Raised] = {}
        self._before: dict[str, Any] = {}
        shell.events.register("pre_run_cell", self.before)
        shell.events.register("post_run_cell", self.after)

    def before(self, info: Any) -> None:
        clock.tick()
        self._before = {name: self.shell.user_ns.get(name) for name in _defined(info.raw_cell)}

    def after(self, result: Any) -> None:
        clock.tick()
        error = result.error_before_exec or result.error_in_exec
        for name, item in self._before.items():
            if error is None or self.shell.user_ns.get(name) is not item:
                self.stopped.pop(name, None)  # it is defined; what stopped the cell came later
            else:
                self.stopped[name] = _described(error)
        self._before = {}


_watch: _Watch | None = None


def watch() -> None:
    """Begin to note what becomes of the notebook's cells, where there is a notebook and as long as it is the same."""
    global _watch
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is not None and (_watch is None or _watch.shell is not shell):
        _watch = _Watch(shell)


def what_stopped(name: str) -> Raised | None:
    """What stopped the cell that defines `name` when it was last run, before it had defined it; None if nothing did."""
    return _watch.stopped.get(name) if _watch else None


def similar_name(exercise: Exercise, namespace: Mapping[str, Any]) -> str:
    """The name of something in the notebook that could be the missing answer under another name, or an empty string."""
    kind = {"module": type, "function": FunctionType, "quiz": dict}[exercise.kind]
    own = [
        name
        for name, item in namespace.items()
        if isinstance(item, kind)
        and not name.startswith("_")
        and (isinstance(item, dict) or getattr(item, "__module__", None) == namespace.get("__name__"))
        and name not in exercise.course.exercises(exercise.notebook)
    ]
    likeness = {name: SequenceMatcher(None, _bare(name), _bare(exercise.name)).ratio() for name in own}
    best = max(likeness, key=lambda name: likeness[name], default="")
    return best if best and likeness[best] >= _ALIKE else ""


def _bare(name: str) -> str:
    return name.replace("_", "").lower()


def _defined(source: str) -> list[str]:
    return [one or other for one, other in _DEFINED.findall(source)]


def _described(error: BaseException) -> Raised:
    """Type and message, and the line of the cell itself, counted from its first."""
    if isinstance(error, SyntaxError) and type(error.lineno) is int:
        line = error.text.strip() if isinstance(error.text, str) else ""
        message = error.msg if isinstance(error.msg, str) else ""
        return Raised(type(error).__name__, encodable(message), error.lineno, encodable(line))
    lines = [
        (line, frame)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__main__"
    ]
    return replace(named(error), line=lines[0][0] if lines else 0)
