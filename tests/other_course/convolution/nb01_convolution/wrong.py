"""Wrong answers to 01-convolution."""

from __future__ import annotations

from anatomy.engine.mistakes import Mistakes
from convolution.nb01_convolution.right import convolve, quiz_padding

MISTAKES = Mistakes()


@MISTAKES.of(convolve)
def in_convolve(at):
    at("kernel.flip(0)", ("values", "gradients"),
       ("not_flipped", "kernel", "You do not flip the kernel: that is a correlation."))  # fmt: skip
    at("windows = padded", ("shape", "values", "gradients"),
       ("only_inside", "windows = signal", "You pad nothing, so the ends of the signal are missing."))  # fmt: skip


@MISTAKES.of_quiz("quiz_padding", quiz_padding)
def in_quiz_padding(wrong):
    wrong("outside the signal stand", "ones", "Ones would add a constant.")
