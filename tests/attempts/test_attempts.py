"""The check tells the truth: only right attempts are accepted, and what was once named truly still is."""

from __future__ import annotations

from collections import Counter

import pytest

from anatomy.course import COURSE
from anatomy.engine.course import Notebook
from tests.attempts.attempts import ACCEPTED, REFUSED, TRUE, Attempt, Tried, attempts, tried
from tests.plenty import one_in

BOOKS = [book for book in COURSE.notebooks if attempts(book)]
SOME = 48
"""A plain run tries every so many attempts."""


@pytest.mark.slow
@pytest.mark.parametrize("first", one_in(SOME, range(SOME)))
@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.slug)
def test_every_attempt_is_judged_truly(book: Notebook, first: int, capsys: pytest.CaptureFixture[str]) -> None:
    results = list(tried(book, attempts(book)[first::SOME]))
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
