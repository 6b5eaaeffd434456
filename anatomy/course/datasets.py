"""Small data sets written for the course: sentences and fables from `data/`, and dates made by a seed."""

from __future__ import annotations

import datetime
import json
from itertools import cycle, islice
from pathlib import Path
from random import Random

DATA = Path(__file__).resolve().parent / "data"
FLIES_LABELS = ("noun", "verb")
"""What the labels 0 and 1 of `flies_sentences` stand for."""


def flies_sentences(split: str) -> list[tuple[str, int]]:
    """Sentences with exactly one "flies", each with its label: 0 where it is a noun, 1 where it is a verb.

    `split` is "train" (156 sentences) or "test" (84). No template occurs in both, and in each split both labels have
    "flies" at the same places equally often. Sentences come grouped by template, noun and verb in turn: shuffle them
    before training.

    Raises ValueError for another split.
    """
    if split not in ("train", "test"):
        raise ValueError(f"split is {split!r}; choose 'train' or 'test'")
    records = [json.loads(line) for line in (DATA / "flies.jsonl").read_text("utf-8").splitlines()]
    return [(row["sentence"], FLIES_LABELS.index(row["label"])) for row in records if row["split"] == split]


def fables() -> str:
    """The fables of Lower Arrow, one text to train a small language model on.

    A title stands on a line of its own, a paragraph is a line, an empty line comes after each. Letters, spaces, ends of
    lines and the signs `. , ? ' "` only.
    """
    return (DATA / "fables.txt").read_text("utf-8")


MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
DATE_FORMS = (  # d day, o ordinal, m month, y year, w day of the week; the last with all four digits of the year
    "{d} {m} {y}",
    "{d}-{m}-{y}",
    "{m} {d}, {y}",
    "{m} {o}, {y}",
    "{o} of {m} {y}",
    "the {o} of {m}, {y}",
    "{w}, {d} {m} {y}",
    "{w}, {m} {d}, {y}",
    "{Y}, {m} {d}",
)
FIRST_DAY, NUM_DAYS, NUM_HELD_OUT = datetime.date(1930, 1, 1), 36_525, 2_000  # 1930 to 2029: '30 is 1930, '29 is 2029


def date_pairs(split: str, count: int, seed: int = 0) -> list[tuple[str, str]]:
    """`count` dates as somebody might write them, each with its ISO form: ("Tue, 3 march '87", "1987-03-03").

    Days from 1930 to 2029, the month always a word or its first three letters. `split` is "train" or "test": the 2,000
    days of "test" never occur in "train", in no spelling. They come in an order drawn from `seed`, each day once before
    any comes again; their spellings are drawn from it, too. Raises ValueError for another split.
    """
    if split not in ("train", "test"):
        raise ValueError(f"split is {split!r}; choose 'train' or 'test'")
    days = [FIRST_DAY + datetime.timedelta(days=number) for number in range(NUM_DAYS)]
    Random(0).shuffle(days)  # the same days are held out, whatever the seed
    chosen = days[:NUM_HELD_OUT] if split == "test" else days[NUM_HELD_OUT:]
    random = Random(seed)
    random.shuffle(chosen)
    return [(_spelled(day, random), day.isoformat()) for day in islice(cycle(chosen), count)]


def _spelled(day: datetime.date, random: Random) -> str:
    """One of many ways to write a date."""
    month, weekday = MONTHS[day.month - 1], WEEKDAYS[day.weekday()]
    if random.random() < 0.5:
        month = month[:3] + random.choice(["", "."])
    month = random.choice([month, month, month.lower(), month.upper()])
    ending = "th" if day.day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    short_year = f"{day.year % 100:02d}"
    return random.choice(DATE_FORMS).format(
        d=day.day,
        o=f"{day.day}{ending}",
        m=month,
        y=random.choice([f"{day.year}", f"{day.year}", f"'{short_year}", short_year]),
        Y=day.year,
        w=random.choice([weekday, weekday[:3]]),
    )
