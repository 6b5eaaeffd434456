"""Try what people wrote: run an attempt as its cell would, check it as the notebook does, and rate the card.

python -m tests.attempts.attempts [NOTEBOOK] [--show WORDS]     the table, and the cards that are not known to be true
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from anatomy.course import COURSE
from anatomy.engine.cards import as_text, headline
from anatomy.engine.checking import cells, judging_here, verdict_in_notebook
from anatomy.engine.course import Notebook as Book
from anatomy.engine.judging import recognize
from anatomy.engine.judging.expectations import remembering
from anatomy.engine.judging.verdict import Verdict
from anatomy.engine.notebook_files.notebooks import read, source_file
from tests.shells import fresh_shell

ROOT = Path(__file__).parents[2]
TRUE, VAGUE, ACCEPTED, REFUSED = "named truly", "vague", "accepted", "right, refused"


@dataclass(frozen=True)
class Attempt:
    """One answer that somebody wrote.

    Attributes
    ----------
    label
        What is wrong with it, in its author's words; it begins with "right" where nothing is.
    source
        What the answer's cell holds.
    says
        What the card's first line must say to be true: words of it, or a mistake's name. Empty where no true
        sentence is known yet: then the card must show an example, or measure.
    """

    exercise: str
    label: str
    source: str
    says: str = ""

    @property
    def is_right(self) -> bool:
        return self.label.startswith("right")


@dataclass(frozen=True)
class Tried:
    """An attempt, the verdict on it, and how it is rated."""

    attempt: Attempt
    verdict: Verdict

    @property
    def rating(self) -> str:
        if self.attempt.is_right:
            return TRUE if self.verdict.status == "right" else REFUSED
        if self.verdict.status == "right":
            return ACCEPTED
        wanted = self.attempt.says
        said = wanted and (wanted in self.verdict.mistakes[:1] or wanted in headline(self.verdict))
        return TRUE if said else VAGUE

    @property
    def is_lost(self) -> bool:
        """Whether a true sentence is known, and another one came."""
        return bool(self.attempt.says) and self.rating != TRUE


def attempts(book: Book) -> list[Attempt]:
    """The attempts at one notebook's exercises."""
    path = COURSE.folder / book.folder / "attempts.json"
    return [Attempt(**item) for item in json.loads(path.read_text(encoding="utf-8"))] if path.is_file() else []


def surroundings(book: Book) -> dict[str, Any]:
    """What a notebook has defined when its answers are right: its imports, and all answers."""
    cells = [cell.source for cell in read(source_file(ROOT, book.slug)).cells if cell.cell_type == "code"]
    statements = [node for source in cells for node in ast.parse(source).body]
    imports = ast.Module([node for node in statements if isinstance(node, (ast.Import, ast.ImportFrom))], [])
    names: dict[str, Any] = {}
    exec(compile(imports, book.slug, "exec"), names)
    answers = vars(import_module(COURSE.module(book, "right")))
    return {**names, **{name: item for name, item in answers.items() if name[:2] != "__"}}


class Notebook:
    """A notebook in which all answers are right, until an attempt's cell is run in it."""

    def __init__(self, book: Book, shell: InteractiveShell) -> None:
        torch.set_num_threads(1)
        self.shell = shell
        self.given = surroundings(book)
        self.expectations_of = remembering()
        cells.watch()

    def verdict_on(self, attempt: Attempt) -> Verdict:
        """Run the attempt's cell, then check it as its check cell does."""
        exercise = COURSE.exercise(attempt.exercise)
        names = self.shell.user_ns
        names.update(self.given)
        names.pop(attempt.exercise, None)
        with capture_output(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.shell.run_cell(attempt.source)
            return verdict_in_notebook(exercise, names, self.expectations_of)


def tried(book: Book, some: list[Attempt]) -> Iterator[Tried]:
    """Attempts at one notebook's exercises, each with its verdict."""
    with fresh_shell() as shell:
        notebook = Notebook(book, shell)
        for attempt in some:
            one = Tried(attempt, notebook.verdict_on(attempt))
            if one.is_lost:
                with unhurried():
                    one = Tried(attempt, notebook.verdict_on(attempt))
            yield one


@contextlib.contextmanager
def unhurried() -> Iterator[None]:
    """The check takes ten times its time: what a slow machine does not find in time is not lost."""
    with (
        mock.patch.multiple(judging_here, LEAST=10 * judging_here.LEAST, MOST=10 * judging_here.MOST),
        mock.patch.object(recognize, "SEARCH_TIME", 10 * recognize.SEARCH_TIME),
    ):
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebook", nargs="*")
    parser.add_argument("--show", default="", help="only attempts whose exercise or label holds these words")
    given = parser.parse_args()
    for book in [COURSE.find(name) for name in given.notebook] or COURSE.notebooks:
        counts: Counter[str] = Counter()
        for one in tried(book, attempts(book)):
            counts[one.rating] += 1
            if one.rating != TRUE and given.show in f"{one.attempt.exercise} {one.attempt.label}":
                print(f"\n=== {one.rating}: {one.attempt.exercise} | {one.attempt.label}\n{one.attempt.source}")
                print(f"--- {one.verdict.mistakes}\n{as_text(one.verdict)}")
        print(f"{book.slug:<24}", dict(counts))


if __name__ == "__main__":
    main()
