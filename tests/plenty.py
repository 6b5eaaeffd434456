"""Tests of which there is plenty: a plain run takes some of them, `--everything` all (see conftest.py)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

EVERYTHING = False
"""Whether all are taken. The command line decides it, before the tests are collected."""


def is_taken(number: int, step: int, first: int = 0, of_all: int = 1) -> bool:
    """Whether a test of which a plain run takes every so many is one of those that run."""
    return number % of_all == first % of_all if EVERYTHING else number % step == first


def one_in(step: int, items: Iterable[Any], first: int = 0, of_all: int = 1) -> list[Any]:
    """Parameters of a test, of which a plain run takes every so many; the first that it takes is number `first`.

    What takes very long is too much even for `--everything`, which takes one in `of_all`.
    """
    return [item for number, item in enumerate(items) if is_taken(number, step, first, of_all)]
