"""Runs a student's code in an interpreter of its own: reads a list of steps, and answers each with one line of JSON.

Started by `anatomy.course.assembling.examine` as ``python -m anatomy.course.assembling.runner``. It runs as the person
who asked for it, as a notebook does; never for marks.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from anatomy.course.checkpoints import CheckpointError
from anatomy.engine.typed import typed

Reply = dict[str, Any]

NAME = "my_transformer"


class _Notebooks:
    """A module for each notebook, in which its definitions are made one by one."""

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}

    def define(self, slug: str, text: str) -> Reply:
        module = self.modules.setdefault(slug, ModuleType(NAME))
        sys.modules[NAME] = module  # what looks up a class's module finds this one
        exec(compile(text, f"<{slug}>", "exec"), vars(module))
        return {}

    def check(self, slug: str, exercise: str) -> Reply:
        """The verdict of the exercise's own check, in the notebook's namespace."""
        from anatomy.course import COURSE
        from anatomy.engine.cards import headline
        from anatomy.engine.checking.looking import look_in_notebook
        from anatomy.engine.judging.expectations import remembering
        from anatomy.engine.judging.judge import judge
        from anatomy.engine.observing.surroundings import as_at_start

        module = self.modules.setdefault(slug, ModuleType(NAME))
        sys.modules[NAME] = module
        asked, expectations = COURSE.exercise(exercise), remembering()
        with as_at_start():
            seen = look_in_notebook(asked, vars(module), expectations)
            verdict = judge(asked, seen, expectations_of=expectations)
        return {"status": verdict.status, "headline": headline(verdict)}


def _load(path: str) -> ModuleType:
    """The assembled file, imported as ``import my_transformer`` would."""
    spec = importlib.util.spec_from_file_location(NAME, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    return module


def _compare(path: str, which: str) -> Reply:
    from anatomy.course.assembling import agreement

    return agreement.COMPARISONS[which](_load(path))


def _stopped(error: BaseException, path: str) -> str:
    """What an error says, and which line of the assembled file raised it."""
    said = [] if isinstance(error, SystemExit) else [line.strip() for line in str(error).strip().splitlines()]
    if isinstance(error, CheckpointError):
        return f"{said[0]} `{typed('doctor')}` says how to get them."
    words = " ".join([f"{type(error).__name__}:" if said else type(error).__name__, *said[:2]]).rstrip(".")
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if path and frame.filename == path]
    return f"{words} (line {lines[-1]} of {Path(path).name})" if lines else words


def main() -> None:
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what student code prints goes elsewhere
    sys.argv = [NAME]

    def say(reply: Mapping[str, Any]) -> None:
        print(json.dumps(reply), file=out, flush=True)

    steps = json.load(sys.stdin)
    import torch  # noqa: F401
    import transformers  # noqa: F401

    import anatomy.engine.checking.looking
    import anatomy.engine.judging.judge  # noqa: F401

    say({"ready": True})
    notebooks = _Notebooks()
    do: dict[str, Callable[..., Reply]] = {"define": notebooks.define, "check": notebooks.check, "compare": _compare}
    for step in steps:
        job, arguments = step["job"], step["arguments"]
        try:
            reply = do[job](*arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit, too: student code may call exit()
            path = str(Path(arguments[0])) if job == "compare" else ""
            reply = {"error": _stopped(error, path)}
        say(reply)


if __name__ == "__main__":
    main()
