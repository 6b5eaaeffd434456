"""From what the notebooks define to one program: what is needed, under which name, and in which order.

Inside its notebook a name means what the notebook gives it; what a notebook imports from the course's answers means the
student's own, in the notebook that asks for it. Two things of the same name both stay: the later one gets its
notebook's number.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module

from anatomy.course import COURSE
from anatomy.course.assembling.gather import Gathered, Import, Piece
from anatomy.course.assembling.names import Use, renamed

_BUILTINS = frozenset(dir(builtins)) | {"__file__", "__name__"}


@dataclass(frozen=True)
class Lacking:
    """Something of the course that the student's notebooks do not (yet) define; without a folder, a failed import."""

    folder: str
    name: str

    @property
    def stand_in(self) -> Import:
        """The course's own."""
        return Import(f"{COURSE.package}.{self.folder}.right", self.name, self.name)

    @property
    def can_be_filled(self) -> bool:
        return bool(self.folder) and hasattr(import_module(f"{COURSE.package}.{self.folder}.right"), self.name)


Target = Piece | Import | Lacking | None
"""What a name stands for; None for Python's own names, and those that nothing defines."""


@dataclass
class Section:
    """The pieces of one notebook, in order."""

    gathered: Gathered
    pieces: list[Piece] = field(default_factory=list)


@dataclass
class Program:
    """What is written.

    Attributes
    ----------
    imports
        Each with the name that it has in the file.
    left_out
        Piece → the name that it needs to be defined, and that is not there; empty where the piece itself fails.
    lacking
        What is used and not there, with the names of those that use it.
    unknown
        Name that nothing in its notebook can give → the names of those that read it.
    """

    sections: list[Section]
    imports: dict[Import, str]
    names: dict[tuple[Piece, str], str]
    left_out: dict[Piece, str]
    lacking: dict[Lacking, list[str]]
    unknown: dict[tuple[str, str], list[str]]
    _course: AllAnswers

    def text(self, piece: Piece) -> str:
        """The piece as it stands in the file."""

        def new_name(number: int, use: Use) -> str:
            return self._course.name_of(piece, piece.uses[number], self.names, self.imports)

        return renamed(piece.text, new_name)

    def lacking_for(self, names: Iterable[str]) -> list[Lacking]:
        """What the definitions of these names in the file, or anything that they use, need and the student has not."""
        wanted = set(names)
        roots = [piece for section in self.sections for piece in section.pieces if wanted & piece.binds]
        return self._course.lacking_for(roots)

    @property
    def renames(self) -> Iterator[tuple[Piece, str, str]]:
        """Pieces that have another name than in their notebook."""
        kept = {piece for section in self.sections for piece in section.pieces}
        yield from ((piece, old, new) for (piece, old), new in self.names.items() if old != new and piece in kept)


