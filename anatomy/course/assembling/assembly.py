"""Everything together: gather, check, compose, write, compare; and what came of it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from anatomy import PACKAGE
from anatomy.course import COURSE
from anatomy.course.assembling import card
from anatomy.course.assembling.agreement import AGREES, NEEDS
from anatomy.course.assembling.compose import AllAnswers, Program
from anatomy.course.assembling.examine import STEP_LIMIT, Step, examine
from anatomy.course.assembling.gather import Gathered, Import, Piece, find_folder, gather
from anatomy.course.assembling.layout import formatted, import_lines, lay_out, listed
from anatomy.course.assembling.writing import marked, refuse_what_is_not_ours, write
from anatomy.engine.course import Notebook
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.notebooks import BadNotebook, is_answer, read, source_file

if TYPE_CHECKING:
    from rich.console import RenderableType


class NoAnswers(UserError):
    """There is nothing to write."""


OnStep = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Entry:
    """What became of one exercise.

    Attributes
    ----------
    status
        ``"right"``; ``"wrong"``: it is in the file, and `why` is what its check says; ``"unchecked"``: it is in the
        file, and `why` says what stopped its check; ``"missing"``: it is not in the file, and `why` is the reason.
    """

    exercise: str
    notebook: Notebook
    status: str
    why: str = ""

    @property
    def number(self) -> str:
        return COURSE.exercise(self.exercise).number


@dataclass(frozen=True)
class ModelComparison:
    """One of the student's models with the library's weights, against the library's.

    Attributes
    ----------
    difference, largest
        The largest difference, and the largest of the library's numbers; None when it came to no comparison.
    lent
        The parts that are the course's.
    why
        Why it came to none.
    """

    model: str
    weights: str = ""
    difference: float | None = None
    largest: float | None = None
    lent: tuple[str, ...] = ()
    why: str = ""

    @property
    def agrees(self) -> bool:
        return self.difference is not None and self.difference <= AGREES

    @property
    def sentence(self) -> str:
        if self.difference is None or self.largest is None:
            return f"Your `{self.model}` could not be compared with the library's: {self.why}."
        gap = f"the largest difference is {self.difference:.1e}, where they reach {self.largest:.3g}"
        if math.isinf(self.difference):
            gap = "some of yours are nan or infinite"
        same = "gives the library's numbers" if self.agrees else "does not give the library's numbers"
        weights = f" with the weights of {self.weights}"
        if self.lent:
            weights = f", with the course's {listed(self.lent)} in it and the weights of {self.weights},"
        return f"Your `{self.model}`{weights} {same}: {gap}."


@dataclass(frozen=True)
class Assembly:
    """What `assemble` did. Shows itself as a card: in a notebook, in a terminal and as plain text.

    Attributes
    ----------
    path, lines
        The file, and how long it is.
    entries
        Every exercise that a file can hold, in the course's order.
    problems
        Slug → why a whole notebook gave nothing.
    notes
        What else is worth knowing, in sentences.
    kept
        The copy of a file that was in the way.
    """

    path: Path
    lines: int
    entries: tuple[Entry, ...]
    comparisons: tuple[ModelComparison, ...]
    problems: dict[str, str]
    notes: tuple[str, ...] = ()
    kept: Path | None = None

    def of(self, *statuses: str) -> list[Entry]:
        return [one for one in self.entries if one.status in statuses]

    @property
    def is_complete(self) -> bool:
        """Whether all answers are in the file and right, and both models agree with the library's."""
        return len(self.of("right")) == len(self.entries) and all(one.agrees for one in self.comparisons)

    def __repr__(self) -> str:
        return card.as_text(self)

    def __rich__(self) -> RenderableType:
        return card.as_rich(self)

    def _repr_html_(self) -> str:
        return card.as_html(self)


