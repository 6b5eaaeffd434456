"""The peak of memory: what is alive at the same time, and nothing else."""

from __future__ import annotations

import torch
from torch import Tensor

from anatomy.course.memory import peak_bytes

SIZE = 4 * 1000  # bytes of 1,000 numbers


def test_what_is_alive_at_the_same_time_is_added() -> None:
    x = torch.ones(1000)
    assert peak_bytes(lambda: x + 1) == SIZE
    assert peak_bytes(lambda: [x + 1, x + 2, x + 3]) == 3 * SIZE


def test_what_is_released_no_longer_counts() -> None:
    def one_after_the_other(x: Tensor) -> None:
        for _ in range(5):
            x + 1

    def each_from_the_last(x: Tensor) -> None:
        for _ in range(5):
            x = x + 1  # two are alive while the next one is made

    assert peak_bytes(one_after_the_other, torch.ones(1000)) == SIZE
    assert peak_bytes(each_from_the_last, torch.ones(1000)) == 2 * SIZE


def test_views_and_arguments_take_nothing() -> None:
    x = torch.ones(10, 100)
    assert peak_bytes(lambda y: (y[2:], x.T, x.view(-1)), torch.ones(1000)) == 0
    assert peak_bytes(lambda: (x + 1).T[:, :3].reshape(-1)[:2]) == SIZE + 4 * 300  # reshape has to copy
    assert peak_bytes(lambda: x.add_(1)) == 0
