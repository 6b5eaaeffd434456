"""What ``grades.csv`` keeps of the last run that the gradebook does not: why a submission was not graded."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from anatomy.classroom.grading.report import UNGRADED

NOT_YET = "It has not been graded yet; `.venv/bin/anatomy grade` does that."
"""The reason where no run has looked at a submission."""
Place = tuple[str, str]
"""(student, notebook)."""


def reasons_of_last_run(table: Path) -> dict[Place, str]:
    """Why the last run did not grade a submission, as ``grades.csv`` says."""
    if not table.is_file():
        return {}
    with table.open(newline="", encoding="utf-8") as file:
        return {
            (line["student"].removeprefix("'"), line["assignment"].removeprefix("'")): line["reason"].removeprefix("'")
            for line in csv.DictReader(file)
            if line.get("status") == UNGRADED and line.get("reason")
        }


def reason_that_holds(place: Place, submitted: Path, autograded: Path, table: Path, said: Mapping[Place, str]) -> str:
    """What was `said` of this submission, or "" when it was graded by nbgrader or handed in anew since then."""
    since = (autograded.joinpath(*place), submitted)
    return "" if any(_is_newer(folder, table) for folder in since) else said.get(place, "")


def _is_newer(folder: Path, table: Path) -> bool:
    """Whether a file in the folder was written after the table."""
    if not table.is_file():
        return False
    last = table.stat().st_mtime
    return any(path.lstat().st_mtime > last for path in folder.rglob("*"))
