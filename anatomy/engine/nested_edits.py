"""Two edits of one expression, made at once.

One does something more with what the other makes of it: ``weight[ids]`` becomes ``weight[ids] * D**0.5`` by one and
``weight[ids].masked_fill(ids == 0, 0)`` by the other, ``(weight[ids] * D**0.5).masked_fill(ids == 0, 0)`` by both. Or
they change different words: ``a * t**2 + b`` becomes ``b * t**2 + a`` and ``a * t + b``, and ``b * t + a`` by both.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache


@dataclass(frozen=True)
class Edit:
    """Characters `start` to `end` of the right answer's source become `new`."""

    start: int
    end: int
    new: str


def one_inside_the_other(source: str, one: Sequence[Edit], two: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits of both, where some of them overlap; none if neither of the two keeps what the other one changes."""
    meeting = [edit for edit, others in _each(one, two) if any(_overlap(edit, other) for other in others)]
    span = _expression_around(source, min(edit.start for edit in meeting), max(edit.end for edit in meeting))
    if span is None:
        return ()
    start, end = span
    texts = [_made_of(source, start, end, edits) for edits in (one, two)]
    apart = [edit for edit in (*one, *two) if edit.end <= start or edit.start >= end]
    if any(_overlap(edit, other) for edit in apart for other in apart if edit is not other):
        return ()
    for outer, inner in (texts, reversed(texts)):
        if outer and inner and (both := _put_in(outer, source[start:end], inner)):
            return tuple(sorted([*apart, Edit(start, end, both)], key=lambda edit: edit.start))
    return ()


def small_edits(source: str, edits: Iterable[Edit]) -> Iterator[Edit]:
    """The same edits, each in parts: what stays the same between two of its parts has a word in it."""
    for edit in edits:
        old, new = _words(source[edit.start : edit.end]), _words(edit.new)
        places = [edit.start]
        for word in old:
            places.append(places[-1] + len(word))
        parts: list[list[int]] = []  # first and last word of the old text, and of the new one
        for kind, *part in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind == "equal":
                continue
            if parts and not any(word.isalnum() for word in old[parts[-1][1] : part[0]]):
                part = [parts[-1][0], part[1], parts[-1][2], part[3]]
                parts.pop()
            parts.append(part)
        for first, last, first_new, last_new in parts:
            yield Edit(places[first], places[last], "".join(new[first_new:last_new]))


def _words(text: str) -> list[str]:
    """A program's text in words, numbers with their sign, and single other characters."""
    return re.findall(r"(?<![\w)\]])-?\d[\w.]*|\w+|\W", text)


def _each(one: Sequence[Edit], two: Sequence[Edit]) -> Iterable[tuple[Edit, Sequence[Edit]]]:
    return [*((edit, two) for edit in one), *((edit, one) for edit in two)]


def _overlap(one: Edit, two: Edit) -> bool:
    return one.start < two.end and two.start < one.end


def _expression_around(source: str, start: int, end: int) -> tuple[int, int] | None:
    """The smallest expression that holds these characters; ``return`` before it need not be in it."""
    start += len("return ") if source.startswith("return ", start) else 0
    holding = [(first, last) for first, last in _expressions(source) if first <= start and end <= last]
    return min(holding, key=lambda span: span[1] - span[0], default=None)


@cache
def _expressions(source: str) -> list[tuple[int, int]]:
    """Where the expressions of a program begin and end."""
    begins, lines = [0], source.split("\n")
    for line in lines:
        begins.append(begins[-1] + len(line) + 1)

    def at(line: int, column: int) -> int:
        return begins[line - 1] + len(lines[line - 1].encode()[:column].decode())

    return [
        (at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.expr)
    ]


def _made_of(source: str, start: int, end: int, edits: Sequence[Edit]) -> str:
    """What some edits make of an expression; empty if they also change what stands around it."""
    text = source[start:end]
    for edit in sorted(edits, key=lambda edit: -edit.start):
        if edit.end <= start or edit.start >= end:
            continue
        before = source[edit.start : max(edit.start, start)]
        if edit.end > end or not edit.new.startswith(before):
            return ""
        text = text[: max(edit.start - start, 0)] + edit.new[len(before) :] + text[edit.end - start :]
    return text


def _put_in(outer: str, old: str, new: str) -> str:
    """An expression with `new` wherever `old` stands in it; empty where that is nowhere, or makes no program."""
    try:
        tree, was, becomes = (ast.parse(text, mode="eval") for text in (outer, old, new))
    except SyntaxError:
        return ""
    put = _Put(ast.dump(was.body), becomes.body)
    put.visit(tree)
    return ast.unparse(tree) if put.count else ""


class _Put(ast.NodeTransformer):
    def __init__(self, old: str, new: ast.expr) -> None:
        self.old, self.new, self.count = old, new, 0

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and ast.dump(node) == self.old:
            self.count += 1
            return self.new
        return self.generic_visit(node)
