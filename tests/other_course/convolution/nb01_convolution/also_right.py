"""Right answers to 01-convolution, written differently."""

from __future__ import annotations

from torch.nn import functional as F


def convolve__library(signal, kernel):
    return F.conv1d(signal[None, None], kernel.flip(0)[None, None], padding="same")[0, 0]
