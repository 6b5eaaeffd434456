"""Tests of which there is plenty: a plain run takes some of them, `--everything` all (see conftest.py)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(step: int, items: Iterable[Any], first: int = 0) -> list[Any]:
    """Parameters of a test, of which a plain run takes every so many; the first that it takes is number `first`."""
    return [pytest.param(item, marks=[pytest.mark.many] * (n % step != first)) for n, item in enumerate(items)]
