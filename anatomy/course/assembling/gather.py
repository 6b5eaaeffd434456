"""What a student's notebook defines: its statements one by one, each with the comments around it.

Nothing is run. A cell that Python can't read costs what it would define and nothing more.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from anatomy.course import COURSE
from anatomy.course.assembling.names import Use, uses
from anatomy.engine.checking.headless import CALL
from anatomy.engine.course import Notebook
from anatomy.engine.errors import UserError
from anatomy.engine.exercise import Exercise
from anatomy.engine.notebook_files.notebooks import BEGIN, END, BadNotebook, grade_id, is_answer, read

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, *_SIMPLE)
_PYTHON_MAGIC = re.compile(r"%%(time|timeit|capture|prun|python3?)\b")
_NOT_THEIRS = re.compile(rf"^\s*#\s*YOUR CODE HERE\s*$|{re.escape(BEGIN)}|{re.escape(END)}")
"""Lines that the course put into an answer cell."""
_NAMED = re.compile(r"^(?:(?:async\s+)?def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)


class NoNotebooks(UserError):
    """There is nothing to assemble."""


@dataclass(frozen=True)
class Import:
    """One imported name: ``from module import attribute as name``; without an attribute, ``import module as name``."""

    module: str
    attribute: str
    name: str

    @property
    def from_reference(self) -> str:
        """The notebook's folder of whose right answers this is one, or an empty string."""
        package, _, part = self.module.rpartition(".")
        return package.removeprefix(f"{COURSE.package}.") if part == "right" else ""


@dataclass(eq=False)
class Piece:
    """A statement of a notebook's top level that defines something.

    Attributes
    ----------
    cell, place
        The cell's number, counted from 1, and the statement's place in the notebook.
    text
        The statement, with the comments above it and at its end.
    uses
        The names that it binds and reads.
    adds_to
        The name whose attribute or item it sets, as ``Encoder.forward = forward`` does; mostly empty.
    given
        Whether its cell is the course's, unchanged.
    """

    book: Notebook
    cell: int
    place: int
    node: ast.stmt
    text: str
    uses: list[Use]
    adds_to: str = ""
    given: bool = False

    @cached_property
    def binds(self) -> frozenset[str]:
        return frozenset(use.name for use in self.uses if use.binds)

    @property
    def is_stub(self) -> bool:
        """Whether it is as the student edition has it: every function in it only raises NotImplementedError."""
        if not isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return False
        inner = self.node.body if isinstance(self.node, ast.ClassDef) else [self.node]
        functions = [item for item in inner if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))]
        return bool(functions) and all(_is_empty(function.body) for function in functions)

    @property
    def is_definition(self) -> bool:
        return not isinstance(self.node, _SIMPLE)


@dataclass
class Gathered:
    """One notebook: what it defines, in order, and what of it can't be read.

    Attributes
    ----------
    imports
        Place and import of each imported name.
    checks
        Exercise → the place of its check.
    unreadable
        Name → why the cell that would define it can't be read.
    made_otherwise
        Name → the number of a cell that binds it by a loop, a `with` or the like: no statement that can be taken alone.
    """

    book: Notebook
    pieces: list[Piece] = field(default_factory=list)
    imports: list[tuple[int, Import]] = field(default_factory=list)
    checks: dict[str, int] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    made_otherwise: dict[str, int] = field(default_factory=dict)
    problem: str = ""
    """Why the whole notebook gives nothing."""

    @property
    def asked(self) -> dict[str, Exercise]:
        """The exercises that a file can hold: functions and classes."""
        return {name: item for name, item in COURSE.exercises(self.book).items() if item.kind != "quiz"}

    def bindings(self, name: str) -> list[tuple[int, Piece | Import]]:
        """All that this name is bound to, in order."""
        return self._by_name.get(name, [])

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[int, Piece | Import]]]:
        found: list[tuple[int, str, Piece | Import]] = [(place, one.name, one) for place, one in self.imports]
        found += [(piece.place, name, piece) for piece in self.pieces for name in piece.binds]
        by_name: dict[str, list[tuple[int, Piece | Import]]] = {}
        for place, name, one in sorted(found, key=lambda item: item[0]):
            by_name.setdefault(name, []).append((place, one))
        return by_name

    def answer(self, exercise: str) -> Piece | Import | None:
        """What its check sees when the notebook is run from top to bottom; if that is a stub, a later answer.

        None when nothing has this name, or a stub only.
        """
        found = self.bindings(exercise)
        check = self.checks.get(exercise, math.inf)
        before = [one for place, one in found if place < check and not _stub(one)]
        after = [one for place, one in found if place > check and not _stub(one)]
        return (before or after)[-1] if before or after else None

    def look_up(self, name: str, reader: Piece, late: bool) -> Piece | Import | None:
        """What `reader` finds under this name, early or late; late is when the next check is run."""
        found = self.bindings(name)
        earlier = [one for place, one in found if place < reader.place]
        if name in self.asked and (late or not earlier or _stub(earlier[-1])):
            return self.answer(name)
        if not late:
            return earlier[-1] if earlier else None
        check = min((place for place in self.checks.values() if place > reader.place), default=None)
        by_then = [one for place, one in found if check is None or place < check]
        return by_then[-1] if by_then else found[0][1] if found else None

    def additions(self, name: str, base: Piece) -> list[Piece]:
        """Statements that set attributes or items of what `base` defines, up to where the name is bound anew."""
        later = [place for place, _ in self.bindings(name) if place > base.place]
        end = min(later, default=None)
        return [
            one for one in self.pieces
            if one.adds_to == name and one.place > base.place and (end is None or one.place < end)
        ]  # fmt: skip


