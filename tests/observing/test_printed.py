"""What an answer prints is kept from its first run, and cut."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case
from anatomy.engine.observing.observe import observe
from anatomy.engine.observing.printed import CHARACTERS, LINES, Printed, cut
from tests.small_course import SmallCourse

SMALL = SmallCourse()


@SMALL.asks(properties={"values": 1, "gradients": 1})
def squash(seed: int) -> Iterator[Case]:
    yield Draw(seed, B=2).case(x=torch.ones(2, 5))
    yield Draw(seed, B=2).case(x=torch.ones(2, 3))


def test_what_the_first_run_prints_is_kept_once() -> None:
    def chatty(x: Tensor) -> Tensor:
        print("shape", tuple(x.shape))
        return x

    first, *others = observe(squash, chatty).cases
    assert first.printed == "shape (2, 5)"
    assert not any(seen.printed for seen in others)


def test_what_was_printed_before_an_error_is_kept() -> None:
    def stops(x: Tensor) -> Tensor:
        print("so far")
        return x @ x

    assert observe(squash, stops).cases[0].printed == "so far"


def test_a_lot_is_cut_and_what_is_cut_stays_so() -> None:
    lines, letters = cut("a\n" * 1000), cut("b" * 100_000)
    assert lines.splitlines() == ["a"] * (LINES - 1) + ["…"]
    assert len(letters) == CHARACTERS and letters.endswith("b…")
    assert (cut(lines), cut(letters), cut("two\nlines\n")) == (lines, letters, "two\nlines")


def test_no_more_is_kept_than_is_shown() -> None:
    printed = Printed()
    for _ in range(1000):
        print("x" * 1000, file=printed)
    assert sum(map(len, printed._kept)) <= CHARACTERS + 1
    assert printed.text.endswith("…")
    printed = Printed()
    printed.stop()
    print("more", file=printed)
    assert printed.text == ""
