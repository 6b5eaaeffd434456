"""Wrong answers to 02-linear-regression."""

from __future__ import annotations

from anatomy.engine.mistakes import Mistakes
from convolution.nb02_linear_regression.right import squared_loss

MISTAKES = Mistakes()


@MISTAKES.of(squared_loss)
def in_squared_loss(wrong):
    wrong("summed", "You sum the squares. The loss is their mean, which does not grow with the number of points.",
          breaks=("values", "gradients"), old="mean()", new="sum()")  # fmt: skip