def find_folder(wanted: Path | None, here: Path) -> Path:
    """The folder that holds the notebooks' folders: the one named, or the nearest to `here`.

    Raises
    ------
    NoNotebooks
        When there is none.
    """
    places = (wanted, wanted / "notebooks") if wanted else (here, here.parent, here / "notebooks")
    for folder in places:
        if any(notebook_file(folder, book) for book in COURSE.notebooks):
            return folder.resolve()
    first = COURSE.notebooks[0].slug
    raise NoNotebooks(
        f"No notebooks of this course in {places[0]}. Name the folder that holds {first}/{first}.ipynb and the others."
    )


def notebook_file(folder: Path, book: Notebook) -> Path | None:
    """This notebook's file in the folder, if there is one."""
    path = folder / book.slug / f"{book.slug}.ipynb"
    return path if path.is_file() else None


def gather(folder: Path, given: dict[str, frozenset[str]] | None = None) -> list[Gathered]:
    """What the notebooks in this folder define, in the course's order; a missing notebook defines nothing.

    Parameters
    ----------
    given
        Slug → the sources of the cells that the course gives, to tell them from a student's.
    """
    gathered = []
    for book in COURSE.notebooks:
        path = notebook_file(folder, book)
        if path is None:
            gathered.append(Gathered(book, problem="not in the folder"))
            continue
        try:
            gathered.append(_statements(book, read(path).cells, (given or {}).get(book.slug, frozenset())))
        except BadNotebook as error:
            gathered.append(Gathered(book, problem=f"can't be read as a notebook ({_reason(error)})"))
    return gathered


def _reason(error: BadNotebook) -> str:
    return str(error).partition(" cannot be read as a notebook: ")[2]


def _statements(book: Notebook, cells: Iterable[NotebookNode], given: Container[str]) -> Gathered:
    found = Gathered(book)
    place = 0
    for number, cell in enumerate(cells, 1):
        if cell.cell_type != "code":
            continue
        if (match := CALL.search(cell.source)) and match[1] in found.asked:
            place += 1
            found.checks.setdefault(match[1], place)
            continue
        source = _as_python(cell.source)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            names = {grade_id(cell), *(one or other for one, other in _NAMED.findall(cell.source))} - {""}
            found.unreadable |= dict.fromkeys(names, _syntax(number, error))
            continue
        texts = _texts(tree.body, source, keep_end=is_answer(cell))
        for node, text in zip(tree.body, texts, strict=True):
            place += 1
            _take(found, Piece(book, number, place, node, text, uses(node), given=cell.source in given))
    return found


def _as_python(source: str) -> str:
    """A cell without what only IPython understands. No line moves."""
    first, _, rest = source.lstrip("\n").partition("\n")
    if _PYTHON_MAGIC.match(first):
        source = "\n" + rest
    elif first.startswith("%%"):
        return ""
    try:
        return TransformerManager().transform_cell(source)
    except (SyntaxError, RuntimeError):
        return source


