"""Marks that are known beforehand, as of a made-up class: a file beside the submissions, and what a run makes of it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from anatomy.classroom.grading.report import UNGRADED, Comparison, SubmissionResult

KNOWN_MARKS = "known-marks.csv"
"""The file's name in ``submitted/``."""


@dataclass(frozen=True)
class KnownSubmission:
    """What is known of one submission.

    `marks` has exercise → points; `answers` exercise → where the answer comes from; `fault` says how the file was
    broken on purpose, or "".
    """

    student: str
    assignment: str
    status: str
    worth: float
    fault: str
    marks: Mapping[str, float]
    answers: Mapping[str, str]


def write_known_marks(submissions: Iterable[KnownSubmission], path: Path) -> None:
    """One line a submission."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["student", "assignment", "status", "points", "max", "fault", "marks", "answers"])
        for one in submissions:
            graded = one.status != UNGRADED
            points = f"{sum(one.marks.values()):g}" if graded else ""
            writer.writerow([
                one.student, one.assignment, one.status, points, one.worth, one.fault,
                json.dumps(dict(one.marks) if graded else {}), json.dumps(dict(one.answers)),
            ])  # fmt: skip


def read_known_marks(path: Path) -> list[KnownSubmission]:
    """The lines of such a file; none when there is no file."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [
            KnownSubmission(line["student"], line["assignment"], line["status"], float(line["max"]), line["fault"],
                            json.loads(line["marks"]), json.loads(line["answers"]))
            for line in csv.DictReader(file)
        ]  # fmt: skip


def compare_with_known_marks(results: Iterable[SubmissionResult], path: Path) -> Comparison | None:
    """What a run gave against what is known; None when nothing is known of what it graded."""
    known = {(one.student, one.assignment): one for one in read_known_marks(path)}
    graded = {(one.student, one.assignment): one for one in results}
    if not known.keys() & graded.keys():
        return None
    differing: list[str] = []
    for place in sorted(known.keys() & graded.keys()):
        found, truth = graded[place], known[place]
        if truth.status != found.status:
            differing.append(f"{', '.join(place)}: {found.status}, known: {truth.status}. {' '.join(found.reasons)}")
            continue
        for mark in found.marks:
            wanted = truth.marks.get(mark.exercise)
            if mark.points != wanted:
                differing.append(f"{', '.join(place)}, {mark.exercise} ({truth.answers.get(mark.exercise)}): "
                                 f"{mark.points} points, known: {wanted}. {mark.said}")  # fmt: skip
    others = tuple(sorted({student for student, _ in graded.keys() - known.keys()}))
    return Comparison(len(known.keys() & graded.keys()), tuple(differing), others)
