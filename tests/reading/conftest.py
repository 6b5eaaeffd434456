"""Answers as a notebook would define them, and what reading them says."""

from __future__ import annotations

import linecache
import logging
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from anatomy.course import COURSE
from anatomy.engine.exercise import SEEDS
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.judge import judge
from anatomy.engine.judging.verdict import Verdict
from anatomy.engine.observing.observe import observe
from anatomy.engine.reading import read

LONG = 60.0
"""Seconds: what is tested is what is found, on any machine."""

Notebook = Callable[..., dict[str, Any]]
Reading = Callable[..., Verdict]


@pytest.fixture(autouse=True)
def no_fault_of_ours(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """What fails in a copy costs students a sentence, and is not shown to them; here it is."""
    caplog.set_level(logging.INFO, "anatomy.engine.reading.copies")
    yield
    assert not [record.getMessage() for record in caplog.records if record.name == "anatomy.engine.reading.copies"]


@pytest.fixture
def notebook() -> Notebook:
    """The namespace of a notebook in which a cell with this source has run."""
    cells = count()

    def run(source: str, **names: Any) -> dict[str, Any]:
        filename = f"<student {next(cells)}>"
        linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename
        namespace = {"__name__": "__main__", "torch": torch, "Tensor": Tensor, "nn": nn, "F": F, "math": math, **names}
        exec(compile(source, filename, "exec", dont_inherit=True), namespace)
        return namespace

    return run


@pytest.fixture
def reading() -> Reading:
    """Judges an answer by what can be measured alone, and then reads it."""

    def judged(exercise: str, namespace: dict[str, Any], seconds: float = LONG) -> Verdict:
        asked = COURSE.exercise(exercise)
        expectations, seen = Expectations(asked, SEEDS), observe(asked, namespace[exercise])
        verdict = judge(asked, seen, SEEDS, lambda *_: expectations)
        measured = tuple(replace(one, mistake="") for one in verdict.diagnoses)
        return read(namespace, expectations, seen, replace(verdict, diagnoses=measured), seconds)

    return judged
