"""A small course to grade: masters with nothing but exercises, so that a run takes seconds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from anatomy import exercises
from anatomy.authoring.notebooks import METADATA, source_file, write
from anatomy.course import Notebook, notebook
from anatomy.grading.answers import bank

REPOSITORY = Path(__file__).resolve().parents[2]


def skeleton(book: Notebook):
    """A master of `book` that asks what its exercises ask, without the teaching."""
    cells = [
        new_markdown_cell(f"# {book.title}", id="title"),
        new_code_cell("import torch\nfrom torch import Tensor, nn\n\nfrom anatomy.checking import check", id="setup"),
    ]
    for name, exercise in exercises.of_notebook(book).items():
        body = f"### BEGIN SOLUTION\n{bank(book).right[name][0].source}\n### END SOLUTION"
        if exercise.kind == "quiz":
            text = f"{name} = {dict.fromkeys(exercise.cases((0,))[0].args['questions'], '...')}  # template\n{body}"
        else:
            stub = f"class {name}(nn.Module):" if exercise.kind == "module" else f"def {name}(*args):"
            text = f"{stub}\n    raise NotImplementedError\n\n\n{body}"
        marks = {"schema_version": 3, "task": False}
        cells += [
            new_markdown_cell(f"### `{name}`", id=f"about-{name.replace('_', '-')}"),
            new_code_cell(text, id=name.replace("_", "-"), metadata={
                "nbgrader": {**marks, "grade": False, "grade_id": name, "locked": False, "solution": True}}),
            new_code_cell(f'check("{name}")', id=f"check-{name.replace('_', '-')}", metadata={
                "nbgrader": {**marks, "grade": True, "grade_id": f"check-{name}", "locked": True, "solution": False,
                             "points": exercise.points}}),
        ]  # fmt: skip
    return new_notebook(cells=cells, metadata=METADATA, nbformat_minor=5)


def make_course(root: Path, *slugs: str) -> Path:
    """A course's folder with skeletons of these notebooks."""
    root.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(REPOSITORY / "nbgrader_config.py", root / "nbgrader_config.py")
    for slug in slugs:
        write(skeleton(notebook(slug)), source_file(root, slug))
    return root


@pytest.fixture(scope="session")
def new_course():
    """Makes a course: `new_course(folder, "03-softmax", ...)`."""
    return make_course
