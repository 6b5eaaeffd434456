"""A course on something else, to show that one needs nothing of the Transformer's."""

from anatomy.engine.course import Course, Notebook

COURSE = Course(
    __name__,
    (Notebook("01-convolution", "Convolution"), Notebook("02-linear-regression", "Linear regression")),
    axes={"T": "samples", "K": "kernel size", "N": "points", "D": "features"},
)
