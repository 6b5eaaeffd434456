"""What the server of this course's kernels imports before they are forked, and what a kernel may see."""

from __future__ import annotations

from pathlib import Path

from anatomy import PACKAGE, wiring
from anatomy.classroom.forked_kernels import Preparation
from anatomy.classroom.grading.package_copies import copy_package
from anatomy.engine.observing import GRADING_SEED
from anatomy.wiring import the_course

NOTEBOOK = "ANATOMY_NOTEBOOK"
"""The variable in a kernel's environment that says which notebook it runs, hence which modules it may see."""

SAMPLE_CELL = """
import math, random, collections, itertools, json, copy, time, functools, typing, dataclasses
import numpy, torch
from torch import Tensor, nn
import torch.nn.functional as F
import matplotlib.pyplot as plt
from anatomy import check
figure, axes = plt.subplots()
axes.plot([1, 2, 3], label="a line"); axes.set_title("time flies"); axes.legend(); axes.imshow([[1, 2], [3, 4]])
plt.show()
assert torch.allclose(nn.Linear(2, 2)(torch.zeros(1, 2)).softmax(-1).sum(), torch.tensor(1.0))
1 / 0
"""
"""What cells of the notebooks do. It ends with an error, since errors are shown with modules of their own."""

WARM_UP = """
import torch
from matplotlib.backends.registry import backend_registry
from anatomy.wiring import the_course
from anatomy.engine.observing.observe import observe
from anatomy.engine.observing.records import encode

backend_registry.is_valid_backend("module://matplotlib_inline.backend_inline")
course = the_course()
first = next(iter(course.exercises(course.notebooks[-1]).values()))
encode(observe(first, torch.softmax))
"""


def _copy_for(slug: str, folder: Path) -> Path:
    return copy_package(the_course().notebook(slug), folder)


_course = the_course()

KERNELS = Preparation(
    name=_course.package,
    # Nothing that holds answers; the sandbox doesn't show that either.
    modules=(
        "torch", "torch.nn.functional", "numpy", "matplotlib", "matplotlib.figure",
        "matplotlib.backends.backend_agg", "ipykernel.kernelapp", "ipykernel.ipkernel", "safetensors.torch",
        "jaxtyping", "anatomy.in_notebooks", "anatomy.engine.checking.looking", "anatomy.engine.observing.observe",
        "anatomy.engine.observing.records", *(f"{_course.package}.{room}" for room in sorted(_course.shown)),
        *(_course.module(book, "asked") for book in _course.notebooks),
    ),
    later_modules=("transformers", "transformers.models.bert.modeling_bert", "transformers.models.gpt2.modeling_gpt2"),
    sample_cell=SAMPLE_CELL,
    warm_up=WARM_UP,
    not_preloaded=tuple(_course.module(book, "right") for book in _course.notebooks),  # each notebook sees others
    copies=tuple(book.slug for book in _course.notebooks),
    make_copy=_copy_for,
    copy_variable=NOTEBOOK,
    covered=(
        PACKAGE, _course.folder,
        *map(Path, ("source", "solutions", "submitted", "autograded", "feedback", "tests", "gradebook.db", ".git")),
    ),
    variables=("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "TOKENIZERS_PARALLELISM", "ANATOMY_CHECKPOINT", GRADING_SEED),
    defaults=(("HF_HUB_OFFLINE", "1"), ("TOKENIZERS_PARALLELISM", "false"), (wiring.COURSE, _course.package)),
    home_variables=(("ANATOMY_HOME", ".anatomy"),),
)  # fmt: skip
