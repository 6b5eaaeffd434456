"""Build: from ``source/`` to ``notebooks/`` (the student edition) and ``solutions/`` (the solved one).

A student's work is never lost: a file in ``notebooks/`` that is not what a build wrote is refused by name, and
`force` keeps a copy of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from anatomy.authoring.course_pages import stale_pages, write_pages
from anatomy.authoring.solutions import with_solutions
from anatomy.authoring.solved import has_outputs, run_solved, solved_edition, traces, with_known_outputs
from anatomy.authoring.student import student_edition
from anatomy.engine.backups import backup_of
from anatomy.engine.course import Notebook
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.notebooks import (
    BadNotebook,
    as_text,
    chosen,
    fingerprint,
    read,
    solved_file,
    source_file,
    student_file,
    was_edited,
    write,
)
from anatomy.engine.notebook_files.running import CellFailed, Cost
from anatomy.wiring import the_course

SECONDS, MEMORY = 120, 1.5e9
"""What a solved notebook may take before the build warns."""

Say = Callable[[str], None]


class BuildStopped(UserError):
    """The build cannot go on. The message says which notebook, why, and what to do."""


@dataclass(frozen=True)
class Built:
    """One notebook that was built: what its solved edition took and left behind, and the copy of a student's work.

    `cost` is None where the outputs of the solved edition were kept, because its code had not changed.
    """

    slug: str
    cost: Cost | None
    kept: Path | None = None
    traces: tuple[str, ...] = ()

    @property
    def warnings(self) -> list[str]:
        found = [f"{self.slug}: {trace}" for trace in self.traces]
        if self.cost and self.cost.seconds > SECONDS:
            found.append(f"{self.slug} runs for {self.cost.seconds:.0f} s; the limit is {SECONDS} s.")
        if self.cost and self.cost.memory > MEMORY:
            found.append(f"{self.slug} needs {self.cost.memory / 1e9:.2f} GB; the limit is {MEMORY / 1e9} GB.")
        return found


def build(
    root: Path,
    names: Iterable[str] | None = None,
    *,
    rerun: bool = False,
    force: bool = False,
    say: Say = lambda _: None,
) -> list[Built]:
    """Write both editions of these notebooks (by default, of all that have a source), and the pages made of all.

    Before that the masters get their solutions from ``right.py``. A solved edition is run when its code has changed;
    otherwise it keeps its outputs. Notebooks that are named are run in any case.

    All refusals come first: nothing is written when a student's work is in the way of any of them.

    Parameters
    ----------
    rerun
        Run all solved editions, as after a change in the package that shows in outputs.
    force
        Build even over a student's work, of which a copy ``<name>.<time>.bak.ipynb`` is kept beside it.
    say
        Told, in a few words, what is being done.

    Raises
    ------
    BuildStopped
        When a student's work is in the way, or a cell of the solved edition fails.
    """
    names = list(names or ())
    books = chosen(the_course(), root, names)
    edited = [book for book in books if _edited(student_file(root, book.slug))]
    if edited and not force:
        files = "\n".join(f"  {student_file(root, book.slug).relative_to(root)}" for book in edited)
        raise BuildStopped(
            f"Nothing was built: these files hold work that the build would replace.\n{files}\n"
            "There are two ways out. `anatomy build --force` builds, and keeps a copy of each beside it. If nothing in "
            "them is yours, as after Formgrader's Generate, `git checkout notebooks` brings back what was committed."
        )
    built = [_build_one(root, book, rerun or bool(names), say) for book in books]
    write_pages(root)
    return built


def _build_one(root: Path, book: Notebook, rerun: bool, say: Say) -> Built:
    slug = book.slug
    say(f"{slug}: student edition")
    try:
        source_file(root, slug).write_text(with_solutions(root, book), encoding="utf-8")
        student = student_edition(root, slug)
        total, cost = len(student.cells), None
        solved = solved_edition(root, slug)
        if rerun or not _has_known_outputs(solved, solved_file(root, slug)):
            solved, cost = run_solved(root, slug, lambda index: say(f"{slug}: running cell {index + 1} of {total}"))
    except CellFailed as failure:
        raise BuildStopped(
            f"{slug}, {failure}\nThe solved edition must run from top to bottom. Correct source/{slug}/{slug}.ipynb "
            "(or what it imports) and build again. Neither edition of this notebook was changed."
        ) from failure
    except BadNotebook as error:
        raise BuildStopped(f"{error}\n`anatomy lint {slug}` may say more.") from error
    target = student_file(root, slug)
    kept = _keep(target) if _edited(target) else None
    write(student, target)
    write(solved, solved_file(root, slug))
    for file, text in _beside(root, book):
        if not _holds(file, text):
            file.write_text(text, encoding="utf-8")
    return Built(slug, cost, kept, tuple(traces(solved, root)))


def _has_known_outputs(solved: NotebookNode, path: Path) -> bool:
    """Whether the edition on disk has the same code; its outputs are then this one's, too."""
    try:
        return path.is_file() and with_known_outputs(solved, read(path))
    except BadNotebook:
        return False


