"""Where in a notebook's cells an error came from, and whether it only says that an answer is not written yet."""

from __future__ import annotations

import ast
import difflib
import dis
import inspect
import linecache
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from anatomy.engine.observing.definitions import bases, functions_of, is_class, layers
from anatomy.engine.observing.limits import TooSlow
from anatomy.engine.observing.observation import Raised
from anatomy.engine.observing.printed import encodable
from anatomy.engine.observing.records import MESSAGE

STAND_INS = "right answer "
"""How the name of the module begins in which a right answer stands that a grader lends."""

NAME = 100
"""Characters of a name that are kept."""


@dataclass(frozen=True)
class _Place:
    """A line that was running. `owner` is the function or class around it that stands at the left margin; `raises`
    tells that it was a ``raise`` statement, not a call that failed. `module` is the name of its module.
    """

    code: CodeType
    line: int
    owner: str
    raises: bool
    module: str


def describe(error: BaseException, name: str = "", answer: Any = None, package: str = "") -> Raised:
    """Type, message and the innermost line of the student's cells; and where the answer called what failed.

    Parameters
    ----------
    name, answer
        The exercise, and the object that was being observed.
    package
        The course's: what an earlier exercise's right answer refuses, it refuses on purpose.
    """
    described, everywhere = named(error), list(_places(error, name, answer))
    if package and everywhere and everywhere[-1].raises:
        module = everywhere[-1].module
        described.on_purpose = module.startswith(STAND_INS) or (
            module.startswith(f"{package}.") and module.endswith(".right")
        )
    if near := _near_name(error):
        described.message = f"{described.message}. Did you mean: '{near}'?"
    places = [place for place in everywhere if _is_cell(place.code.co_filename)]
    if not places:
        return described
    last = places[-1]
    described.line, described.within = last.line, last.owner
    if isinstance(error, TooSlow):
        described.line = _loop_around(last) or last.line
    described.code = encodable(linecache.getline(last.code.co_filename, described.line).strip()[:200])
    described.leftover = type(error) is NotImplementedError and last.raises and _is_left_over(last)
    calls = [place for place in places if place.owner == name and place.code is not last.code]
    if calls and calls[-1].line != last.line:
        described.caller, described.caller_line = name, calls[-1].line
    return described


def _near_name(error: BaseException) -> str:
    """A name that is there and nearly the one that a program asked for, as Python's own tracebacks suggest it."""
    step = error.__traceback__ if type(error) is NameError else None
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None:
        return ""
    with suppress(Exception):  # a namespace may hold anything
        frame = step.tb_frame
        there = [name for name in (*frame.f_locals, *frame.f_globals) if not name.startswith("_")]
        return encodable(next(iter(difflib.get_close_matches(str(error.name), there, 1, 0.75)), ""))  # type: ignore[attr-defined]
    return ""


def named(error: BaseException) -> Raised:
    """Type and message."""
    kind = type.__dict__["__name__"].__get__(type(error))
    return Raised(encodable(kind[:NAME]), encodable(_message(error)[:MESSAGE]))


def is_unwritten(error: BaseException, name: str, answer: Any) -> bool:
    """Whether the answer is still the stub that it was: it raised by itself, and its functions do nothing else."""
    if type(error) is not NotImplementedError:
        return False  # a library's own kind: torch's, for tensors without values
    last = list(_places(error, name, answer))[-1]
    if last.owner != name or not last.raises or _is_left_over(last):
        return False  # PyTorch raises it, too: `&` between masks of floats
    begun = (code for code in _functions(answer) if code is not last.code)
    return not any(_does_something(_statements(code)) for code in begun)


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # a student's own exception may fail at this, too
        return ""


def _places(error: BaseException, name: str, answer: Any) -> Iterator[_Place]:
    own = set(_functions(answer))
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        raises = code.co_code[step.tb_lasti] == dis.opmap["RAISE_VARARGS"]
        owner = name if code in own else code.co_qualname.partition(".")[0]
        yield _Place(code, step.tb_lineno, owner, raises, str(step.tb_frame.f_globals.get("__name__", "")))
        step = step.tb_next


def _functions(answer: Any) -> Iterator[CodeType]:
    """The code of a function, or of all methods of a class: its own, and inherited ones that stand in cells.

    Of a decorated function, such as one below ``@torch.no_grad()``, it is the code that the decorator has been put on.
    """
    if type(answer) is FunctionType:
        yield _innermost(answer)
        return
    kind = answer if is_class(answer) else type(answer)
    for base in bases(kind):
        for code in map(_innermost, functions_of(base)):
            if base is kind or _is_cell(code.co_filename):
                yield code


def _innermost(function: FunctionType) -> CodeType:
    *_, inner = layers(function)
    return inner.__code__


def _is_cell(filename: str) -> bool:
    return "ipykernel_" in filename or filename.startswith(("<ipython-input", "<student"))


def _is_left_over(place: _Place) -> bool:
    """Whether the line is a ``raise`` of a function that does something before it, or would do something behind it."""
    statements, line = _statements(place.code), place.line - place.code.co_firstlineno + 1
    stub = any(isinstance(statement, ast.Raise) and statement.lineno == line for statement in statements)
    return stub and _does_something(statements)


def _loop_around(place: _Place) -> int:
    """The line of the innermost ``while`` around a line: one that never ends is stopped anywhere in it."""
    first = place.code.co_firstlineno - 1
    nodes = (node for statement in _statements(place.code) for node in ast.walk(statement))
    loops = [node for node in nodes if isinstance(node, ast.While)]
    around = [node.lineno for node in loops if node.lineno <= place.line - first <= (node.end_lineno or 0)]
    return first + max(around) if around else 0


def _does_something(statements: list[ast.stmt]) -> bool:
    """Whether there is more than what a stub holds: a text, ``super().__init__()``, ``pass`` and ``raise``."""
    return any(
        not isinstance(statement, ast.Pass | ast.Raise)
        and not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        and "super(" not in ast.unparse(statement)
        for statement in statements
    )


def _statements(code: CodeType) -> list[ast.stmt]:
    """The body of a function, line numbers counted from its first line; nothing where its source is not known."""
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    try:
        function = ast.parse(textwrap.dedent("".join(inspect.getblock(lines)))).body[0]
    except (SyntaxError, IndexError):
        return []
    return function.body if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) else []
