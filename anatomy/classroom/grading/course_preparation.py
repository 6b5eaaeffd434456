"""What the server of this course's kernels imports before they are forked, and what a kernel may see."""

from __future__ import annotations

from pathlib import Path

import anatomy
from anatomy.course import NOTEBOOKS, notebook
from anatomy.forked_kernels import Preparation
from anatomy.grading.package_copies import copy_package
from anatomy.observing import GRADING_SEED

NOTEBOOK = "ANATOMY_NOTEBOOK"
"""The variable in a kernel's environment that says which notebook it runs, hence which modules it may see."""

SAMPLE_CELL = """
import math, random, collections, itertools, json, copy, time, functools, typing, dataclasses
import numpy, torch, transformers
from torch import Tensor, nn
import torch.nn.functional as F
import matplotlib.pyplot as plt
from anatomy.checking import check
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
from anatomy import exercises
from anatomy.observing.observe import observe
from anatomy.observing.records import encode

backend_registry.is_valid_backend("module://matplotlib_inline.backend_inline")
encode(observe(exercises.find("softmax"), torch.softmax))
"""


def _copy_for(slug: str, folder: Path) -> Path:
    return copy_package(notebook(slug), folder)


COURSE = Preparation(
    name="transformer-anatomy",
    # Nothing that holds answers; the sandbox doesn't show that either.
    modules=(
        "torch", "torch.nn.functional", "numpy", "transformers", "matplotlib", "matplotlib.figure",
        "matplotlib.backends.backend_agg", "ipykernel.kernelapp", "ipykernel.ipkernel", "safetensors.torch",
        "jaxtyping", "anatomy.checking.looking", "anatomy.observing.observe", "anatomy.observing.records",
        "anatomy.checkpoints", "anatomy.views", *(f"anatomy.exercises.{book.module}" for book in NOTEBOOKS),
    ),
    later_modules=("transformers.models.bert.modeling_bert", "transformers.models.gpt2.modeling_gpt2"),
    sample_cell=SAMPLE_CELL,
    warm_up=WARM_UP,
    not_preloaded=("anatomy.reference",),  # of which each notebook sees others
    copies=tuple(book.slug for book in NOTEBOOKS),
    make_copy=_copy_for,
    copy_variable=NOTEBOOK,
    covered=(
        Path(anatomy.__file__).parent,
        *map(Path, ("source", "solutions", "submitted", "autograded", "feedback", "tests", "gradebook.db", ".git")),
    ),
    variables=("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "TOKENIZERS_PARALLELISM", "ANATOMY_CHECKPOINT", GRADING_SEED),
    defaults=(("HF_HUB_OFFLINE", "1"), ("TOKENIZERS_PARALLELISM", "false")),
    home_variables=(("ANATOMY_HOME", ".anatomy"),),
)  # fmt: skip