class AllAnswers:
    """All notebooks together, as one namespace in which every name can be followed to what defines it.

    Parameters
    ----------
    gathered
        The notebooks, in order.
    own
        Whether what a notebook imports from the course's answers means the student's own.
    fill
        Whether the course's own stands where the student's is missing.
    ignored
        Exercises to be treated as if they were not written.
    undefined
        Definitions and imports that fail.
    """

    def __init__(
        self,
        gathered: Iterable[Gathered],
        *,
        own: bool = True,
        fill: bool = False,
        ignored: Iterable[str] = (),
        undefined: Iterable[Piece | Import] = (),
    ) -> None:
        self.notebooks = {one.book.folder: one for one in gathered}
        self.own, self.fill = own, fill
        self.ignored, self.undefined = frozenset(ignored), frozenset(undefined)

    # ---------------------------------------------------------------------------------- following names

    def answer(self, notebook: Gathered, exercise: str) -> Piece | Import | Lacking:
        """What the student's answer to an exercise is; one that is imported from the course's answers is none."""
        lacking = Lacking(notebook.book.folder, exercise)
        found = notebook.answer(exercise)
        if found is None or exercise in self.ignored:
            return lacking
        return lacking if isinstance(found, Import) and found.from_reference else found

    def target(self, reader: Piece, use: Use) -> Target:
        """What a use of a name stands for."""
        if use.binds:
            return reader
        notebook = self.notebooks[reader.book.folder]
        found = notebook.look_up(use.name, reader, use.late)
        if found is None or (isinstance(found, Piece) and use.name in notebook.asked and found.is_stub):
            return Lacking(reader.book.folder, use.name) if use.name in notebook.asked else None
        if isinstance(found, Piece):
            ignored = use.name in self.ignored and use.name in notebook.asked
            return Lacking(reader.book.folder, use.name) if ignored else found
        if found in self.undefined:
            return Lacking("", use.name)
        return self._imported(found) if self.own else found

    def _imported(self, found: Import) -> Target:
        """What an import stands for: where it names the course's answers, the student's own."""
        if not (folder := found.from_reference) or not found.attribute:
            return found
        there = self.notebooks.get(folder)
        if there is None:
            return Lacking(folder, found.attribute)
        if found.attribute in there.asked:
            return self.answer(there, found.attribute)
        bound = there.bindings(found.attribute)
        if not bound:
            return Lacking(folder, found.attribute)
        last = bound[-1][1]
        return self._imported(last) if isinstance(last, Import) else last

    # ---------------------------------------------------------------------------------- the program

    def program(self) -> Program:
        """All answers, with everything that they use."""
        roots = [
            found
            for notebook in self.notebooks.values()
            for exercise in notebook.asked
            if isinstance(found := self.answer(notebook, exercise), Piece)
        ]
        left_out = self._left_out(self._closure(roots))
        needed = self._closure([piece for piece in roots if piece not in left_out], left_out)
        same = self._same(needed)
        kept = [piece for piece in needed if same[piece] is piece]
        imports, lacking, unknown = self._used(kept)
        names, imported = self._names(kept, imports)
        names |= {(piece, name): names[same[piece], name] for piece in needed for name in piece.binds}
        sections = {module: Section(notebook) for module, notebook in self.notebooks.items()}
        for piece in self._in_order(kept):
            sections[piece.book.folder].pieces.append(piece)
        return Program(list(sections.values()), imported, names, left_out, lacking, unknown, self)

    def name_of(
        self, reader: Piece, use: Use, names: Mapping[tuple[Piece, str], str], imports: Mapping[Import, str]
    ) -> str:
        """What a use of a name is called in the file."""
        target = self.target(reader, use)
        if isinstance(target, Lacking):
            target = target.stand_in
        if isinstance(target, Import):
            return imports.get(target, use.name)
        if isinstance(target, Piece):
            bound = use.name if use.name in target.binds else self._bound_as(reader, use)
            return names.get((target, bound), bound)
        return use.name

    def _bound_as(self, reader: Piece, use: Use) -> str:
        """The name that a piece of another notebook has there: ``import attention as mine`` means its `attention`."""
        found = self.notebooks[reader.book.folder].look_up(use.name, reader, use.late)
        return found.attribute if isinstance(found, Import) else use.name

    def lacking_for(self, roots: Iterable[Piece]) -> list[Lacking]:
        """What these pieces, and all that they use, need and the student has not."""
        targets = (self.target(piece, use) for piece in self._closure(roots) for use in piece.uses)
        return list(dict.fromkeys(target for target in targets if isinstance(target, Lacking)))

    def _closure(self, roots: Iterable[Piece], without: Iterable[Piece] = ()) -> list[Piece]:
        """These pieces and all that they use, in the order of the notebooks."""
        seen = set(without)
        waiting = list(roots)
        found: set[Piece] = set()
        while waiting:
            piece = waiting.pop()
            if piece in seen:
                continue
            seen.add(piece)
            found.add(piece)
            waiting += [target for use in piece.uses if isinstance(target := self.target(piece, use), Piece)]
            notebook = self.notebooks[piece.book.folder]
            waiting += [one for name in piece.binds for one in notebook.additions(name, piece)]
        return sorted(found, key=lambda one: (one.book.number, one.place))

    def _left_out(self, pieces: list[Piece]) -> dict[Piece, str]:
        """The pieces that can't be defined, because what they need at once is missing."""
        out = dict.fromkeys((piece for piece in pieces if piece in self.undefined), "")
        while True:
            more = {
                piece: ""
                for piece in pieces
                for use in piece.uses
                if piece not in out and not use.late and self._is_missing(self.target(piece, use), out)
            }
            if not more:
                break
            out |= more
        for piece in out:
            needed = (use.name for use in piece.uses if not use.late and self._is_missing(self.target(piece, use), out))
            out[piece] = next((name for name in needed if name not in piece.binds), "")
        return out

    def _is_missing(self, target: Target, out: Mapping[Piece, str]) -> bool:
        if isinstance(target, Lacking):
            return not (self.fill and target.can_be_filled)
        return isinstance(target, Piece) and target in out

    def _same(self, pieces: list[Piece]) -> dict[Piece, Piece]:
        """Piece → the first one that is the same, word for word, and means the same by each word; answers stay."""
        answers = {self.answer(notebook, name) for notebook in self.notebooks.values() for name in notebook.asked}
        same: dict[Piece, Piece] = {}
        first: dict[str, list[Piece]] = {}
        for piece in pieces:
            text = ast.dump(piece.node)
            twins = [] if piece in answers else first.get(text, [])
            same[piece] = twin = next((one for one in twins if self._agree(one, piece, same)), piece)
            first.setdefault(text, []).append(twin)
        return same

    def _agree(self, one: Piece, other: Piece, same: Mapping[Piece, Piece]) -> bool:
        for mine, theirs in zip(one.uses, other.uses, strict=True):
            first, second = self.target(one, mine), self.target(other, theirs)
            if isinstance(first, Piece) and isinstance(second, Piece):
                if (first, second) != (one, other) and same.get(first, first) is not same.get(second, second):
                    return False
            elif first != second:
                return False
        return True

    def _used(
        self, pieces: list[Piece]
    ) -> tuple[list[Import], dict[Lacking, list[str]], dict[tuple[str, str], list[str]]]:
        """What the pieces use that is no piece: imports, what is lacking, and what nothing gives."""
        imports: dict[Import, None] = {}
        lacking: dict[Lacking, list[str]] = {}
        unknown: dict[tuple[str, str], list[str]] = {}
        for piece in pieces:
            for use in piece.uses:
                target = self.target(piece, use)
                by = ", ".join(sorted(piece.binds)) or piece.adds_to
                if isinstance(target, Import):
                    imports[target] = None
                elif isinstance(target, Lacking):
                    if self.fill and target.can_be_filled:
                        imports[target.stand_in] = None
                    _add(lacking.setdefault(target, []), by)
                elif target is None and use.name not in _BUILTINS:
                    _add(unknown.setdefault((piece.book.slug, use.name), []), by)
        for notebook in self.notebooks.values():
            for exercise in notebook.asked:
                target = self.answer(notebook, exercise)
                if isinstance(target, Lacking) and self.fill and target.can_be_filled:
                    target = target.stand_in
                if isinstance(target, Import):
                    imports[target] = None
        return list(imports), lacking, unknown

    def _names(
        self, pieces: list[Piece], imports: list[Import]
    ) -> tuple[dict[tuple[Piece, str], str], dict[Import, str]]:
        """A name of its own for each thing: those of exercises are their answers', then come imports, then the rest."""
        unbound = {use.name for piece in pieces for use in piece.uses if self.target(piece, use) is None}
        taken: dict[str, object] = dict.fromkeys(unbound, "Python's own")
        names: dict[tuple[Piece, str], str] = {}
        imported: dict[Import, str] = {}
        for notebook in self.notebooks.values():
            for name in notebook.asked:
                answer = self.answer(notebook, name)
                taken[name] = answer.stand_in if isinstance(answer, Lacking) else answer
                if isinstance(answer, Piece):
                    names[answer, name] = name
                    taken[name] = self._first_of(answer, name)
        for one in imports:
            root = one.module.partition(".")[0] if not one.attribute else one
            imported[one] = _free(one.name, taken, root, "")
            taken[imported[one]] = root
        for piece in pieces:
            for name in sorted(piece.binds):
                if (piece, name) not in names:
                    names[piece, name] = _free(name, taken, self._first_of(piece, name), f"{piece.book.number:02d}")
                    taken[names[piece, name]] = self._first_of(piece, name)
        return names, imported

    def _first_of(self, piece: Piece, name: str) -> Piece:
        """Where a name begins that is bound in several steps: ``class Encoder(Encoder): …`` goes on with the first."""
        while True:
            earlier = [
                target
                for use in piece.uses
                if use.name == name and not use.binds and not use.late
                and isinstance(target := self.target(piece, use), Piece) and target is not piece
                and name in target.binds and target.book == piece.book
            ]  # fmt: skip
            if not earlier:
                return piece
            piece = earlier[0]

    def _in_order(self, pieces: list[Piece]) -> Iterator[Piece]:
        """The pieces as they come, but what one needs in order to be defined before it."""
        wanted, done = set(pieces), set()

        def first(piece: Piece, deep: bool) -> Iterator[Piece]:
            if piece in done or piece not in wanted:
                return
            done.add(piece)
            for use in piece.uses:
                target = self.target(piece, use)
                if isinstance(target, Piece) and (deep or not use.late) and target.book == piece.book:
                    yield from first(target, True)
            yield piece

        for piece in pieces:
            yield from first(piece, False)


def _free(name: str, taken: Mapping[str, object], owner: object, suffix: str) -> str:
    """The name, or if another thing has it, one that is like it."""
    candidate, number = name, 1
    while taken.get(candidate, owner) is not owner and taken.get(candidate, owner) != owner:
        number += 1
        ending = suffix or str(number)
        candidate = f"{name}{ending}" if name[:1].isupper() and not name.isupper() else f"{name}_{ending}"
        suffix = "" if suffix else suffix
    return candidate


def _add(items: list[str], item: str) -> None:
    if item not in items:
        items.append(item)
