"""Answers as text, as a student's cell would hold them: right ones, varied ones and mistaken ones, with their marks.

They are taken from the modules that define them: the object's own source, called as the exercise is, preceded by the
imports and helpers it uses.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cache
from pprint import pformat
from textwrap import dedent

from anatomy.engine.course import Course, Notebook
from anatomy.engine.exercise import Exercise
from anatomy.engine.mistakes import Mistake


@dataclass(frozen=True)
class Answer:
    """The text of one answer.

    Attributes
    ----------
    name
        Where it comes from: ``"reference"``, a variant's or a mistake's name.
    source
        What the answer cell holds.
    loses
        The properties that it breaks; none for a right answer.
    uses
        Other exercises of the notebook that it calls by name.
    """

    exercise: str
    name: str
    source: str
    loses: tuple[str, ...] = ()
    uses: frozenset[str] = field(default_factory=frozenset)

    @property
    def right(self) -> bool:
        return not self.loses

    def points(self, exercise: Exercise) -> int:
        return sum(points for name, points in exercise.properties.items() if name not in self.loses)


@dataclass(frozen=True)
class AnswerBank:
    """All answers to one notebook's exercises: exercise → answers, the reference first among the right ones."""

    right: Mapping[str, list[Answer]]
    mistaken: Mapping[str, list[Answer]]

    def alone(self, answer: Answer) -> str:
        """The answer's text with right versions, under names of their own, of the exercises that it calls."""
        return _alone(answer, {name: answers[0] for name, answers in self.right.items()})


def _alone(answer: Answer, right: Mapping[str, Answer]) -> str:
    parts, source = [], answer.source
    for other in sorted(answer.uses):
        own = f"_own_{other}"
        parts.append(_renamed(_alone(right[other], right), other, own))
        source = _renamed(source, other, own)
    return "\n\n\n".join([*parts, source])


def _renamed(source: str, name: str, new: str) -> str:
    """The source with another name for what is called `name`; attributes of that name stay (``nn.LayerNorm``)."""
    return re.sub(rf"(?<![\w.]){name}\b", new, source)


@dataclass(frozen=True)
class StandIn:
    """A right answer that needs nothing of its notebook.

    Attributes
    ----------
    source
        Its text, with imports and all that it calls.
    shows
        The exercises whose right answers can be read off it: its own, and those it calls.
    """

    source: str
    shows: frozenset[str]


@cache
def stand_ins(course: Course, book: Notebook) -> Mapping[str, StandIn]:
    """The reference answers to a notebook's exercises, except quizzes: exercise → its stand-in."""
    module = _Module(course, book, "right")
    asked = [name for name, exercise in course.exercises(book).items() if exercise.kind != "quiz"]
    right = {name: answer for name in asked if (answer := module.answer(name, name, "reference"))}

    def shown(name: str) -> frozenset[str]:
        return frozenset({name}).union(*map(shown, right[name].uses))

    return {name: StandIn(_alone(answer, right), shown(name)) for name, answer in right.items()}


@cache
def answer_bank(course: Course, book: Notebook) -> AnswerBank:
    """The answers to a notebook's exercises that reference, variants and mistakes offer."""
    asked = course.exercises(book)
    references = _Module(course, book, "right")
    written = _Module(course, book, "wrong", references)
    variants = _Module(course, book, "also_right", references)
    right: dict[str, list[Answer]] = {}
    mistaken: dict[str, list[Answer]] = {}
    for name, exercise in asked.items():
        if exercise.kind == "quiz":
            right[name] = [Answer(name, "reference", _quiz(name, exercise.right))]
        else:
            right[name] = [first] if (first := references.answer(name, name, "reference")) else []
            for variant in variants.defined:
                if variant.startswith(f"{name}__") and (other := variants.answer(name, variant, variant, right=first)):
                    right[name].append(other)
        mistaken[name] = []
        for wrong in exercise.mistakes.values():
            if exercise.kind == "quiz":
                mistaken[name].append(Answer(name, wrong.name, _quiz(name, wrong.answer), wrong.breaks))
            elif wrong.edits:
                mistaken[name].append(references.edited(wrong))
            elif answer := written.answer(name, wrong.name, wrong.name, wrong.breaks, right[name][0]):
                mistaken[name].append(answer)
    return AnswerBank(right, mistaken)


def _quiz(name: str, answers: Mapping[str, str]) -> str:
    return f"{name} = {pformat(dict(answers), sort_dicts=False, width=100)}"


