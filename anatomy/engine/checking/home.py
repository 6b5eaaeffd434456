"""The folder in which the course keeps what belongs to a student, and to no notebook."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path


def home() -> Path:
    """The user's folder for data; the environment variable ``ANATOMY_HOME`` names another one."""
    named = os.environ.get("ANATOMY_HOME")
    return Path(named) if named else user_data_path("transformer-anatomy")