def _syntax(cell: int, error: Exception) -> str:
    if not isinstance(error, SyntaxError):
        return f"cell {cell} can't be read ({type(error).__name__})"
    where = f", line {error.lineno}" if error.lineno else ""
    line = f": {error.text.strip()}" if error.text and error.text.strip() else ""
    return f"cell {cell}{where}: {error.msg}{line}"


def _take(found: Gathered, piece: Piece) -> None:
    """File a statement as import, definition or addition; of all others only note what they bind."""
    node = piece.node
    if isinstance(node, ast.Import):
        found.imports += [(piece.place, _module(alias)) for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        for alias in node.names:
            if node.module != "__future__":
                found.imports.append((piece.place, Import(node.module or "", alias.name, alias.asname or alias.name)))
    elif isinstance(node, ast.Assign) and not piece.binds:
        roots = {_root(target) for target in node.targets}
        if len(roots) == 1 and (root := roots.pop()):
            piece.adds_to = root
            found.pieces.append(piece)
    elif piece.binds and _defines(node):
        found.pieces.append(piece)
    else:
        found.made_otherwise |= dict.fromkeys(piece.binds, piece.cell)


def _module(alias: ast.alias) -> Import:
    """``import a.b as c`` is ``from a import b as c``."""
    package, _, last = alias.name.rpartition(".")
    if alias.asname and package:
        return Import(package, last, alias.asname)
    return Import(alias.name, "", alias.asname or alias.name.partition(".")[0])


def _defines(node: ast.stmt) -> bool:
    """Whether a statement only defines: by `def`, `class` or `=`, also where `if` or `try` choose among such."""
    if isinstance(node, ast.If):
        return all(map(_defines, (*node.body, *node.orelse)))
    if isinstance(node, ast.Try):
        handlers = [inner for handler in node.handlers for inner in handler.body]
        return all(map(_defines, (*node.body, *handlers, *node.orelse, *node.finalbody)))
    return isinstance(node, (*_DEFINES, ast.Import, ast.ImportFrom, ast.Pass))


def _root(target: ast.expr) -> str:
    if not isinstance(target, ast.Attribute | ast.Subscript):
        return ""
    inner: ast.expr = target
    while isinstance(inner, ast.Attribute | ast.Subscript):
        inner = inner.value
    return inner.id if isinstance(inner, ast.Name) else ""


def _texts(body: list[ast.stmt], source: str, keep_end: bool) -> Iterator[str]:
    """The text of each statement, with the comments that stand above it, and below what is indented.

    `keep_end`: comments at the cell's end belong to its last statement.
    """
    lines = source.split("\n")
    done = 0  # lines before the statement
    for number, node in enumerate(body):
        end = node.end_lineno or node.lineno
        shared = number and (body[number - 1].end_lineno or 0) >= _first_line(node)
        following = _first_line(body[number + 1]) if number + 1 < len(body) else len(lines) + 1
        if shared or following <= end:  # two on a line
            yield ast.get_source_segment(source, node) or ""
            done = end
            continue
        last = end
        for index in range(end + 1, following):
            text = lines[index - 1]
            if text.strip().startswith("#") and (text[0].isspace() or (keep_end and number + 1 == len(body))):
                last = index
        kept = lines[done:last]
        yield "\n".join(line.rstrip() for line in kept if not _NOT_THEIRS.search(line)).strip("\n")
        done = last


def _first_line(node: ast.stmt) -> int:
    """Where a statement begins, decorators included."""
    return min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])


def _stub(one: Piece | Import) -> bool:
    return isinstance(one, Piece) and one.is_stub


def _is_empty(body: list[ast.stmt]) -> bool:
    """Whether a function does nothing but raise NotImplementedError, a call of the base class's method aside."""
    rest = [node for node in body if not (isinstance(node, ast.Expr) and _says_nothing(node.value))]
    if len(rest) != 1 or not isinstance(rest[0], ast.Raise) or rest[0].exc is None:
        return False
    return "NotImplementedError" in ast.unparse(rest[0].exc)


def _says_nothing(value: ast.expr) -> bool:
    """A docstring, an ellipsis, or a call such as ``super().__init__()``."""
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and ast.unparse(value).startswith("super()"))
