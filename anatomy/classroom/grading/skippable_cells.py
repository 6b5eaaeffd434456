"""Which given cells a notebook can be graded without: pictures and demonstrations that no answer looks at.

A notebook of this course is mostly there to be read, and running all of it takes ten times as long as running its
answers. Given cells that are as they were handed out are left out unless they bind, or may change, something that the
rest of the notebook uses. Where a program can hide what it uses (`eval`, `globals()`, magics), nothing is left out.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
import warnings
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from anatomy.classroom.grading.repair import MOST_PARSED

MOST_CHARACTERS = 2_000_000
"""In all cells together, beyond which none is looked into, and nothing left out."""
MOST_MAGICS = 200
"""In a cell, beyond which it is not looked into: IPython reads a cell anew for each."""
_INSTALLS = re.compile(r"^%pip install [\w ./:@%+=-]*$", re.MULTILINE)
"""What gets the course on Colab: it binds and changes nothing here."""
_MAGIC = re.compile(r"[%!?]|^[ \t]*[,;/]", re.MULTILINE)
_HIDING = frozenset({
    "__builtins__", "__globals__", "__import__", "__main__", "builtins", "compile", "dir", "eval", "exec", "gc",
    "get_ipython", "globals", "importlib", "inspect", "locals", "sys", "vars",
})  # fmt: skip
"""Names by which a program can reach others without naming them."""
_BUILTINS = frozenset(dir(builtins))
_SETS_NOTHING_THAT_COUNTS = ("torch.set_num_threads", "torch.set_printoptions")
"""Settings that change how fast something is computed, or how it is printed, and no value."""


@dataclass(frozen=True)
class _Uses:
    """What one cell does with the notebook's names."""

    reads: Set[str] = frozenset()
    reads_first: Set[str] = frozenset()
    """Those it reads before it binds them itself."""
    binds: Set[str] = frozenset()
    defines: Set[str] = frozenset()
    """What it imports, or defines by `def` or `class`: calling such a thing does not change it."""
    numbers: Set[str] = frozenset()
    """What it binds to a number or a text and to nothing else: no call can change these in place."""
    touches: Set[str] = frozenset()
    """What it may change in place: it calls a method of it, hands it to a function, or sets a part of it."""
    sets: bool = False
    """Whether it sets something that holds everywhere, such as torch's default type."""
    hides: bool = False
    """Whether it may use names that can't be seen here."""


def skippable_cells(cells: Sequence[NotebookNode], given: Set[int]) -> set[int]:
    """Of the code cells `given` as they were handed out, by index, those without which all the others do the same."""
    if sum(len(cell.source) for cell in cells) > MOST_CHARACTERS:
        return set()
    uses = {index: _uses(cell.source) for index, cell in enumerate(cells) if cell.cell_type == "code"}
    wanted = {index for index, one in uses.items() if index not in given or one.sets or "*" in one.binds}
    unchangeable = {name for one in uses.values() for name in one.defines}
    unchangeable |= _BUILTINS - {name for one in uses.values() for name in one.binds}
    unchangeable |= {name for one in uses.values() for name in one.numbers} - {
        name for one in uses.values() for name in one.binds - one.numbers
    }
    if any(uses[index].hides for index in wanted - given):
        return set()
    while True:
        read = {name for index in wanted for name in (uses[index].reads_first if index in given else uses[index].reads)}
        more = {index for index, one in uses.items() if read & (one.binds | (one.touches - unchangeable))} - wanted
        if not more:
            return set(uses) - wanted
        wanted |= more


def names_bound(cells: Iterable[NotebookNode]) -> set[str]:
    """The names that these code cells bind."""
    return {name for cell in cells for name in _uses(cell.source).binds}


@lru_cache(maxsize=2000)
def _uses(source: str) -> _Uses:
    """What a cell does; text that Python can't read does nothing, and one that takes too long to read may do all."""
    source = _INSTALLS.sub("", source)
    if len(source) > MOST_PARSED or sum(1 for _ in _MAGIC.finditer(source)) > MOST_MAGICS:
        return _Uses(hides=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(TransformerManager().transform_cell(source))
            steps = [_names(statement) for statement in tree.body]
    except (SyntaxError, ValueError, RuntimeError, MemoryError):  # IPython's limit on magics is one
        return _Uses()
    first: set[str] = set()
    binds: set[str] = set()
    others: set[str] = set()
    for statement, (read, bound) in zip(tree.body, steps, strict=True):
        first |= read - binds
        binds |= bound
        others |= set() if _is_of_a_number(statement) else bound
    defines: set[str] = set()
    touches: set[str] = set()
    sets = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            defines |= {name for alias in node.names for name in (alias.name.partition(".")[0], alias.asname) if name}
            defines |= {node.module} if isinstance(node, ast.ImportFrom) and node.module else set()
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defines.add(node.name)
        elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            touches |= _root(node)
        elif isinstance(node, ast.Call):
            touches |= _root(node.func) if isinstance(node.func, ast.Attribute) else set()
            touches |= {name for argument in node.args for name in _root(argument)}
            function = ast.unparse(node.func) if isinstance(node.func, ast.Attribute) else ""
            sets |= function.startswith("torch.set_") and function not in _SETS_NOTHING_THAT_COUNTS
    reads = set().union(*(read for read, _ in steps))
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr[:2] == "__"}
    hides = bool(_HIDING & (reads | defines | attributes))
    return _Uses(reads, first, binds | (defines & {"*"}), defines, binds - others, touches, sets, hides)


def _is_of_a_number(statement: ast.stmt) -> bool:
    """Whether it is ``name = -100``: an assignment of a number or a text."""
    if not isinstance(statement, ast.Assign) or not all(isinstance(target, ast.Name) for target in statement.targets):
        return False
    value = statement.value.operand if isinstance(statement.value, ast.UnaryOp) else statement.value
    return isinstance(value, ast.Constant)


def _names(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The notebook's names that a statement reads, and those that it binds; functions in it included."""
    whole = symtable.symtable(ast.unparse(statement), "cell", "exec")
    reads: set[str] = set()
    binds: set[str] = set()
    for table in _all_tables(whole):
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is whole or symbol.is_global()):
                reads.add(symbol.get_name())
            if (symbol.is_assigned() or symbol.is_imported()) and (table is whole or symbol.is_declared_global()):
                binds.add(symbol.get_name())
    return reads, binds


def _all_tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _all_tables(child)


def _root(node: ast.expr) -> set[str]:
    """The name at the start of ``name.part[0].more``."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()
