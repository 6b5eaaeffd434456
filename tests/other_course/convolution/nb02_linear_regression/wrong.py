"""Wrong answers to 02-linear-regression."""

from __future__ import annotations

from anatomy.engine.mistakes import Mistakes
from convolution.nb02_linear_regression.right import squared_loss

MISTAKES = Mistakes()


@MISTAKES.of(squared_loss)
def in_squared_loss(at):
    at("mean()", ("values", "gradients"),
       ("summed", "sum()", "You sum the squares. The loss is their mean: it does not grow with N."))  # fmt: skip