def _edited(path: Path) -> bool:
    """Whether a file holds anything that no build wrote. One that cannot be read does."""
    if not path.exists():
        return False
    try:
        return was_edited(read(path))
    except BadNotebook:
        return True


def _keep(path: Path) -> Path:
    copy = backup_of(path)
    path.rename(copy)
    return copy


def stale(root: Path, names: Iterable[str] | None = None) -> list[str]:
    """What ``notebooks/`` and ``solutions/`` lack to be what a build would write now; one sentence each.

    Nothing is run: the solved edition's text is compared, and that it has outputs. Without `names`, the pages that are
    made of all notebooks are looked at, too.
    """
    names = list(names or ())
    found: list[str] = []
    for book in chosen(the_course(), root, names):
        found += [*_stale_source(root, book), *_stale_student(root, book), *_stale_solved(root, book)]
        found += _stale_beside(root, book)
    return found if names else [*found, *stale_pages(root)]


def _stale_source(root: Path, book: Notebook) -> Iterable[str]:
    path = source_file(root, book.slug)
    try:
        wanted = with_solutions(root, book)
    except BadNotebook as error:
        yield str(error)
        return
    if path.read_text(encoding="utf-8") != wanted:
        yield f"{path.relative_to(root)} has solutions that {book.folder}/right.py does not."


def _stale_student(root: Path, book: Notebook) -> Iterable[str]:
    path = student_file(root, book.slug)
    name = path.relative_to(root)
    if not path.is_file():
        yield f"{name} is missing."
    elif _edited(path):
        yield (f"{name} has been edited by hand, or Formgrader's Generate made it. `git checkout notebooks` takes that "
               f"back; `anatomy build {book.slug} --force` builds, and keeps a copy.")  # fmt: skip
    elif path.read_text(encoding="utf-8") != as_text(wanted := student_edition(root, book.slug)):
        same = fingerprint(read(path)) == fingerprint(wanted)
        yield f"{name} {'was run or saved after it was built' if same else 'is not what source/ gives now'}."


def _stale_solved(root: Path, book: Notebook) -> Iterable[str]:
    path = solved_file(root, book.slug)
    name = path.relative_to(root)
    if not path.is_file():
        yield f"{name} is missing."
        return
    try:
        found, wanted = read(path), solved_edition(root, book.slug)
    except BadNotebook as error:
        yield str(error)
        return
    if fingerprint(found) != fingerprint(wanted):
        yield f"{name} is not what source/ gives now."
    elif not has_outputs(found):
        yield f"{name} has cells that were not run."


def _stale_beside(root: Path, book: Notebook) -> Iterable[str]:
    for file, text in _beside(root, book):
        if not _holds(file, text):
            yield f"{file.relative_to(root)} is {'old' if file.is_file() else 'missing'}."


def _beside(root: Path, book: Notebook) -> Iterable[tuple[Path, str]]:
    """What lies beside both editions, and what it should hold."""
    for name, text in sorted(the_course().beside(book).items()):
        yield from ((edition(root, book.slug).with_name(name), text) for edition in (student_file, solved_file))


def _holds(file: Path, text: str) -> bool:
    return file.is_file() and file.read_text(encoding="utf-8") == text
