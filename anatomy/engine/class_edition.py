"""Whether this is the edition for a class: the course without its answers, as `anatomy release` makes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).parents[1] / "class_edition.json"


@dataclass(frozen=True)
class ClassEdition:
    """What ``anatomy/class_edition.json`` says.

    Attributes
    ----------
    judge
        The address of the service that judges answers.
    notebooks
        The slugs of the notebooks that have been handed out, in order. Right answers of all but the last are here.
    """

    judge: str
    notebooks: tuple[str, ...]


@cache
def class_edition() -> ClassEdition | None:
    """What this edition is; None in the whole course, which has the answers and judges by itself."""
    if not FILE.is_file():
        return None
    said = json.loads(FILE.read_text(encoding="utf-8"))
    return ClassEdition(said["judge"], tuple(said["notebooks"]))