def put_together(
    folder: Path | None,
    output: Path,
    *,
    fill: bool = False,
    force: bool = False,
    limit: float = STEP_LIMIT,
    on_step: OnStep = lambda done, total, what: None,
) -> Assembly:
    """Assemble the notebooks of a folder into a file; see `anatomy.course.assembling.assemble`.

    `limit` is in seconds, for each check and comparison; `on_step` is told what was done, and how much of how much.
    """
    notebooks = find_folder(folder, Path.cwd())
    path = output.expanduser().absolute()
    if not force:
        refuse_what_is_not_ours(path)
    gathered = gather(notebooks, _given_cells())
    examined = _Examined(gathered, limit, on_step)
    course = AllAnswers(gathered, fill=fill, ignored=examined.unfinished, undefined=examined.undefined)
    program = course.program()
    if not fill and not program.imports and not any(section.pieces for section in program.sections):
        raise NoAnswers(
            f"No notebook in {notebooks} holds an answer yet. Write one, save its notebook, assemble again."
        )
    entries = tuple(_entries(gathered, program, examined))
    text, was_formatted = formatted(lay_out(program, _remarks(program, entries), _missing(entries, fill)))
    kept = write(whole := marked(text), path)
    comparisons, broken = examined.compare(path, program)
    notes = [*broken, *_notes(program, examined, was_formatted)]
    problems = {
        one.book.slug: why for one in gathered if one.asked and (why := one.problem or _not_begun(one, entries))
    }
    return Assembly(path, whole.count("\n"), entries, comparisons, problems, tuple(notes), kept)


class _Examined:
    """What running the notebooks' definitions and checks showed, each notebook by itself as its student has it."""

    def __init__(self, gathered: list[Gathered], limit: float, on_step: OnStep) -> None:
        self.limit, self.on_step = limit, on_step
        self.defines: dict[Step, Piece | Import] = {}
        self.checks: dict[str, Step] = {}
        steps = [step for one in gathered for step in self._steps(one)]
        self.total, self.done = len(self.checks) + 1 + len(NEEDS), 0
        self.replies = examine(steps, limit=limit, on_step=self._count) if self.checks else {}

    def _steps(self, notebook: Gathered) -> Iterator[Step]:
        slug, program = notebook.book.slug, AllAnswers([notebook], own=False).program()
        for one, name in program.imports.items():
            step = Step("define", (slug, import_lines({one: name})))
            self.defines[step] = one
            yield step
        for section in program.sections:
            for piece in section.pieces:
                step = Step("define", (slug, f"from __future__ import annotations\n{program.text(piece)}"))
                self.defines[step] = piece
                yield step
        defined = _defined(program)
        for exercise in notebook.asked:
            if exercise in defined:
                self.checks[exercise] = Step("check", (slug, exercise))
                yield self.checks[exercise]

    def _count(self, step: Step) -> None:
        if step.job != "define":
            self.done += 1
            self.on_step(self.done, self.total, step.arguments[1])

    @property
    def undefined(self) -> dict[Piece | Import, str]:
        """The definitions and imports that fail, and how."""
        failed = ((one, self.replies[step].get("error")) for step, one in self.defines.items())
        return {one: error for one, error in failed if error}

    @cached_property
    def unfinished(self) -> set[str]:
        """The exercises whose answer is begun but reaches a `raise NotImplementedError` of the stub."""
        failed = {name for one in self.undefined if isinstance(one, Piece) for name in one.binds}
        found = {name for name, step in self.checks.items() if self.replies[step].get("status") == "not attempted"}
        return found - failed

    def verdict(self, exercise: str) -> tuple[str, str]:
        """``"right"``, ``"wrong"`` or ``"unchecked"``, and why."""
        if exercise not in self.checks:
            return "unchecked", "its own notebook does not get so far"
        reply = self.replies[self.checks[exercise]]
        if "error" in reply:
            return "unchecked", reply["error"]
        return ("right", "") if reply["status"] == "right" else ("wrong", reply["headline"])

    def compare(self, path: Path, program: Program) -> tuple[tuple[ModelComparison, ...], list[str]]:
        """All comparisons, and a note when the file can't be imported."""
        own = {name for name, _, _ in _in_file(program)}
        imported = Step("compare", (str(path), "import"))
        steps = {which: Step("compare", (str(path), which)) for which, names in NEEDS.items() if set(names) <= own}
        replies = examine([imported, *steps.values()], limit=self.limit, on_step=self._count)
        for which in NEEDS.keys() - steps:
            self._count(Step("compare", (str(path), which)))
        if error := replies[imported].get("error"):
            why = "the file can't be imported"
            return tuple(ModelComparison(names[0], why=why) for names in NEEDS.values()), [
                f"{why.capitalize()}: {error}."
            ]
        found = []
        for which, names in NEEDS.items():
            model, lacking = names[0], program.lacking_for(names)
            lent = tuple(f"`{one.name}`" for one in lacking if one.stand_in in program.imports)
            needed = [f"`{one.name}`" for one in lacking if one.stand_in not in program.imports]
            if which not in steps:
                absent = [f"`{name}`" for name in names if name not in own]
                found.append(ModelComparison(model, why=f"{listed(absent)} {_is(absent)} missing"))
            elif "difference" in (reply := replies[steps[which]]):
                found.append(ModelComparison(model, reply["weights"], reply["difference"], reply["largest"], lent))
            else:
                why = f"it needs {listed(needed)}, which {_is(needed)} missing" if needed else reply["error"]
                found.append(ModelComparison(model, why=why))
        return tuple(found), []


