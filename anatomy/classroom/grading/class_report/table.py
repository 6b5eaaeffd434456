"""The report's numbers for a spreadsheet: one line an exercise of a submission."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from anatomy.classroom.grading.class_report.results import Record
from anatomy.classroom.grading.report import UNGRADED
from anatomy.classroom.grading.spreadsheets import no_formula, number

COLUMNS = ("student", "notebook", "exercise", "points", "max", "status", "mistakes", "broken", "said", "reason")


def as_csv(records: Iterable[Record]) -> str:
    """What has no mark has no points, which is not 0. A submission without marks is one line without an exercise."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for one in records:
        reason = " ".join(filter(None, (one.open or " ".join(one.result.reasons), one.result.late)))
        for mark in one.result.marks:
            writer.writerow(map(no_formula, (
                one.student, one.notebook, mark.exercise, number(mark.points), number(mark.worth), mark.status,
                " ".join(mark.mistakes), "; ".join(mark.broken), mark.said, reason,
            )))  # fmt: skip
        if not one.result.marks:
            writer.writerow(map(no_formula, (one.student, one.notebook, "", "", "", UNGRADED, "", "", "", reason)))
    return file.getvalue()
