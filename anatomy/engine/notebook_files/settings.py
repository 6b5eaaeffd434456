"""What ``nbgrader_config.py`` says of a course."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anatomy.engine.errors import UserError

if TYPE_CHECKING:
    from traitlets.config import Config

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
    from traitlets.config import PyFileConfigLoader  # here: setup.py imports this module where nothing is installed

    return PyFileConfigLoader(CONFIG, path=str(root)).load_config()
