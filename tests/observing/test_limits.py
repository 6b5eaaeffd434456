"""The time limit counts computing, not the clock on the wall; the clock is made up here."""

from __future__ import annotations

import signal
import sys
import types
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case
from anatomy.engine.observing import limits
from anatomy.engine.observing.limits import TooSlow, time_limit
from anatomy.engine.observing.observe import observe
from tests.small_course import SmallCourse


class Clock:
    """Seconds computed and seconds gone by, as a test sets them."""

    def __init__(self) -> None:
        self.computed = self.passed = 0.0

    def thread_time(self) -> float:
        return self.computed

    def monotonic(self) -> float:
        return self.passed


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(limits, "time", clock)
    return clock


def ring() -> None:
    """As if the alarm went off now."""
    signal.raise_signal(signal.SIGALRM)


def test_a_busy_machine_costs_nobody_anything(clock: Clock) -> None:
    with time_limit(10.0, waiting=25.0):
        clock.computed, clock.passed = 0.5, 24.0
        ring()
        clock.computed, clock.passed = 2.0, 100.0
        ring()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize(
    "computed, passed, said",
    [(10.0, 11.0, "10 s of computing"), (0.1, 25.0, "over 25 s"), (9.0, 250.0, "over 250 s")],
)
def test_much_computing_and_long_waiting_end(clock: Clock, computed: float, passed: float, said: str) -> None:
    with pytest.raises(TooSlow, match=said), time_limit(10.0, waiting=25.0):
        clock.computed, clock.passed = computed, passed
        ring()


SMALL = SmallCourse()


@SMALL.asks(properties={"values": 1})
def squash(seed: int) -> Iterator[Case]:
    yield Draw(seed, B=2).case(x=torch.ones(2, 5))


def test_to_import_a_library_does_not_count(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    def importing(x: Tensor) -> Tensor:
        if "made_up_library" not in sys.modules:
            monkeypatch.setitem(sys.modules, "made_up_library", types.ModuleType("made_up_library"))
            clock.computed += 11
            ring()
            clock.computed += 9
            ring()
        return x

    assert observe(squash, importing, (0,)).cases[0].outcome == "returned"


def test_an_endless_loop_behind_an_import_is_waited_for_once(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(x: Tensor) -> Tensor:
        monkeypatch.setitem(sys.modules, f"made_up_library_{clock.computed}", types.ModuleType("made_up_library"))
        while True:
            clock.computed += 0.5
            ring()

    assert observe(squash, endless, (0,)).cases[0].outcome == "too slow"
    assert clock.computed < 12
