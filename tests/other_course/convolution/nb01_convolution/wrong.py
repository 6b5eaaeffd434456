"""Wrong answers to 01-convolution."""

from __future__ import annotations

from anatomy.engine.mistakes import Mistakes
from convolution.nb01_convolution.right import convolve, quiz_padding

MISTAKES = Mistakes()


@MISTAKES.of(convolve)
def in_convolve(wrong):
    wrong("not_flipped", "You do not flip the kernel: that is a correlation.",
          breaks=("values", "gradients"), old="kernel.flip(0)", new="kernel")  # fmt: skip
    wrong("only_inside", "You pad nothing, so the ends of the signal are missing.",
          breaks=("shape", "values", "gradients"), old="windows = padded", new="windows = signal")  # fmt: skip


@MISTAKES.of_quiz("quiz_padding", quiz_padding)
def in_quiz_padding(wrong):
    wrong("outside the signal stand", "ones", "Ones would add a constant.")
