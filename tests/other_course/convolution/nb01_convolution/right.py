"""Right answers to 01-convolution."""

from __future__ import annotations

import torch
from torch import Tensor


def convolve(signal: Tensor, kernel: Tensor) -> Tensor:
    """The convolution (T,) of a signal (T,) with a kernel (K,) of odd size; outside the signal stand zeros."""
    half = len(kernel) // 2
    padded = torch.cat([torch.zeros(half), signal, torch.zeros(half)])
    windows = padded.unfold(0, len(kernel), 1)  # (T, K)
    return windows @ kernel.flip(0)


quiz_padding = {"outside the signal stand": "zeros"}
