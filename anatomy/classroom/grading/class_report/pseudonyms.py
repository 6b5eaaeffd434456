"""Numbers in place of names, the same in every report on a course."""

from __future__ import annotations

import ast
import contextlib
import json
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from anatomy.classroom.grading.class_report.results import Record
from anatomy.classroom.grading.errors import in_brief
from anatomy.engine.errors import UserError

KEPT_IN = Path(".anatomy") / "pseudonyms.json"
"""Who has which number. It says who is who, so it stays with the gradebook."""
_NAMES_A_FILE = re.compile(r"[/\\]|\.(?!\d+\b)\w{1,5}\b")


def without_names(records: list[Record], root: Path) -> list[Record]:
    """The records with numbers for names.

    What a student has written loses its comments and docstrings; a reason that names a file loses that. What else
    somebody may write into an answer about himself nobody can know.
    """
    numbers = _numbers({one.student for one in records}, root / KEPT_IN)
    hide = _hiding({name: numbers[one.student] for one in records for name in (one.student, *one.names)})
    return sorted((_hidden(one, numbers[one.student], hide) for one in records),
                  key=lambda one: (one.notebook, one.student))  # fmt: skip


def _numbers(students: Iterable[str], path: Path) -> dict[str, str]:
    """Student → "student 07". Who is new gets the next numbers, in an order that no class list has."""
    numbers: dict[str, int] = {}
    if path.is_file():
        try:
            numbers = {str(name): int(number) for name, number in json.loads(path.read_text("utf-8")).items()}
        except (OSError, ValueError, AttributeError) as error:
            raise UserError(f"{path} is damaged, and says who has which number. Restore it, or delete it: then all get "
                            "new numbers.") from error  # fmt: skip
    new = sorted(set(students) - numbers.keys())
    random.SystemRandom().shuffle(new)
    if new:
        numbers.update({name: number for number, name in enumerate(new, 1 + max(numbers.values(), default=0))})
        try:
            path.parent.mkdir(exist_ok=True)
            fresh = path.with_name(path.name + ".tmp")
            fresh.touch(0o600)
            fresh.write_text(json.dumps(numbers, indent=1), "utf-8")
            fresh.replace(path)
        except OSError as error:
            raise UserError(
                f"{path} could not be written ({in_brief(error)}); it keeps who has which number."
            ) from error
    return {name: f"student {number:02d}" for name, number in numbers.items()}


def _hiding(known: dict[str, str]) -> Callable[[str], str]:
    """A function that takes known names out of a text."""
    by_name = {name.casefold(): number for name, number in known.items() if len(name) > 1}
    longest_first = "|".join(map(re.escape, sorted(by_name, key=len, reverse=True)))
    pattern = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)", re.IGNORECASE)
    return lambda text: pattern.sub(lambda found: by_name.get(found[0].casefold(), "somebody"), text)


def _hidden(one: Record, number: str, hide: Callable[[str], str]) -> Record:
    def said(reason: str) -> str:
        if _NAMES_A_FILE.search(reason.replace(f"{one.notebook}.ipynb", "")):
            return "The reason names a file; it is in the report with names."
        return hide(reason)

    marks = tuple(replace(mark, said=hide(mark.said)) for mark in one.result.marks)
    notebook = "(a file)" if one.notebook.endswith(".ipynb") else one.notebook  # a file's name may hold its author's
    result = replace(
        one.result, student=number, assignment=notebook, reasons=tuple(map(said, one.result.reasons)), marks=marks
    )
    answers = {name: hide(_without_comments(source)) for name, source in one.answers.items()}
    return replace(one, result=result, answers=answers, open=said(one.open), names=())


def _without_comments(source: str) -> str:
    """The program alone, or "" when it is none."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
                body = [one for one in node.body if not (isinstance(one, ast.Expr) and _is_text(one.value))]
                node.body = body or ([ast.Pass()] if node.body else [])
        return ast.unparse(ast.fix_missing_locations(tree))
    return ""


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
