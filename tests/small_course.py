"""A course made of values, for tests whose exercises are nobody's: nothing of it is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from anatomy.course import COURSE
from anatomy.engine.course import Course, Notebook
from anatomy.engine.exercise import Asked, Exercise, exercise
from anatomy.engine.mistakes import Mistake

NOTHING: Mapping[str, Any] = MappingProxyType({})


class SmallCourse(Course):
    """Notebooks, of which each asks what `asks` and `add` give it; the right answers are handed over by name."""

    def __init__(
        self, right: Mapping[str, Any] = MappingProxyType({}), slugs: tuple[str, ...] = ("03-softmax",)
    ) -> None:
        notebooks = tuple(Notebook(slug, COURSE.notebook(slug).title) for slug in slugs)
        super().__init__("small", notebooks, COURSE.axes, COURSE.parameter_words, COURSE.config_sizes)
        object.__setattr__(self, "answers", right)
        object.__setattr__(self, "asked", {notebook: {} for notebook in notebooks})

    def asks(self, slug: str = "", **said: Any) -> Callable[[Callable[[int], Any]], Exercise]:
        """As `exercise`: a decorator of a generator of cases."""
        return lambda build: self.add(exercise(**said)(build), slug)

    def add(self, asked: Asked, slug: str = "") -> Exercise:
        notebook = self.notebook(slug) if slug else self.notebooks[0]
        own = self.asked[notebook][asked.name] = Exercise(**vars(asked), course=self, notebook=notebook)
        return own

    def exercises(self, notebook: Notebook) -> dict[str, Exercise]:
        return self.asked[notebook]

    def right(self, exercise: Exercise) -> Any:
        return self.answers[exercise.name]

    def mistakes(self, exercise: Exercise) -> Mapping[str, Mistake]:
        return {}

    def described(self, exercise: Exercise) -> Exercise:
        return exercise
