"""The check tells the truth: only right attempts are accepted, and what was once named truly still is."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Any

import pytest

from anatomy.course import COURSE
from anatomy.engine import reading
from anatomy.engine.course import Notebook
from tests import plenty
from tests.attempts.attempts import ACCEPTED, REFUSED, TRUE, Attempt, Tried, attempts, tried

BOOKS = [book for book in COURSE.notebooks if attempts(book)]
SOME, MORE = 96, 6
"""A plain run tries every so many of a notebook's attempts, and the whole run of an exercise's: `attempts.py` all."""


def _portions() -> list[Any]:
    """Attempts that are tried in one test: some of a notebook, or half at one exercise, of which much is worked out."""
    if not plenty.EVERYTHING:
        return [pytest.param(book, attempts(book)[::SOME], id=book.slug) for book in BOOKS]
    by_exercise = [(book, groupby(sorted(attempts(book), key=_exercise), key=_exercise)) for book in BOOKS]
    return [pytest.param(book, [*some][::MORE], id=name) for book, groups in by_exercise for name, some in groups]


def _exercise(attempt: Attempt) -> str:
    return attempt.exercise


@pytest.mark.slow
@pytest.mark.parametrize("book, some", _portions())
def test_every_attempt_is_judged_truly(
    book: Notebook, some: list[Attempt], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "smallest_example", lambda *_: None)  # takes a third of the time, and decides nothing
    results = list(tried(book, some))
    counts = Counter(one.rating for one in results)
    with capsys.disabled():
        print(f"\n{book.slug:<24}", ", ".join(f"{name}: {count}" for name, count in counts.most_common()))
        for one in results:
            if one.rating != TRUE:
                print(f"    {one.rating}: {one.attempt.exercise}, {one.attempt.label}")
    assert not [_title(one.attempt) for one in results if one.rating in (ACCEPTED, REFUSED)]
    assert not [f"{_title(one.attempt)}: {_first(one)}" for one in results if one.is_lost], "a true sentence is lost"


def _title(attempt: Attempt) -> str:
    return f"{attempt.exercise}, {attempt.label}"


def _first(one: Tried) -> str:
    return f"{one.verdict.mistakes[:1]} {one.verdict.diagnoses[0].headline if one.verdict.diagnoses else ''}"