# ---------------------------------------------------------------------------------------------- what to say

_NOT_WRITTEN = "not written yet"


def _entries(gathered: list[Gathered], program: Program, examined: _Examined) -> Iterator[Entry]:
    kept = {name: piece for name, _, piece in _in_file(program)}
    imported = {name: one for one, name in program.imports.items()}
    for notebook in gathered:
        for exercise in notebook.asked:
            own = exercise in imported and not imported[exercise].from_reference
            if own or (exercise in kept and kept[exercise].book == notebook.book):
                status, why = examined.verdict(exercise)
            else:
                status, why = "missing", _why_missing(notebook, exercise, program, examined)
            yield Entry(exercise, notebook.book, status, why)


def _not_begun(notebook: Gathered, entries: tuple[Entry, ...]) -> str:
    """A word on a notebook without any answer."""
    reasons = {(one.status, one.why) for one in entries if one.notebook == notebook.book}
    return "no answer yet" if reasons == {("missing", _NOT_WRITTEN)} else ""


def _why_missing(notebook: Gathered, exercise: str, program: Program, examined: _Examined) -> str:
    found = notebook.answer(exercise)
    if notebook.problem:
        return notebook.problem
    if exercise in examined.unfinished:
        return "not finished yet: it still raises NotImplementedError"
    if isinstance(found, Import):
        return "the notebook imports the course's answer"
    if isinstance(found, Piece):
        if needed := program.left_out.get(found):
            return f"it needs `{needed}`, which is missing"
        return f"its definition stops with {examined.undefined[found]}"
    if exercise in notebook.unreadable:
        return f"Python can't read {notebook.unreadable[exercise]}"
    if exercise in notebook.made_otherwise:
        return f"cell {notebook.made_otherwise[exercise]} makes it inside another statement: define it by itself"
    return _NOT_WRITTEN


def _remarks(program: Program, entries: tuple[Entry, ...]) -> dict[Piece, str]:
    """What the file says above a piece."""
    said: dict[Piece, list[str]] = {}
    doubtful = {one.exercise: one for one in entries if one.status in ("wrong", "unchecked")}
    for name, _, piece in _in_file(program):
        sentences = said.setdefault(piece, [])
        if one := doubtful.get(name):
            how = "Not right yet" if one.status == "wrong" else "Not checked"
            sentences.append(f"{how} ({one.number}): {one.why.rstrip('.')}.")
        elif piece.given and not sentences:
            sentences.append(f"Given in notebook {piece.book.number:02d}.")
    for piece, old, _ in program.renames:
        said[piece].append(f"In notebook {piece.book.number:02d} it is called {old}; {_other(program, old)}.")
    return {piece: " ".join(sentences) for piece, sentences in said.items() if sentences}


