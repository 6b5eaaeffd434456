"""A course as a value: its notebooks, and where to find what belongs to each of their exercises.

A notebook's exercises lie in a folder of the course's package, in modules of one shape:

    nb03_softmax/
      asked.py        each exercise's cases, properties and points
      right.py        the right answers, written to be read
      also_right.py   the same answers written differently, called ``exercise__style``
      wrong.py        mistakes, each with the sentence that names it (`anatomy.engine.mistakes`)
      described.py    what the judge makes of raw results, where there are any (`anatomy.engine.describing`)

They are imported when something in them is asked for: beside student code only the first one can be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from anatomy.engine.errors import UserError
from anatomy.engine.exercise import Asked, Exercise

if TYPE_CHECKING:
    from anatomy.engine.mistakes import Mistake


class NoSuchNotebook(UserError):
    """A notebook was asked for that does not exist."""


@dataclass(frozen=True)
class Notebook:
    """One notebook, which is one nbgrader assignment.

    `slug`, such as ``03-softmax``, names its folder and file (``source/<slug>/<slug>.ipynb``).
    """

    slug: str
    title: str

    @property
    def number(self) -> int:
        return int(self.slug[:2])

    @property
    def folder(self) -> str:
        """The folder of the course's package that has its exercises, such as ``nb03_softmax``."""
        return f"nb{self.slug.replace('-', '_')}"


@dataclass(frozen=True, eq=False)
class Course:
    """Notebooks, in order, and the course's own words.

    Attributes
    ----------
    package
        The Python package in which its notebooks' folders lie.
    axes
        What an axis letter stands for, in the words that a diagnosis uses. An exercise may override single letters.
    parameter_words
        The names that the exercises' texts give to layers and parameters. Of two names of one parameter, the one whose
        words stand here is the one it goes by: tied weights go by `token_embeddings`, not by `lm_head`.
    config_sizes
        The sizes that a config has, as expressions in its attributes.
    beside
        The text files that lie beside a notebook, such as a drawing that it shows: file name → what it holds.
    shown
        What else of its package notebooks import, such as ``"views"``. All other modules are hidden from student code,
        but for what is asked and for the right answers of earlier notebooks.
    """

    package: str
    notebooks: tuple[Notebook, ...]
    axes: Mapping[str, str] = field(default_factory=dict)
    parameter_words: frozenset[str] = frozenset()
    config_sizes: tuple[str, ...] = ()
    beside: Callable[[Notebook], Mapping[str, str]] = lambda notebook: {}
    shown: frozenset[str] = frozenset()

    def notebook(self, slug: str) -> Notebook:
        """The notebook of that slug.

        Raises
        ------
        KeyError
            When no notebook has this slug; the message lists those that do.
        """
        for candidate in self.notebooks:
            if candidate.slug == slug:
                return candidate
        slugs = ", ".join(notebook.slug for notebook in self.notebooks)
        raise KeyError(f"No notebook is called {slug!r}. The course has: {slugs}.")

    def find(self, name: str) -> Notebook:
        """The notebook that `name` means: a slug, with its number or without, a number or the path of any of its files.

        Raises
        ------
        NoSuchNotebook
            When it means none. The message says what may be meant: the notebook of an exercise, or of a word much like
            it; otherwise it lists those that exist.
        """
        word = Path(name.rstrip("/")).stem if name.endswith((".ipynb", "/")) or "/" in name else name
        for item in self.notebooks:
            named = word.replace("_", "-") in (item.slug, item.slug[3:])
            if named or (word.isdigit() and int(word) == item.number):
                return item
        asked = {exercise: book.slug for book in self.notebooks for exercise in self.exercises(book)}
        if word in asked:
            raise NoSuchNotebook(f"{word} is an exercise of {asked[word]}: name the notebook.")
        meant = {part: book.slug for book in self.notebooks for part in (book.slug, book.slug[3:])}
        if near := get_close_matches(word.replace("_", "-"), meant, 1):
            raise NoSuchNotebook(f"No notebook is called {word!r}. Do you mean {meant[near[0]]}?")
        if near := get_close_matches(word, asked, 1):
            where = f"{near[0]}, an exercise of {asked[near[0]]}"
            raise NoSuchNotebook(f"No notebook is called {word!r}. Do you mean {where}? Then name the notebook.")
        try:
            return self.notebook(word)
        except KeyError as error:
            raise NoSuchNotebook(error.args[0]) from None

    @cache  # noqa: B019 - a course lives as long as the process
    def exercises(self, notebook: Notebook) -> dict[str, Exercise]:
        """The exercises of one notebook, by name, in the order in which they are asked."""
        asked = (item for item in vars(self._part(notebook, "asked")).values() if isinstance(item, Asked))
        return {item.name: Exercise(**vars(item), course=self, notebook=notebook) for item in asked}

    def exercise(self, name: str) -> Exercise:
        """The exercise called `name`, from whichever notebook asks it.

        Raises
        ------
        KeyError
            When no exercise has this name.
        """
        for notebook in self.notebooks:
            if name in (exercises := self.exercises(notebook)):
                return exercises[name]
        raise KeyError(f"No exercise is called {name!r}.")

    def right(self, exercise: Exercise) -> Any:
        """The right answer of an exercise: a function, a class or a quiz's dict."""
        return getattr(self._part(exercise.notebook, "right"), exercise.name)

    def also_right(self, notebook: Notebook) -> dict[str, Any]:
        """What is also right, ``exercise__style`` → answer: an answer is judged by what it does, not by its looks."""
        asked, known = self.exercises(notebook), vars(self._part(notebook, "also_right"))
        return {name: answer for name, answer in known.items() if "__" in name and name.partition("__")[0] in asked}

    def mistakes(self, exercise: Exercise) -> Mapping[str, Mistake]:
        """What goes wrong in an exercise, by name."""
        known: Mapping[str, Mapping[str, Mistake]] = self._part(exercise.notebook, "wrong").MISTAKES
        return known.get(exercise.name, {})

    def mistakes_of(self, notebook: Notebook) -> dict[str, Mistake]:
        """What goes wrong in all exercises of a notebook, by name."""
        asked = self.exercises(notebook).values()
        return {name: wrong for exercise in asked for name, wrong in self.mistakes(exercise).items()}

    def described(self, exercise: Exercise) -> Exercise:
        """The exercise with what the judge makes of its results."""
        if exercise.describe or exercise.rules or not find_spec(self.module(exercise.notebook, "described")):
            return exercise
        describe: Mapping[str, Any] = self._part(exercise.notebook, "described").DESCRIPTIONS
        return describe[exercise.name].of(exercise) if exercise.name in describe else exercise

    def is_config(self, value: Any) -> bool:
        """Whether this is a config, from which a model takes its sizes."""
        return any(hasattr(value, size) for size in self.config_sizes)

    def module(self, notebook: Notebook, *part: str) -> str:
        """The name of a module in a notebook's folder; without a part that of the folder itself."""
        return ".".join((self.package, notebook.folder, *part))

    @property
    def folder(self) -> Path:
        """The folder of its package."""
        return Path(import_module(self.package).__file__ or "").parent

    def file(self, notebook: Notebook, part: str) -> Path:
        """The file of a module in a notebook's folder."""
        return self.folder / notebook.folder / f"{part}.py"

    def _part(self, notebook: Notebook, part: str) -> ModuleType:
        return import_module(self.module(notebook, part))
