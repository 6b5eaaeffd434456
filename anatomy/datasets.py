"""Small data sets written for the course; they live in `assets/` beside the package."""

from __future__ import annotations

import json
from pathlib import Path

from anatomy.errors import UserError

ASSETS = Path(__file__).resolve().parents[1] / "assets"
FLIES_LABELS = ("noun", "verb")
"""What the labels 0 and 1 of `flies_sentences` stand for."""


def flies_sentences(split: str) -> list[tuple[str, int]]:
    """Sentences with exactly one "flies", each with its label: 0 where it is a noun, 1 where it is a verb.

    `split` is "train" (156 sentences) or "test" (84). No template occurs in both, and in each split both labels have
    "flies" at the same places equally often. Sentences come grouped by template, noun and verb in turn: shuffle them
    before training.

    Raises ValueError for another split, and UserError when the file is not there.
    """
    if split not in ("train", "test"):
        raise ValueError(f"split is {split!r}; choose 'train' or 'test'")
    records = [json.loads(line) for line in _asset("flies.jsonl").read_text(encoding="utf-8").splitlines()]
    return [(row["sentence"], FLIES_LABELS.index(row["label"])) for row in records if row["split"] == split]


def fables() -> str:
    """The fables of Lower Arrow, one text to train a small language model on.

    A title stands on a line of its own, a paragraph is a line, an empty line comes after each. Letters, spaces, ends of
    lines and the signs `. , ? ' "` only. Raises UserError when the file is not there.
    """
    return _asset("fables.txt").read_text(encoding="utf-8")


def _asset(name: str) -> Path:
    file = ASSETS / name
    if not file.is_file():
        raise UserError(f"{file} is missing: run the course from its folder, installed with pip install --editable.")
    return file
