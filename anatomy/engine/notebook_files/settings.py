"""What ``nbgrader_config.py`` says of a course."""

from __future__ import annotations

from pathlib import Path

from traitlets.config import Config, PyFileConfigLoader

from anatomy.engine.errors import UserError

CONFIG = "nbgrader_config.py"


class NoSuchCourse(UserError):
    """A folder is not the course's."""


def settings(root: Path) -> Config:
    """What ``nbgrader_config.py`` says.

    Raises
    ------
    NoSuchCourse
        When `root` has no such file, so is not the course's folder.
    """
    if not (root / CONFIG).is_file():
        raise NoSuchCourse(f"{root} has no {CONFIG}: run this in the course's folder, or name it with --root.")
    return PyFileConfigLoader(CONFIG, path=str(root)).load_config()
