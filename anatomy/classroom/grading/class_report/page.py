"""The report as one HTML file: no script, no other file, light and dark, on screen and on paper."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from jinja2 import Environment, PackageLoader, StrictUndefined

from anatomy.classroom.grading.class_report.counts import Figures
from anatomy.classroom.grading.class_report.exercises import FEWEST, KINDS
from anatomy.engine.cards.markup import prose

MOST_LINES = 40
"""Of an example; what is longer is cut, and that is said."""
MOST_NAMES = 12
"""Of those who make a mistake; more are folded."""
WORDS = {
    "full": "all points", "partial": "some points", "none": "no points", "not attempted": "not written",
    "ungraded": "not graded",
}  # fmt: skip
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]")


def as_html(figures: Figures, when: datetime, *, anonymous: bool = False, back: str = "") -> str:
    """The page. Everything from submissions is text in it. `back` is the address of what it was opened from, if any."""
    html = _environment().get_template("page.html.j2").render(
        figures=figures, anonymous=anonymous, back=back, when=when, words=WORDS, kinds=KINDS, fewest=FEWEST,
        most_lines=MOST_LINES, most_names=MOST_NAMES,
    )  # fmt: skip
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", html)


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("anatomy.classroom.grading.class_report", "."), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters.update(
        prose=prose, percent=_percent, points=lambda value: f"{value:g}", signed=_signed, two_digits=_two_digits,
        rounded=lambda value: f"{round(value, 1):g}", stacked=_stacked, bins_in_words=_bins_in_words,
    )  # fmt: skip
    return environment


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f}%"


def _signed(share: float | None) -> str:
    """A change in percentage points, with its arrow."""
    if share is None:
        return "–"
    rounded = round(100 * share)
    return "= 0" if not rounded else f"{'▲ +' if rounded > 0 else '▼ −'}{abs(rounded)}"


def _bins_in_words(bins: Sequence[int]) -> str:
    """What the picture of a distribution shows."""
    width = 100 // len(bins)
    return "; ".join(f"{width * place} to {width * (place + 1)}%: {count}" for place, count in enumerate(bins) if count)


def _two_digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-", "−")


def _stacked(counts: Mapping[str, int]) -> list[tuple[str, float, float]]:
    """(kind, where it begins, how long it is) of a bar that is 100 long."""
    total, begin = sum(counts.values()) or 1, 0.0
    parts = []
    for kind in KINDS:
        length = 100 * counts[kind] / total
        if length:
            parts.append((kind, round(begin, 2), round(length, 2)))
        begin += length
    return parts