def _other(program: Program, name: str) -> str:
    """What else has this name."""
    for section in program.sections:
        if name in section.gathered.asked:
            return f"an exercise of notebook {section.gathered.book.number:02d} has that name, too"
    for new, _, piece in _in_file(program):
        if new == name:
            return f"something of notebook {piece.book.number:02d} has that name, too"
    return "something that is imported, or Python's own, has that name, too"


def _missing(entries: tuple[Entry, ...], fill: bool) -> dict[Notebook, list[str]]:
    """What the file says where answers are missing."""
    reasons: dict[Notebook, dict[str, list[str]]] = {}
    for one in entries:
        if one.status == "missing":
            reasons.setdefault(one.notebook, {}).setdefault(one.why, []).append(one.exercise)
    what = "Imported from the course" if fill else "Missing"
    return {
        book: [f"{what}: {listed(names)} ({why})." for why, names in by_reason.items()]
        for book, by_reason in reasons.items()
    }


def _notes(program: Program, examined: _Examined, was_formatted: bool) -> Iterator[str]:
    kept = {piece for section in program.sections for piece in section.pieces}
    for piece, old, new in sorted(program.renames, key=lambda item: (item[0].book.number, item[0].place)):
        yield f"`{old}` of notebook {piece.book.number:02d} is `{new}` in the file: {_other(program, old)}."
    needed: dict[str, list[str]] = {}
    for lacking, users in program.lacking.items():
        for user in users if lacking.stand_in not in program.imports else ():
            needed.setdefault(user, []).append(f"`{lacking.name}`")
    for user, names in needed.items():
        yield f"`{user}` needs {listed(names)}, which {_is(names)} missing."
    for (slug, name), users in program.unknown.items():
        notebook = next(section.gathered for section in program.sections if section.gathered.book.slug == slug)
        yield f"{listed(f'`{user}`' for user in users)} {_read(users)} `{name}`, which {_origin(notebook, name)}."
    for one, error in examined.undefined.items():
        if isinstance(one, Import):
            yield f"`{one.name}` of `{one.module}` can't be imported here: {error}."
        elif not one.binds & set(examined.checks):
            what = listed(f"`{name}`" for name in sorted(one.binds)) or f"an addition to `{one.adds_to}`"
            yield f"Left out of {one.book.slug}, cell {one.cell}: {what}; its definition stops with {error}."
    for piece in sorted(kept, key=lambda one: (one.book.number, one.place)):
        if re.search(rf"{re.escape(COURSE.package)}\.\w+\.right\b", piece.text):
            yield f"{listed(f'`{name}`' for name in sorted(piece.binds))} imports the course's answers inside itself."
    if not was_formatted:
        yield "The file is not formatted: ruff is not installed (`pip install ruff`)."


def _origin(notebook: Gathered, name: str) -> str:
    if name in notebook.made_otherwise:
        cell = notebook.made_otherwise[name]
        return (
            f"cell {cell} of {notebook.book.slug} makes inside a loop or the like, so it is not in the file: pass it in"
        )
    if name in notebook.unreadable:
        return f"is not in the file: Python can't read {notebook.unreadable[name]}"
    if name == "get_ipython":
        return "only a notebook has: a line beginning with % or ! is inside"
    return f"nothing in {notebook.book.slug} defines"


def _in_file(program: Program) -> Iterator[tuple[str, str, Piece]]:
    """Each name that the file's pieces define, the name that it has in its notebook, and the piece."""
    for section in program.sections:
        for piece in section.pieces:
            for old in sorted(piece.binds):
                yield program.names[piece, old], old, piece


def _defined(program: Program) -> set[str]:
    return {name for name, _, _ in _in_file(program)} | set(program.imports.values())


def _given_cells() -> dict[str, frozenset[str]]:
    """Slug → the sources of the course's own cells; empty where the masters are not at hand."""
    root, given = PACKAGE.parent, {}
    for book in COURSE.notebooks:
        try:
            cells = read(source_file(root, book.slug)).cells
        except BadNotebook:
            continue
        given[book.slug] = frozenset(
            cell.source for cell in cells if cell.cell_type == "code" and not is_answer(cell)
        )  # fmt: skip
    return given


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _read(names: Sequence[str]) -> str:
    return "reads" if len(names) == 1 else "read"