class _Module:
    """A module's text, from which single definitions can be cut out together with what they need."""

    def __init__(self, course: Course, book: Notebook, part: str, reference: _Module | None = None) -> None:
        self.reference, path = reference, course.file(book, part)
        self.text = path.read_text(encoding="utf-8") if path.is_file() else ""
        self.lines = self.text.split("\n")
        self.asked = set(course.exercises(book))
        self.hidden = course.module(book, "right")
        self.defined: dict[str, ast.stmt] = {}
        for node in _statements(ast.parse(self.text)):
            for name in _names_bound(node):
                self.defined[name] = node

    def answer(
        self, exercise: str, definition: str, title: str, loses: tuple[str, ...] = (), right: Answer | None = None
    ) -> Answer | None:
        """The definition (a function, a class, an assigned lambda) as an answer to the exercise.

        `right` is the answer to use where the definition calls the exercise's own reference and spoils its result.
        None when the definition needs what a kernel does not offer.
        """
        node = self.defined.get(definition)
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Assign)):
            return None
        uses: set[str] = set()
        before = self._needed(node, uses, {definition})
        source = self._cut(node, uses)
        if (lent := sorted(uses - self.asked)) and self.reference:  # the reference's helpers, which are no exercises
            uses &= self.asked
            for name in lent:
                before = [*self.reference.helper(name, uses), *before]
        if exercise in uses and definition != exercise:
            if right is None:
                return None
            own = f"_own_{exercise}"
            before.append(_renamed(right.source, exercise, own))
            source = _renamed(source, exercise, own)
            uses |= right.uses
        source = _renamed(source, definition, exercise)
        if re.search(rf"{re.escape(self.hidden)}\b", "\n".join([*before, source])):
            return None
        return Answer(exercise, title, _joined(before, source), tuple(loses), frozenset(uses - {exercise}))

    def edited(self, wrong: Mistake) -> Answer:
        """The answer that this mistake makes of the module's own."""
        uses: set[str] = set()
        before = self._needed(ast.parse(wrong.source).body[-1], uses, {wrong.exercise})
        return Answer(wrong.exercise, wrong.name, _joined(before, wrong.source), wrong.breaks, frozenset(uses))

    def helper(self, name: str, uses: set[str]) -> list[str]:
        """A definition that is no exercise, after what it needs."""
        node = self.defined[name]
        return [*self._needed(node, uses, {name}), self._cut(node, uses)]

    def _needed(self, node: ast.AST, uses: set[str], seen: set[str]) -> list[str]:
        """The module's imports, constants and helpers that a definition uses, in the module's order."""
        wanted: dict[int, str] = {}
        for name in sorted({inner.id for inner in ast.walk(_undecorated(node)) if isinstance(inner, ast.Name)} - seen):
            if (source := self.defined.get(name)) is None:
                continue
            seen.add(name)
            if isinstance(source, ast.ImportFrom) and source.module == self.hidden:
                alias = next(alias for alias in source.names if (alias.asname or alias.name) == name)
                uses.add(alias.name)
                if alias.asname:
                    wanted[source.lineno * 1000 + len(wanted)] = f"{alias.asname} = {alias.name}"
            elif isinstance(source, (ast.Import, ast.ImportFrom)):
                wanted[source.lineno * 1000 + len(wanted)] = _one_import(source, name)
            elif name in self.asked:
                uses.add(name)
            else:
                for text in self._needed(source, uses, seen):
                    wanted[source.lineno * 1000 - 500 + len(wanted)] = text
                wanted[source.lineno * 1000 + len(wanted)] = self._cut(source, uses)
        return list(dict.fromkeys(wanted[key] for key in sorted(wanted)))

    def _cut(self, node: ast.stmt, uses: set[str]) -> str:
        """The text of a definition without its decorator `mistake`, its docstring and hidden imports."""
        lines = dict(enumerate(self.lines[node.lineno - 1 : node.end_lineno], node.lineno))
        for inner in ast.walk(node):
            if isinstance(inner, ast.ImportFrom) and inner.module == self.hidden:
                uses.update(alias.name for alias in inner.names)
                indent = " " * inner.col_offset
                for number in range(inner.lineno, (inner.end_lineno or inner.lineno) + 1):
                    lines[number] = ""
                renamed = [f"{alias.asname} = {alias.name}" for alias in inner.names if alias.asname]
                lines[inner.lineno] = indent + ("; ".join(renamed) or "pass")
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            first = node.body[0]
            if len(node.body) > 1 and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                for number in range(first.lineno, (first.end_lineno or first.lineno) + 1):
                    lines.pop(number)
            kept = [ast.get_source_segment(self.text, item) for item in _decorators(node)]
            return "\n".join([*(f"@{item}" for item in kept), dedent("\n".join(lines.values()))])
        return dedent("\n".join(lines.values()))


def _statements(module: ast.Module) -> Iterator[ast.stmt]:
    """The statements of a module, and those of its blocks of mistakes (`Mistakes.of`)."""
    for node in module.body:
        is_block = isinstance(node, ast.FunctionDef) and any(_is_of(item, "of") for item in node.decorator_list)
        yield from node.body if isinstance(node, ast.FunctionDef) and is_block else [node]


def _is_of(decorator: ast.expr, method: str) -> bool:
    """Whether this is ``@MISTAKES.method(…)``."""
    return (
        isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute) and decorator.func.attr == method
    )


def _undecorated(node: ast.AST) -> ast.AST:
    """The definition without the decorator that makes it a mistake."""
    if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node
    bare = copy(node)
    bare.decorator_list = _decorators(node)
    return bare


def _decorators(node: ast.FunctionDef | ast.ClassDef) -> list[ast.expr]:
    return [item for item in node.decorator_list if not _is_of(item, "mistake")]


def _one_import(node: ast.Import | ast.ImportFrom, name: str) -> str:
    """The import statement that binds this one name."""
    alias = next(alias for alias in node.names if (alias.asname or alias.name.split(".")[0]) == name)
    what = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
    return f"from {node.module} import {what}" if isinstance(node, ast.ImportFrom) else f"import {what}"


def _names_bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        if getattr(node, "module", "") != "__future__":
            yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id


def _joined(before: list[str], source: str) -> str:
    imports = [text for text in before if text.startswith(("import ", "from "))]
    helpers = [text for text in before if text not in imports]
    return "\n\n\n".join(["\n".join(imports), *helpers, source]).strip("\n")
